#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Several instances on one PostgreSQL: what a refresh that nobody asked for and an exchange cost them and the server,
with one instance and with four, against a duty of the same provider calls and the same commits on the same server; then
exchanges with ever more callers, and what the server is full of. See instances.sh. Exits 1 where a limit is missed, a
code or a refresh token came to the provider twice, or a grant was not refreshed."""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "EndToEnd"))
import stores  # noqa: E402
from exchanges import LOAD, Started, cpu_seconds  # noqa: E402

BIN = os.environ["BIN"]
LIMITS = {"four by one": 1.3, "by duty": 1.35}
HEADER = 24  # Bytes of a row's own header, which both have.


class Place:
    """A server of its own with the gateway's database and the duty's, and a provider that counts what it is shown."""

    def __init__(self, pool, lists_statements):
        self.folder = tempfile.mkdtemp(prefix="consent-gateway-instances-")
        self.pool, self.lists_statements = pool, lists_statements
        self.server = stores.PostgresServer(
            "shared_buffers=256MB", "max_wal_size=4GB", "track_wal_io_timing=on", "checkpoint_timeout=15min",
            *(["shared_preload_libraries=pg_stat_statements"] if lists_statements else []))
        self.url, self.duty_url = (stores.with_database(self.server.url, name) for name in ("gateway", "duty"))
        for name in ("gateway", "duty"):
            stores.psql(self.server.url, [f"CREATE DATABASE {name}"])
            if lists_statements:
                stores.psql(stores.with_database(self.server.url, name), ["CREATE EXTENSION pg_stat_statements"])
        self.provider = Started([f"{BIN}/exchange-bench", "provider", "--counts", "on"], f"{self.folder}/provider.log")
        self.config = f"{self.folder}/gateway.yaml"
        self.configure("enabled: false", self.provider.line)
        for command in (["keys", "init"], ["migrate"]):
            self.run(*command)
        self.key = json.loads(self.run("keys", "api", "create", "bench", "--json", "--scopes",
                                       "consents:read,consents:write,profiles:read"))["key"]
        self.started, self.loads, self.doubled_by_duty, self.group = 0, 0, 0, None

    def sql(self, statements):
        return stores.psql(self.url, statements, timeout=600)

    def run(self, *command):
        return subprocess.run([f"{BIN}/consent-gateway", *command, "--config", self.config], check=True,
                              capture_output=True).stdout

    def configure(self, refresh, provider):
        with open(self.config, "w") as file:
            file.write(f"""\
server: {{ listen: "127.0.0.1:0", admin_listen: "127.0.0.1:0", limits: {{ requests_per_caller: 1000000/s }} }}
store: {{ url: "{self.url}", pool: {self.pool} }}
state_dir: .
vault: {{ keys: {{ file: vault-keys.json }} }}
refresh: {{ {refresh} }}
providers:
  paypal:
    preset: paypal
    environment: sandbox
    api_url: {provider}
    client_id: simulated-client
    client_secret: simulated-secret
    scopes: [openid, profile, email, address, phone]
    refresh: {{ policy: keep_fresh }}
