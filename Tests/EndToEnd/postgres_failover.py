#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The primary is killed with SIGKILL and its replica promoted, while two instances serve; their URL names both servers.

Synchronous: what was answered is there, and everything goes on by itself. Asynchronous, with the replica behind: the
instances notice that the store has gone back, nothing is refreshed until an operator accepts it, and what was withdrawn
since is withdrawn again. `postgres_failover.py [synchronous|asynchronous...]`."""
import contextlib
import json
import os
import subprocess
import sys
import time
import urllib.parse

os.environ["CONSENT_GATEWAY_TEST_STORE"] = "postgres"
import stores  # noqa: E402
from harness import DEADLINE, Failure, House, Proxy, call, expect, program, wait_until  # noqa: E402
from postgres_outages import Load, SETTINGS, readiness, settle  # noqa: E402


def both(first, second, name):
    """A URL that finds whichever of the two takes writes."""
    ports = [urllib.parse.urlsplit(url).port for url in (first, second)]
    return (f"postgres://tester@127.0.0.1:{ports[0]},127.0.0.1:{ports[1]}/{name}"
            "?target_session_attrs=read-write&connect_timeout=2")


def build(primary, replica):
    """A house on both."""
    os.environ["CONSENT_GATEWAY_TEST_POSTGRES"] = primary.url
    house = House(simulator_arguments=["--refresh-tokens", "reuse_detection"], provider_settings=SETTINGS, through=Proxy)
    text = open(house.config).read()
    with open(house.config, "w") as file:
        file.write(text.replace(house.store.url, both(primary.url, replica.url, house.store.name)))
    # What the harness asks and removes is what is there in the end.
    house.store.server_url = replica.url
    house.store.url = stores.with_database(replica.url, house.store.name)
    return house


def refreshing(gateway):
    status, body = readiness(gateway)
    return body["refreshing"] if status == 200 else None


@contextlib.contextmanager
def two_instances():
    """A primary, its replica, and a house on both with two instances: all of it gone afterwards."""
    primary = stores.PostgresServer()
    replica = primary.replica()
    house, gateways = build(primary, replica), []
    try:
        gateways += [house.serve() for _ in range(2)]
        yield primary, replica, house, gateways
        while gateways:
            gateways.pop().stop()
    except Failure:
        sys.stderr.write("".join(house.log_text().splitlines(keepends=True)[-40:]))
        raise
    finally:
        for gateway in gateways:
            gateway.process.kill()
        house.close()
        for server in (primary, replica):
            server.remove()


def synchronous():
    with two_instances() as (primary, replica, house, gateways):
        stores.psql(primary.url, ["ALTER SYSTEM SET synchronous_standby_names = 'follower'"])
        stores.psql(primary.url, ["SELECT pg_reload_conf()"])
        load = Load(house, gateways)
        time.sleep(2)
        primary.do("kill")
        replica.do("promote")
        wait_until(lambda: all(readiness(one)[0] == 200 for one in gateways), "both work with the promoted server")
        time.sleep(1)
        said = settle(house, gateways, load, may_be_unknown=False)
        for gateway in gateways:
            expect(refreshing(gateway) == "on", f"refreshing is {refreshing(gateway)} though nothing was lost")
        return said


def command(house, *arguments):
    done = subprocess.run([program(), *arguments, "--config", house.config, "--json"], capture_output=True,
                          timeout=DEADLINE)
    return done.returncode, json.loads(done.stdout) if done.stdout else None


def ask(house, gateway, method, path):
    status, _, body = call(gateway.ready["api"], method, f"/v1/consents/{path}", None, house.authorized())
    return status, body


def asynchronous():
    with two_instances() as (primary, replica, house, gateways):
        made = []
        for number in range(6):
            status, _, body = house.post_code(gateways[number % 2].ready["api"], house.fresh_code(), f"user-{number}")
            expect(status == 201, f"no consent: {status} {body}")
            made.append(body["id"])
        kept, rotated, withdrawn = made[:3], made[3:5], made[5:]
        time.sleep(0.5)
        replica.do("stopped")
        before = stores.psql(stores.with_database(primary.url, house.store.name), ["SELECT max(epoch) FROM store_identity"])
        wait_until(lambda: stores.psql(stores.with_database(primary.url, house.store.name),
                                       ["SELECT max(epoch) FROM store_identity"]) != before, "the next epoch")
        for consent in rotated:
            status, body = ask(house, gateways[0], "POST", f"{consent}/refresh")
            expect(status == 200, f"not refreshed: {status} {body}")
        for consent in withdrawn:
            status, body = ask(house, gateways[1], "DELETE", consent)
            expect(status == 200, f"not withdrawn: {status} {body}")
        primary.do("kill")
        replica.do("started")
        replica.do("promote")
        wait_until(lambda: all(refreshing(one) == "stopped" for one in gateways), "every instance stops refreshing")
        sent = len(house.proxy.token_requests)
        status, body = ask(house, gateways[0], "GET", kept[0])
        expect((status, body["status"]) == (200, "active"), f"a record of the replica: {status} {body}")
        status, body = ask(house, gateways[0], "POST", f"{kept[0]}/refresh")
        expect(status == 503, f"a refresh was answered {status} {body}")
        expect(len(house.proxy.token_requests) == sent, "a refresh token of the replica went out")
        status, found = command(house, "restore-check")
        missing = {item["consent"] for item in found["withdrawals_missing"]}
        expect(status == 1 and missing == set(withdrawn), f"restore-check: {status} {found}")
        status, found = command(house, "restore-check", "--accept")
        expect(status == 0 and set(found["withdrawn"]) == set(withdrawn), f"restore-check --accept: {status} {found}")
        wait_until(lambda: all(refreshing(one) == "on" for one in gateways), "refreshing goes on")
        for consent in kept:
            status, body = ask(house, gateways[0], "POST", f"{consent}/refresh")
            expect((status, body["status"]) == (200, "active"), f"a grant that was not touched: {status} {body}")
        for consent in rotated:
            ask(house, gateways[1], "POST", f"{consent}/refresh")
            _, body = ask(house, gateways[1], "GET", consent)
            expect((body["status"], body["status_reason"]) == ("reauthorization_required", "restored_backup"),
                   f"a grant whose token was spent: {body}")
        return f"{len(kept)} grants go on, {len(rotated)} named restored_backup, {len(withdrawn)} withdrawn again"


def main(names):
    for name in names or ("synchronous", "asynchronous"):
        begun = time.monotonic()
        print(f"{name}: {globals()[name]()} ({time.monotonic() - begun:.0f} s)", flush=True)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Failure as failure:
        sys.exit(f"postgres_failover: {failure}")
