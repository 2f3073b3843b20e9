#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A gateway's SQLite file is moved to PostgreSQL: refused while it runs, killed in the middle and run again, verified;
then the gateway goes on there with its keys, its records, its trails and its refresh tokens. Run under
`Tests/postgres with`."""
import json
import os
import signal
import subprocess
import sys
import time

os.environ["CONSENT_GATEWAY_TEST_STORE"] = "sqlite"
import stores  # noqa: E402
from harness import DEADLINE, Failure, House, call, expect, program  # noqa: E402

CONSENTS = 40
COPIES = 150


def command(house, *arguments):
    done = subprocess.run([program(), *arguments, "--config", house.config, "--json"], capture_output=True,
                          timeout=4 * DEADLINE)
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr.decode()


def fill(house, api):
    """Consents of several kinds; the identifiers of those that live and of those that were withdrawn."""
    made = []
    for number in range(CONSENTS):
        status, _, body = house.post_code(api, house.fresh_code(), f"user-{number}")
        expect(status == 201, f"no consent: {status} {body}")
        made.append(body["id"])
    for consent in made[:5]:
        status, _, body = call(api, "DELETE", f"/v1/consents/{consent}", None, house.authorized())
        expect(status == 200, f"not withdrawn: {status} {body}")
    for consent in made[5:10]:
        status, _, body = call(api, "POST", f"/v1/consents/{consent}/refresh", None, house.authorized())
        expect(status == 200, f"not refreshed: {status} {body}")
    return made[5:], made[:5]


def enlarge(house):
    """Ended codes, so that a move takes long enough to be killed in the middle."""
    house.store.execute([f"""
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {COPIES * 100})
        INSERT INTO code_reservations (digest, provider, environment, subject_index, state, attempt, owner, lease_until,
            lease_boot, lease_length, verdict, updated_at)
        SELECT randomblob(32), 'paypal', 'sandbox', randomblob(32), 'ended', randomblob(16), randomblob(16), 0, '', 0,
            'code_rejected', 1 FROM n"""])


def end_in_the_middle(house, arguments, target, by, after):
    """Ends a move with that signal once so many codes are there; its status, and how many are there then."""
    process = subprocess.Popen([program(), *arguments, "--config", house.config], stderr=subprocess.DEVNULL)
    count = "SELECT count(*) FROM code_reservations"
    end = time.monotonic() + DEADLINE
    while int(target.execute([count])[0][0]) < after:
        expect(process.poll() is None and time.monotonic() < end, "the move ended before it could be ended")
    process.send_signal(by)
    return process.wait(timeout=DEADLINE), int(target.execute([count])[0][0])


def beside_a_stopped_process(house, arguments):
    """One that does nothing, and whose locks are in a folder that the move does not know."""
    os.environ["CONSENT_GATEWAY__STATE_DIR"] = f"{house.folder}/elsewhere"
    gateway = house.serve()
    del os.environ["CONSENT_GATEWAY__STATE_DIR"]
    gateway.process.send_signal(signal.SIGSTOP)
    try:
        status, _, errors = command(house, *arguments)
        expect(status == 1 and f"another process ({gateway.process.pid}) has" in errors, f"stopped: {status} {errors}")
    finally:
        gateway.process.send_signal(signal.SIGCONT)
        gateway.stop()


def move(house, target):
    source = f"sqlite:{house.folder}/consents.db"
    arguments = ["migrate", "--from", source, "--to", target.url]
    gateway = house.serve()
    living, withdrawn = fill(house, gateway.ready["api"])
    status, _, errors = command(house, *arguments)
    expect(status == 1 and "a gateway works on" in errors, f"beside a gateway: {status} {errors}")
    gateway.stop()
    beside_a_stopped_process(house, arguments)
    enlarge(house)
    status, _, errors = command(house, *arguments)
    expect(status == 4 and "consent-gateway migrate" in errors, f"without a schema: {status} {errors}")
    with open(house.config) as file:
        text = file.read()
    with open(house.config, "w") as file:
        file.write(text.replace(house.store.settings, target.settings))
    status, _, errors = command(house, "migrate")
    expect(status == 0, errors)
    status, copied = end_in_the_middle(house, arguments, target, signal.SIGINT, 1000)
    expect(status == 130 and copied < COPIES * 100, f"interrupted: {status} {copied}")
    _, copied = end_in_the_middle(house, arguments, target, signal.SIGKILL, copied + 1000)
    done = subprocess.run([program(), "serve", "--config", house.config], capture_output=True, timeout=DEADLINE)
    expect(done.returncode == 4 and b"migrate --from" in done.stderr, f"served in part: {done.stderr.decode()}")
    with open(f"{house.folder}/consents.db", "rb") as file:
        before = file.read()
    status, found, errors = command(house, "migrate", "--from", source)
    expect(status == 0 and found["moved"], f"not moved: {status} {found} {errors}")
    rows = {table["table"]: table for table in found["tables"]}
    expect(rows["consents"]["rows"] == CONSENTS and found["chains"] == CONSENTS, f"rows: {rows}")
    expect(0 < rows["code_reservations"]["copied_now"] < rows["code_reservations"]["rows"], f"it began anew: {rows}")
    expect(found["root"] == found["source_root"], f"roots: {found}")
    with open(f"{house.folder}/consents.db", "rb") as file:
        expect(file.read() == before, "the file was changed")
    status, found, errors = command(house, "migrate", "--from", source)
    expect(status == 0 and "moved_before_at" in found, f"a second run: {status} {found} {errors}")
    status, _, errors = command(house, "verify")
    expect(status == 0, f"verify: {errors}")
    status, found, errors = command(house, "restore-check")
    expect(status == 0 and not found["behind"], f"restore-check: {found} {errors}")
    gateway = house.serve()
    try:
        api = gateway.ready["api"]
        for consent in living:
            status, _, body = call(api, "POST", f"/v1/consents/{consent}/refresh", None, house.authorized())
            expect((status, body.get("status")) == (200, "active"), f"a refresh: {status} {body}")
        for consent in withdrawn:
            status, _, body = call(api, "GET", f"/v1/consents/{consent}", None, house.authorized())
            expect((status, body["status"]) == (200, "revoked"), f"a withdrawn one: {status} {body}")
    finally:
        gateway.stop()
    return f"killed after {copied} of {COPIES * 100} codes, moved, {len(living)} grants refreshed there"


def main():
    url = os.environ.get("CONSENT_GATEWAY_TEST_POSTGRES")
    if not url:
        raise SystemExit("CONSENT_GATEWAY_TEST_POSTGRES is not set: run this under `Tests/postgres with`")
    begun = time.monotonic()
    house = House(simulator_arguments=["--refresh-tokens", "reuse_detection"])
    target = stores.PostgresDatabase(url)
    try:
        said = move(house, target)
    except Failure:
        sys.stderr.write("".join(house.log_text().splitlines(keepends=True)[-40:]))
        raise
    finally:
        house.close()
        target.remove()
    print(f"moving: {said} ({time.monotonic() - begun:.0f} s)")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"moving: {failure}")
