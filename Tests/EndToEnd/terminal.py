#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of an operator through a pseudo-terminal, beside a running `serve`, and reads what a person would
see: whole lines, exit statuses, no secret. terminal.py"""
import os
import pty
import re
import select
import sqlite3
import sys
import time

from harness import DEADLINE, Failure, House, call, program


def on_terminal(*arguments, typed=b""):
    """Runs a command on a terminal of its own: (what it shows, exit status)."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(program(), [program(), *arguments])
    if typed:
        os.write(terminal, typed)
    shown, end = b"", time.monotonic() + DEADLINE
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 0.1)[0]:
            continue
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece
    else:
        os.kill(pid, 9)
    os.close(terminal)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return shown.decode().replace("\r\n", "\n"), status


def expect(shown, status, pattern, wanted=0):
    if status != wanted or not re.fullmatch(pattern, shown):
        raise Failure(f"status {status}, not {wanted}, or not what was wanted:\n{shown}\n-- wanted --\n{pattern}")


TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
ID = r"cns_[0-9a-f]{32}"
RETENTION = "".join(f"retention: {words:<21}0\\n" for words in (
    "evidence removed", "codes deleted", "revocations deleted", "quarantine emptied", "records erased", "grants ended"))
CHECKPOINT = r"\d+-[0-9a-f]{32}"


def main():
    house = House()
    gateway = house.serve()
    try:
        commands(house, gateway.ready["api"])
        gateway.stop()
        altered(house)
    finally:
        house.close()
    print("the commands were run on a terminal: what they show is as it should be")


