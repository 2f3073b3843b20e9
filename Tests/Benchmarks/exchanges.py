#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs floor, duty and gateway under the same load and prints what each costs. See run.sh."""
import argparse
import datetime
import json
import os
import platform
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

LOAD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "EndToEnd", "load.lua")
BIN = os.environ["BIN"]
PROVIDERS = {"at once": ["--delay", "0"], "50 ms": ["--delay", "50"], "TLS": ["--delay", "0"]}
SERVERS = ["floor", "duty", "gateway"]


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_megabytes(pid):
    with open(f"/proc/{pid}/status") as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return 0.0


class Started:
    """A process that prints where it listens."""

    def __init__(self, arguments, log):
        self.log = open(log, "ab")
        self.process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=self.log, stdin=subprocess.DEVNULL)
        self.line = self.process.stdout.readline().decode().strip()
        if not self.line:
            sys.exit(f"{arguments[0]} did not start; see {log}")

    @property
    def pid(self):
        return self.process.pid

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.log.close()


class Place:
    """A folder with everything, a provider of one kind, and its certificate where it speaks TLS."""

    def __init__(self, kind):
        self.kind = kind
        self.folder = tempfile.mkdtemp(prefix="consent-gateway-bench-")
        self.number = 0
        self.ca = None
        arguments = [f"{BIN}/exchange-bench", "provider", *PROVIDERS[kind]]
        if kind == "TLS":
            self.ca = f"{self.folder}/ca.pem"
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                 "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
                 "-keyout", f"{self.folder}/key.pem", "-out", self.ca], check=True, capture_output=True)
            arguments += ["--certificate", self.ca, "--key", f"{self.folder}/key.pem"]
        self.provider = Started(arguments, f"{self.folder}/provider.log")
        self.url = self.provider.line

    def server(self, name, rows):
        self.number += 1
        store = f"{self.folder}/{name}-{self.number}"
        os.mkdir(store)
        if name == "gateway":
            return Gateway(self, store)
        arguments = [f"{BIN}/exchange-bench", name, "--provider", self.url]
        if self.ca:
            arguments += ["--ca", self.ca]
        if name == "duty":
            arguments += ["--store", f"{store}/duty.db", "--rows", ",".join(str(size) for size in rows)]
        return Plain(arguments, f"{store}/log")

    def close(self):
        self.provider.end()
        subprocess.run(["rm", "-rf", self.folder], check=False)


class Plain:
    def __init__(self, arguments, log):
        self.started = Started(arguments, log)
        self.pid, self.url, self.key = self.started.pid, self.started.line, ""

    def end(self):
        self.started.end()


class Gateway:
    """The program as it is, with its default log, in a folder of its own."""

    def __init__(self, place, folder):
        config = f"{folder}/gateway.yaml"
        self.database = f"{folder}/consents.db"
        ca = f"    ca_file: {place.ca}\n" if place.ca else ""
        with open(config, "w") as file:
            file.write(f"""\
server:
  listen: 127.0.0.1:0
  admin_listen: 127.0.0.1:0
  limits: {{ requests_per_caller: 1000000/s }}
  shutdown_grace: 90s
store: {{ url: "sqlite:consents.db" }}
vault: {{ keys: {{ file: vault-keys.json }} }}
providers:
  paypal:
    preset: paypal
    environment: sandbox
    api_url: {place.url}
    client_id: simulated-client
    client_secret: simulated-secret
    scopes: [openid, profile, email, address, phone]
    # Two thousand TLS handshakes at once take the provider longer than a real one may.
    timeouts: {{ connect: 20s, total: 30s, answer: 60s }}
{ca}""")
        program = f"{BIN}/consent-gateway"
        subprocess.run([program, "keys", "init", "--config", config], check=True, capture_output=True)
        made = subprocess.run([program, "keys", "api", "create", "bench", "--config", config, "--json", "--scopes",
                               "consents:write,profiles:read"], check=True, capture_output=True)
        self.key = json.loads(made.stdout)["key"]
        self.started = Started([program, "serve", "--config", config, "--json"], f"{folder}/gateway.log")
        self.pid, self.url = self.started.pid, json.loads(self.started.line)["api"]

    def end(self):
        self.started.end()


def load(url, key, callers, seconds):
    done = subprocess.run(
        ["wrk", "-t", str(min(2, callers)), "-c", str(callers), "-d", f"{seconds}s", "--timeout", "20s", "-s",
         LOAD, url],
        capture_output=True, env={**os.environ, "GATEWAY_KEY": key}, timeout=seconds + 60)
    lines = [line for line in done.stdout.decode().splitlines() if line.startswith("{")]
    if not lines:
        sys.exit(f"wrk said: {done.stdout.decode()} {done.stderr.decode()}")
    found = json.loads(lines[-1])
    found["errors"] = sum(found.pop(name) for name in ("connect", "read", "write", "status", "timeout"))
    return found