""")

    def instances(self, count, refresh="enabled: false", provider=None):
        self.configure(refresh, provider or self.provider.line)
        return Instances(self, count)

    def counts(self):
        """What the provider was shown: exchanges, refreshes, and how many of them it had seen before."""
        with urllib.request.urlopen(self.provider.line + "/counts", timeout=20) as answer:
            return json.load(answer)

    def server_processes(self):
        """The postmaster first."""
        with open(f"{self.server.folder}/data/postmaster.pid") as file:
            postmaster = file.readline().strip()
        with open(f"/proc/{postmaster}/task/{postmaster}/children") as file:
            return [postmaster, *file.read().split()]

    def server_cpu(self):
        """Seconds of all its processes, those that have ended included."""
        postmaster, *children = self.server_processes()
        total = 0.0
        for process in [postmaster, *children]:
            try:
                with open(f"/proc/{process}/stat") as file:
                    fields = file.read().rsplit(")", 1)[1].split()
            except OSError:
                continue
            last = 15 if process == postmaster else 13
            total += sum(map(int, fields[11:last])) / os.sysconf("SC_CLK_TCK")
        return total

    def wal(self):
        """Bytes of log, syncs of it, and milliseconds that those took."""
        return self.sql(["SELECT wal_bytes, wal_sync, round(wal_sync_time)::bigint FROM pg_stat_wal"])[0]

    def confine_server(self, cores):
        """Leaves the server so much CPU time, by a control group, so that it is the first to be full. False where
        none can be made here."""
        group = f"/sys/fs/cgroup/cpu/consent-gateway-{os.getpid()}"
        try:
            os.mkdir(group)
            self.group = group
            for name, value in (("cpu.cfs_period_us", 20_000), ("cpu.cfs_quota_us", int(20_000 * cores))):
                with open(f"{group}/{name}", "w") as file:
                    file.write(str(value))
            # The postmaster first: what it starts from then on is confined with it. One of the others may just have ended.
            for process in self.server_processes():
                try:
                    with open(f"{group}/cgroup.procs", "w") as file:
                        file.write(process)
                except ProcessLookupError:
                    pass
        except OSError as error:
            print(f"the server cannot be confined here: {error}", file=sys.stderr)
            return False
        return True

    def free_server(self):
        with open(f"{self.group}/cpu.cfs_quota_us", "w") as file:
            file.write("-1")

    def close(self):
        self.provider.end()
        self.server.remove()
        if self.group:
            os.rmdir(self.group)
        subprocess.run(["rm", "-rf", self.folder], check=False)


class Instances:
    """So many gateways on the place's database."""

    def __init__(self, place, count):
        self.all = []
        for _ in range(count):
            place.started += 1
            self.all.append(Started([f"{BIN}/consent-gateway", "serve", "--config", place.config, "--json"],
                                    f"{place.folder}/gateway-{place.started}.log"))
        self.apis = [json.loads(one.line)["api"] for one in self.all]

    def cpu(self):
        return sum(cpu_seconds(one.pid) for one in self.all)

    def end(self):
        for one in self.all:
            one.end()


