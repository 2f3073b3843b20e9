#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A gateway that reaches its provider over TLS with a private authority, and through a proxy that wants a password: from
a configuration file to a consent, and what it says where that does not work. `transport.py --address` also lets the
provider's name lead to another address under constant load, which takes up to five minutes and root."""
import base64
import os
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time

import harness
from harness import Failure, House, Process, Proxy
from operations import ends

PASSWORD = "pass:word-of-the-proxy"
BASIC = base64.b64encode(f"user:{PASSWORD}".encode()).decode()


def certificate(folder, name="localhost"):
    """An authority of one server: (certificate, key)."""
    paths = f"{folder}/{name}.pem", f"{folder}/{name}.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-keyout", paths[1], "-out", paths[0], "-days", "2", "-subj", "/CN=private authority",
                    "-addext", f"subjectAltName=DNS:{name}"], check=True, capture_output=True)
    return paths


class TLSProxy(Proxy):
    """A `Proxy` that is reached over TLS."""

    def __init__(self, target, files, host="localhost", address=("127.0.0.1", 0)):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(*files)
        self.connections = 0
        super().__init__(target, address)
        self.url = f"https://{host}:{self.port}"

    def serve(self, connection):
        try:
            with self.context.wrap_socket(connection, server_side=True) as secured:
                self.connections += 1
                super().serve(secured)
        except (OSError, AttributeError):
            pass


class Connector(harness.Listening):
    """An HTTP proxy that makes tunnels (RFC 9110, 9.3.6) for whoever shows the password."""

    def __init__(self):
        self.heads = []
        super().__init__()
        self.address = f"127.0.0.1:{self.port}"

    def serve(self, connection):
        with connection:
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                piece = connection.recv(1)
                if not piece:
                    return
                head += piece
            self.heads.append(head.decode())
            if f"Proxy-Authorization: Basic {BASIC}\r\n".encode() not in head:
                connection.sendall(b"HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n")
                return
            host, port = head.split(b" ")[1].decode().rsplit(":", 1)
            with socket.create_connection((host, int(port))) as upstream:
                connection.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
                back = threading.Thread(target=self.pump, args=(upstream, connection), daemon=True)
                back.start()
                self.pump(connection, upstream)
                back.join()

    @staticmethod
    def pump(source, target):
        try:
            while piece := source.recv(65536):
                target.sendall(piece)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass


class Site:
    """A house whose provider is behind TLS; gateways on it, each with its own environment."""

    def __init__(self, settings=""):
        self.folder = harness.tempfile.mkdtemp(prefix="consent-gateway-test-tls-")
        self.files = certificate(self.folder)
        self.house = House(provider_settings=settings.format(ca=self.files[0]),
                           through=lambda target: TLSProxy(target, self.files))
        self.config = ["--config", self.house.config]

    def exchange(self, environment=None, code=None):
        """What a gateway with that environment makes of a code."""
        gateway = Process(["serve", *self.config], self.house.log, environment)
        try:
            return self.house.post_code(gateway.ready["api"], code or self.house.fresh_code(), "user")
        finally:
            gateway.stop()

    def close(self):
        if sys.exc_info()[0] is not None:
            with open(self.house.log, errors="replace") as log:
                sys.stderr.write("".join(log.readlines()[-20:]))
        shutil.rmtree(self.folder)
        self.house.close()


def expect(answer, *statuses):
    if answer[0] not in statuses:
        raise Failure(f"answered {answer[0]}: {answer[2]}")


def private_authority():
    site = Site("    ca_file: {ca}\n")
    try:
        expect(site.exchange(), 201)
        ends(["provider", "test", "paypal", *site.config], 0, "takes the client's credentials", "userinfo endpoint")
    finally:
        site.close()
    stranger = Site()
    try:
        code = stranger.house.fresh_code()
        answer = stranger.exchange(code=code)
        expect(answer, 503)
        if answer[2]["code"] != "provider_unavailable" or stranger.house.proxy.times_sent(code):
            raise Failure(f"a certificate that nobody vouches for: {answer[2]}")
        ends(["provider", "test", "paypal", *stranger.config], 1, "was not reached (certificateUntrusted)")
        with open(stranger.house.config, "a") as file:
            file.write(f"    ca_file: {stranger.files[0]}\n")
        expect(stranger.exchange(code=code), 201)
    finally:
        stranger.close()


