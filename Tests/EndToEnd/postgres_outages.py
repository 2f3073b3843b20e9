#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instances on one PostgreSQL, and what happens to it, under load: the server goes away for five seconds; its
connections are cut, again and again; it is killed with SIGKILL; instances are killed and restarted one after the other;
a newer release's migration is applied under them.
Every code is handed to two instances at the same time. Nothing may be sent twice, and nothing that was answered may be
lost. `postgres_outages.py [SCENARIO...]`."""
import os
import random
import subprocess
import sys
import threading
import time

os.environ["CONSENT_GATEWAY_TEST_STORE"] = "postgres"
import stores  # noqa: E402
from harness import DEADLINE, Failure, House, Proxy, call, expect, program, random_word, wait_until  # noqa: E402

CALLERS = 6
SETTINGS = ("    refresh_token_reuse: forbidden\n"
            "    timeouts: { connect: 1s, total: 3s, answer: 20s }\n")
# What a caller may be told and shall try again.
PASSING = {"provider_unavailable", "exchange_pending", "internal"}


class Load:
    """Callers that hand each code to two instances at once, and go on until it is a consent."""

    def __init__(self, house, gateways, callers=CALLERS):
        self.house, self.gateways = house, gateways
        self.over = threading.Event()
        self.lock = threading.Lock()
        self.consents, self.problems, self.statuses = {}, [], {}
        self.threads = [threading.Thread(target=self.run, daemon=True) for _ in range(callers)]
        for thread in self.threads:
            thread.start()

    def post(self, code, subject, found):
        """Until a definite answer."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                status, _, body = self.house.post_code(random.choice(self.gateways).ready["api"], code, subject, 20)
            except OSError:
                # Nobody listens there, or it was killed under the request: the caller's own retry.
                time.sleep(0.05)
                continue
            with self.lock:
                self.statuses[status] = self.statuses.get(status, 0) + 1
            if status in (200, 201):
                found.append(body["id"])
                return
            if body["code"] == "exchange_unknown":
                found.append("unknown")
                return
            if body["code"] not in PASSING:
                found.append(f"{status} {body}")
                return
            time.sleep(0.05)
        found.append("no definite answer in a minute")

    def run(self):
        while not self.over.is_set():
            code, subject = f"code-for:person-{random_word()}:{random_word()}", f"user-{random_word()}"
            found = []
            pair = [threading.Thread(target=self.post, args=(code, subject, found)) for _ in range(2)]
            for thread in pair:
                thread.start()
            for thread in pair:
                thread.join()
            with self.lock:
                if len(set(found)) != 1 or not (found[0] == "unknown" or found[0].startswith("cns_")):
                    self.problems.append(f"{code}: {found}")
                else:
                    self.consents[code] = (found[0], subject)

    def end(self):
        self.over.set()
        for thread in self.threads:
            thread.join(90)
            expect(not thread.is_alive(), "a caller had no answer for 90 s")


def readiness(gateway):
    try:
        status, _, body = call(gateway.ready["admin"], "GET", "/readyz", timeout=10)
        return status, body
    except OSError:
        return None, None


def settle(house, gateways, load, may_be_unknown):
    """Ends the load and looks at every consent: there, active, and refreshable; every code sent once at most."""
    wait_until(lambda: all(readiness(one)[0] == 200 for one in gateways), "every instance is ready again")
    time.sleep(1)
    load.end()
    expect(not load.problems, f"{len(load.problems)} codes came to a bad end: {load.problems[:3]}")
    named = [code for code, (consent, _) in load.consents.items() if consent == "unknown"]
    expect(may_be_unknown or not named, f"{len(named)} codes were named unknown, and nobody was killed")
    kept = {code: consent for code, (consent, _) in load.consents.items() if consent != "unknown"}
    expect(kept, "nothing was exchanged")
    for code in load.consents:
        sent = house.proxy.times_sent(code)
        expect(sent <= 1, f"{code} was sent {sent} times")
    for number, consent in enumerate(kept.values()):
        api = gateways[number % len(gateways)].ready["api"]
        status, _, body = call(api, "GET", f"/v1/consents/{consent}", None, house.authorized())
        expect(status == 200 and body["status"] in ("active", "failing"), f"an answered consent: {status} {body}")
    for consent in list(kept.values())[-10:]:
        status, _, body = call(gateways[0].ready["api"], "POST", f"/v1/consents/{consent}/refresh", None,
                               house.authorized())
        expect(status == 200 and body["status"] == "active", f"cannot be refreshed: {status} {body}")
    return f"{len(kept)} consents, {len(named)} named unknown, answers {dict(sorted(load.statuses.items()))}"


def serve(house, count=2):
    return [house.serve() for _ in range(count)]


def away(house, server):
    """Five seconds without the server: not ready, codes unspent, everything well afterwards."""
    gateways = serve(house)
    load = Load(house, gateways)
    time.sleep(1.5)
    server.do("stopped")
    begun = time.monotonic()
    wait_until(lambda: all(readiness(one)[0] == 503 for one in gateways), "/readyz says that it cannot work")
    code, subject = house.fresh_code(), f"user-{random_word()}"
    status, headers, body = house.post_code(gateways[0].ready["api"], code, subject)
    expect(status == 503 and headers["Retry-After"], f"without a store a code was answered {status} {body}")
    expect(house.proxy.times_sent(code) == 0, "a code was spent without a store")
    time.sleep(max(0.0, 5 - (time.monotonic() - begun)))
    server.do("started")
    said = settle(house, gateways, load, may_be_unknown=False)
    status, _, body = house.post_code(gateways[0].ready["api"], code, subject)
    # Where the connection broke under its reservation, that was awaited (`exchange_pending`), and the code goes its way
    # once the server is back: then the same request finds the consent.
    expect(status in (200, 201), f"the unspent code was answered {status} {body}")
    expect(house.proxy.times_sent(code) == 1, "the code of the outage was not sent once")
    return gateways, said


