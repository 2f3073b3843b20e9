#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SIGKILL at each step of an exchange, and SIGSTOP at each step for longer than `answer`: every code that the provider
took must be a stored consent or a named unknown, and none may go out twice. Once the gateway has used a code's access
token, it must have a consent; what was only stopped must have one wherever the provider's answer had arrived. Every
consent's refresh token must work. Against a provider whose refresh tokens are static, rotate, and betray a second use.
`kill_exchange.py [KILLS [STOPS]]`, for each kind of provider (default 17 and 3)."""
import os
import random
import signal
import sys
import threading
import time

from harness import DEADLINE, Failure, House, Proxy, call, wait_until

# Where the gateway is killed, and for how many milliseconds (at most) it lives on after that step.
STEPS = [
    ("posted", 6), ("token.request", 0), ("token.request then the provider takes it", 0), ("token.answer", 0),
    ("token.answered", 0), ("token.answered", 4), ("userinfo.request", 0), ("userinfo.answer", 0),
    ("userinfo.answered", 0), ("userinfo.answered", 4), ("client.answered", 0),
]
# Where the gateway is stopped.
STOPS = ["posted", "token.request", "token.answer", "token.answered", "userinfo.request", "userinfo.answered"]
CODES_AT_ONCE = 3
KINDS = ["static", "rotating", "reuse_detection"]
TIMEOUTS = "    timeouts: { connect: 1s, total: 2s, answer: 3s }\n"
STOPPED_FOR = 3.5


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


class StoppedRound(Round):
    """One life of the gateway, stopped for longer than `answer` while a few codes are on their way. Another instance on
    the same store is asked for the same codes meanwhile."""

    def __init__(self, house, step):
        super().__init__(house, step, 0)
        self.goes_on = True
        self.stopped = threading.Event()
        self.went_on = None
        self.other = house.serve()

    def at(self, step):
        with self.lock:
            if step != self.step or self.stopped.is_set():
                return True
            os.kill(self.gateway.pid, signal.SIGSTOP)
            self.stopped.set()
        threading.Timer(STOPPED_FOR, self.go_on).start()
        return True

    def go_on(self):
        self.went_on = time.monotonic()
        os.kill(self.gateway.pid, signal.SIGCONT)

    def run(self, codes):
        self.house.proxy.at = self.at
        posters = [threading.Thread(target=self.post, args=item) for item in codes.items()]
        for poster in posters:
            poster.start()
        self.at("posted")
        if not self.stopped.wait(DEADLINE):
            raise Failure(f"the gateway never came to {self.step}")
        askers = [threading.Thread(target=self.ask_other, args=item) for item in codes.items()]
        for asker in askers:
            asker.start()
        for thread in posters + askers:
            thread.join()
        self.house.proxy.at = lambda step: True
        return self.answers

    def ask_other(self, code, subject):
        status, _, body = self.house.post_code(self.other.ready["api"], code, subject)
        if status not in (200, 201) and (status, body["code"]) != (503, "exchange_pending"):
            raise_later(f"another instance said of a code on its way: {status} {body}")

    def end(self):
        self.gateway.stop()
        self.other.stop()


later = []


def raise_later(text):
    """A failure in a thread that is not the main one."""
    later.append(text)


def settle(house, api, code, subject):
    """Sends the same request until its answer is definite."""
    last = []

    def is_definite():
        status, _, body = house.post_code(api, code, subject)
        last[:] = [status, body]
        return not (status == 503 and body["code"] in ("exchange_pending", "provider_unavailable"))

    wait_until(is_definite, f"a definite answer to a code (last: {last})")
    return last[0], last[1]


def check_record(house, api, consent, refreshes):
    """The record is there, and its grant lives on."""
    path, method = f"/v1/consents/{consent}", "GET"
    if refreshes:
        path, method = path + "/refresh", "POST"
    status, _, record = call(api, method, path, None, house.authorized())
    if status != 200 or record["status"] != "active":
        raise Failure(f"a consent's grant is not alive: {status} {record}")


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
        check_record(house, api, body["id"], refreshes=not before or before[0] not in (200, 201))
        return "consent"
    if house.proxy.was_followed_up(code):
        raise Failure(f"tokens were committed and are lost: {status} {body}")
    if status == 504 and body["code"] == "exchange_unknown":
        # Reserved and not seen at the provider: the gateway cannot tell that from a lost answer, and must not guess.
        return "unknown" if was_sent else "unknown (never arrived)"
    raise Failure(f"a code ended as {status} {body}")


def kill(house, kills, tally, subjects):
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
            tally[("killed at " + step, outcome)] = tally.get(("killed at " + step, outcome), 0) + 1
        gateway.kill()
    if kills >= len(STEPS) and not followed_up:
        raise Failure("no kill came after tokens were committed")


def stop(house, stops, tally, subjects):
    for number in range(stops):
        step = STOPS[number % len(STOPS)]
        codes = {house.fresh_code(): f"user-s{number}-{index}" for index in range(CODES_AT_ONCE)}
        subjects.update(codes)
        round = StoppedRound(house, step)
        before = round.run(codes)
        for code, subject in codes.items():
            outcome = check(house, round.gateway.ready["api"], code, subject, before.get(code))
            if outcome == "unknown" and house.proxy.was_answered_before(code, round.went_on):
                raise Failure(f"stopped at {step}: the provider answered, and the code is named unknown")
            tally[("stopped at " + step, outcome)] = tally.get(("stopped at " + step, outcome), 0) + 1
        if later:
            raise Failure(later[0])
        round.end()


def main(kills, stops):
    for kind in KINDS:
        house = House(through=Proxy, simulator_arguments=["--refresh-tokens", kind], provider_settings=TIMEOUTS)
        tally, subjects = {}, {}
        kill(house, kills, tally, subjects)
        stop(house, stops, tally, subjects)
        gateway = house.serve()
        for code, subject in subjects.items():
            check(house, gateway.ready["api"], code, subject, None)
        gateway.stop()
        house.close()
        for (step, outcome), count in sorted(tally.items()):
            print(f"{step:52} {outcome:24} {count}")
        unknown = sum(count for (_, outcome), count in tally.items() if outcome != "consent")
        print(f"{kind}: {kills} kills and {stops} stops, {sum(tally.values())} codes: "
              f"sent twice 0, lost 0, {unknown} named unknown\n")


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 17, int(sys.argv[2]) if len(sys.argv) > 2 else 3)
    except Failure as failure:
        sys.exit(f"kill_exchange: {failure}")
