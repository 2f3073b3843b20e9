#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two gateways behind PgBouncer in transaction mode: without an address past it a start is refused; with one, consents
are kept and refreshed by both under load, and an instance that is killed is noticed by the other."""
import os
import subprocess
import sys
import threading
import time

os.environ["CONSENT_GATEWAY_TEST_STORE"] = "postgres"
import stores  # noqa: E402
from harness import DEADLINE, Failure, House, call, expect, program, wait_until  # noqa: E402

CALLERS = 8
EACH = 10


def write(house, settings):
    with open(house.config) as file:
        text = file.read()
    with open(house.config, "w") as file:
        file.write(text.replace(house.store.settings, settings))
    house.store.settings = settings


def exchange(house, api, name, made, faults):
    for number in range(EACH):
        status, _, body = house.post_code(api, house.fresh_code(), f"{name}-{number}")
        (made if status == 201 else faults).append(body.get("id") if status == 201 else (status, body))


def load(house, gateways):
    made, faults = [], []
    threads = [threading.Thread(target=exchange, args=(house, gateways[number % 2].ready["api"], f"user-{number}", made,
                                                       faults)) for number in range(CALLERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect(not faults, f"{len(faults)} exchanges failed: {faults[:3]}")
    return made


def work(house, pooled):
    direct = house.store.url
    write(house, f'store: {{ url: "{pooled}", pool: 6 }}\nstate_dir: .\n')
    done = subprocess.run([program(), "serve", "--config", house.config], capture_output=True, timeout=DEADLINE)
    expect(done.returncode == 4 and b"store.direct_url" in done.stderr, f"without an address: {done.stderr.decode()}")
    write(house, f'store: {{ url: "{pooled}", direct_url: "{direct}", pool: 6 }}\nstate_dir: .\n')
    done = subprocess.run([program(), "check", "--config", house.config], capture_output=True, timeout=DEADLINE)
    expect(done.returncode == 0, f"check: {done.stdout.decode()}")
    gateways = [house.serve() for _ in range(2)]
    try:
        made = load(house, gateways)
        for number, consent in enumerate(made):
            status, _, body = call(gateways[number % 2].ready["api"], "POST", f"/v1/consents/{consent}/refresh", None,
                                   house.authorized())
            expect((status, body.get("status")) == (200, "active"), f"a refresh: {status} {body}")
        statement = "SELECT count(*) FROM instances WHERE left_at IS NULL AND seen_at > " \
                    "extract(epoch FROM clock_timestamp()) * 1000 - 10000"

        def alive():
            return int(house.store.execute([statement])[0][0])

        expect(alive() == 2, f"{alive()} live")
        gateways.pop().kill()
        wait_until(lambda: alive() == 1, "one lives")
        status, _, body = house.post_code(gateways[0].ready["api"], house.fresh_code(), "afterwards")
        expect(status == 201, f"afterwards: {status} {body}")
    finally:
        for gateway in gateways:
            gateway.stop()
    done = subprocess.run([program(), "verify", "--config", house.config], capture_output=True, timeout=DEADLINE)
    expect(done.returncode == 0, f"verify: {done.stdout.decode()}")
    return f"{len(made)} consents kept and refreshed on two server connections"


def main():
    begun = time.monotonic()
    server = stores.PostgresServer()
    os.environ["CONSENT_GATEWAY_TEST_POSTGRES"] = server.url
    house = House(simulator_arguments=["--refresh-tokens", "reuse_detection"])
    try:
        said = work(house, stores.with_database(server.do("pooler").strip(), house.store.name))
    except Failure:
        sys.stderr.write("".join(house.log_text().splitlines(keepends=True)[-40:]))
        raise
    finally:
        house.close()
        server.remove()
    print(f"pooler: {said} ({time.monotonic() - begun:.0f} s)")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"pooler: {failure}")
