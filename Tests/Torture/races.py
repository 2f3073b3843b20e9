#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Races on one grant and on many, counted at the provider: twenty processes that refresh one grant at once; two hundred
callers who want its lapsed access token; a withdrawal while its refresh is under way; an answer that comes after
`total`; and a store that takes no writes for five seconds while three hundred grants are refreshed.
`races.py [NAME…]`."""
import concurrent.futures
import os
import subprocess
import sys
import threading
import time

from ledger import Ledger
from watching import Watch

import stores
from harness import Failure, House, call, expect, program, run, wait_until
from store_outage import Lock

PROCESSES = 20
CALLERS = 200
GRANTS = 300


class Race:
    """A house whose provider rotates refresh tokens and ends a grant whose old one comes back."""

    def __init__(self, settings="", arguments=()):
        self.ledger = Ledger("forbidden", 900, time.monotonic())
        self.house = House(
            simulator_arguments=["--refresh-tokens", "reuse_detection", *arguments],
            provider_settings="    refresh_token_reuse: forbidden\n" + settings,
            through=lambda url: Watch(url, self.ledger), scopes=",tokens:read")
        self.watch, self.gateways, self.arrived = self.house.proxy, [], threading.Event()
        self.watch.at = self.note
        self.release = threading.Event()

    def note(self, step, sending):
        if step == "request":
            self.arrived.set()
        return True

    def hold_answers(self):
        """Until `release` is set."""
        def at(step, sending):
            self.note(step, sending)
            if step == "answer":
                self.release.wait(60)
            return True

        self.watch.at = at

    def serve(self):
        gateway = self.house.serve()
        self.gateways.append(gateway)
        return gateway.ready["api"]

    def consent(self, api, name="user"):
        status, _, body = self.house.post_code(api, self.house.fresh_code(), name)
        if status != 201:
            raise Failure(f"no consent: {status} {body}")
        return body["id"]

    def ask(self, api, method, path, body=None):
        status, _, found = call(api, method, f"/v1/consents/{path}", body, self.house.authorized(), timeout=60)
        return status, found

    def calls(self):
        return len(self.ledger.sendings)

    def rows(self, query):
        return self.house.store.execute([query])

    def write(self, statement):
        self.house.store.execute([statement])

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        for gateway in self.gateways:
            gateway.kill()
        if kind is None and self.ledger.breaches:
            raise Failure(self.ledger.breaches[0])
        self.house.close()


def twenty_processes():
    """On a machine that starves one of them, it reads the record only after the answer was kept, and rightly refreshes
    once more, with the new token: then the race was none, and is held again."""
    for _ in range(3):
        calls = race_of_processes()
        if calls == 1:
            return f"{PROCESSES} processes, 1 call"
    raise Failure(f"{PROCESSES} processes made {calls} calls")


def race_of_processes():
    with Race() as race:
        api = race.serve()
        consent = race.consent(api)
        race.hold_answers()
        command = [program(), "refresh", consent, "--config", race.house.config, "--json"]
        started = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                   for _ in range(PROCESSES)]
        try:
            wait_until(lambda: all_run(race.house, started), "all of the processes run")
            # Whoever reads the record after the answer was kept would ask for a second refresh, and rightly get it.
            wait_until(quiet([one.pid for one in started]), "all of the processes wait")
        except Failure:
            for one in started:
                one.kill()
            raise
        race.release.set()
        ends = [(one.communicate(timeout=60)[0].decode(), one.returncode) for one in started]
        tokens = {sending.token for sending in race.ledger.sendings}
        expect(len(tokens) == race.calls(), f"{race.calls()} calls with {len(tokens)} tokens: one went out twice")
        bad = [end for end in ends if end[1] != 0]
        expect(not bad, f"{len(bad)} of {PROCESSES} processes did not take it for done, such as {bad[:1]}")
        return race.calls()


def all_run(house, started):
    """Each has taken its lock; a Failure where one has ended."""
    for one in started:
        if one.poll() is not None:
            raise Failure(f"a process ended with {one.returncode} while the answer was awaited: {one.stdout.read()}")
    if stores.kind() == "postgres":
        return house.store.execute(["SELECT count(*) FROM instances WHERE left_at IS NULL"])[0][0] > len(started)
    return len(os.listdir(f"{house.folder}/instances")) > len(started)


def quiet(pids):
    """Whether none of them has used the processor for more than polling needs in half a second."""
    def ticks():
        total = 0
        for pid in pids:
            with open(f"/proc/{pid}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            total += int(fields[11]) + int(fields[12])
        return total

    def is_quiet():
        before = ticks()
        time.sleep(0.5)
        return ticks() - before < len(pids)
    return is_quiet


def two_hundred_callers():
    with Race("    access_tokens: on\n", ["--fault", "expires_in=2"]) as race:
        api = race.serve()
        consent = race.consent(api)
        time.sleep(2.1)
        race.hold_answers()
        threading.Thread(target=lambda: (race.arrived.wait(60), time.sleep(1.0), race.release.set())).start()
        with concurrent.futures.ThreadPoolExecutor(CALLERS) as pool:
            answers = list(pool.map(lambda _: race.ask(api, "POST", f"{consent}/access-token", {}), range(CALLERS)))
        expect(race.calls() == 1, f"{CALLERS} callers made {race.calls()} calls")
        expect({status for status, _ in answers} == {200}, f"answers: {sorted({status for status, _ in answers})}")
        expect(len({body["access_token"] for _, body in answers}) == 1, "not all got the same token")
    return f"{CALLERS} callers, 1 call, one token"


def withdrawal():
    with Race() as race:
        settings = open(race.house.config).read()
        with open(race.house.config, "w") as file:
            file.write(settings + f"    revocation_endpoint: {race.watch.url}/v1/oauth2/token/terminate\n")
        api = race.serve()
        consent = race.consent(api)
        race.hold_answers()
        revoked = []
        race.watch.on_revocation = revoked.append
        old = list(race.watch.newest_tokens)
        asker = threading.Thread(target=race.ask, args=(api, "POST", f"{consent}/refresh"))
        asker.start()
        race.arrived.wait(30)
        status, body = race.ask(api, "DELETE", consent)
        expect((status, body["status"]) == (200, "revoked"), f"the withdrawal was answered {status} {body}")
        race.release.set()
        asker.join(60)
        wait_until(lambda: race.rows("SELECT count(*) FROM revocation_outbox")[0][0] == 4, "four tokens in the outbox")
        new = [token for token in race.watch.newest_tokens if token not in old]
        [(status, generation, tokens)] = race.rows("SELECT status, generation, tokens_sealed FROM consents")
        expect((status, generation, tokens) == ("revoked", 1, None), f"stored: {status}, generation {generation}")
        kinds = [kind for (kind,) in race.rows("SELECT token_kind FROM revocation_outbox ORDER BY due_at, id")]
        expect(kinds == ["refresh_token", "access_token"] * 2, f"queued: {kinds}")
        wait_until(lambda: run("job", "--config", race.house.config) and len(revoked) >= 4, f"revocations: {revoked}")
        # The withdrawal's own pair may be out before the answer came; of each pair the refresh token goes first.
        first_new = min(revoked.index(token) for token in new)
        expect(set(revoked) == {*old, *new}, "not both pairs were revoked")
        told = "" if first_new == 0 else " (the old pair was out before the answer came)"
        if first_new:
            expect(first_new == 2, "the old pair was split")
    return f"nothing stored, both pairs revoked, the new one first{told}"


def late_answer():
    with Race("    timeouts: { connect: 3s, total: 10s, answer: 60s }\n") as race:
        api = race.serve()
        consent = race.consent(api)
        race.watch.hold = lambda: 12.0
        begun = time.monotonic()
        status, body = race.ask(api, "POST", f"{consent}/refresh")
        waited = time.monotonic() - begun
        expect(status == 503 and 9.5 < waited < 12, f"after {waited:.1f} s the caller was told {status} {body}")
        race.watch.hold = lambda: 0.0
        wait_until(lambda: race.rows("SELECT generation FROM consents")[0][0] == 2, "the late answer is kept")
        status, body = race.ask(api, "POST", f"{consent}/refresh")
        expect((status, body["status"]) == (200, "active"), f"afterwards: {status} {body}")
        expect(race.calls() == 2, f"{race.calls()} calls")
    return "an answer of 12 s at total: 10s is kept"


def drain():
    with Race("    timeouts: { connect: 1s, total: 5s, answer: 30s }\n") as race:
        api = race.serve()
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            consents = list(pool.map(lambda number: race.consent(api, f"user-{number}"), range(GRANTS)))
        race.gateways.pop().stop()
        race.write("UPDATE consents SET due_at = created_at")
        race.watch.hold = lambda: 0.02
        lock, locked = Lock(race.house), threading.Event()

        def at(step, sending):
            if step == "answer" and sending.number == GRANTS // 3:
                lock.take()
                locked.set()
                threading.Timer(5, lock.release).start()
            return True

        race.watch.at = at
        command = [program(), "refresh", "--due", "--concurrency", "16", "--config", race.house.config, "--json"]
        passes = 0
        while passes < 10 and race.rows("SELECT count(*) FROM consents WHERE generation < 2")[0][0]:
            subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
            passes += 1
        expect(locked.is_set(), "the store was never out of reach")
        lock.close()
        [(generations, failures, active)] = race.rows(
            "SELECT count(*) FILTER (WHERE generation = 2), sum(refresh_failures),"
            " count(*) FILTER (WHERE status = 'active') FROM consents")
        expect((generations, failures, active) == (GRANTS, 0, GRANTS),
               f"of {GRANTS} grants {generations} have new tokens, {active} are active; {failures} failures counted")
        blamed = race.rows("SELECT count(*) FROM events WHERE type = 'consent.refresh_failed'")[0][0]
        expect(not blamed, f"{blamed} failures in the trails")
        expect(race.calls() == GRANTS, f"{race.calls()} calls for {GRANTS} grants")
        expect(len(consents) == GRANTS, "not all were made")
    return f"{GRANTS} grants, 5 s without writes: {GRANTS} calls, no attempt counted, {passes} passes"


RACES = [twenty_processes, two_hundred_callers, withdrawal, late_answer, drain]


def main():
    chosen = [race for race in RACES if not sys.argv[1:] or race.__name__ in sys.argv[1:]]
    failed = False
    with concurrent.futures.ThreadPoolExecutor(1) as background:
        late = background.submit(timed, late_answer) if late_answer in chosen else None
        for race in chosen:
            begun = time.monotonic()
            try:
                text, seconds = late.result() if race is late_answer else timed(race)
                print(f"races: {text} ({seconds:.1f} s)", flush=True)
            except Failure as failure:
                failed = True
                print(f"races: {race.__name__}: {failure} ({time.monotonic() - begun:.1f} s)", flush=True)
    sys.exit(1 if failed else 0)


def timed(race):
    begun = time.monotonic()
    return race(), time.monotonic() - begun


if __name__ == "__main__":
    main()
