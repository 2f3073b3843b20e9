# SPDX-License-Identifier: Apache-2.0
"""What the tests of whole processes share: the gateway, the simulated provider, and a proxy between them that sees
every byte and can stop the world at each step of an exchange. Python's standard library only."""
import http.client
import json
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import disguises
from stores import make_store

DEADLINE = 30.0
CLIENT_SECRET = "simulated-secret"
# What the operator wrote himself, the vault's keys under any name, and the simulated provider's own lines.
NOT_SEARCHED = ("gateway.yaml", "vault-keys.json", "kept.json", "provider.log")


class Failure(Exception):
    """What the test found wrong."""


def expect(truth, *what):
    """A Failure that says so where it is not true."""
    if not truth:
        raise Failure(" ".join(map(str, what)))


def program():
    """The built program: $GATEWAY, else the release build, else the debug one."""
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".build")
    names = [os.environ.get("GATEWAY", ""), f"{root}/release/consent-gateway", f"{root}/debug/consent-gateway"]
    for name in names:
        if name and os.access(name, os.X_OK):
            return os.path.abspath(name)
    raise Failure("build the program first: swift build --product consent-gateway")


class Process:
    """One command of the program that prints a line of JSON when it is ready."""

    def __init__(self, arguments, log, environment=None, before=()):
        """`before`: a command that runs the program, such as strace(1)."""
        self.log = open(log, "ab")
        self.process = subprocess.Popen(
            [*before, program(), *arguments, "--json"], stdout=subprocess.PIPE, stderr=self.log, stdin=subprocess.DEVNULL,
            env={**os.environ, **(environment or {})})
        line = self.process.stdout.readline()
        if not line:
            raise Failure(f"{arguments[0]} did not start; see {log}")
        self.ready = json.loads(line)

    @property
    def pid(self):
        return self.process.pid

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.log.close()

    def stop(self):
        """Ends it as an operator does; the exit status must be 0."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(timeout=DEADLINE)
        self.process.stdout.close()
        self.log.close()
        if status != 0:
            raise Failure(f"the process ended with status {status}")


def run(*arguments):
    """Runs a command to its end; returns what it printed."""
    done = subprocess.run([program(), *arguments], capture_output=True, timeout=DEADLINE)
    if done.returncode != 0:
        raise Failure(f"{arguments} ended with {done.returncode}: {done.stderr.decode()}")
    return done.stdout


def call(address, method, path, body=None, headers=None, timeout=DEADLINE):
    """One request on a connection of its own: (status, headers, JSON). OSError where no answer came."""
    host, port = address.removeprefix("http://").rsplit(":", 1)
    connection = http.client.HTTPConnection(host, int(port), timeout=timeout)
    try:
        data = None if body is None else json.dumps(body).encode()
        connection.request(method, path, data, {"Content-Type": "application/json", **(headers or {})})
        answer = connection.getresponse()
        text = answer.read()
        return answer.status, answer.headers, json.loads(text) if text else None
    except http.client.HTTPException as error:
        raise OSError(str(error)) from error
    finally:
        connection.close()


class House:
    """A folder with keys, a configuration and a store; the simulated provider; and gateways on top of them."""

    # Every one of this process, so that a test can see that none is left.
    built = []

    def __init__(self, simulator_arguments=(), provider_settings="", through=None, scopes=""):
        self.home = self.folder = tempfile.mkdtemp(prefix="consent-gateway-test-")
        House.built.append(self)
        # File systems in the folder, which go with it.
        self.mounts = []
        self.log = f"{self.folder}/gateway.log"
        self.store = make_store(self.folder)
        self.provider = Process(["simulate", "--listen", "127.0.0.1:0", *simulator_arguments],
                                f"{self.folder}/provider.log")
        self.provider_url = self.provider.ready["provider"]
        self.proxy = through(self.provider_url) if through else None
        self.codes = []
        self.config = f"{self.folder}/gateway.yaml"
        with open(self.config, "w") as file:
            file.write(f"""\