def row_sizes():
    """How many bytes the gateway's rows have: reserved, with a grant beside it, a consent, an event."""
    place = Place("50 ms")
    gateway = place.server("gateway", None)
    generator = subprocess.Popen(
        ["wrk", "-t", "1", "-c", "16", "-d", "6s", "-s", LOAD, gateway.url],
        env={**os.environ, "GATEWAY_KEY": gateway.key}, stdout=subprocess.DEVNULL)
    sizes = []
    connection = sqlite3.connect(f"file:{gateway.database}?mode=ro", uri=True, timeout=10)

    def size(table, where):
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        total = " + ".join(f"coalesce(length(cast({name} AS BLOB)), 0)" for name in columns)
        return connection.execute(f"SELECT avg({total}) FROM {table} {where}").fetchone()[0]

    while generator.poll() is None:
        found = [size("code_reservations", "WHERE state = 'sent'"), size("code_reservations", "WHERE state = 'kept'"),
                 size("consents", ""), size("events", "")]
        if all(found):
            sizes.append(found)
        time.sleep(0.01)
    connection.close()
    gateway.end()
    place.close()
    if not sizes:
        sys.exit("no row of the gateway could be measured")
    return [round(statistics.mean(column)) for column in zip(*sizes)]


def measure(place, name, rows, callers, seconds):
    server = place.server(name, rows)
    # As many connections as will be used, TLS handshakes and all, before anything is counted.
    load(server.url, server.key, callers, 1 + callers // (200 if place.ca else 1000))
    before, provider_before = cpu_seconds(server.pid), cpu_seconds(place.provider.pid)
    found = load(server.url, server.key, callers, seconds)
    thousands = max(found["requests"], 1) / 1000
    found.update(
        provider=place.kind, callers=callers, server=name, rate=found["requests"] / found["seconds"],
        cpu=(cpu_seconds(server.pid) - before) / thousands,
        provider_cpu=(cpu_seconds(place.provider.pid) - provider_before) / thousands,
        memory=peak_megabytes(server.pid))
    server.end()
    return found


def row(found, duty):
    ratio = f"{found['cpu'] / duty['cpu']:5.2f}" if duty else "     "
    return (f"{found['provider']:8} {found['callers']:6} {found['server']:8} {found['rate']:9.0f} {found['cpu']:8.3f} "
            f"{ratio} {found['p50']:9.1f} {found['p99']:9.1f} {found['p999']:9.1f} {found['memory']:7.0f} "
            f"{found['errors']:6}")


def markdown(figures):
    """One row for each server, provider and number of callers; `of duty` is the ratio of CPU."""
    lines = ["| provider | callers | server | exchanges/s | CPU s per 1,000 | of duty | p50 ms | p99 ms | p99.9 ms | "
             "peak MB |", "| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]
    duties = {(found["provider"], found["callers"]): found for found in figures if found["server"] == "duty"}
    for found in figures:
        duty = duties.get((found["provider"], found["callers"]))
        ratio = f"{found['cpu'] / duty['cpu']:.2f}" if duty else ""
        lines.append(f"| {found['provider']} | {found['callers']:,} | {found['server']} | {found['rate']:,.0f} | "
                     f"{found['cpu']:.3f} | {ratio} | {found['p50']:.1f} | {found['p99']:.1f} | {found['p999']:.1f} | "
                     f"{found['memory']:.0f} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--callers", default="1,16,128,512,2000")
    parser.add_argument("--providers", default=",".join(PROVIDERS))
    parser.add_argument("--servers", default=",".join(SERVERS))
    parser.add_argument("--seconds", type=int, default=5, help="how long each figure is taken (5)")
    parser.add_argument("--json", help="write the figures there as well")
    parser.add_argument("--markdown", help="write the table there as well, as the README has it")
    options = parser.parse_args()
    rows = row_sizes()
    print(f"{datetime.date.today()}, {os.cpu_count()} cores, {platform.machine()}, {options.seconds} s each; rows of "
          f"{rows[0]}, {rows[1]}, {rows[2]} and {rows[3]} bytes\n")
    print("provider callers server   exchanges   CPU s  of     p50 ms    p99 ms  p99.9 ms    peak errors\n"
          "                               /s    /1,000  duty                                MB")
    figures = []
    for kind in options.providers.split(","):
        place = Place(kind)
        for callers in map(int, options.callers.split(",")):
            duty = None
            for name in options.servers.split(","):
                found = measure(place, name, rows, callers, options.seconds)
                if name == "duty":
                    duty = found
                figures.append(found)
                print(row(found, duty), flush=True)
        place.close()
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"rows": rows, "figures": figures}, file, indent=1)
    if options.markdown:
        with open(options.markdown, "w") as file:
            file.write(markdown(figures))
    say_what_bounds(figures)


def say_what_bounds(figures):
    """Whether load generator and provider left room: the floor, which is held up by them alone, must be faster."""
    by_place = {}
    for found in figures:
        by_place.setdefault((found["provider"], found["callers"]), {})[found["server"]] = found
    print()
    for (kind, callers), servers in by_place.items():
        if "floor" not in servers or "gateway" not in servers or kind == "50 ms" or callers == 1:
            continue
        room = servers["floor"]["rate"] / servers["gateway"]["rate"]
        verdict = "not the bottleneck" if room > 1.3 else "MAY BE THE BOTTLENECK"
        print(f"{kind}, {callers} callers: the floor was {room:.1f} times as fast, with the same load generator and "
              f"provider: they are {verdict}")


if __name__ == "__main__":
    main()
