#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The store takes no writes at the very moment when a provider's answer arrives: another process holds the database, or
the disk is full. Nothing that the provider gave may be lost, whether the gateway lives on or is killed.
`store_outage.py [ROUNDS]` (default 1)."""
import http.client
import os
import subprocess
import sys
import threading

import stores
from harness import Failure, House, Proxy, call, random_word, wait_until
from stores import Lock

ANSWER = "    timeouts: { connect: 1s, total: 2s, answer: 4s }\n"


class FullDisk:
    """The house lies on a small file system of its own; what is left of it is filled."""

    def __init__(self, house):
        self.filler = f"{house.folder}/filler"

    def take(self):
        with open(self.filler, "wb", buffering=0) as file:
            for size in (1 << 20, 1 << 12):
                try:
                    while True:
                        file.write(bytes(size))
                except OSError:
                    pass

    def release(self):
        if os.path.exists(self.filler):
            os.remove(self.filler)

    def close(self):
        self.release()


def journaled(house, gateway):
    """Waits until an answer lies in the journal."""
    def is_told():
        with open(house.log, "rb") as log:
            log.seek(gateway.log_start)
            return b"it lies in the journal" in log.read()
    wait_until(is_told, "an answer in the journal")


def gives_up(house, gateway):
    """Whether the flight has tried the store for as long as it does; the metrics tell of no flight then."""
    host, port = gateway.ready["admin"].removeprefix("http://").rsplit(":", 1)
    connection = http.client.HTTPConnection(host, int(port), timeout=10)
    connection.request("GET", "/metrics", headers={"Host": "localhost"})
    page = connection.getresponse().read().decode()
    connection.close()
    return 'consent_gateway_flights{kind="exchange"} 0' in page


def serve(house):
    start = os.path.getsize(house.log) if os.path.exists(house.log) else 0
    gateway = house.serve()
    gateway.log_start = start
    house.running.append(gateway)
    return gateway


def consent_of(house, gateway, code, subject):
    """Sends the code until it is a consent; anything definite besides is a failure."""
    found = {}

    def is_consent():
        status, _, body = house.post_code(gateway.ready["api"], code, subject)
        found.update(status=status, body=body)
        if status in (200, 201):
            return True
        if status == 503:
            return False
        raise Failure(f"tokens were given and are lost: {status} {body}")

    wait_until(is_consent, f"a consent ({found})")
    if house.proxy.times_sent(code) != 1:
        raise Failure(f"the code was sent {house.proxy.times_sent(code)} times")
    return found["body"]


def outage_at_an_exchange(house, outage, ending):
    """The outage begins when the provider has answered and before the gateway has the answer."""
    gateway = serve(house)
    code, subject = house.fresh_code(), f"user-{random_word()}"
    reached = threading.Event()

    def at(step):
        if step == "token.answer":
            outage.take()
            reached.set()
        return True

    house.proxy.at = at
    answers = []

    def post():
        try:
            answers.append(house.post_code(gateway.ready["api"], code, subject))
        except OSError:
            pass

    poster = threading.Thread(target=post)
    poster.start()
    if not reached.wait(20):
        raise Failure(f"the code never went out: {answers}")
    house.proxy.at = lambda step: True
    journaled(house, gateway)
    if ending == "kill":
        gateway.kill()
        outage.release()
        poster.join()
        gateway = serve(house)
    elif ending == "long":
        # The store stays away for longer than `answer`: the flight gives up, and the journal has it.
        poster.join()
        status, _, body = answers[0]
        if (status, body["code"]) != (503, "exchange_pending"):
            raise Failure(f"an answer that waits in the journal was told as {status} {body}")
        wait_until(lambda: gives_up(house, gateway), "the flight gives up")
        status, _, body = house.post_code(gateway.ready["api"], code, subject)
        if (status, body["code"]) != (503, "exchange_pending"):
            raise Failure(f"a code whose answer lies in the journal was told as {status} {body}")
        outage.release()
    else:
        outage.release()
        poster.join()
    body = consent_of(house, gateway, code, subject)
    if not body["refreshable"]:
        raise Failure("the consent came back without its refresh token")
    gateway.stop()
    check_empty(house)
    return body["id"]


def outage_at_a_refresh(house, outage, ending, consent):
    """As for an exchange; a lost rotated token would show, for the old one is dead."""
    gateway = serve(house)
    reached = threading.Event()

    def at(step):
        if step == "token.answer":
            outage.take()
            reached.set()
        return True

    house.proxy.at = at

    answers = []

    def refresh():
        try:
            answers.append(
                call(gateway.ready["api"], "POST", f"/v1/consents/{consent}/refresh", None, house.authorized()))
        except OSError:
            pass

    caller = threading.Thread(target=refresh)
    caller.start()
    if not reached.wait(20):
        raise Failure(
            f"the refresh token never went out: {answers}; the proxy saw {house.proxy.errors}")
    house.proxy.at = lambda step: True
    journaled(house, gateway)
    if ending == "kill":
        gateway.kill()
    elif ending == "long":
        caller.join()
    outage.release()
    caller.join()
    if ending == "kill":
        gateway = serve(house)
    generations = set()

    def is_saved():
        status, _, found = call(gateway.ready["api"], "GET", f"/v1/consents/{consent}/events", None,
                                house.authorized())
        generations.clear()
        generations.update(item["data"].get("generation") for item in found["items"] if status == 200)
        return 2 in generations

    wait_until(is_saved, f"the refreshed tokens in the record ({generations})")
    status, _, body = call(gateway.ready["api"], "POST", f"/v1/consents/{consent}/refresh", None, house.authorized())
    if status != 200 or body["status"] != "active":
        raise Failure(f"after the outage the grant cannot be refreshed: {status} {body}")
    gateway.stop()
    check_empty(house)


def other_instance_at_a_refresh(house, outage, consent):
    """The instance that has the answer in its journal is killed while another one waits to refresh the same grant: the
    other finds the answer, and does not send the old token again."""
    first, second = serve(house), serve(house)
    reached = threading.Event()

    def at(step):
        if step == "token.answer" and not reached.is_set():
            outage.take()
            reached.set()
        return True

    house.proxy.at = at
    sent = len(house.proxy.token_requests)
    answers = {}

    def refresh(gateway):
        try:
            status, _, body = call(gateway.ready["api"], "POST", f"/v1/consents/{consent}/refresh", None,
                                   house.authorized())
            answers[gateway.pid] = (status, body)
        except OSError:
            pass

    callers = [threading.Thread(target=refresh, args=(first,))]
    callers[0].start()
    if not reached.wait(20):
        raise Failure(f"the refresh token never went out: {answers}; the proxy saw {house.proxy.errors}")
    journaled(house, first)
    callers.append(threading.Thread(target=refresh, args=(second,)))
    callers[1].start()
    first.kill()
    outage.release()
    for caller in callers:
        caller.join()

    def is_refreshed():
        refresh(second)
        return answers[second.pid][0] == 200

    wait_until(is_refreshed, f"a refresh by the other instance ({answers})")
    status, _, found = call(second.ready["api"], "GET", f"/v1/consents/{consent}/events", None, house.authorized())
    calls = len(house.proxy.token_requests) - sent
    refreshes = sum(item["type"] == "consent.refreshed" for item in found["items"])
    tokens = {body.split(b"refresh_token=")[1] for body in house.proxy.token_requests[sent:]}
    if len(tokens) != calls:
        raise Failure(f"{calls} calls were made with {len(tokens)} refresh tokens: one went out twice")
    status, _, body = call(second.ready["api"], "POST", f"/v1/consents/{consent}/refresh", None, house.authorized())
    if status != 200 or body["status"] != "active":
        raise Failure(f"after the outage the grant cannot be refreshed: {status} {body} ({refreshes} refreshes)")
    second.stop()
    # Where the other has only read the dead one's journal, before it was known to be dead, the next to start settles it.
    serve(house).stop()
    check_empty(house)


def check_empty(house):
    left = [name for name in os.listdir(f"{house.folder}/journal")]
    if left:
        raise Failure(f"journals are left behind: {left}")


def small_disk(house_folder):
    """Mounts a file system of 24 MiB there; false where this machine does not let us."""
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m,mode=700", "tmpfs", house_folder],
                          capture_output=True)
    return done.returncode == 0


def rounds(kind, make_outage, count):
    for _ in range(count):
        for ending in ("short", "long", "kill"):
            house = House(simulator_arguments=["--refresh-tokens", "reuse_detection"], provider_settings=ANSWER,
                          through=Proxy)
            running = []
            house.running = running
            try:
                if kind == "the disk is full":
                    disk = f"{house.folder}/disk"
                    if not move_to_small_disk(house, disk):
                        print("not run: a full disk (no small file system can be mounted here)")
                        return
                outage = make_outage(house)
                consent = outage_at_an_exchange(house, outage, ending)
                outage_at_a_refresh(house, outage, ending, consent)
                if ending == "kill":
                    other_instance_at_a_refresh(house, outage, consent)
                outage.close()
            except Failure:
                with open(house.log) as log:
                    sys.stderr.write("".join(log.readlines()[-40:]))
                raise
            finally:
                for gateway in running:
                    gateway.process.kill()
                    gateway.process.wait()
                house.close()
            print(f"{kind}, {ending}: the exchange and the refresh kept what they were given")


def move_to_small_disk(house, disk):
    os.mkdir(disk)
    if not small_disk(disk):
        return False
    house.mounts.append(disk)
    for name in ("gateway.yaml", "vault-keys.json", "consents.db"):
        with open(f"{house.folder}/{name}", "rb") as source, open(f"{disk}/{name}", "wb") as target:
            os.chmod(f"{disk}/{name}", 0o600)
            target.write(source.read())
    house.folder = house.store.folder = disk
    house.config = f"{disk}/gateway.yaml"
    return True


def main(count):
    rounds("the database is locked", Lock, count)
    if stores.kind() == "sqlite":
        rounds("the disk is full", FullDisk, count)


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    except Failure as failure:
        sys.exit(f"store_outage: {failure}")
