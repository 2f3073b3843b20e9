#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Refreshes under torture (run.sh says how): no grant is lost whose answer came, or whose provider allows a retry; no
refresh token goes out while the answer to its last sending could still come or had come; no family is ended; what a lost
answer cost is named ambiguous. One line for each kind of provider and number of processes; exit status 1 where that is
broken."""
import argparse
import base64
import concurrent.futures
import json
import os
import secrets
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request

from ledger import Ledger, check_itself
from rounds import KILL_STEPS, KINDS, LIFETIME, OUTAGE_STEPS, STOP_STEPS, Combination
from watching import Watch

from harness import Failure, Process

PROCESSES = [1, 3]


def share(total, number, of):
    """The number-th of so many parts of a total."""
    return total // of + (number < total % of)


def torment(kind, processes, seed, kills, stops, outages):
    """One combination; prints a line of JSON."""
    begun = time.monotonic()
    figures, breaches = {}, []
    for is_full, parts in ((False, (kills, stops, outages - outages // 2)), (True, (0, 0, outages // 2))):
        if not any(parts):
            continue
        combination = Combination(kind, processes, f"{seed}/{is_full}", is_on_small_disk=is_full)
        if not combination.is_possible:
            print("not run: a full disk (no small file system can be mounted here)", file=sys.stderr)
            combination.close()
            continue
        try:
            run(combination, *parts)
        except Exception:
            print(*combination.ledger.breaches, sep="\n", file=sys.stderr)
            print(f"{kind}, {processes} processes, seed {seed}; the files are in {combination.house.home}",
                  file=sys.stderr)
            raise
        ledger = combination.ledger
        for family in ledger.revoked() - ledger.lost:
            ledger.breach("revoked: the provider ended a family", family)
        add(figures, {
            "kills": combination.kills, "stops": combination.stops, "outages": combination.outages,
            "calls": len(ledger.sendings), "lost": len(ledger.lost), "doubled": ledger.doubled, "early": ledger.early,
            "revoked": len(ledger.revoked()), "ambiguous": len(ledger.named_ambiguous)})
        breaches += ledger.breaches
        figures.setdefault("steps", {})
        add(figures["steps"], {f"{what}: {outcome}": count for (what, outcome), count in combination.tally.items()})
        if ledger.breaches:
            print(f"the files are in {combination.house.home}", file=sys.stderr)
            for gateway in combination.gateways:
                gateway.kill()
        else:
            combination.close()
    print(json.dumps({"kind": kind, "processes": processes, "seed": seed, "seconds": round(time.monotonic() - begun),
                      "figures": figures, "breaches": breaches}))


def add(figures, more):
    for name, value in more.items():
        figures[name] = figures.get(name, 0) + value


def run(combination, kills, stops, outages):
    combination.fill()
    number = 0
    while combination.kills < kills:
        combination.kill_round(*KILL_STEPS[number % len(KILL_STEPS)])
        number += 1
    while combination.stops < stops:
        combination.stop_round(STOP_STEPS[number % len(STOP_STEPS)])
        number += 1
    while combination.outages < outages:
        combination.outage_round(OUTAGE_STEPS[number % len(OUTAGE_STEPS)])
        number += 1
    combination.finish()


def check_watch():
    """A client that sends a token while the answer to its last sending is awaited: the accounts must tell, and that the
    family ended."""
    provider = Process(["simulate", "--listen", "127.0.0.1:0", "--refresh-tokens", "reuse_detection"], os.devnull)
    ledger = Ledger("forbidden", LIFETIME)
    watch = Watch(provider.ready["provider"], ledger)
    asked = threading.Event()

    def post(**form):
        basic = base64.b64encode(b"simulated-client:simulated-secret").decode()
        request = urllib.request.Request(f"{watch.url}/v1/oauth2/token", urllib.parse.urlencode(form).encode(),
                                         {"Authorization": f"Basic {basic}"})
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            return json.load(error)

    try:
        token = post(grant_type="authorization_code", code=f"code-for:rogue:{secrets.token_hex(6)}")["refresh_token"]
        release = threading.Event()

        def at(step, sending):
            if step == "request" and sending.number == 1:
                asked.set()
                release.wait(20)
            return True

        watch.at = at
        first = threading.Thread(target=post, kwargs={"grant_type": "refresh_token", "refresh_token": token})
        first.start()
        asked.wait(20)
        post(grant_type="refresh_token", refresh_token=token)
        release.set()
        first.join(20)
        if ledger.doubled != 1 or not ledger.revoked():
            raise Failure(f"the accounts did not see a doubled call: {ledger.doubled}, {ledger.revoked()}")
    finally:
        watch.close()
        provider.kill()


def check_saboteur():
    """Three gateways, of which one is stopped with the answer on its way, and somebody takes its lock away: the others
    take it for dead and send again, and the accounts must tell."""
    combination = Combination("static", 3, "saboteur")
    over = threading.Event()

    def sabotage():
        while not over.wait(0.02):
            for gateway in list(combination.gateways):
                if is_stopped(gateway.pid):
                    remove_lock(gateway.pid)

    try:
        combination.fill(pool=6)
        threading.Thread(target=sabotage, daemon=True).start()
        for _ in range(3):
            try:
                combination.stop_round("taken")
            except Failure:
                pass
            if combination.ledger.doubled:
                return
        raise Failure("a gateway without its lock was tortured, and no doubled call was found")
    finally:
        over.set()
        combination.close()


def is_stopped(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "T"
    except OSError:
        return False


def remove_lock(pid):
    try:
        for descriptor in os.listdir(f"/proc/{pid}/fd"):
            path = os.readlink(f"/proc/{pid}/fd/{descriptor}")
            if path.endswith(".lock") and "/instances/" in path:
                os.remove(path)
    except OSError:
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("kills", 90), ("stops", 6), ("outages", 12)):
        parser.add_argument(name, type=int, nargs="?", default=default)
    parser.add_argument("--jobs", type=int, default=3, help="combinations side by side")
    parser.add_argument("--seed", default=secrets.token_hex(4))
    parser.add_argument("--only", help="KIND/PROCESSES, as in forbidden/3; prints its JSON")
    given = parser.parse_args()
    if given.only:
        kind, processes = given.only.split("/")
        return torment(kind, int(processes), given.seed, given.kills, given.stops, given.outages)
    missed = check_itself()
    if missed:
        raise Failure(f"the accounts do not find: {', '.join(missed)}")
    check_watch()
    check_saboteur()
    print(f"torture: the accounts find what they must; seed {given.seed}", flush=True)
    combinations = [(kind, processes) for processes in PROCESSES for kind in KINDS]

    def start(number):
        kind, processes = combinations[number]
        parts = [str(share(total, number, len(combinations))) for total in (given.kills, given.stops, given.outages)]
        command = [sys.executable, os.path.abspath(__file__), *parts, "--only", f"{kind}/{processes}",
                   "--seed", given.seed]
        done = subprocess.run(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise Failure(f"{kind}, {processes} processes: not finished; again with: {' '.join(command[1:])}")
        return json.loads(done.stdout)

    is_broken = False
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for future in [pool.submit(start, number) for number in range(len(combinations))]:
            is_broken = report(future.result()) or is_broken
    sys.exit(1 if is_broken else 0)


def report(found):
    figures = found["figures"]
    print(f"{found['kind']:9} {found['processes']} process{'es' if found['processes'] > 1 else '  '}: "
          + ", ".join(f"{figures.get(name, 0)} {name}" for name in (
              "kills", "stops", "outages", "calls", "lost", "doubled", "early", "revoked", "ambiguous"))
          + f" ({found['seconds']} s)", flush=True)
    for breach in found["breaches"]:
        print(f"  seed {found['seed']}: {breach}", flush=True)
    return bool(found["breaches"]) or any(figures.get(name) for name in ("lost", "doubled", "early", "revoked"))


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"torture: {failure}")
