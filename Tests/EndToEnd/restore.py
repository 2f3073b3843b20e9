#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A store that came back from a copy, as whole processes: tokens are rotated and consents withdrawn after the copy was
made, the gateway is killed with SIGKILL, and the copy is put in place of the store. Nothing is refreshed until an
operator accepts it; then each grant is tried once, one whose token was spent since is named so, and what was withdrawn
is withdrawn again."""
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys

import stores
from harness import DEADLINE, Failure, House, Proxy, call, expect, program, wait_until

SETTINGS = ("    refresh_token_reuse: forbidden\n"
            "    refresh: { policy: keep_alive, interval: 1h }\n")
# Fewer than five of the rotated ones: more deaths would be held to be the provider's fault.
KEPT, ROTATED, WITHDRAWN = 6, 4, 3


def command(house, *arguments):
    """(status, what it printed)."""
    done = subprocess.run([program(), *arguments, "--config", house.config], capture_output=True, timeout=DEADLINE)
    return done.returncode, done.stdout.decode()


def ask(house, gateway, method, path, body=None):
    status, _, found = call(gateway.ready["api"], method, f"/v1/consents{path}", body, house.authorized())
    return status, found


def refreshing(gateway):
    """What /readyz says of it; the store itself is well throughout."""
    status, _, found = call(gateway.ready["admin"], "GET", "/readyz")
    expect(status == 200, f"/readyz: {status} {found}")
    return found["refreshing"]


def sendings(house):
    """How often each refresh token went out."""
    counts = {}
    with house.proxy.lock:
        for request in house.proxy.token_requests:
            for token in re.findall(rb"(?:^|[&\n])refresh_token=([^&]+)", request):
                counts[token] = counts.get(token, 0) + 1
    return counts


def epoch(house):
    with open(f"{house.folder}/epoch", "rb") as file:
        return file.read()


def first_life(house):
    """Consents, a copy of them, and what happened since. The copy's path, and the consents by fate."""
    gateway = house.serve()
    made = []
    for number in range(KEPT + ROTATED + WITHDRAWN):
        status, _, body = house.post_code(gateway.ready["api"], house.fresh_code(), f"user-{number}")
        expect(status == 201, f"no consent: {status} {body}")
        made.append(body["id"])
    copy, noted = f"{house.folder}/kept.db", epoch(house)
    with sqlite3.connect(f"{house.folder}/consents.db") as source, sqlite3.connect(copy) as target:
        source.backup(target)
    source.close()
    target.close()
    wait_until(lambda: epoch(house) != noted, "the next epoch")
    kept, rotated, withdrawn = made[:KEPT], made[KEPT:KEPT + ROTATED], made[KEPT + ROTATED:]
    for consent in rotated:
        status, body = ask(house, gateway, "POST", f"/{consent}/refresh")
        expect(status == 200, f"not refreshed: {status} {body}")
    for consent in withdrawn:
        status, body = ask(house, gateway, "DELETE", f"/{consent}")
        expect((status, body["status"]) == (200, "revoked"), f"not withdrawn: {status} {body}")
    gateway.kill()
    return copy, kept, rotated, withdrawn


def put_back(house, copy):
    for name in ("consents.db", "consents.db-wal", "consents.db-shm"):
        if os.path.exists(f"{house.folder}/{name}"):
            os.remove(f"{house.folder}/{name}")
    shutil.copyfile(copy, f"{house.folder}/consents.db")
    os.chmod(f"{house.folder}/consents.db", 0o600)
    os.remove(copy)


def nothing_is_refreshed(house, gateway, consents):
    """However it is asked for; what the copy has is read, and new consents are taken."""
    before = sendings(house)
    expect(refreshing(gateway) == "stopped", f"/readyz says that refreshing is {refreshing(gateway)}")
    house.store.execute(["UPDATE consents SET due_at = created_at"])
    for consent in consents:
        status, body = ask(house, gateway, "GET", f"/{consent}")
        expect((status, body["status"]) == (200, "active"), f"a record of the copy: {status} {body}")
    status, body = ask(house, gateway, "GET", f"/{consents[0]}/profile")
    expect(status == 200, f"a profile of the copy: {status} {body}")
    status, body = ask(house, gateway, "POST", f"/{consents[0]}/refresh")
    expect((status, body["code"]) == (503, "provider_unavailable"), f"a refresh was answered {status} {body}")
    for words in (("refresh", consents[0]), ("refresh", consents[0], "--force"), ("refresh", "--due"), ("job",)):
        command(house, *words)
    status, _, body = house.post_code(gateway.ready["api"], house.fresh_code(), "somebody-new")
    expect(status == 201, f"a new consent was answered {status} {body}")
    expect(sendings(house) == before, "a refresh token of the copy went out")


