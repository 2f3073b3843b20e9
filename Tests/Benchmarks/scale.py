#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A store with a million consents: finding and claiming a hundred that are due, the same beside fifty thousand overdue
ones of another provider, and draining real grants: calls a second, CPU of a refresh against a duty of the same provider
call and the same commits, memory, what a live caller notices, and a store that refuses writes for five seconds in the
middle. See scale.sh. Exits 1 where a limit is missed."""
import argparse
import http.client
import json
import os
import secrets
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "EndToEnd"))
from exchanges import Started, cpu_seconds  # noqa: E402

BIN = os.environ["BIN"]
LIMITS = {"finding": 5.0, "claiming": 20.0, "cpu": 1.35, "memory": 1.10, "p99": 3.0}
# Milliseconds: a claim of the tool's may not be older than a store's clock says.
HOUR = 3_600_000


class Place:
    """A folder with a store, its configuration, and a provider that costs next to nothing."""

    def __init__(self, folder):
        self.folder = tempfile.mkdtemp(prefix="consent-gateway-scale-", dir=folder)
        self.database = f"{self.folder}/consents.db"
        self.provider = Started([f"{BIN}/exchange-bench", "provider"], f"{self.folder}/provider.log")
        self.config = f"{self.folder}/gateway.yaml"
        self.configure("enabled: false")
        program = [f"{BIN}/consent-gateway"]
        subprocess.run([*program, "keys", "init", "--config", self.config], check=True, capture_output=True)
        made = subprocess.run([*program, "keys", "api", "create", "bench", "--config", self.config, "--json",
                               "--scopes", "consents:read,consents:write,profiles:read"],
                              check=True, capture_output=True)
        self.key = json.loads(made.stdout)["key"]

    def configure(self, refresh):
        with open(self.config, "w") as file:
            file.write(f"""\
server: {{ listen: "127.0.0.1:0", admin_listen: "127.0.0.1:0", limits: {{ requests_per_caller: 1000000/s }} }}
store: {{ url: "sqlite:consents.db" }}
vault: {{ keys: {{ file: vault-keys.json }} }}
refresh: {{ {refresh} }}
providers:
  paypal:
    preset: paypal
    environment: sandbox
    api_url: {self.provider.line}
    client_id: simulated-client
    client_secret: simulated-secret
    scopes: [openid, profile, email, address, phone]
    refresh: {{ policy: keep_fresh }}
