#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A restart under load: callers post one code after the other on kept connections while the gateway is told to end and
another one starts at its address. No connection may be reset under a request, no answered exchange may be lost, and no
code may be sent twice. `restart.py [CALLERS]` (24)."""
import http.client
import json
import re
import socket
import sys
import threading
import time

from harness import Failure, House, Proxy, call, random_word


class Caller(threading.Thread):
    """Posts codes on one connection for as long as it is kept."""

    def __init__(self, house, port, stop):
        super().__init__(daemon=True)
        self.house, self.port, self.stop = house, port, stop
        self.answered, self.resets, self.refused, self.statuses = {}, 0, 0, {}

    def run(self):
        connection = None
        while not self.stop.is_set():
            code = f"code-for:person-{random_word()}:{random_word()}"
            body = json.dumps({"provider": "paypal", "subject": code[-12:], "response": {"code": code}})
            headers = {"Content-Type": "application/json", **self.house.authorized()}
            while not self.stop.is_set():
                if connection is None:
                    connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
                    try:
                        connection.connect()
                    except ConnectionRefusedError:
                        # Nobody listens between the two: the caller's own retry.
                        connection = None
                        self.refused += 1
                        time.sleep(0.02)
                        continue
                try:
                    connection.request("POST", "/v1/consents", body, headers)
                    answer = connection.getresponse()
                    document = json.loads(answer.read())
                except (OSError, http.client.HTTPException):
                    self.resets += 1
                    connection = None
                    continue
                if answer.will_close:
                    connection.close()
                    connection = None
                self.statuses[answer.status] = self.statuses.get(answer.status, 0) + 1
                if answer.status in (200, 201):
                    self.answered[code] = document["id"]
                    break
                if answer.status != 503:
                    break


def main(callers):
    house = House(through=Proxy)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    text = open(house.config).read()
    with open(house.config, "w") as file:
        file.write(re.sub(r"listen: 127.0.0.1:0", f"listen: 127.0.0.1:{port}", text, count=1))
    stop = threading.Event()
    gateway = house.serve()
    threads = [Caller(house, port, stop) for _ in range(callers)]
    for thread in threads:
        thread.start()
    for _ in range(2):
        time.sleep(1.5)
        gateway.stop()
        gateway = house.serve()
    time.sleep(1.5)
    stop.set()
    for thread in threads:
        thread.join(30)
    answered = {code: name for thread in threads for code, name in thread.answered.items()}
    resets = sum(thread.resets for thread in threads)
    statuses = {}
    for thread in threads:
        for status, count in thread.statuses.items():
            statuses[status] = statuses.get(status, 0) + count
    for code, name in answered.items():
        status, _, record = call(gateway.ready["api"], "GET", f"/v1/consents/{name}", None, house.authorized())
        if status != 200 or record["status"] != "active":
            raise Failure(f"an answered consent is gone: {status} {record}")
    sent = [request.split(b"code=")[1] for request in house.proxy.token_requests]
    gateway.stop()
    house.close()
    print(f"2 restarts under {callers} callers: {len(answered)} exchanges answered and kept, answers {statuses}, "
          f"{resets} resets, {len(sent) - len(set(sent))} codes sent twice")
    if resets or len(sent) != len(set(sent)) or set(statuses) - {200, 201, 503}:
        raise Failure("a restart was felt")
    if not answered:
        raise Failure("nothing was answered")


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 24)
    except Failure as failure:
        sys.exit(f"restart: {failure}")
