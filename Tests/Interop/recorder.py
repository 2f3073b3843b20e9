# SPDX-License-Identifier: Apache-2.0
"""Stands in front of a provider and keeps what passes, byte for byte and both ways."""
import re
import socket
import threading
from urllib.parse import quote_plus

from harness import Listening

REQUEST = re.compile(rb"(?:GET|POST) (\S+) HTTP/1\.[01]\r\n")
REFRESH_TOKEN = re.compile(rb'"refresh_token": *"([^"]+)"')
TOKEN = re.compile(rb'"(?:access|refresh|id)_token": *"([^"]+)"')


class Conversation:
    """One connection: what the client sent on it, and what the provider answered."""

    def __init__(self):
        self.sent = bytearray()
        self.received = bytearray()

    @property
    def is_gateways(self):
        """The browser and the script talk to the provider too."""
        return b"User-Agent: consent-gateway\r\n" in self.sent

    def paths(self):
        return [path.decode() for path in REQUEST.findall(self.sent)]


class Recorder(Listening):
    """Passes bytes on unchanged. `url` is the provider's address for everybody, its issuer too."""

    def __init__(self, target):
        """`target`: the provider's port of loopback, at which nobody need listen yet."""
        self.target = target
        self.lock = threading.Lock()
        self.conversations = []
        # Every refresh token that the gateway was given, in the order in which they came.
        self.refresh_tokens = []
        super().__init__()
        self.url = f"http://127.0.0.1:{self.port}"

    def serve(self, connection):
        conversation = Conversation()
        with self.lock:
            self.conversations.append(conversation)
        try:
            with connection, socket.create_connection(("127.0.0.1", self.target)) as upstream:
                answers = threading.Thread(target=self.pass_answers, args=(upstream, connection, conversation))
                answers.start()
                self.pass_on(connection, upstream, conversation.sent)
                answers.join()
        except OSError:
            pass  # One of the two has gone; the other sees it.

    def pass_answers(self, upstream, connection, conversation):
        self.pass_on(upstream, connection, conversation.received, lambda: self.note_tokens(conversation))

    def pass_on(self, source, sink, kept, note=lambda: None):
        """Until the source says no more; what came is kept before it goes on."""
        try:
            while data := source.recv(65536):
                with self.lock:
                    kept += data
                    note()
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def note_tokens(self, conversation):
        if not conversation.is_gateways:
            return
        for token in REFRESH_TOKEN.findall(conversation.received):
            if token.decode() not in self.refresh_tokens:
                self.refresh_tokens.append(token.decode())

    def gateway_requests(self, part=""):
        """How many requests the gateway has made whose path holds `part`."""
        with self.lock:
            return sum(part in path for talk in self.conversations if talk.is_gateways for path in talk.paths())

    def times_sent(self, name, value):
        """How often the gateway has sent a form that has `name=value` in it."""
        needle = f"{name}={quote_plus(value)}".encode()
        with self.lock:
            return sum(talk.sent.count(needle) for talk in self.conversations if talk.is_gateways)

    def tokens(self):
        """Every token that was handed out to anybody."""
        with self.lock:
            return {token.decode() for talk in self.conversations for token in TOKEN.findall(talk.received)}