def proxies():
    """From the file and from the environment; the password is shown to the proxy and to nobody else."""
    connector = Connector()
    site = Site("    ca_file: {ca}\n")
    secret = f"http://user:pass%3Aword-of-the-proxy@{connector.address}"
    shown = f"asked through http://{connector.address}"
    clean = {name: "" for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY")}
    try:
        port = site.house.proxy.port
        for name in ("https_proxy", "HTTPS_PROXY", "ALL_PROXY"):
            before = len(connector.heads)
            expect(site.exchange({**clean, name: secret}), 200, 201)
            if len(connector.heads) == before:
                raise Failure(f"{name} was not used")
            text = ends(["check", *site.config], 0, shown, f"(from {name})", env={**os.environ, **clean, name: secret})
            refuse_password(text)
        if not all(head.startswith(f"CONNECT localhost:{port} HTTP/1.1\r\n") for head in connector.heads):
            raise Failure(f"the proxy was asked for {connector.heads}")
        before = len(connector.heads)
        for name, entry in (("no_proxy", "localhost"), ("NO_PROXY", f".corp,localhost:{port}"), ("NO_PROXY", "*")):
            settings = {key: value for key, value in clean.items() if key != "no_proxy"}
            environment = {**settings, "https_proxy": secret, name: entry}
            if name == "NO_PROXY":
                os.environ.pop("no_proxy", None)
            expect(site.exchange(environment), 200, 201)
            ends(["check", *site.config], 0, "asked without a proxy", env={**os.environ, **environment})
        if len(connector.heads) != before:
            raise Failure("the proxy was used for a host that needs none")
        code = site.house.fresh_code()
        wrong = {**clean, "https_proxy": f"http://user:wrong-word@{connector.address}"}
        answer = site.exchange(wrong, code)
        expect(answer, 503)
        if answer[2]["code"] != "provider_unavailable" or site.house.proxy.times_sent(code):
            raise Failure(f"a proxy that refuses: {answer[2]}")
        ends(["provider", "test", "paypal", *site.config], 1, "was not reached (proxy)", env={**os.environ, **wrong})
        with open(site.house.config, "a") as file:
            file.write("    proxy: { env: PROXY_URL }\n    no_proxy: [10.0.0.0/8]\n")
        before = len(connector.heads)
        expect(site.exchange({**clean, "PROXY_URL": secret, "no_proxy": "*"}, code), 200, 201)
        if len(connector.heads) == before:
            raise Failure("the file's proxy was not used")
        refuse_password(ends(["check", *site.config], 0, shown, env={**os.environ, **clean, "PROXY_URL": secret}))
        site.house.search({PASSWORD, "pass%3Aword-of-the-proxy", BASIC, "wrong-word"})
    finally:
        site.close()
        connector.close()


def refuse_password(text):
    for word in (PASSWORD, "pass%3Aword-of-the-proxy", BASIC, "user:"):
        if word in text:
            raise Failure(f"{word!r} is shown: {text}")


def changed_address():
    """The name leads from 127.0.0.1 to 127.0.0.2 in the gateway's own /etc/hosts, while code after code goes out."""
    folder = harness.tempfile.mkdtemp(prefix="consent-gateway-test-dns-")
    files = certificate(folder, "provider.test")
    hosts, wrapper = f"{folder}/hosts", f"{folder}/gateway"
    with open(hosts, "w") as file:
        file.write("127.0.0.1 localhost provider.test\n")
    with open(wrapper, "w") as file:
        file.write(f'#!/bin/sh\nexec unshare -m sh -c \'mount --bind {hosts} /etc/hosts && exec "$@"\' sh '
                   f'{harness.program()} "$@"\n')
    os.chmod(wrapper, 0o755)
    proxies_of = []

    def through(target):
        first = TLSProxy(target, files, "provider.test")
        proxies_of.extend([first, TLSProxy(target, files, "provider.test", ("127.0.0.2", first.port))])
        return first

    house = House(provider_settings=f"    ca_file: {files[0]}\n", through=through)
    os.environ["GATEWAY"] = wrapper
    gateway = house.serve()
    try:
        def exchange():
            expect(house.post_code(gateway.ready["api"], house.fresh_code(), harness.random_word()), 201)
        exchange()
        with open(hosts, "w") as file:
            file.write("127.0.0.1 localhost\n127.0.0.2 provider.test\n")
        begun = time.monotonic()
        counts = (0, 0)
        while time.monotonic() - begun < 330:
            exchange()
            now = tuple(len(proxy.token_requests) for proxy in proxies_of)
            if now[0] != counts[0]:
                last = time.monotonic() - begun
            counts = now
            if counts[1] > 0 and time.monotonic() - begun - last > 30:
                break
            time.sleep(0.05)
        if counts[1] == 0 or last > 300:
            raise Failure(f"calls at the old and the new address: {counts}, the last at the old one after {last:.0f} s")
        print(f"transport: the last call at the old address {last:.0f} s after the change, {counts} calls in all")
    finally:
        gateway.kill()
        shutil.rmtree(folder)
        house.close()
        proxies_of[1].close()


def main(arguments):
    steps = [private_authority, proxies] + ([changed_address] if "--address" in arguments else [])
    for step in steps:
        begun = time.monotonic()
        step()
        print(f"transport: {step.__name__} ok ({time.monotonic() - begun:.1f} s)")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Failure as failure:
        sys.exit(f"transport: {failure}")
