#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many instructions one exchange is, outside the kernel: of floor, duty and gateway, by library, counted by callgrind.
The same to one or two in a hundred whatever else the machine does, so a change is measured here and not by a clock.
Valgrind's processor has no SHA instructions, so libcrypto counts for more here than it takes."""
import argparse
import collections
import os
import signal
import subprocess
import tempfile

import exchanges

HERE = os.path.dirname(os.path.abspath(__file__))
# What may run while it is counted, in seconds: a program is some fifty times as slow.
WARM, COUNTED = 3, 12


class Counted(exchanges.Started):
    """A server under callgrind, which counts nothing before it is told to."""

    folder = None

    def __init__(self, arguments, log):
        self.output = None
        if "provider" not in arguments[1:2]:
            self.output = f"{self.folder}/counted-{os.path.basename(os.path.dirname(log))}"
            arguments = [
                "env", f"LD_PRELOAD={self.folder}/sigsuspend.so", "valgrind", "--tool=callgrind", "--instr-atstart=no",
                f"--callgrind-out-file={self.output}", "--compress-strings=no", "--compress-pos=no", *arguments]
        super().__init__(arguments, log)


def control(option, pid):
    subprocess.run(["callgrind_control", *option, str(pid)], check=True, capture_output=True)


def by_library(file, requests):
    """Callgrind's lines after `calls=` are what a callee cost, all others what lines of the function itself did."""
    found, library, of_callee = collections.Counter(), None, False
    with open(file) as lines:
        for line in lines:
            if line.startswith("ob="):
                library = os.path.basename(line[3:].strip()).split(".so")[0]
            elif line.startswith("calls="):
                of_callee = True
            elif line[:1].isdigit() or line[:1] in "+-*":
                if not of_callee:
                    found[library] += int(line.split()[1])
                of_callee = False
    return {name: count / requests for name, count in found.items()}


def measure(place, name, rows, callers):
    server = place.server(name, rows)
    exchanges.load(server.url, server.key, callers, WARM)
    control(["-i", "on"], server.pid)
    exchanges.load(server.url, server.key, callers, WARM)
    control(["-z"], server.pid)
    requests = exchanges.load(server.url, server.key, callers, COUNTED)["requests"]
    control(["-d"], server.pid)
    output = server.started.output
    os.kill(server.pid, signal.SIGTERM)
    server.started.process.wait(60)
    server.end()
    found = by_library(f"{output}.1", requests)
    found["consent-gateway"] = found.pop("consent-gateway", 0) + found.pop("exchange-bench", 0)
    return requests, found


def without_debug_sections(folder):
    """Valgrind cannot read those of Swift's compiler; the names of functions stay."""
    for program in ("consent-gateway", "exchange-bench"):
        subprocess.run(["strip", "-g", "-o", f"{folder}/{program}", f"{exchanges.BIN}/{program}"], check=True)
    return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--callers", type=int, default=16)
    parser.add_argument("--servers", default=",".join(exchanges.SERVERS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="consent-gateway-instructions-") as folder:
        subprocess.run(["clang", "-O2", "-shared", "-fPIC", "-o", f"{folder}/sigsuspend.so", f"{HERE}/sigsuspend.c"],
                       check=True)
        rows = exchanges.row_sizes()
        exchanges.BIN = without_debug_sections(folder)
        exchanges.Started, Counted.folder = Counted, folder
        place = exchanges.Place("at once")
        found = {name: measure(place, name, rows, options.callers) for name in options.servers.split(",")}
        place.close()
    print(f"instructions of an exchange, in thousands, {options.callers} callers: "
          + ", ".join(f"{name} over {requests:,} exchanges" for name, (requests, _) in found.items()))
    print(f"{'':24}" + "".join(f"{name:>10}" for name in found))
    last = list(found.values())[-1][1]
    for library, count in sorted(last.items(), key=lambda item: -item[1]):
        if count >= 1000:
            print(f"{library:24}" + "".join(f"{counts.get(library, 0) / 1000:10.0f}" for _, counts in found.values()))
    sums = {name: sum(counts.values()) for name, (_, counts) in found.items()}
    print(f"{'all':24}" + "".join(f"{total / 1000:10.0f}" for total in sums.values()))
    if "duty" in sums:
        print(f"{'of duty':24}" + "".join(f"{total / sums['duty']:10.2f}" for total in sums.values()))


if __name__ == "__main__":
    main()