class Meter:
    """What everybody has used between its beginning and `read`, and what the server's connections were seen to do."""

    def __init__(self, place, cpu):
        self.place, self.cpu = place, cpu
        # A look ten times a second, by one session that stays.
        self.sampler = subprocess.Popen(
            [stores.program("psql"), place.url, "-XAtq", "-F", "\t"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.sampler.stdin.write(
            b"SELECT state, coalesce(wait_event_type || ' ' || wait_event, 'none') FROM pg_stat_activity WHERE "
            b"datname = current_database() AND application_name = 'consent-gateway' \\watch 0.1\n")
        self.sampler.stdin.flush()
        if place.lists_statements:
            place.sql(["SELECT pg_stat_statements_reset()"])
        self.first, self.begun = self.now(), time.monotonic()

    def now(self):
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        with open("/proc/stat") as file:
            machine = [int(word) for word in file.readline().split()[1:]]
        return {"instances": self.cpu(), "server": self.place.server_cpu(),
                "provider": cpu_seconds(self.place.provider.pid), "load": children.ru_utime + children.ru_stime,
                "idle": machine[3] + machine[4], "all": sum(machine[:8]), "wal": self.place.wal()}

    def statements(self, count):
        """What the server ran for each of so many: how often, its milliseconds, and the text's beginning."""
        rows = self.place.sql([
            "SELECT sum(calls), round(sum(total_exec_time) * 1000)::bigint, "
            "left(regexp_replace(query, '\\s+', ' ', 'g'), 150) AS text FROM pg_stat_statements GROUP BY text "
            "ORDER BY 2 DESC LIMIT 40"])
        return [(round(calls / count, 3), round(time / 1000 / count, 4), text) for calls, time, text in rows]

    def read(self, count):
        """Of so many refreshes or exchanges: CPU milliseconds each, and the rest."""
        last, seconds = self.now(), time.monotonic() - self.begun
        self.sampler.kill()
        statements = self.statements(count) if self.place.lists_statements else []
        seen = {}
        for line in self.sampler.communicate()[0].decode().splitlines():
            state, _, event = line.partition("\t")
            if event:
                name = {"idle": "idle", "active": f"active, {event}"}.get(state, "between two statements")
                seen[name] = seen.get(name, 0) + 1
        total = max(1, sum(seen.values()))
        wal = [after - before for before, after in zip(self.first["wal"], last["wal"])]
        found = {name: 1000 * (last[name] - self.first[name]) / count
                 for name in ("instances", "server", "provider", "load")}
        return {"count": count, "seconds": seconds, "rate": count / seconds, "cpu": found,
                "machine_busy": 1 - (last["idle"] - self.first["idle"]) / max(1, last["all"] - self.first["all"]),
                "wal_bytes": wal[0] / count, "syncs": wal[1] / seconds, "sync_share": wal[2] / 1000 / seconds,
                "statements": statements,
                "connections": {name: round(seen[name] / total, 4)
                                for name in sorted(seen, key=seen.get, reverse=True)}}


def load(place, apis, callers, seconds):
    """The callers on all instances alike, as a balancer shares them out."""
    each = max(1, callers // len(apis))
    running = []
    for api in apis:
        place.loads += 1
        running.append(subprocess.Popen(
            ["wrk", "-t", "1", "-c", str(each), "-d", f"{seconds}s", "--timeout", "20s", "-s", LOAD, api],
            env={**os.environ, "GATEWAY_KEY": place.key, "LOAD_RUN": str(place.loads)}, stdout=subprocess.PIPE))
    found = {"requests": 0, "errors": 0, "p50": 0.0, "p99": 0.0}
    for one in running:
        said = [line for line in one.communicate(timeout=seconds + 60)[0].decode().splitlines() if line[:1] == "{"]
        told = json.loads(said[-1])
        found["requests"] += told["requests"]
        found["errors"] += sum(told[name] for name in ("connect", "read", "write", "status", "timeout"))
        found["p50"], found["p99"] = max(found["p50"], told["p50"]), max(found["p99"], told["p99"])
    return found


def exchanges(place, server, callers, seconds):
    """`server`: instances, or a duty with the same methods."""
    load(place, server.apis, callers, 1)
    meter = Meter(place, server.cpu)
    told = load(place, server.apis, callers, seconds)
    found = meter.read(max(1, told["requests"]))
    found.update(callers=callers, errors=told["errors"], p50=told["p50"], p99=told["p99"])
    if told["errors"]:
        sys.exit(f"{told['errors']} of {told['requests']} exchanges with {callers} callers failed")
    return found


class Duty:
    """One process that does the least, on a database of its own."""

    def __init__(self, place, sizes):
        self.one = Started(
            [f"{BIN}/exchange-bench", "duty", "--provider", place.provider.line, "--store", place.duty_url, "--rows",
             ",".join(map(str, sizes)), "--pool", str(place.pool)], f"{place.folder}/duty.log")
        self.apis = [self.one.line]

    def cpu(self):
        return cpu_seconds(self.one.pid)

    def end(self):
        self.one.end()


def make_grants(place, count):
    """So many consents at least, each from an exchange."""
    instance = place.instances(1)
    made = 0
    while made < count:
        load(place, instance.apis, 64, 5)
        now = place.sql(["SELECT count(*) FROM consents WHERE status = 'active'"])[0][0]
        if now == made:
            sys.exit("no consents are made")
        made = now
    instance.end()
    place.sql(["VACUUM ANALYZE"])
    return made


def row_size(place, table, where):
    """Bytes of a table's rows, on average; None where there is none."""
    found = place.sql([f"SELECT round(avg(pg_column_size(t.*)))::bigint FROM (SELECT * FROM {table} "
                                    f"WHERE {where} ORDER BY random() LIMIT 1000) t"])[0][0]
    return None if found is None else found - HEADER


def exchange_sizes(place):
    """Of a reservation, one with a grant beside it, a consent and an event, seen while a slow provider is asked."""
    slow = Started([f"{BIN}/exchange-bench", "provider", "--delay", "300"], f"{place.folder}/slow.log")
    instance = place.instances(1, provider=slow.line)
    running = subprocess.Popen(["wrk", "-t", "1", "-c", "64", "-d", "4s", "-s", LOAD, instance.apis[0]],
                               env={**os.environ, "GATEWAY_KEY": place.key}, stdout=subprocess.DEVNULL)
    sizes = [None]
    while None in sizes:
        if running.poll() is not None:
            sys.exit("no row could be measured")
        time.sleep(0.1)
        sizes = [row_size(place, "code_reservations", f"state = '{state}'") for state in ("sent", "kept")]
    running.wait()
    instance.end()
    slow.end()
    return [*sizes, row_size(place, "consents", "generation = 1"), row_size(place, "events", "true")]


def drain(place, count, instances, concurrency):
    """Makes so many grants due within an hour under so many schedulers and waits until each is refreshed once."""
    due = int(time.time() * 1000) - 60_000
    before = place.sql(["SELECT sum(generation - 1), sum(refresh_failures) FROM consents"])[0]
    place.sql([
        f"UPDATE consents SET due_at = {due} - floor(random() * 3600000)::bigint WHERE id IN (SELECT id FROM consents "
        f"WHERE status = 'active' LIMIT {count})",
        "ANALYZE consents"])
    place.sql(["CHECKPOINT"])
    shown = place.counts()
    running = place.instances(instances, f"enabled: true, concurrency: {concurrency}")
    meter, seen, since = Meter(place, running.cpu), 0, time.monotonic()
    while seen < count:
        time.sleep(0.1)
        now = place.counts()["refreshes"] - shown["refreshes"]
        if now != seen:
            seen, since = now, time.monotonic()
        if time.monotonic() - since > 60:
            sys.exit(f"{count - seen} of {count} grants stay due for a minute; see {place.folder}")
    found = meter.read(count)
    while place.sql(["SELECT count(*) FROM consents WHERE attempt_phase = 'sent'"])[0][0]:
        time.sleep(0.1)
    running.end()
    after = place.sql(["SELECT sum(generation - 1), sum(refresh_failures) FROM consents"])[0]
    last = place.counts()
    if (after[0] - before[0], after[1] - before[1], last["refreshes"] - shown["refreshes"]) != (count, 0, count):
        sys.exit(f"of {count} grants {after[0] - before[0]} were refreshed with "
                 f"{last['refreshes'] - shown['refreshes']} calls and {after[1] - before[1]} failures")
    return found


def refresh_duty(place, count, sizes, concurrency):
    process = subprocess.Popen(
        [f"{BIN}/exchange-bench", "refresh-duty", "--provider", place.provider.line, "--store", place.duty_url,
         "--rows", ",".join(map(str, sizes)), "--count", str(count), "--concurrency", str(concurrency),
         "--pool", str(place.pool)],
        stdout=subprocess.PIPE)
    doubled = place.counts()["doubled"]
    if process.stdout.readline() != b"filled\n":
        sys.exit("the duty did not fill its store")
    meter = Meter(place, lambda: cpu_seconds(process.pid))
    process.stdout.readline()
    # It has printed its last line and not ended yet, or it is a zombie: its times stand there either way.
    found = meter.read(count)
    if process.wait() != 0:
        sys.exit("the duty failed")
    # It presents the same token again and again.
    place.doubled_by_duty += place.counts()["doubled"] - doubled
    return found


def line(name, found):
    cpu = found["cpu"]
    return (f"{name:28} {found['rate']:7.0f} {cpu['instances']:9.3f} {cpu['server']:8.3f} {cpu['provider']:8.3f} "
            f"{cpu['load']:6.3f} {100 * found['machine_busy']:5.0f} % {found['syncs']:7.0f} "
            f"{100 * found['sync_share']:5.0f} % {found['wal_bytes'] / 1024:6.2f}  "
            + ", ".join(f"{name} {100 * share:.0f} %" for name, share in list(found["connections"].items())[:5]))


def say(name, found, figures):
    figures[name] = found
    print(line(name, found), flush=True)
    for calls, milliseconds, text in found["statements"]:
        if calls >= 0.005:
            print(f"    {calls:8.3f} times, {milliseconds:7.4f} ms  {text}")
    return found


def measure(place, given, figures):
    """Returns what has a limit."""
    print(f"{'':28}    /s   instances  server provider   load  machine   syncs  syncing  KiB log  connections\n"
          f"{'':28}         CPU milliseconds each                busy      /s             each")
    made = make_grants(place, given.drain)
    print(f"{made} grants; each drain {given.drain}", flush=True)
    counted = [int(word) for word in given.instances.split(",")]
    drained = {number: say(f"refreshes, {number} x", drain(place, given.drain, number, given.concurrency), figures)
               for number in counted}
    sizes = [row_size(place, "consents", "generation > 1"), row_size(place, "events", "type = 'consent.refreshed'")]
    duty = say("refreshes, duty", refresh_duty(place, given.drain, sizes, given.concurrency), figures)
    limits = ratios("refreshes", drained, duty)
    sizes = exchange_sizes(place)
    exchanged = {}
    for number in counted:
        running = place.instances(number)
        for callers in map(int, given.callers.split(",")):
            found = exchanges(place, running, callers, given.seconds)
            say(f"exchanges, {number} x, {callers} callers", found, figures)
            if callers == given.at:
                exchanged[number] = found
        running.end()
    if given.confine and place.confine_server(given.confine):
        for number in counted:
            running = place.instances(number)
            for callers in map(int, given.callers.split(",")):
                say(f"{given.confine} cores, {number} x, {callers} callers",
                    exchanges(place, running, callers, given.seconds), figures)
            running.end()
        place.free_server()
    # A duty presents the same code again and again.
    doubled = place.counts()["doubled"] - place.doubled_by_duty
    least = Duty(place, sizes)
    duty = say(f"exchanges, duty, {given.at} callers", exchanges(place, least, given.at, given.seconds), figures)
    least.end()
    return {**limits, **ratios("exchanges", exchanged, duty), "presented twice": (doubled, 0)}


def ratios(what, by_number, duty):
    cpu = {number: found["cpu"]["instances"] for number, found in by_number.items()}
    least, most = min(cpu), max(cpu)
    return {f"CPU of {what}, {most} by {least}": (cpu[most] / cpu[least], LIMITS["four by one"]),
            f"CPU of {what}, {least} by duty": (cpu[least] / duty["cpu"]["instances"], LIMITS["by duty"])}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--drain", type=int, default=10_000, help="grants that are due; the whole: 100000")
    parser.add_argument("--instances", default="1,4")
    parser.add_argument("--callers", default="16,128,512")
    parser.add_argument("--at", type=int, default=128, help="the number of callers that the limits are held at")
    parser.add_argument("--seconds", type=int, default=6)
    parser.add_argument("--concurrency", type=int, default=64, help="refreshes at once, of each instance")
    parser.add_argument("--pool", type=int, default=8, help="connections of an instance")
    parser.add_argument("--confine", type=float, default=0.5, help="cores of the server in one more round; 0: none")
    parser.add_argument("--statements", action="store_true", help="list what the server ran (itself not for nothing)")
    parser.add_argument("--json", help="a file for the figures")
    given = parser.parse_args()
    place, figures = Place(given.pool, given.statements), {}
    try:
        limits = measure(place, given, figures)
    finally:
        place.close()
    for name, (value, limit) in limits.items():
        print(f"{name}: {value:.2f}  (limit {limit})")
    if given.json:
        with open(given.json, "w") as file:
            found = {"given": vars(given), "figures": figures, "limits": limits, "load": os.getloadavg()}
            json.dump(found, file, indent=1)
    missed = [name for name, (value, limit) in limits.items() if value > limit]
    print(f"limits missed: {', '.join(missed)}" if missed else "every limit is kept")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