def cut(house, server):
    """Every connection is ended by an administrator, ten times."""
    gateways = serve(house)
    load = Load(house, gateways)
    for _ in range(10):
        time.sleep(0.3)
        stores.psql(server.url, ["SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                                 f"WHERE datname = '{house.store.name}' AND pid <> pg_backend_pid()"])
    return gateways, settle(house, gateways, load, may_be_unknown=False)


def killed(house, server):
    """SIGKILL to every process of the server, three times."""
    gateways = serve(house)
    load = Load(house, gateways)
    for _ in range(3):
        time.sleep(1)
        server.do("kill")
        time.sleep(0.5)
        server.do("started")
    return gateways, settle(house, gateways, load, may_be_unknown=False)


def instances_killed(house, server):
    """SIGKILL to one of three instances, again and again; another takes its place."""
    gateways = serve(house, 3)
    load = Load(house, gateways)
    for _ in range(9):
        time.sleep(0.4)
        number = random.randrange(len(gateways))
        gateways[number].kill()
        gateways[number] = house.serve()
    return gateways, settle(house, gateways, load, may_be_unknown=True)


def rolling(house, server):
    """Three instances are told to end and replaced, one after the other."""
    gateways = serve(house, 3)
    load = Load(house, gateways)
    for number in range(3):
        time.sleep(0.7)
        # Before it ends nobody is sent to it any more, as a balancer does.
        old, gateways[number] = gateways[number], house.serve()
        old.stop()
    return gateways, settle(house, gateways, load, may_be_unknown=False)


# What a newer release may do to the tables, in one transaction under the lock of migrations, as Migrations.swift does
# it: add what this release never asks for.
NEWER = ["SELECT pg_advisory_xact_lock(17223, 2)",
         "ALTER TABLE code_reservations ADD COLUMN newer_word text",
         "ALTER TABLE consents ADD COLUMN newer_word text, ADD COLUMN newer_number bigint NOT NULL DEFAULT 0",
         "ALTER TABLE events ADD COLUMN newer_word text",
         "CREATE INDEX consents_newer ON consents (newer_number) WHERE newer_number > 0",
         "CREATE TABLE newer_table (id bytea NOT NULL PRIMARY KEY)",
         "INSERT INTO schema_migrations (version, checksum, applied_at, works_from) "
         "SELECT max(version) + 1, '00', 0, max(version) FROM schema_migrations"]
# One that the release before cannot begin on.
MUCH_NEWER = ("INSERT INTO schema_migrations (version, checksum, applied_at, works_from) "
              "SELECT max(version) + 1, '00', 0, max(version) FROM schema_migrations")


def migrated(house, server):
    """A newer release's migration under load: what runs goes on, and one that dies is replaced by its like; where the
    release before is not fit for it, what would begin says what to do."""
    gateways = serve(house, 3)
    load = Load(house, gateways)
    time.sleep(1.5)
    begun, tries = time.monotonic(), 0
    while True:
        tries += 1
        try:
            stores.psql(house.store.url, ["SET LOCAL lock_timeout = '2s'", *NEWER])
            break
        except OSError as error:
            # Its locks are taken in an order of its own, so one side of a deadlock may be it.
            expect("deadlock" in str(error) or "lock timeout" in str(error), f"the migration: {error}")
            expect(tries < 10, "the migration does not get through")
    took = time.monotonic() - begun
    time.sleep(1)
    gateways[0].kill()
    gateways[0] = house.serve()
    time.sleep(1)
    said = settle(house, gateways, load, may_be_unknown=True)
    stores.psql(house.store.url, [MUCH_NEWER])
    for command, status in (("serve", 4), ("migrate", 4), ("check", None)):
        done = subprocess.run([program(), command, "--config", house.config], capture_output=True, timeout=DEADLINE)
        expect(b"run the newer program" in done.stdout + done.stderr, f"{command}: {done.stdout + done.stderr}")
        expect(done.returncode == status or not status and done.returncode, f"{command} ended with {done.returncode}")
    return gateways, f"{said}; the migration took {took:.1f} s and {tries} tries; the second one refuses a start"


SCENARIOS = {"away": away, "cut": cut, "killed": killed, "instances_killed": instances_killed, "rolling": rolling,
             "migrated": migrated}


def main(names):
    for name in names or SCENARIOS:
        server = stores.PostgresServer()
        os.environ["CONSENT_GATEWAY_TEST_POSTGRES"] = server.url
        house = House(simulator_arguments=["--refresh-tokens", "reuse_detection"], provider_settings=SETTINGS,
                      through=Proxy)
        gateways = []
        try:
            begun = time.monotonic()
            gateways, said = SCENARIOS[name](house, server)
            print(f"{name}: {said} ({time.monotonic() - begun:.0f} s)", flush=True)
            for gateway in gateways:
                gateway.stop()
            gateways = []
        except Failure:
            sys.stderr.write("".join(house.log_text().splitlines(keepends=True)[-40:]))
            raise
        finally:
            for gateway in gateways:
                gateway.process.kill()
            house.close()
            server.remove()


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Failure as failure:
        sys.exit(f"postgres_outages: {failure}")
