#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A provider that speaks HTTP/2 (python3-h2): with `http2: true` codes, refreshes and profiles go over it; without, and
where the provider does not offer it, over HTTP/1.1; and a connection that is ended under a code sends it once."""
import contextlib
import http.client
import ssl
import sys
import tempfile

import h2.config
import h2.connection
import h2.errors
import h2.events
import harness
from harness import Failure, House, call
from transport import certificate


class HTTP2Proxy(harness.Listening):
    """Answers HTTP/2 with what the provider behind it says; counts what came. HTTP/1.1 where it is not asked for."""

    def __init__(self, target, files, offers=("h2", "http/1.1")):
        self.target = target.removeprefix("http://")
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(*files)
        self.context.set_alpn_protocols(list(offers))
        self.protocols, self.bodies, self.ends_token_calls = [], [], False
        super().__init__()
        self.url = f"https://localhost:{self.port}"

    def serve(self, plain):
        try:
            with self.context.wrap_socket(plain, server_side=True) as connection:
                if connection.selected_alpn_protocol() == "h2":
                    self.serve_h2(connection)
                else:
                    self.serve_h1(connection)
        except OSError:
            pass

    def forward(self, method, path, headers, body):
        self.bodies.append(body)
        upstream = http.client.HTTPConnection(self.target, timeout=20)
        upstream.request(method, path, body or None, headers)
        answer = upstream.getresponse()
        return answer.status, answer.getheader("Content-Type", "application/json"), answer.read()

    def serve_h1(self, connection):
        while request := harness.read_message(connection):
            head, _, body = request.partition(b"\r\n\r\n")
            lines = head.decode().split("\r\n")
            method, path, _ = lines[0].split(" ")
            fields = dict(line.split(": ", 1) for line in lines[1:] if not line.lower().startswith("host"))
            self.protocols.append("http/1.1")
            status, kind, content = self.forward(method, path, fields, body)
            connection.sendall(f"HTTP/1.1 {status} x\r\nContent-Type: {kind}\r\nContent-Length: {len(content)}\r\n\r\n"
                               .encode() + content)

    def serve_h2(self, connection):
        state = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        state.initiate_connection()
        connection.sendall(state.data_to_send())
        streams = {}
        while data := connection.recv(65536):
            for event in state.receive_data(data):
                if isinstance(event, h2.events.RequestReceived):
                    streams[event.stream_id] = (dict(event.headers), bytearray())
                elif isinstance(event, h2.events.DataReceived):
                    streams[event.stream_id][1].extend(event.data)
                    state.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                elif isinstance(event, h2.events.StreamEnded):
                    self.protocols.append("h2")
                    if not self.answer(state, event.stream_id, *streams.pop(event.stream_id)):
                        connection.sendall(state.data_to_send())
                        return
            connection.sendall(state.data_to_send())

    def answer(self, state, stream, headers, body):
        path = headers[":path"]
        if self.ends_token_calls and "/oauth2/token" in path:
            self.bodies.append(bytes(body))
            # As if nothing had been processed: another client may send it again.
            state.close_connection(error_code=h2.errors.ErrorCodes.NO_ERROR, last_stream_id=0)
            return False
        fields = {name: value for name, value in headers.items() if not name.startswith(":")}
        status, kind, content = self.forward(headers[":method"], path, fields, bytes(body))
        state.send_headers(stream, [(":status", str(status)), ("content-type", kind)])
        state.send_data(stream, content, end_stream=True)
        return True

    def tokens(self):
        return set()


@contextlib.contextmanager
def site(settings, offers=("h2", "http/1.1")):
    """A house whose provider speaks that, over TLS."""
    with tempfile.TemporaryDirectory(prefix="consent-gateway-test-h2-") as folder:
        files = certificate(folder)
        house = House(provider_settings=f"    ca_file: {files[0]}\n{settings}",
                      through=lambda target: HTTP2Proxy(target, files, offers))
        try:
            yield house
        finally:
            house.close()


def consents(settings, offers, protocol):
    with site(settings, offers) as house:
        gateway = house.serve()
        api = gateway.ready["api"]
        for number in range(20):
            status, _, body = house.post_code(api, house.fresh_code(), f"user-{number}")
            if status != 201 or body["profile_status"] != "current":
                raise Failure(f"{settings!r}: {status} {body}")
            status, _, body = call(api, "POST", f"/v1/consents/{body['id']}/refresh", None, house.authorized())
            if status != 200 or body["status"] != "active":
                raise Failure(f"{settings!r}: refresh {status} {body}")
        gateway.stop()
        if set(house.proxy.protocols) != {protocol} or len(house.proxy.protocols) != 60:
            raise Failure(f"{settings!r}: {len(house.proxy.protocols)} calls over {set(house.proxy.protocols)}")


def ended_connection():
    with site("    http2: true\n    timeouts: { connect: 1s, total: 3s, answer: 5s }\n") as house:
        gateway = house.serve()
        house.proxy.ends_token_calls = True
        code = house.fresh_code()
        status, _, body = house.post_code(gateway.ready["api"], code, "user")
        if status != 504 or body["code"] != "exchange_unknown":
            raise Failure(f"a connection that ended under a code: {status} {body}")
        sent = sum(b"code=" + code.encode() in body for body in house.proxy.bodies)
        if sent != 1:
            raise Failure(f"the code was sent {sent} times")
        gateway.stop()


def main():
    consents("    http2: true\n", ("h2", "http/1.1"), "h2")
    consents("    http2: true\n", ("http/1.1",), "http/1.1")
    consents("", ("h2", "http/1.1"), "http/1.1")
    print("http2: spoken where it is asked for and offered, HTTP/1.1 else ok")
    ended_connection()
    print("http2: a connection that ends under a code sends it once ok")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"http2: {failure}")
