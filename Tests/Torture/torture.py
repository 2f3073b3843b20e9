#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Refreshes under torture (run.sh says how): no grant is lost whose answer came, or whose provider allows a retry; no
refresh token goes out while the answer to its last sending could still come or had come; no family is ended; what a lost
answer cost is named ambiguous. Whether an answer had arrived is told by what was kept when a process died: ledger.py.
A line for each piece that is done, then one for each kind of provider and number of processes, then all as JSON; exit
status 1 where any of that is broken."""
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

from ledger import ENOUGH_TO_SAVE, Ledger, check_itself
from rounds import KILL_STEPS, KINDS, LEASE_STEPS, LIFETIME, OUTAGE_STEPS, SHORT_LEASE, STOP_STEPS, Combination
from watching import Watch, is_stopped

import stores
from harness import Failure, Process

PROCESSES = [1, 3]
# On PostgreSQL a killed process counts as alive for ten seconds more, and each kill waits for that: more side by side.
KILLS_A_PIECE = 25 if stores.kind() == "postgres" else 70


def share(total, number, of):
    """The number-th of so many parts of a total."""
    return total // of + (number < total % of)


def add(figures, more):
    for name, value in more.items():
        figures[name] = figures.get(name, 0) + value


def torment(job, seed):
    """One job; prints a line of JSON."""
    begun = time.monotonic()
    found = {"key": job["key"], "kind": job["kind"], "processes": job["processes"], "seed": seed, "figures": {},
             "steps": {}, "breaches": [], "longest_gap": 0}
    combination = Combination(job["kind"], job["processes"], f"{seed}/{job['key']}", part=job["key"].split("/")[2],
                              lease=SHORT_LEASE if job["long_stops"] else None)
    if not combination.is_possible:
        print("not run: a full disk (no small file system can be mounted here)", file=sys.stderr)
        combination.close()
        return print(json.dumps(found))
    try:
        run(combination, job)
    except Exception:
        print(*combination.ledger.breaches, sep="\n", file=sys.stderr)
        print(f"{job['key']}, seed {seed}; the files are in {combination.house.home}", file=sys.stderr)
        for gateway in combination.gateways:
            gateway.kill()
        raise
    ledger = combination.ledger
    for family in ledger.revoked() - ledger.lost:
        ledger.breach("revoked: the provider ended a family", family)
    late = [gap for gap in ledger.gaps if gap >= ENOUGH_TO_SAVE]
    if late:
        ledger.breaches.append(f"late: {len(late)} answers were not kept {max(late):.2f} s after they were delivered")
    found["figures"] = {
        "kills": combination.kills, "stops": combination.stops, "long stops": combination.long_stops,
        "outages": combination.outages, "verdicts": combination.verdicts, "calls": len(ledger.sendings),
        "lost": len(ledger.lost), "doubled": ledger.doubled, "early": ledger.early, "revoked": len(ledger.revoked()),
        "ambiguous": len(ledger.named_ambiguous), "outlived": len(ledger.outlived), "gaps": len(ledger.gaps)}
    found["longest_gap"] = round(max(ledger.gaps, default=0), 4)
    found["steps"] = {f"{what}: {outcome}": count for (what, outcome), count in combination.tally.items()}
    found["breaches"] = ledger.breaches
    if ledger.breaches:
        print(f"the files are in {combination.house.home}", file=sys.stderr)
        for gateway in combination.gateways:
            gateway.kill()
    else:
        combination.close()
    found["seconds"] = round(time.monotonic() - begun)
    print(json.dumps(found))


def run(combination, job):
    combination.fill()
    number = combination.random.randrange(len(KILL_STEPS)) if job["kills"] > len(KILL_STEPS) else 0
    for turn in range(job["verdicts"]):
        combination.verdict_round(2)
    kills, outages = combination.kills + job["kills"], combination.outages + job["outages"]
    while combination.kills < kills:
        combination.kill_round(*KILL_STEPS[number % len(KILL_STEPS)])
        number += 1
    while combination.stops < job["stops"]:
        combination.stop_round(STOP_STEPS[number % len(STOP_STEPS)])
        number += 1
    while combination.outages < outages:
        combination.outage_round(OUTAGE_STEPS[number % len(OUTAGE_STEPS)])
        number += 1
    tries = 0
    while combination.long_stops < job["long_stops"] and tries < 20:
        combination.long_stop_round(LEASE_STEPS[(job["first"] + tries) % len(LEASE_STEPS)])
        tries += 1
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
                    take_for_dead(combination, gateway.pid)

    try:
        combination.fill(pool=6)
        threading.Thread(target=sabotage, daemon=True).start()
        for _ in range(8):
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


def take_for_dead(combination, pid):
    """Whatever tells the others that a process lives is taken away."""
    if stores.kind() == "postgres":
        combination.house.store.execute(["UPDATE instances SET left_at = 1"])
        return
    try:
        for descriptor in os.listdir(f"/proc/{pid}/fd"):
            path = os.readlink(f"/proc/{pid}/fd/{descriptor}")
            if path.endswith(".lock") and "/instances/" in path:
                os.remove(path)
    except OSError:
        pass


def jobs_of(given):
    """What is run, each piece with a store and a provider of its own; the longest waits first."""
    combinations = [(kind, processes) for processes in PROCESSES for kind in KINDS]
    found = []

    def pieces_of(part, number, pieces, first=0, **counts):
        kind, processes = combinations[number]
        for piece in range(pieces):
            job = {name: share(counts.get(name, 0), piece, pieces)
                   for name in ("kills", "stops", "outages", "verdicts", "long_stops")}
            if any(job.values()):
                found.append({"key": f"{kind}/{processes}/{part}/{piece}", "kind": kind, "processes": processes,
                              "first": first + piece, **job})

    for number in range(len(combinations)):
        stops = share(given.long_stops, number, len(combinations))
        pieces_of("lease", number, stops, first=number, long_stops=stops)
    for number in range(len(combinations)):
        parts = {name: share(getattr(given, name), number, len(combinations))
                 for name in ("kills", "stops", "outages", "verdicts")}
        # On PostgreSQL connections are cut as well.
        cut = parts["outages"] // 3 if stores.kind() == "postgres" else 0
        full = (parts["outages"] - cut) // 2
        parts["outages"] -= full + cut
        pieces_of("lock", number, max(1, parts["kills"] // KILLS_A_PIECE), **parts)
        pieces_of("disk", number, max(1, full // 10), outages=full)
        pieces_of("cut", number, max(1, cut // 10), outages=cut)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("kills", 90), ("stops", 6), ("outages", 12)):
        parser.add_argument(name, type=int, nargs="?", default=default)
    parser.add_argument("--verdicts", type=int, help="rounds with everybody refused; default 6, or a fiftieth of KILLS")
    parser.add_argument("--long-stops", type=int, help="stops beyond the lease, 40 s each; default 5 for each 50 STOPS")
    parser.add_argument("--jobs", type=int, default=8 if stores.kind() == "postgres" else 4, help="pieces side by side")
    parser.add_argument("--seed", default=secrets.token_hex(4))
    parser.add_argument("--results", help="a file with a line of JSON a piece; pieces that are there are not run again")
    parser.add_argument("--only", help="a piece, as in forbidden/3/lock/0; prints its JSON")
    given = parser.parse_args()
    given.verdicts = max(6, given.kills // 50) if given.verdicts is None else given.verdicts
    given.long_stops = given.stops // 50 * 5 if given.long_stops is None else given.long_stops
    jobs = jobs_of(given)
    if given.only:
        return torment(next(job for job in jobs if job["key"] == given.only), given.seed)
    missed = check_itself()
    if missed:
        raise Failure(f"the accounts do not find: {', '.join(missed)}")
    check_watch()
    check_saboteur()
    print(f"torture: the accounts find what they must; seed {given.seed}", flush=True)
    sys.exit(0 if run_all(jobs, given) else 1)


def run_all(jobs, given):
    """Whether all is well."""
    begun, done, failures = time.monotonic(), earlier(given.results, jobs), []
    left = [job for job in jobs if job["key"] not in done]
    numbers = ["--verdicts", f"{given.verdicts}", "--long-stops", f"{given.long_stops}", "--seed", given.seed]

    def start(job):
        command = [sys.executable, os.path.abspath(__file__), f"{given.kills}", f"{given.stops}", f"{given.outages}",
                   *numbers, "--only", job["key"]]
        ended = subprocess.run(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        return json.loads(ended.stdout) if ended.returncode == 0 else " ".join(command[1:])

    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for future in concurrent.futures.as_completed([pool.submit(start, job) for job in left]):
            found = future.result()
            if isinstance(found, str):
                failures.append(found)
                print(f"torture: not finished; again with: {found}", flush=True)
                continue
            done[found["key"]] = found
            if given.results:
                with open(given.results, "a") as file:
                    file.write(json.dumps(found) + "\n")
            print(f"torture: {len(done)} of {len(jobs)} after {time.monotonic() - begun:.0f} s: {found['key']} "
                  f"({found.get('seconds', 0)} s)", flush=True)
            for breach in found["breaches"]:
                print(f"  seed {found['seed']}: {breach}", flush=True)
    return report(list(done.values()), round(time.monotonic() - begun)) and not failures


def earlier(path, jobs):
    """The pieces that were run before and are asked for now."""
    if not path or not os.path.exists(path):
        return {}
    keys = {job["key"] for job in jobs}
    with open(path) as file:
        found = [json.loads(line) for line in file]
    return {one["key"]: one for one in found if one["key"] in keys}


def report(found, seconds):
    """A line for each kind and number of processes, and all of it as JSON; whether all is well."""
    total, steps, is_well = {}, {}, True
    for kind, processes in sorted({(one["kind"], one["processes"]) for one in found}, key=lambda item: item[::-1]):
        mine = [one for one in found if (one["kind"], one["processes"]) == (kind, processes)]
        figures = {}
        for one in mine:
            add(figures, one["figures"])
            add(steps, one["steps"])
            is_well = is_well and not one["breaches"]
        add(total, figures)
        print(f"{kind:9} {processes} process{'es' if processes > 1 else '  '}: "
              + ", ".join(f"{count} {name}" for name, count in figures.items())
              + f" (the longest {1000 * max(one['longest_gap'] for one in mine):.0f} ms)", flush=True)
    longest = max((one["longest_gap"] for one in found), default=0)
    print("torture: " + json.dumps({"figures": total, "longest_gap": longest, "steps": steps, "seconds": seconds}))
    return is_well and not any(total.get(name) for name in ("lost", "doubled", "early", "revoked"))


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"torture: {failure}")
