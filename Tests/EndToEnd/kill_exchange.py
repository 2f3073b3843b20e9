#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SIGKILL at each step of an exchange: every code that the provider took must be a stored consent or a named unknown,
and none may go out twice. Once the gateway has used a code's access token, it must have a consent.
`kill_exchange.py [KILLS]` (default 50)."""
import os
import random
import signal
import sys
import threading
import time

from harness import Failure, House, Proxy, call, random_word, wait_until

# Where the gateway is killed, and for how many milliseconds (at most) it lives on after that step.
STEPS = [
    ("posted", 6), ("token.request", 0), ("token.request then the provider takes it", 0), ("token.answer", 0),
    ("token.answered", 0), ("token.answered", 4), ("userinfo.request", 0), ("userinfo.answer", 0),
    ("userinfo.answered", 0), ("userinfo.answered", 4), ("client.answered", 0),
]
CODES_AT_ONCE = 3


class Round:
    """One life of the gateway, with a few codes on their way when it is killed."""

    def __init__(self, house, step, delay):
        self.house, self.delay = house, delay
        self.step, _, then = step.partition(" then ")
        self.goes_on = bool(then)
        self.gateway = house.serve()
        self.killed = threading.Event()
        self.lock = threading.Lock()
        self.answers = {}

    def at(self, step):
        if step == self.step:
            self.kill()
            return self.goes_on
        return True

    def kill(self):
        with self.lock:
            if self.killed.is_set():
                return
            time.sleep(random.uniform(0, self.delay) / 1000)
            os.kill(self.gateway.pid, signal.SIGKILL)
            self.killed.set()

    def post(self, code, subject):
        try:
            status, _, body = self.house.post_code(self.gateway.ready["api"], code, subject)
            self.answers[code] = (status, body)
            self.at("client.answered")
        except OSError:
            pass

    def run(self, codes):
        self.house.proxy.at = self.at
        threads = [threading.Thread(target=self.post, args=item) for item in codes.items()]
        for thread in threads:
            thread.start()
        self.at("posted")
        for thread in threads:
            thread.join()
        self.kill()
        self.gateway.kill()
        self.house.proxy.at = lambda step: True
        return self.answers


def settle(house, api, code, subject):
    """Sends the same request until its answer is definite."""
    last = []

    def is_definite():
        status, _, body = house.post_code(api, code, subject)
        last[:] = [status, body]
        return not (status == 503 and body["code"] in ("exchange_pending", "provider_unavailable"))

    wait_until(is_definite, f"a definite answer to a code (last: {last})")
    return last[0], last[1]


def check(house, api, code, subject, before):
    """One code after the restart. Returns what became of it."""
    was_sent = house.proxy.times_sent(code) > 0
    status, body = settle(house, api, code, subject)
    if house.proxy.times_sent(code) > 1:
        raise Failure("a code was sent twice")
    if before and before[0] in (200, 201):
        if status != 200 or body["id"] != before[1]["id"]:
            raise Failure(f"an answered consent is gone: {status} {body}")
    if status in (200, 201):
        found, _, record = call(api, "GET", f"/v1/consents/{body['id']}", None, house.authorized())
        if found != 200 or record["status"] != "active":
            raise Failure(f"a consent cannot be read: {found} {record}")
        return "consent"
    if house.proxy.was_followed_up(code):
        raise Failure(f"tokens were committed and are lost: {status} {body}")
    if status == 504 and body["code"] == "exchange_unknown":
        # Reserved and not seen at the provider: the gateway cannot tell that from a lost answer, and must not guess.
        return "unknown" if was_sent else "unknown (never arrived)"
    raise Failure(f"a code ended as {status} {body}")


def main(kills):
    house = House(through=Proxy)
    tally = {}
    subjects = {}
    followed_up = 0
    for number in range(kills):
        step, delay = STEPS[number % len(STEPS)]
        codes = {house.fresh_code(): f"user-{number}-{index}" for index in range(CODES_AT_ONCE)}
        subjects.update(codes)
        before = Round(house, step, delay).run(codes)
        followed_up += sum(house.proxy.was_followed_up(code) for code in codes)
        gateway = house.serve()
        for code, subject in codes.items():
            outcome = check(house, gateway.ready["api"], code, subject, before.get(code))
            tally[(step, outcome)] = tally.get((step, outcome), 0) + 1
        gateway.kill()
    gateway = house.serve()
    for code, subject in subjects.items():
        check(house, gateway.ready["api"], code, subject, None)
    gateway.stop()
    house.close()
    for (step, outcome), count in sorted(tally.items()):
        print(f"{step:45} {outcome:24} {count}")
    taken = sum(tally.values())
    if kills >= len(STEPS) and not followed_up:
        raise Failure("no kill came after tokens were committed")
    print(f"{kills} kills, {taken} codes ({followed_up} with tokens committed before the kill): sent twice 0, lost 0, "
          f"{sum(n for (_, outcome), n in tally.items() if outcome != 'consent')} named unknown")


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
    except Failure as failure:
        sys.exit(f"kill_exchange: {failure}")
