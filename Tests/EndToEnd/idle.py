#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ten thousand connections that say nothing: whoever has something to say is answered all the same, the one too many is
told so, and the silent ones are let go at their deadline. `idle.py [CONNECTIONS]` (10000, as server.limits)."""
import resource
import socket
import sys
import time

from harness import DEADLINE, Failure, House, call, wait_until


def main(count):
    resource.setrlimit(resource.RLIMIT_NOFILE, (count + 500, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    house = House()
    gateway = house.serve()
    api = gateway.ready["api"]
    port = int(api.rsplit(":", 1)[1])
    # One of the limit is for the caller who has something to say.
    idle = [socket.create_connection(("127.0.0.1", port), timeout=DEADLINE) for _ in range(count - 1)]
    status, _, body = house.post_code(api, house.fresh_code(), "user")
    if status != 201:
        raise Failure(f"beside {len(idle)} idle connections a code was answered {status} {body}")
    idle.append(socket.create_connection(("127.0.0.1", port), timeout=DEADLINE))
    # Each loop takes in what waits at its own listener, so the last of them may not have been counted yet.
    wait_until(
        lambda: call(api, "GET", "/v1/consents", None, house.authorized())[0] == 503,
        "one connection too many is refused")
    idle[0].settimeout(DEADLINE)
    began = time.monotonic()
    if idle[0].recv(1):
        raise Failure("a silent connection was answered")
    for connection in idle:
        connection.settimeout(DEADLINE)
        connection.recv(1)
        connection.close()
    status, _, _ = call(api, "GET", "/v1/consents", None, house.authorized())
    if status != 200:
        raise Failure(f"after the silent ones had gone a call was answered {status}")
    gateway.stop()
    house.close()
    print(f"{count} idle connections: answered beside them, one too many refused, all let go "
          f"{time.monotonic() - began:.0f} s later")


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
    except Failure as failure:
        sys.exit(f"idle: {failure}")
