#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instances on PostgreSQL whose machines' clocks are five minutes ahead and behind: what they write bears the server's
time, and a gate holds for both as long as it was closed for. Run under `Tests/postgres with`."""
import datetime
import os
import re
import subprocess
import sys
import time

os.environ["CONSENT_GATEWAY_TEST_STORE"] = "postgres"
from harness import Failure, House, Process, call, expect  # noqa: E402

WRONG_BY = (300, -300)
# Seconds that may lie between two readings of one clock on a busy machine.
SLACK = 15


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def serve(house, wrong_by):
    library = f"{house.folder}/wrong_clock.so"
    if not os.path.exists(library):
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "wrong_clock.c")
        subprocess.run(["clang", "-O2", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o", library, source],
                       check=True)
    return Process(["serve", "--config", house.config], house.log,
                   {"LD_PRELOAD": library, "WRONG_BY": str(wrong_by)})


def play(house):
    gateways = [serve(house, wrong_by) for wrong_by in WRONG_BY]
    try:
        told = [seconds(stamp) for stamp in re.findall(r"^(\d{4}-\S+Z) ", house.log_text(), re.MULTILINE)]
        for wrong_by in WRONG_BY:
            expect(any(abs(stamp - time.time() - wrong_by) < SLACK for stamp in told), f"no clock is off by {wrong_by}")
        for number, gateway in enumerate(gateways):
            status, _, body = house.post_code(gateway.ready["api"], house.fresh_code(), f"user-{number}")
            expect(status == 201 and abs(seconds(body["created_at"]) - time.time()) < SLACK, f"kept: {status} {body}")
            status, _, body = call(gateway.ready["api"], "POST", f"/v1/consents/{body['id']}/refresh", None,
                                   house.authorized())
            expect(status == 200 and abs(seconds(body["last_refreshed_at"]) - time.time()) < SLACK,
                   f"refreshed: {status} {body}")
        now = int(time.time() * 1000)
        house.store.execute([f"""
            INSERT INTO provider_states (provider, environment, gate_since, gate_until, throttles, updated_at)
            VALUES ('paypal', 'sandbox', {now}, {now + 120_000}, 1, {now})
            ON CONFLICT (provider, environment) DO UPDATE SET gate_since = excluded.gate_since,
                gate_until = excluded.gate_until"""])
        waits = []
        for number, gateway in enumerate(gateways):
            status, headers, body = house.post_code(gateway.ready["api"], house.fresh_code(), f"late-{number}")
            expect(status == 503, f"through a closed gate: {status} {body}")
            waits.append(int({name.lower(): value for name, value in dict(headers).items()}["retry-after"]))
        expect(all(120 - SLACK <= wait <= 121 for wait in waits), f"waits: {waits}")
    finally:
        for gateway in gateways:
            gateway.stop()
    return f"Retry-After {waits[0]} and {waits[1]} s of a gate of 120 s"


def main():
    begun = time.monotonic()
    house = House()
    try:
        said = play(house)
    except Failure:
        sys.stderr.write("".join(house.log_text().splitlines(keepends=True)[-40:]))
        raise
    finally:
        house.close()
    print(f"clocks: {said} ({time.monotonic() - begun:.0f} s)")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"clocks: {failure}")
