#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Posts codes with wrk and tells what came of it; a Failure where anything but 201 was answered."""
import json
import os
import subprocess
import sys

from harness import Failure, House


def cpu_seconds(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main(callers, seconds):
    house = House()
    gateway = house.serve()
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "load.lua")
    before = cpu_seconds(gateway.pid)
    done = subprocess.run(
        ["wrk", "-t", "2" if callers > 1 else "1", "-c", str(callers), "-d", f"{seconds}s", "--timeout", "20s", "-s",
         script, gateway.ready["api"]],
        capture_output=True, env={**os.environ, "GATEWAY_KEY": house.key}, timeout=seconds + 60)
    spent = cpu_seconds(gateway.pid) - before
    lines = [line for line in done.stdout.decode().splitlines() if line.startswith("{")]
    if not lines:
        raise Failure(f"wrk said: {done.stdout.decode()} {done.stderr.decode()}")
    figures = json.loads(lines[-1])
    gateway.stop()
    house.close()
    wrong = sum(figures[name] for name in ("connect", "read", "write", "status", "timeout"))
    rate = figures["requests"] / figures["seconds"]
    print(f"{callers} callers, {figures['seconds']:.1f} s: {figures['requests']} exchanges, {rate:.0f}/s, "
          f"p50 {figures['p50']:.1f} ms, p99 {figures['p99']:.1f} ms, "
          f"{spent / max(figures['requests'], 1) * 1000:.3f} CPU-seconds per 1,000, {wrong} errors")
    if wrong or not figures["requests"]:
        raise Failure(f"{wrong} requests failed: {figures}")


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]), int(sys.argv[2]))
    except Failure as failure:
        sys.exit(f"load: {failure}")
