#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The database deleted or replaced under a running gateway; a key ring that is missing, unreadable or short of a key at
start, at SIGHUP and while running; a journal whose last entry is torn; a state folder that takes nothing. Each is told
in a sentence that names the file, and nothing that a provider gave is lost over it."""
import json
import os
import shutil
import signal
import subprocess
import sys
import time

from harness import Failure, House, Proxy, call, run, wait_until
from operations import consent, ends
from store_outage import ANSWER, Lock, check_empty, consent_of, journaled, serve

ROTATING = ["--refresh-tokens", "reuse_detection"]


def log_says(house, *words, since=0):
    """Waits until a line of the log has all of the words."""
    def is_told():
        with open(house.log, errors="replace") as log:
            log.seek(since)
            return any(all(word in line for word in words) for line in log)
    wait_until(is_told, f"a log line with {words}")


def log_size(house):
    return os.path.getsize(house.log)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    with open(path, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(data)


def database_gone(how):
    """Nothing is answered with success that would be lost; the operator is told which file, and the code is unspent."""
    house = House(simulator_arguments=ROTATING, through=Proxy)
    house.running = []
    path = f"{house.folder}/consents.db"
    try:
        record = consent(house, "before")
        gateway = serve(house)
        api, start = gateway.ready["api"], log_size(house)
        os.rename(path, f"{house.folder}/kept.db")
        if how == "replaced":
            shutil.copyfile(f"{house.folder}/kept.db", path)
        code = house.fresh_code()
        status, _, body = house.post_code(api, code, "during")
        if status != 503:
            raise Failure(f"a database that was {how}: {status} {body}")
        if house.proxy.times_sent(code):
            raise Failure(f"a code went out though the database was {how}")
        wait_until(lambda: call(gateway.ready["admin"], "GET", "/readyz")[0] == 503, "not ready")
        log_says(house, "deleted or replaced", "consents.db", since=start)
        gateway.kill()
        # Its write-ahead log is still there, and belongs to it.
        os.replace(f"{house.folder}/kept.db", path)
        gateway = serve(house)
        consent_of(house, gateway, code, "during")
        status, _, found = call(gateway.ready["api"], "GET", f"/v1/consents/{record}", None, house.authorized())
        if status != 200 or found["status"] != "active":
            raise Failure(f"the consent of before: {status} {found}")
        gateway.stop()
    finally:
        close(house)


def ring_at_start():
    house = House()
    ring, config = f"{house.folder}/vault-keys.json", ["--config", house.config]
    try:
        kept = read(ring)
        os.remove(ring)
        for command, status, sign in ((["serve"], 4, "vault.keys"), (["check"], 1, "error    vault.keys")):
            ends([*command, *config], status, sign, "vault-keys.json", "keys init")
        damaged = json.loads(kept)
        del damaged["index_key"]
        for content in (b"", b"{", b"[]", json.dumps(damaged).encode()):
            write(ring, content)
            ends(["serve", *config], 4, "vault.keys", "vault-keys.json")
        os.remove(ring)
        os.mkdir(ring)
        ends(["serve", *config], 4, "vault.keys", "vault-keys.json")
        os.rmdir(ring)
        write(ring, kept)
        os.chmod(ring, 0o644)
        ends(["serve", *config], 4, "vault.keys", "vault-keys.json", "0600")
    finally:
        house.close()


def ring_while_running():
    """A running gateway keeps the ring that it has; SIGHUP with a bad one tells so and changes nothing."""
    house = House(simulator_arguments=ROTATING, through=Proxy)
    house.running = []
    ring = f"{house.folder}/vault-keys.json"
    try:
        gateway = serve(house)
        api = gateway.ready["api"]
        status, _, record = house.post_code(api, house.fresh_code(), "user")
        kept = read(ring)
        other = another_ring(house)
        short = json.loads(kept)
        short.update(keys=json.loads(other)["keys"], current=json.loads(other)["current"])
        bad = (("missing", None), ("damaged", b"{"), ("another's", other), ("short of a key", json.dumps(short).encode()))
        for name, content in bad:
            os.remove(ring)
            if content is not None:
                write(ring, content)
            start = log_size(house)
            gateway.process.send_signal(signal.SIGHUP)
            log_says(house, "vault.keys", since=start)
            status, _, found = house.post_code(api, house.fresh_code(), f"user of a ring that is {name[0]}")
            if status != 201:
                raise Failure(f"with a ring that is {name} on disk: {status} {found}")
            status, _, found = call(api, "POST", f"/v1/consents/{record['id']}/refresh", None, house.authorized())
            if status != 200 or found["status"] != "active":
                raise Failure(f"a refresh with a ring that is {name} on disk: {status} {found}")
            write(ring, kept)
        gateway.stop()
        write(ring, json.dumps(short).encode())
        ends(["serve", "--config", house.config], 4, "vault.keys", "which the ring lacks", "consents.db")
        ends(["check", "--config", house.config], 1, "error    vault.keys", "which the ring lacks")
        write(ring, kept)
        gateway = serve(house)
        status, _, found = call(gateway.ready["api"], "GET", f"/v1/consents/{record['id']}", None, house.authorized())
        if status != 200:
            raise Failure(f"the consents after all that: {status} {found}")
        gateway.stop()
    finally:
        close(house)


def another_ring(house):
    """The bytes of a ring that never sealed anything here."""
    config, ring = f"{house.folder}/other.yaml", f"{house.folder}/other-keys.json"
    write(config, read(house.config).replace(b"vault-keys.json", b"other-keys.json"))
    run("keys", "init", "--force", "--config", config)
    content = read(ring)
    os.remove(config)
    os.remove(ring)
    return content


def torn_journal():
    """An answer waits in the journal, and behind it lies what a crash in the middle of the next entry leaves."""
    house = House(simulator_arguments=ROTATING, provider_settings=ANSWER, through=Proxy)
    house.running = []
    lock = Lock(house)
    try:
        gateway = serve(house)
        codes = [(house.fresh_code(), f"user-{number}") for number in range(2)]

        def at(step):
            if step == "token.answer":
                lock.take()
            return True

        house.proxy.at = at
        status, _, body = house.post_code(gateway.ready["api"], *codes[0])
        if (status, body["code"]) != (503, "exchange_pending"):
            raise Failure(f"an answer that waits in the journal was told as {status} {body}")
        journaled(house, gateway)
        gateway.kill()
        lock.release()
        journals = [f"{house.folder}/journal/{name}" for name in os.listdir(f"{house.folder}/journal")]
        whole = read(journals[0])
        end = len(whole.rstrip(b"\0"))
        # What a crash in the middle of the next entry leaves: its beginning.
        entry = whole[:min(end, 64)]
        write(journals[0], whole[:end] + entry + whole[end + len(entry):])
        house.proxy.at = lambda step: True
        start = log_size(house)
        gateway = serve(house)
        log_says(house, "journal was cut off", journals[0], since=start)
        body = consent_of(house, gateway, *codes[0])
        if not body["refreshable"]:
            raise Failure("the consent came back without its refresh token")
        consent_of(house, gateway, *codes[1])
        gateway.stop()
        check_empty(house)
    finally:
        lock.close()
        close(house)


def mounted(folder, options):
    return subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True).returncode == 0


def state_folder():
    """A state folder that takes nothing ends the start with its name; the disk made good, it starts."""
    house = House()
    house.running = []
    folder = f"{house.folder}/state"
    os.mkdir(folder, 0o700)
    config = ["--config", house.config]
    environment = {**os.environ, "CONSENT_GATEWAY__STATE_DIR": folder}
    try:
        for name, options, words in (("read-only", "size=1m,mode=700,ro", ("ead-only",)),
                                     ("full", "size=64k,mode=700", ("pace",))):
            if not mounted(folder, options):
                print(f"not run: a state folder that is {name} (no file system can be mounted here)")
                continue
            try:
                ends(["serve", *config], 4, folder, *words, env=environment)
                if name == "read-only":
                    ends(["check", *config], 1, "error    state_dir", folder, *words, env=environment)
            finally:
                subprocess.run(["umount", "-l", folder], capture_output=True)
        os.environ["CONSENT_GATEWAY__STATE_DIR"] = folder
        try:
            consent(house)
        finally:
            del os.environ["CONSENT_GATEWAY__STATE_DIR"]
    finally:
        close(house)


def close(house):
    if sys.exc_info()[0] is not None and os.path.exists(house.log):
        with open(house.log, errors="replace") as log:
            sys.stderr.write("".join(log.readlines()[-30:]))
    for gateway in house.running:
        if gateway.process.poll() is None:
            gateway.process.kill()
            gateway.process.wait()
    house.close()


def main():
    steps = [(f"database {how}", lambda how=how: database_gone(how)) for how in ("deleted", "replaced")]
    steps += [(step.__name__, step) for step in (ring_at_start, ring_while_running, torn_journal, state_folder)]
    for name, step in steps:
        begun = time.monotonic()
        step()
        print(f"store_faults: {name} ok ({time.monotonic() - begun:.1f} s)")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"store_faults: {failure}")
