#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A provider that knows its clients by their certificates (RFC 8705): what goes over the wire, what becomes of a code
where the certificate is not taken, and a certificate that is renewed under a running gateway."""
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile

import harness
from harness import Failure, Process, call, random_word, read_message, wait_until
from operations import ends


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


def authority(folder, name):
    """An authority, which is a server's own certificate too: (certificate, key)."""
    paths = f"{folder}/{name}.pem", f"{folder}/{name}.key"
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", paths[1],
            "-out", paths[0], "-days", "2", "-subj", f"/CN={name}", "-addext", "subjectAltName=DNS:localhost")
    return paths


def issue(folder, name, issuer):
    """A client's certificate by that authority, with its key in one file, as tools that renew them write it."""
    key, request, certificate = (f"{folder}/{name}.{end}" for end in ("key", "csr", "crt"))
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", request,
            "-subj", f"/CN={name}")
    openssl("x509", "-req", "-in", request, "-CA", issuer[0], "-CAkey", issuer[1], "-out", certificate, "-days", "2")
    with open(certificate) as first, open(key) as second:
        return first.read() + second.read()


class Bank(harness.Listening):
    """A token endpoint that takes nobody without a certificate of its own authority."""

    def __init__(self, files, clients):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(*files)
        self.context.load_verify_locations(clients)
        self.context.verify_mode = ssl.CERT_REQUIRED
        self.requests = []
        super().__init__()
        self.url = f"https://localhost:{self.port}"

    def serve(self, connection):
        try:
            with self.context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False) as secured:
                try:
                    secured.do_handshake()
                except ssl.SSLError:
                    return leave_open(secured)
                subject = dict(pair[0] for pair in secured.getpeercert()["subject"])
                while request := read_message(secured):
                    self.requests.append((subject["commonName"], request.decode()))
                    body = {"sub": "person", "email": "jane@example.com"} if request.startswith(b"GET") else {
                        "access_token": "access-" + random_word(), "refresh_token": "refresh-" + random_word(),
                        "token_type": "Bearer", "expires_in": 3600, "scope": "openid email"}
                    text = json.dumps(body).encode()
                    secured.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
                                    + str(len(text)).encode() + b"\r\n\r\n" + text)
        except OSError:
            pass


def leave_open(secured):
    """What a client of TLS 1.3 has sent by then is read, as servers do: closed over it, the alert would be lost to a
    reset, and nobody could tell any more that nothing was done."""
    secured.settimeout(5)
    socket.socket.shutdown(secured, socket.SHUT_WR)
    while socket.socket.recv(secured, 65536):
        pass


def write(path, text, mode=0o600):
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, mode)


def configure(folder, bank, server):
    config = f"{folder}/gateway.yaml"
    write(config, f"""\
server: {{ listen: "127.0.0.1:0", admin_listen: "127.0.0.1:0" }}
store: {{ url: "sqlite:consents.db" }}
vault: {{ keys: {{ file: vault-keys.json }} }}
providers:
  bank:
    token_endpoint: {bank.url}/token
    userinfo_endpoint: {bank.url}/userinfo
    revocation_endpoint: {bank.url}/revoke
    token_endpoint_auth_method: tls_client_auth
    client_id: shop
    client_certificate: client.pem
    ca_file: {server[0]}
    scopes: [openid, email]
    id_token: ignored
    pkce: optional
""")
    harness.run("keys", "init", "--config", config)
    return config


def exchange(gateway, key, code):
    return call(gateway.ready["api"], "POST", "/v1/consents", {"provider": "bank", "subject": "user", "code": code},
                {"Authorization": f"Bearer {key}"})


def expect(answer, status, code=None):
    if answer[0] != status or (code and answer[2]["code"] != code):
        raise Failure(f"answered {answer[0]}, not {status}: {answer[2]}")


def lives(folder, bank, config, clients):
    """A code that the bank's doors stay closed to is unspent; the renewed certificate opens them without a restart."""
    made = harness.run("keys", "api", "create", "test", "--config", config, "--json", "--scopes",
                       "consents:read,consents:write,profiles:read")
    key = json.loads(made)["key"]
    log = f"{folder}/gateway.log"
    gateway = Process(["serve", "--config", config], log)
    try:
        expect(exchange(gateway, key, "code-1"), 503, "provider_unavailable")
        if bank.requests:
            raise Failure(f"a stranger's request was taken: {bank.requests}")
        write(f"{folder}/client.pem", issue(folder, "shop-client", clients))
        gateway.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "secrets and vault keys were read again" in open(log).read(), "the files were read again")
        answer = None

        def taken():
            nonlocal answer
            answer = exchange(gateway, key, "code-1")
            return answer[0] != 503
        wait_until(taken, "the provider is asked again")
        expect(answer, 201)
        record = "/v1/consents/" + answer[2]["id"]
        expect(call(gateway.ready["api"], "POST", record + "/refresh", None, {"Authorization": f"Bearer {key}"}), 200)
        expect(call(gateway.ready["api"], "DELETE", record, None, {"Authorization": f"Bearer {key}"}), 200)
        wait_until(lambda: any("/revoke" in text for _, text in bank.requests), "the bank hears of the withdrawal")
        gateway.stop()
    finally:
        gateway.kill()
    for name, text in bank.requests:
        if name != "shop-client" or "Authorization: Basic" in text or "client_secret" in text:
            raise Failure(f"shown by {name}: {text}")
        if text.startswith("POST") and "client_id=shop" not in text.partition("\r\n\r\n")[2]:
            raise Failure(f"without client_id: {text}")
    sent = [text for _, text in bank.requests if "code=code-1" in text]
    if len(sent) != 1:
        raise Failure(f"the code was sent {len(sent)} times")


def refused(folder, config, good):
    """What cannot be shown is named before anything is served."""
    path = f"{folder}/client.pem"
    write(path, good, 0o644)
    ends(["check", "--config", config], 1, "providers.bank.client_certificate", "its mode is 0644")
    certificate, _, key = good.partition("-----BEGIN PRIVATE KEY")
    write(path, certificate)
    ends(["check", "--config", config], 1, "there is no private key in PEM, or one under a passphrase")
    other = f"{folder}/other.key"
    openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", other)
    with open(other) as file:
        write(path, certificate + file.read())
    ends(["serve", "--config", config], 3, "the certificate and the private key do not belong together")
    locked = f"{folder}/locked.key"
    openssl("pkey", "-in", other, "-aes256", "-passout", "pass:word", "-out", locked)
    with open(locked) as file:
        write(path, certificate + file.read())
    ends(["serve", "--config", config], 3, "there is no private key in PEM, or one under a passphrase")
    write(path, good)
    ends(["check", "--config", config], 0, "providers.bank")


def main():
    folder = tempfile.mkdtemp(prefix="consent-gateway-test-mtls-")
    server, clients, strangers = (authority(folder, name) for name in ("server", "clients", "strangers"))
    bank = Bank(server, clients[0])
    try:
        config = configure(folder, bank, server)
        write(f"{folder}/client.pem", issue(folder, "stranger", strangers))
        lives(folder, bank, config, clients)
        refused(folder, config, issue(folder, "shop-client", clients))
        shutil.rmtree(folder)
    finally:
        bank.close()
    print("client certificates: ok")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"client certificates: {failure}")