def check(house, withdrawn):
    """`restore-check` says what is behind and what it would withdraw again, and changes nothing."""
    for _ in range(2):
        status, text = command(house, "restore-check", "--json")
        found = json.loads(text)
        missing = {item["consent"] for item in found["withdrawals_missing"]}
        expect(status == 1 and found["behind"], f"restore-check: {status} {found}")
        expect(missing == set(withdrawn), f"withdrawals missing: {found}")
        expect(found["grants"] == KEPT + ROTATED + WITHDRAWN + 1, f"grants: {found}")
    status, text = command(house, "restore-check")
    expect(status == 1 and all(consent in text for consent in withdrawn) and "--accept" in text,
           f"restore-check says:\n{text}")


def accept(house, withdrawn):
    status, text = command(house, "restore-check", "--accept", "--json")
    found = json.loads(text)
    expect(status == 0 and found["accepted"] and set(found["withdrawn"]) == set(withdrawn),
           f"restore-check --accept: {status} {found}")


def outcome(house, gateway, consent):
    _, body = ask(house, gateway, "GET", f"/{consent}")
    return body["status"], body["status_reason"], body["generation"] if "generation" in body else None


def each_is_tried_once(house, gateway, kept, rotated, withdrawn, before):
    """The scheduler does it, for all were made due."""
    wait_until(lambda: refreshing(gateway) == "on", "refreshing goes on")
    count = sum(before.values()) + KEPT + ROTATED
    wait_until(lambda: sum(sendings(house).values()) >= count, f"{count} refresh tokens sent")
    wait_until(lambda: all(outcome(house, gateway, one)[0] == "reauthorization_required" for one in rotated),
               "the grants whose tokens were spent are named")
    for consent in rotated:
        found = outcome(house, gateway, consent)
        expect(found[:2] == ("reauthorization_required", "restored_backup"), f"a spent grant is {found}")
    for consent in kept:
        found = outcome(house, gateway, consent)
        expect(found[0] == "active", f"a grant that was good is {found}")
    for consent in withdrawn:
        found = outcome(house, gateway, consent)
        expect(found[:2] == ("revoked", "user"), f"a withdrawn consent is {found}")
    after = sendings(house)
    again = sorted(after[token] for token in before)
    expect(again == [2] * ROTATED, f"tokens that were spent before the copy came back went out {again} times in all")
    fresh = [times for token, times in after.items() if token not in before]
    expect(fresh == [1] * KEPT, f"good tokens went out {fresh} times")
    for consent in kept:
        status, body = ask(house, gateway, "POST", f"/{consent}/refresh")
        expect((status, body["status"]) == (200, "active"), f"a good grant, once more: {status} {body}")


def main():
    if stores.kind() != "sqlite":
        print("restore: a copy is put back on SQLite only")
        return
    house = House(simulator_arguments=["--refresh-tokens", "reuse_detection"], provider_settings=SETTINGS,
                  through=Proxy)
    copy, kept, rotated, withdrawn = first_life(house)
    before = sendings(house)
    expect(len(before) == ROTATED, f"{len(before)} refresh tokens went out in the first life")
    put_back(house, copy)
    gateway = house.serve()
    nothing_is_refreshed(house, gateway, kept + rotated + withdrawn)
    # It is no state of one process.
    gateway.kill()
    gateway = house.serve()
    expect(refreshing(gateway) == "stopped", "a restart lets refreshing go on")
    check(house, withdrawn)
    expect(sendings(house) == before, "a refresh token of the copy went out")
    accept(house, withdrawn)
    each_is_tried_once(house, gateway, kept, rotated, withdrawn, before)
    gateway.stop()
    status, text = command(house, "restore-check")
    expect(status == 0, f"afterwards restore-check says:\n{text}")
    house.close()
    print(f"restore: nothing was refreshed until the copy was accepted; {WITHDRAWN} withdrawn again, {ROTATED} spent "
          f"grants named, {KEPT} good ones alive, each tried once")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"restore: {failure}")
