#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What it costs to verify an ID token: the same exchanges with a plain OpenID provider (discovery, ID tokens, userinfo),
once with the tokens not looked at and once with each algorithm, in turn and several times in one run, since the machine is
shared. CPU of the gateway for 1,000 exchanges, the median of the rounds; the simulated provider signs each token, and its
own CPU is not counted. `identities.py [CALLERS [SECONDS [ROUNDS]]]`, 128, 6 and 5; `GATEWAY` names the program."""
import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "EndToEnd"))

from harness import Failure, House  # noqa: E402
from load import cpu_seconds  # noqa: E402

# Which algorithm the provider signs with, and whether anybody looks.
KINDS = {"not looked at": ("RS256", "ignored"), "RS256": ("RS256", "required"), "PS256": ("PS256", "required"),
         "ES256": ("ES256", "required")}


class Place:
    """A provider of one kind, and a gateway that knows it by discovery."""

    def __init__(self, kind):
        algorithm, looked_at = KINDS[kind]
        self.house = House(simulator_arguments=["--id-tokens", algorithm])
        with open(self.house.config, "a") as file:
            file.write(f"""\
  acme:
    issuer: {self.house.provider_url}
    client_id: simulated-client
    client_secret: simulated-secret
    scopes: [openid, profile, email]
    pkce: optional
    redirect_uri: https://shop.example/callback
    id_token: {looked_at}
""")
        self.gateway = self.house.serve()

    def load(self, callers, seconds):
        before = cpu_seconds(self.gateway.pid)
        done = subprocess.run(
            ["wrk", "-t", "2" if callers > 1 else "1", "-c", str(callers), "-d", f"{seconds}s", "--timeout", "20s", "-s",
             os.path.join(HERE, "..", "EndToEnd", "load.lua"), self.gateway.ready["api"]],
            capture_output=True, timeout=seconds + 60,
            env={**os.environ, "GATEWAY_KEY": self.house.key, "LOAD_PROVIDER": "acme",
                 "LOAD_RUN": str(os.getpid())})
        spent = cpu_seconds(self.gateway.pid) - before
        lines = [line for line in done.stdout.decode().splitlines() if line.startswith("{")]
        if not lines:
            raise Failure(f"wrk said: {done.stdout.decode()} {done.stderr.decode()}")
        found = json.loads(lines[-1])
        wrong = sum(found[name] for name in ("connect", "read", "write", "status", "timeout"))
        if wrong or not found["requests"]:
            raise Failure(f"{wrong} requests failed: {found}")
        return spent / found["requests"] * 1000, found["requests"] / found["seconds"]

    def end(self):
        self.gateway.stop()
        self.house.close()


def main(callers=128, seconds=6, rounds=5):
    places = {kind: Place(kind) for kind in KINDS}
    found = {kind: [] for kind in KINDS}
    for place in places.values():
        place.load(callers, 1)
    for _ in range(rounds):
        for kind, place in places.items():
            found[kind].append(place.load(callers, seconds))
    for place in places.values():
        place.end()
    cpu = {kind: statistics.median(one for one, _ in figures) for kind, figures in found.items()}
    least = cpu["not looked at"]
    print(f"{callers} callers, {rounds} rounds of {seconds} s each")
    print("| ID tokens | CPU s per 1,000 | more than not looked at, µs each | exchanges/s |\n| --- | ---: | ---: | ---: |")
    for kind, figures in found.items():
        more = "" if kind == "not looked at" else f"{(cpu[kind] - least) * 1000:.0f}"
        rate = statistics.median(one for _, one in figures)
        print(f"| {kind} | {cpu[kind]:.3f} | {more} | {rate:.0f} |")


if __name__ == "__main__":
    try:
        main(*map(int, sys.argv[1:]))
    except Failure as failure:
        sys.exit(f"identities: {failure}")