""")

    def serve(self, refresh):
        self.configure(refresh)
        started = Started([f"{BIN}/consent-gateway", "serve", "--config", self.config, "--json"],
                          f"{self.folder}/gateway.log")
        started.api = json.loads(started.line)["api"]
        return started

    def connection(self):
        connection = sqlite3.connect(self.database, timeout=60, isolation_level=None)
        connection.execute("PRAGMA busy_timeout = 60000")
        return connection

    def close(self, keeps):
        self.provider.end()
        if keeps:
            print(f"the store lies in {self.folder}", file=sys.stderr)
        else:
            subprocess.run(["rm", "-rf", self.folder], check=False)


def make_real(place, count):
    """So many consents whose tokens can be opened, each from an exchange."""
    gateway = place.serve("enabled: false")
    made = 0
    while made < count:
        subprocess.run(
            ["wrk", "-t", "1", "-c", "64", "-d", "5s", "--timeout", "20s", "-s", f"{HERE}/../EndToEnd/load.lua",
             gateway.api], env={**os.environ, "GATEWAY_KEY": place.key}, check=True, stdout=subprocess.DEVNULL)
        connection = place.connection()
        now = connection.execute("SELECT count(*) FROM consents WHERE status = 'active'").fetchone()[0]
        connection.close()
        if now == made:
            sys.exit("no consents are made")
        made = now
    gateway.end()
    return made


def identifier(milliseconds):
    return milliseconds.to_bytes(6, "big") + bytes([0x70 | secrets.randbits(4), secrets.randbits(8)]) + bytes(
        [0x80 | secrets.randbits(6)]) + secrets.token_bytes(7)


def fill(place, count, provider, due_from, due_to):
    """Copies of one real row under other names: found and claimed as any other; none can be opened."""
    connection = place.connection()
    connection.executescript("PRAGMA synchronous = OFF; PRAGMA cache_size = -600000; PRAGMA temp_store = MEMORY;")
    columns = [row[1] for row in connection.execute("PRAGMA table_info(consents)")]
    template = connection.execute("SELECT id FROM consents WHERE status = 'active' LIMIT 1").fetchone()[0]
    own = {"id": "?1", "subject_index": "?2", "provider": "?3", "due_at": "?4", "event_count": "0", "chain_head": "x''"}
    statement = (f"INSERT INTO consents ({', '.join(columns)}) SELECT "
                 f"{', '.join(own.get(name, name) for name in columns)} FROM consents WHERE id = ?5")
    begun = int(time.time() * 1000) - 90 * 24 * HOUR
    step = (due_to - due_from) / max(1, count)
    rows = ((identifier(begun + number), secrets.token_bytes(32), provider, int(due_from + step * number), template)
            for number in range(count))
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(statement, rows)
    connection.execute("COMMIT")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def claims(place, rounds):
    """Milliseconds to find a hundred due grants and to claim them, the median and the worst of so many rounds."""
    done = subprocess.run(
        [f"{BIN}/exchange-bench", "due-claims", "--store", place.database, "--provider", "paypal", "--environment",
         "sandbox", "--rounds", str(rounds)], check=True, capture_output=True)
    found = json.loads(done.stdout)
    if found["found"] != 100:
        sys.exit(f"of a hundred due grants {found['found']} were found")
    return {name: {"median": statistics.median(found[name]), "first": found[name][0], "worst": max(found[name])}
            for name in ("finding", "claiming")}


class LiveCaller(threading.Thread):
    """Posts codes at a steady pace on one connection, and notes how long each took; milliseconds."""

    def __init__(self, place, api, pace):
        super().__init__(daemon=True)
        self.place, self.address, self.pace = place, api.removeprefix("http://"), pace
        self.took, self.bad, self.stopped = [], 0, threading.Event()

    def run(self):
        connection = http.client.HTTPConnection(self.address, timeout=30)
        headers = {"Authorization": f"Bearer {self.place.key}", "Content-Type": "application/json"}
        planned = time.monotonic()
        while not self.stopped.is_set():
            name = secrets.token_hex(8)
            body = json.dumps({"provider": "paypal", "subject": f"live-{name}",
                               "response": {"code": f"code-for:live{name}:{name}"}})
            planned += 1 / self.pace
            time.sleep(max(0.0, planned - time.monotonic()))
            begun = time.monotonic()
            try:
                connection.request("POST", "/v1/consents", body, headers)
                answer = connection.getresponse()
                answer.read()
                self.bad += answer.status != 201
            except OSError:
                self.bad += 1
                connection.close()
            self.took.append((time.monotonic() - begun) * 1000)

    def stop(self):
        """What each call took."""
        self.stopped.set()
        self.join()
        if self.bad:
            sys.exit(f"{self.bad} of {len(self.took)} live calls were not answered with 201")
        return self.took


def p99(times):
    return statistics.quantiles(times, n=100)[98]


def resident(pid):
    """Megabytes."""
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def live_alone(place, seconds, pace):
    gateway = place.serve("enabled: false")
    caller = LiveCaller(place, gateway.api, pace)
    caller.start()
    time.sleep(seconds)
    found = caller.stop()
    gateway.end()
    return found


def hold_writes(place, seconds):
    """Nobody else writes into the store for so long."""
    connection = place.connection()
    connection.execute("BEGIN IMMEDIATE")
    time.sleep(seconds)
    connection.execute("ROLLBACK")
    connection.close()


def drain(place, count, pace, concurrency, outage=None):
    """Makes so many real grants due under a scheduler and waits until none is; no failure may be counted against one.

    outage: seconds for which the store refuses writes, from when a third is done."""
    connection = place.connection()
    now = int(time.time() * 1000)
    connection.execute(
        "UPDATE consents SET due_at = ? WHERE id IN (SELECT id FROM consents WHERE provider = 'paypal'"
        " AND event_count > 0 AND status = 'active' AND generation = 1 LIMIT ?)", (now - 60_000, count))
    done_before = connection.execute("SELECT count(*) FROM consents WHERE generation = 2").fetchone()[0]
    gateway = place.serve(f"enabled: true, concurrency: {concurrency}")
    caller = LiveCaller(place, gateway.api, pace) if pace else None
    if caller:
        caller.start()
    begun, memory, left, idle_since = time.monotonic(), [], count, time.monotonic()
    first = cpu_seconds(gateway.pid)
    while left:
        time.sleep(0.25)
        before, left = left, connection.execute(
            "SELECT count(*) FROM consents INDEXED BY consents_by_due WHERE provider = 'paypal' AND due_at IS NOT NULL"
            " AND due_at <= ?", (now,)).fetchone()[0]
        # Claimed ones are due when their lease ends.
        left += connection.execute("SELECT count(*) FROM consents WHERE attempt_phase = 'sent'").fetchone()[0]
        memory.append((1 - left / count, resident(gateway.pid)))
        if outage and left < count * 2 / 3:
            if not left:
                sys.exit("the drain was over before writes could be refused: give --outage more grants")
            hold_writes(place, outage)
            outage = None
        if left != before:
            idle_since = time.monotonic()
        if time.monotonic() - idle_since > 60:
            sys.exit(f"{left} of {count} grants stay due for a minute; see {place.folder}/gateway.log")
    seconds, cpu = time.monotonic() - begun, cpu_seconds(gateway.pid) - first
    live = caller.stop() if caller else None
    gateway.end()
    refreshed = connection.execute(
        "SELECT count(*), sum(refresh_failures) FROM consents WHERE generation = 2 AND status = 'active'").fetchone()
    sizes = row_sizes(connection)
    connection.close()
    if (refreshed[0] - done_before, refreshed[1]) != (count, 0):
        sys.exit(f"of {count} grants {refreshed[0] - done_before} were refreshed, with {refreshed[1]} failures")
    early = [size for part, size in memory if part >= 0.2] or [memory[-1][1]]
    return {"seconds": seconds, "rate": count / seconds, "cpu_us": cpu / count * 1e6, "live": live, "sizes": sizes,
            "memory_begin": early[0], "memory_end": early[-1], "memory": early[-1] / early[0]}


def row_sizes(connection):
    """Bytes of a consent's row and of an event's."""
    sizes = []
    for table, where in (("consents", "WHERE generation = 2"), ("events", "WHERE type = 'consent.refreshed'")):
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        total = " + ".join(f"coalesce(length(cast({name} AS BLOB)), 0)" for name in columns)
        sizes.append(round(connection.execute(
            f"SELECT avg({total}) FROM (SELECT * FROM {table} {where} LIMIT 1000)").fetchone()[0]))
    return sizes


def duty(place, count, sizes, concurrency):
    """Microseconds of CPU a refresh, doing the least."""
    os.mkdir(f"{place.folder}/duty")
    process = subprocess.Popen(
        [f"{BIN}/exchange-bench", "refresh-duty", "--provider", place.provider.line, "--store",
         f"{place.folder}/duty/duty.db", "--rows", ",".join(map(str, sizes)), "--count", str(count), "--concurrency",
         str(concurrency)], stdout=subprocess.PIPE)
    if process.stdout.readline() != b"filled\n":
        sys.exit("the duty did not fill its store")
    begun, first = time.monotonic(), cpu_seconds(process.pid)
    process.stdout.readline()
    # It has printed its last line and not ended yet, or it is a zombie: its times stand there either way.
    cpu, seconds = cpu_seconds(process.pid) - first, time.monotonic() - begun
    if process.wait() != 0:
        sys.exit("the duty failed")
    return {"seconds": seconds, "rate": count / seconds, "cpu_us": cpu / count * 1e6}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--consents", type=int, default=1_000_000)
    parser.add_argument("--overdue", type=int, default=50_000, help="rows of another provider")
    parser.add_argument("--drain", type=int, default=10_000, help="real grants; the whole: 100000")
    parser.add_argument("--outage", type=int, default=10_000, help="more of them, drained while writes are refused")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--pace", type=int, default=50, help="live calls a second")
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--folder", help="where the store is made; about 3 GB for a million")
    parser.add_argument("--json", help="a file for the figures")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--claims-only", action="store_true")
    given = parser.parse_args()
    place, found = Place(given.folder), {"given": vars(given)}
    try:
        measure(place, given, found)
    finally:
        place.close(given.keep)
    if given.json:
        with open(given.json, "w") as file:
            json.dump(found, file, indent=1)
    missed = [name for name, (value, limit) in found["limits"].items() if value > limit]
    print(f"limits missed: {', '.join(missed)}" if missed else "every limit is kept")
    sys.exit(1 if missed else 0)


def measure(place, given, found):
    now = int(time.time() * 1000)
    real = make_real(place, 1 if given.claims_only else given.drain + given.outage)
    begun = time.monotonic()
    fill(place, max(0, given.consents - real - 100), "paypal", now + 6 * HOUR, now + 30 * 24 * HOUR)
    fill(place, 100, "paypal", now - HOUR, now - 1000)
    size = os.path.getsize(place.database) / 1e9
    print(f"{real} real grants, {given.consents} rows, {size:.2f} GB (filled in {time.monotonic() - begun:.0f} s)",
          flush=True)
    limits = found["limits"] = {}
    for name in ("alone", "beside overdue"):
        if name != "alone":
            fill(place, given.overdue, "paused", now - 24 * HOUR, now - HOUR)
        found[name] = claims(place, given.rounds)
        for what, times in found[name].items():
            limits[f"{what}, {name}"] = (times["median"], LIMITS[what])
            print(f"{what} 100 of {given.consents}, {name:14}: median {times['median']:7.2f} ms, first "
                  f"{times['first']:7.2f}, worst {times['worst']:7.2f}  (limit {LIMITS[what]:.0f})", flush=True)
    if given.claims_only:
        return
    connection = place.connection()
    connection.execute("DELETE FROM consents WHERE provider = 'paypal' AND due_at <= ?", (now,))
    connection.close()
    alone = live_alone(place, 15, given.pace)
    # One half by itself, for what it costs; the other beside live calls, for what they notice.
    half = given.drain // 2
    drained = found["drain"] = drain(place, half, None, given.concurrency)
    beside = found["drain beside live calls"] = drain(place, half, given.pace, given.concurrency)
    # Before and after, for the machine is not the same a minute later.
    alone += live_alone(place, 15, given.pace)
    least = found["duty"] = duty(place, half, drained["sizes"], given.concurrency)
    found["p99 alone"], found["p99 beside"] = p99(alone), p99(beside.pop("live"))
    found["load"] = os.getloadavg()
    ratio = drained["cpu_us"] / least["cpu_us"]
    limits["CPU of a refresh by duty"] = (ratio, LIMITS["cpu"])
    limits["memory, end by begin"] = (drained["memory"], LIMITS["memory"])
    limits["p99 of a live POST, by p99 alone"] = (found["p99 beside"] / found["p99 alone"], LIMITS["p99"])
    print(f"draining {half}: {drained['rate']:.0f}/s, {drained['cpu_us']:.0f} µs of CPU a refresh; duty "
          f"{least['rate']:.0f}/s, {least['cpu_us']:.0f} µs; {ratio:.2f} × duty  (limit {LIMITS['cpu']})\n"
          f"memory {drained['memory_begin']:.1f} to {drained['memory_end']:.1f} MB  (limit {LIMITS['memory']:.2f} ×)\n"
          f"p99 of a live POST: {found['p99 alone']:.1f} ms alone, {found['p99 beside']:.1f} ms meanwhile  (limit "
          f"{LIMITS['p99']:.0f} ×); load {found['load'][0]:.0f}", flush=True)
    if given.outage:
        held = found["drain with writes refused"] = drain(place, given.outage, None, given.concurrency, outage=5)
        print(f"draining {given.outage}, writes refused for 5 s in the middle: all refreshed after "
              f"{held['seconds']:.1f} s, no failure counted, {held['cpu_us']:.0f} µs of CPU a refresh", flush=True)


if __name__ == "__main__":
    main()