def commands(house, api):
    config = ["--config", house.config]
    ids = []
    for subject in ("user-1", "user-2", "user-3"):
        status, _, record = house.post_code(api, house.fresh_code(), subject)
        if status != 201:
            raise Failure(f"the code of {subject} was answered with {status}")
        ids.append(record["id"])

    def line(number):
        return rf"{ID}  active  paypal \(sandbox\)  user-{number}  {TIME}\n"

    expect(*(on_terminal("consents", "list", *config)),
           "".join(line(n) for n in (3, 2, 1)) + "3 consents\n")
    expect(*(on_terminal("consents", "list", "--limit", "2", *config)),
           "".join(line(n) for n in (3, 2)) + "2 consents; there are more: raise --limit\n")
    # The terminal shows what is typed; Ctrl-D ends it.
    expect(*(on_terminal("consents", "list", "--subject", "-", *config, typed=b"user-2\n\x04")),
           r"user-2\n(?:\^D\x08\x08)?" + line(2) + "1 consent\n")
    shown, status = on_terminal("consents", "revoke", ids[0], *config)
    expect(shown, status, rf"{ids[0]}\n(?:  .*\n)*  status +revoked \(operator\)\n(?:  .*\n)+")
    if call(api, "GET", f"/v1/consents/{ids[0]}", headers=house.authorized())[2]["status"] != "revoked":
        raise Failure("the API does not answer the withdrawn record")
    expect(*(on_terminal("consents", "events", ids[0], *config)),
           rf"1  {TIME}  consent\.created  by test .*\n(?:\d  {TIME}  consent\..*\n)*"
           rf"\d  {TIME}  consent\.revoked .*by command line +reason=operator\n(?:\d  {TIME}  consent\..*\n)*")
    expect(*(on_terminal("consents", "events", "cns_" + "0" * 12 + "7" + "0" * 3 + "8" + "0" * 15, *config)),
           rf"consent-gateway: there is no consent {ID}\n", 1)

    expect(*(on_terminal("keys", "status", *config)),
           rf"From file .*/vault-keys\.json:\n  k\d+-[0-9a-f]+  made {TIME}  current, seals and opens\n"
           rf"  e\d+-[0-9a-f]+  made {TIME}  current, signs evidence\n")
    expect(*(on_terminal("keys", "api", "list", *config)),
           rf"test  active  consents:read,consents:write,profiles:read  made {TIME}, until it is revoked, "
           rf"last used (?:never|{TIME})\n")
    expect(*(on_terminal("keys", "api", "revoke", "test", *config)),
           "The key 'test' is revoked; a running 'serve' refuses it within 5 seconds\\.\n")
    end = time.monotonic() + 6
    while call(api, "GET", "/v1/consents", headers=house.authorized())[0] != 401:
        if time.monotonic() > end:
            raise Failure("a revoked key was taken for more than 5 s")
        time.sleep(0.1)

    # A line that is written over again, then taken away; the summary stands in its place.
    expect(*(on_terminal("refresh", "--all", *config)),
           r"(?:\r\[[#-]{24}\] \d/\d\+?  \d+\.\d/s  0 failed *)+\r +\r"
           rf"(?:{ID}  refreshed, next {TIME}\n){{2}}2 consents: 2 refreshed\n")

    expect(*(on_terminal("verify", *config)), r"3 consents, \d+ events: every chain holds\n"
           rf"1 checkpoint, the last {CHECKPOINT} of {TIME}: every one holds\n")
    expect(*(on_terminal("job", "--dry-run", *config)),
           r"grants to take over             0\ncodes to name unknown           0\n"
           r"refreshes to name unknown       0\n"
           r"revocations due                 \d+(?:: paypal \(sandbox\) \d+)?\nrefreshes due                   0\n"
           r"profiles pending                0\n" + RETENTION + r"Nothing was changed or sent\.\n")
    expect(*(on_terminal("job", *config)), r"grants taken over               0\ncodes named unknown             0\n"
           r"refreshes named unknown         0\nrefreshed                       0\n"
           r"profiles fetched                0\nrevocations tried               \d+\n" + RETENTION +
           r"checkpoints made                0\n")
    shown, status = on_terminal("provider", "show", "paypal", *config)
    expect(shown, status, r"paypal: PayPal.*\n(?s:.*)")
    if "simulated-secret" in shown:
        raise Failure("provider show tells the secret")
    shown, status = on_terminal("provider", "test", "paypal", *config)
    expect(shown, status,
           r"(?:ok +(?:code|refresh|userinfo): .*\n){10,}ok +token endpoint: http://127\.0\.0\.1:\d+"
           r"/v1/oauth2/token was reached, takes the client's credentials and refuses the code, as it must: 400 .*\n"
           r"ok +userinfo endpoint: http://127\.0\.0\.1:\d+/v1/identity/.* refuses the token, as it must: 401 .*\n")
    with open(house.config) as file:
        wrong = file.read().replace("simulated-secret", "another-secret")
    with open(house.config + ".wrong.yaml", "w") as file:
        file.write(wrong)
    shown, status = on_terminal("provider", "test", "paypal", "--config", house.config + ".wrong.yaml")
    expect(shown, status, r"(?:ok .*\n)+error +token endpoint: .* refuses the client's credentials: 401 .*\n"
           r"(?:ok +userinfo endpoint: .*\n)?", 1)
    if "another-secret" in shown:
        raise Failure("provider test tells the secret")


def altered(house):
    """Somebody changes an event of one consent, and cuts the last ones of another: `verify` names both."""
    store = sqlite3.connect(house.folder + "/consents.db")
    ids = [row[0] for row in store.execute("SELECT DISTINCT consent_id FROM events ORDER BY consent_id")]
    with store:
        store.execute("UPDATE events SET canonical = replace(canonical, 'test', 'nobody') WHERE consent_id = ? "
                      "AND seq = 1", ids[1:2])
        store.execute("DELETE FROM events WHERE consent_id = ? AND seq > 1", ids[:1])
    store.close()
    shown, status = on_terminal("verify", "--config", house.config)
    expect(shown, status, rf"cns_{ids[0].hex()}  event 2  cut: .*\ncns_{ids[1].hex()}  event 1  altered: .*\n"
           r"3 consents, \d+ events: 2 chains do not hold\n"
           rf"1 checkpoint, the last {CHECKPOINT} of {TIME}: every one holds\n", 1)


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"terminal.py: {failure}")
