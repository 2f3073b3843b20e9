# SPDX-License-Identifier: Apache-2.0
"""Starts the simulated provider and a gateway with some consents, and lets schemathesis loose on it.
schemathesis_run.py SECONDS"""
import os
import subprocess
import sys
import tempfile

from harness import Failure, House, Process

# So many that the limits do not answer in place of the calls.
LIMITS = {"CONSENT_GATEWAY__SERVER__LIMITS__REQUESTS_PER_CALLER": "1000000/s",
          "CONSENT_GATEWAY__SERVER__LIMITS__EXCHANGES_PER_SUBJECT": "1000000/s",
          "CONSENT_GATEWAY__SERVER__LIMITS__FAILED_LOGINS_PER_ADDRESS": "1000000/s"}


def main(seconds):
    house = House(provider_settings="    access_tokens: on\n", scopes=",tokens:read")
    gateway = Process(["serve", "--config", house.config], house.log, LIMITS)
    try:
        api = gateway.ready["api"]
        for number in range(50):
            status, _, _ = house.post_code(api, house.fresh_code(), f"user-{number}")
            if status != 201:
                raise Failure(f"a code was answered with {status}")
        here = os.path.dirname(os.path.abspath(__file__))
        with tempfile.TemporaryDirectory() as folder:
            status = subprocess.call(
                ["schemathesis", "--config-file", f"{here}/schemathesis.toml", "run", f"{api}/openapi.json",
                 "--header", f"Authorization: Bearer {house.key}", "--checks", "all",
                 # A withdrawn record stays readable.
                 "--exclude-checks", "use_after_free", "--max-time", str(seconds), "--max-failures", "20",
                 "--request-timeout", "30", "--warnings", "off"], cwd=folder)
        if status != 0:
            raise Failure(f"schemathesis ended with {status}")
        gateway.stop()
    finally:
        if gateway.process.poll() is None:
            gateway.kill()
        house.close()


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]))
    except Failure as failure:
        sys.exit(f"schemathesis_run.py: {failure}")