server:
  listen: 127.0.0.1:0
  admin_listen: 127.0.0.1:0
  limits: {{ requests_per_caller: 1000000/s }}
{self.store.settings}vault: {{ keys: {{ file: vault-keys.json }} }}
providers:
  paypal:
    preset: paypal
    environment: sandbox
    api_url: {self.proxy.url if self.proxy else self.provider_url}
    client_id: simulated-client
    client_secret: {CLIENT_SECRET}
    scopes: [openid, profile, email, address, phone]
{provider_settings}""")
        run("keys", "init", "--config", self.config)
        if self.store.needs_migration:
            run("migrate", "--config", self.config)
        made = run("keys", "api", "create", "test", "--config", self.config, "--json",
                   "--scopes", "consents:read,consents:write,profiles:read" + scopes)
        self.key = json.loads(made)["key"]

    def serve(self):
        return Process(["serve", "--config", self.config], self.log)

    def log_text(self):
        """What the gateways have told so far."""
        with open(self.log, errors="replace") as file:
            return file.read()

    def authorized(self):
        return {"Authorization": f"Bearer {self.key}"}

    def fresh_code(self):
        _, _, made = call(self.provider_url, "POST", "/simulator/codes", {})
        self.codes.append(made["code"])
        return made["code"]

    def post_code(self, api, code, subject, timeout=DEADLINE):
        body = {"provider": "paypal", "subject": subject,
                "authorization": {"response_type": "authorization_code", "response": {"code": code},
                                  "client": {"environment": "sandbox", "platform": "iOS"}}}
        return call(api, "POST", "/v1/consents", body, self.authorized(), timeout)

    def files(self):
        """What the gateway has left: its store, its state and its log."""
        return [os.path.join(folder, name) for folder, _, names in os.walk(self.folder) for name in names
                if name not in NOT_SEARCHED]

    def search(self, values):
        """A Failure where one of the values can be read in what the gateway has left; else the bytes searched."""
        extra = self.store.files()
        found, size = disguises.search([value.encode() for value in values], self.files() + extra)
        for name in extra:
            os.unlink(name)
        if found:
            raise Failure(f"{len(found)} values can be read: " + "; ".join(sorted(disguises.describe(found))))
        return size

    def close(self):
        """Ends it. Whatever test it was, none of its codes, its tokens, its key and its secret was left anywhere. The
        folder stays after a failure only, for whoever looks into it."""
        if self.proxy:
            self.proxy.close()
        self.provider.kill()
        is_passed = sys.exc_info()[0] is None
        if is_passed:
            self.search({self.key, CLIENT_SECRET, *self.codes, *(self.proxy.tokens() if self.proxy else ())})
        for folder in self.mounts:
            subprocess.run(["umount", "-l", folder], capture_output=True)
        if is_passed:
            self.store.remove()
            shutil.rmtree(self.home)


class Listening:
    """Listens on a free port of loopback, or on that address, and serves each connection on a thread of its own."""

    def __init__(self, address=("127.0.0.1", 0)):
        self.listener = socket.create_server(address)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def close(self):
        # Wakes the thread in accept(2): it would go on with whatever gets the descriptor's number next.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


class Proxy(Listening):
    """Stands between gateway and provider, one request after the other on each connection. `at(step)` is called with
    each step of each call; it may kill the gateway, and answers whether to go on."""

    def __init__(self, target, address=("127.0.0.1", 0)):
        self.target = target.removeprefix("http://").rsplit(":", 1)
        self.at = lambda step: True
        self.token_requests = []
        self.exchanges = []
        # What broke a connection, for whoever looks into a failure.
        self.errors = []
        self.passed = []
        self.userinfo_requests = []
        self.answers = []
        self.lock = threading.Lock()
        super().__init__(address)
        self.url = f"http://127.0.0.1:{self.port}"

    def serve(self, connection):
        try:
            with connection, socket.create_connection((self.target[0], int(self.target[1]))) as upstream:
                while self.pass_one(connection, upstream):
                    pass
        except OSError as error:
            with self.lock:
                self.errors.append(repr(error))

    def pass_one(self, connection, upstream):
        request = read_message(connection)
        if not request:
            return False
        call_name = "token" if b"/oauth2/token" in request.split(b"\r\n", 1)[0] else "userinfo"
        if call_name == "token":
            with self.lock:
                self.token_requests.append(request)
        else:
            with self.lock:
                self.userinfo_requests.append(request)
        if not self.at(call_name + ".request"):
            return False
        upstream.sendall(request)
        answer = read_message(upstream)
        with self.lock:
            self.answers.append(answer)
            if call_name == "token":
                self.exchanges.append((request, answer))
        if not self.at(call_name + ".answer"):
            return False
        connection.sendall(answer)
        if call_name == "token":
            with self.lock:
                self.passed.append((request, time.monotonic()))
        return self.at(call_name + ".answered")

    def tokens(self):
        """Every access and refresh token that was handed out."""
        with self.lock:
            return set(re.findall(r'"(?:access|refresh)_token": *"([^"]+)"', b"".join(self.answers).decode(errors="replace")))

    def times_sent(self, code):
        """How often a code went through."""
        needle = b"code=" + code.encode()
        with self.lock:
            return sum(needle in request for request in self.token_requests)

    def was_answered_before(self, code, moment):
        """Whether the provider's answer to a code had been handed to the gateway's socket by then."""
        needle = b"code=" + code.encode()
        with self.lock:
            return any(needle in request and at < moment for request, at in self.passed)

    def was_followed_up(self, code):
        """Whether the access token that a code brought was used: the gateway had committed it before."""
        needle = b"code=" + code.encode()
        with self.lock:
            for request, answer in self.exchanges:
                if needle in request:
                    token = json.loads(answer.partition(b"\r\n\r\n")[2]).get("access_token", "")
                    return any(b"Bearer " + token.encode() in asked for asked in self.userinfo_requests)
        return False


def read_message(connection):
    """One HTTP message with a Content-Length, or none where the peer has closed."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return b""
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            length = int(value)
    while len(body) < length:
        piece = connection.recv(65536)
        if not piece:
            return b""
        body += piece
    return head + b"\r\n\r\n" + body


def wait_until(condition, what):
    """Polls until the condition holds; a Failure after the deadline."""
    end = time.monotonic() + DEADLINE
    while not condition():
        if time.monotonic() > end:
            raise Failure(f"not within {DEADLINE:.0f} s: {what}")
        time.sleep(0.005)


def random_word():
    return secrets.token_hex(6)
