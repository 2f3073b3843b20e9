# SPDX-License-Identifier: Apache-2.0
"""Stands between gateways and provider, tells which process sent each refresh token, keeps the accounts, and lets a
round act at each step: `request` (it has arrived), `taken` (the provider has it), `answer`, `half` (one half of the
answer is out), `answered`."""
import json
import os
import re
import socket
import sys
import threading
import time
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "EndToEnd"))
from harness import Listening, read_message  # noqa: E402

from ledger import family_of  # noqa: E402


class Watch(Listening):
    """`at(step, sending)` answers whether to go on; `hold()` says for how many seconds an answer is kept back."""

    def __init__(self, target, ledger):
        self.target = target.removeprefix("http://").rsplit(":", 1)
        self.ledger = ledger
        self.at = lambda step, sending: True
        self.hold = lambda: 0.0
        self.on_revocation = lambda token: None
        # The generation of a family's record in the store, where it can be told.
        self.generation = lambda family: None
        # Whether every refresh is refused here, as by a provider out of its mind.
        self.refuses = False
        # Processes that may be on the other end.
        self.pids = lambda: []
        self.open = {}
        self.newest_tokens = []
        super().__init__()
        self.url = f"http://127.0.0.1:{self.port}"

    def serve(self, connection):
        sendings = []
        try:
            with connection, socket.create_connection((self.target[0], int(self.target[1]))) as upstream:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                while self.pass_one(connection, upstream, sendings):
                    pass
        except OSError:
            pass
        finally:
            now = time.monotonic()
            for sending in sendings:
                self.open.pop(sending.number, None)
                if sending.closed_at is None:
                    sending.closed_at = now

    def pass_one(self, connection, upstream, sendings):
        request = read_message(connection)
        if not request:
            return False
        now = time.monotonic()
        form = urllib.parse.parse_qs(request.partition(b"\r\n\r\n")[2].decode())
        if form.get("grant_type") != ["refresh_token"]:
            upstream.sendall(request)
            answer = read_message(upstream)
            if "code" in form:
                self.learn(form["code"][0], answer, now)
            elif "token" in form:
                self.on_revocation(form["token"][0])
            connection.sendall(answer)
            return True
        token, owner = form["refresh_token"][0], self.owner(connection)
        generation = self.generation(family_of(token))
        if generation is not None:
            self.ledger.saw(family_of(token), generation)
        sending = self.ledger.sent(token, now, owner, look=self.look, generation=generation)
        sendings.append(sending)
        self.open[sending.number] = connection
        return self.refresh(connection, upstream, request, sending)

    def refresh(self, connection, upstream, request, sending):
        if not self.at("request", sending):
            return False
        if self.refuses:
            return self.refuse(connection, sending)
        sending.is_forwarded = True
        upstream.sendall(request)
        answer = read_message(upstream)
        status, body = parsed(answer)
        self.ledger.answered(sending, status, body.get("refresh_token"))
        self.remember(body)
        if not self.at("taken", sending):
            return False
        time.sleep(self.hold())
        if not self.at("answer", sending):
            return False
        half = len(answer) // 2
        connection.sendall(answer[:half])
        if not self.at("half", sending):
            return False
        connection.sendall(answer[half:])
        sending.delivered_at = time.monotonic()
        self.at("answered", sending)
        return True

    def refuse(self, connection, sending):
        sending.is_forged = True
        self.ledger.answered(sending, 400, None)
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: 25\r\n\r\n"
                           b'{"error":"invalid_grant"}')
        sending.delivered_at = time.monotonic()
        return self.at("refused", sending)

    def learn(self, code, answer, asked_at):
        status, body = parsed(answer)
        if status == 200 and "refresh_token" in body:
            self.ledger.exchanged(code, body["refresh_token"], asked_at)
            self.remember(body)

    def remember(self, body):
        self.newest_tokens += [body[name] for name in ("access_token", "refresh_token") if name in body]
        del self.newest_tokens[:-60]

    def tokens(self):
        """The newest, to be looked for in what is left."""
        return set(self.newest_tokens)

    def look(self, sending):
        """Whether the other end of an earlier sending is still there; one that was just killed may take a moment."""
        connection = self.open.get(sending.number)
        for _ in range(20):
            if connection is None or is_gone(connection):
                sending.closed_at = time.monotonic()
                return
            if sending.owner is None or is_running(sending.owner):
                return
            time.sleep(0.005)

    def owner(self, connection):
        """The process at the other end of a loopback connection (/proc/net/tcp, /proc/PID/fd)."""
        try:
            port = connection.getpeername()[1]
            needle = re.compile(
                rf"^\s*\d+: 0100007F:{port:04X} 0100007F:{self.port:04X} \S+ \S+ \S+ \S+\s+\d+\s+\d+ (\d+)", re.M)
            with open("/proc/net/tcp") as file:
                found = needle.search(file.read())
        except OSError:
            return None
        if not found:
            return None
        name = f"socket:[{found[1]}]"
        return next((pid for pid in self.pids() if name in sockets_of(pid)), None)


def sockets_of(pid):
    names = set()
    try:
        for descriptor in os.listdir(f"/proc/{pid}/fd"):
            try:
                names.add(os.readlink(f"/proc/{pid}/fd/{descriptor}"))
            except OSError:
                pass
    except OSError:
        pass
    return names


def is_running(pid):
    """Neither gone, nor dying, nor a zombie."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def is_stopped(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "T"
    except OSError:
        return False


def is_gone(connection):
    try:
        return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def parsed(answer):
    """(status, JSON object) of an HTTP answer."""
    if not answer:
        return None, {}
    head, _, body = answer.partition(b"\r\n\r\n")
    try:
        document = json.loads(body)
    except ValueError:
        document = {}
    return int(head.split(b" ", 2)[1]), document if isinstance(document, dict) else {}
