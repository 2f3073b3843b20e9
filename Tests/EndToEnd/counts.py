#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What one exchange costs in things that can be counted, each under a ceiling: a change that costs more is noticed here,
whatever the machine is doing. One caller on one connection, so nothing is shared with another exchange. The ceilings
are what was measured, and a twentieth above for what varies; lower them when an exchange gets cheaper."""
import http.client
import json
import mmap
import os
import struct
import subprocess
import sys
import tempfile

from harness import Failure, House, Process

# In the order of counting.c, with what one exchange may cost: a twentieth above what was measured, which stands behind.
CEILINGS = {
    "allocations": 394,  # 375
    "bytes allocated": 121_300,  # 115,550
    "copies of 64 bytes and more": 110.6,  # 105.3
    "bytes copied": 33_900,  # 32,250
    "syncs of a file": 3.15,  # 3
    "writes to a file": 35,  # 33.3
    "bytes written to a file": 73_400,  # 69,900
    "sends on a socket": 3.15,  # 3
    "wakes of another thread": 3.15,  # 3
    "switches of a task": 34.65,  # 33
    "tasks made": 2.1,  # 2
}
WARM, COUNTED = 300, 400


class Counts:
    def __init__(self, folder):
        self.library = f"{folder}/counting.so"
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "counting.c")
        subprocess.run(["clang", "-O2", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o", self.library, source],
                       check=True)
        self.file = f"{folder}/counts"

    def environment(self):
        return {"LD_PRELOAD": self.library, "COUNTS": self.file}

    def read(self):
        with open(self.file, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as shared:
            return struct.unpack(f"<{len(CEILINGS)}Q", shared[:8 * len(CEILINGS)])


def exchange(house, connection, number):
    body = {"provider": "paypal", "subject": f"user-{number}",
            "authorization": {"response_type": "authorization_code",
                              "response": {"code": f"code-for:person{number}:{number}"},
                              "client": {"environment": "sandbox", "platform": "iOS"}}}
    connection.request("POST", "/v1/consents", json.dumps(body),
                       {"Content-Type": "application/json", **house.authorized()})
    answer = connection.getresponse()
    text = answer.read()
    if answer.status != 201:
        raise Failure(f"an exchange was answered {answer.status} {text}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        counts = Counts(folder)
        house = House()
        gateway = Process(["serve", "--config", house.config], house.log, counts.environment())
        connection = http.client.HTTPConnection(gateway.ready["api"].removeprefix("http://"), timeout=30)
        for number in range(WARM):
            exchange(house, connection, number)
        before = counts.read()
        for number in range(WARM, WARM + COUNTED):
            exchange(house, connection, number)
        spent = [(now - then) / COUNTED for now, then in zip(counts.read(), before)]
        connection.close()
        gateway.stop()
        house.close()
    print("an exchange costs " + ", ".join(f"{number:.1f} {name}" for name, number in zip(CEILINGS, spent)))
    nothing = [name for name, number in zip(CEILINGS, spent) if number == 0]
    if nothing:
        raise Failure(f"nothing was counted of: {', '.join(nothing)}")
    over = [f"{name}: {number:.1f} instead of {ceiling} at most"
            for (name, ceiling), number in zip(CEILINGS.items(), spent) if number > ceiling]
    if over:
        raise Failure("; ".join(over))


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"counts: {failure}")
