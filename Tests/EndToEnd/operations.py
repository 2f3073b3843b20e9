#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an operator does at three in the morning: another store's key ring, a lost database, a refresh that is slow or
interrupted, an output that takes nothing. Each ends with the status of the contract and a sentence that names the
place, and no grant is lost over it."""
import hashlib
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request

from harness import CLIENT_SECRET, DEADLINE, Failure, House, Proxy, call, program, wait_until


def ends(arguments, status, *words, **more):
    """Runs a command to its end; what it printed must have those words."""
    done = subprocess.run([program(), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=DEADLINE * 2, **more)
    text = (done.stdout + done.stderr).decode()
    if done.returncode != status:
        raise Failure(f"{arguments} ended with {done.returncode}, not {status}: {text}")
    for word in words:
        if word not in text:
            raise Failure(f"{arguments} does not say {word!r}: {text}")
    return text


def consent(house, subject="user"):
    """One consent, made by a gateway that is gone again; its id."""
    gateway = house.serve()
    status, _, record = house.post_code(gateway.ready["api"], house.fresh_code(), subject)
    gateway.stop()
    if status != 201:
        raise Failure(f"no consent: {status}")
    return record["id"]


def token_calls(house):
    """How often a refresh token reached the provider."""
    with house.proxy.lock:
        return sum(b"grant_type=refresh_token" in request for request in house.proxy.token_requests)


def another_ring():
    house = House()
    try:
        record = consent(house)
        ring, kept = f"{house.folder}/vault-keys.json", f"{house.folder}/kept.json"
        config = ["--config", house.config]
        os.rename(ring, kept)
        ends(["keys", "init", *config], 4, "consents.db has consents", "put the ring back from its copy")
        if os.path.exists(ring):
            raise Failure("keys init made a ring beside a store that was sealed with another")
        ends(["keys", "init", "--force", *config], 0)
        for command in (["serve"], ["consents", "show", record], ["refresh", record],
                        ["keys", "api", "create", "x", "--scopes", "admin"]):
            ends([*command, *config], 4, "vault.keys", "name the ring that was in use", "consents.db")
        ends(["check", *config], 1, "error    vault.keys", "name the ring that was in use")
        for member in ("index_key", "ledger_key"):
            with open(kept) as file:
                mixed = json.load(file)
            with open(ring) as file:
                mixed[member] = json.load(file)[member]
            with open(f"{house.folder}/mixed.json", "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
                json.dump(mixed, file)
            ends(["serve", *config], 4, "vault.keys", member.replace("_", " "),
                 env={**os.environ, "CONSENT_GATEWAY__VAULT__KEYS__FILE": f"{house.folder}/mixed.json"})
            os.remove(f"{house.folder}/mixed.json")
        shutil.move(kept, ring)
        ends(["consents", "show", record, *config], 0, record)
    finally:
        house.close()


def no_store():
    house = House()
    try:
        record = consent(house)
        config = ["--config", house.config]
        elsewhere = {**os.environ, "CONSENT_GATEWAY__STORE__URL": f"sqlite:{house.folder}/else/where.db"}
        for command in (["consents", "show", record], ["refresh", record]):
            ends([*command, *config], 4, "where.db", "nothing has been kept there yet", "`serve` or `migrate` makes it",
                 env=elsewhere)
        if os.path.exists(f"{house.folder}/else"):
            raise Failure("a command that only looks has made a store")
        gateway = house.serve()
        house.post_code(gateway.ready["api"], house.fresh_code(), "other")
        os.remove(f"{house.folder}/consents.db")
        gateway.kill()
        ends(["serve", *config], 4, "consents.db", "write-ahead log is there")
        ends(["check", *config], 1, "error    store.url", "write-ahead log is there")
        with open(f"{house.folder}/state", "w"):
            pass
        ends(["check", *config], 1, "error    state_dir",
             env={**elsewhere, "CONSENT_GATEWAY__STATE_DIR": f"{house.folder}/state"})
    finally:
        house.close()


def unwritable_store():
    """A store that its user may only read, in a folder that takes files."""
    house = House()
    # Root without its capabilities may write no more than anybody else.
    weak = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    try:
        consent(house)
        os.chmod(f"{house.folder}/consents.db", 0o400)
        for command, status in ((["check"], 1), (["keys", "api", "create", "x", "--scopes", "admin"], 4)):
            done = subprocess.run([*weak, program(), *command, "--config", house.config], stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=DEADLINE)
            said = done.stdout + done.stderr
            if done.returncode != status or f"{house.folder}/consents.db: " not in said or "be written" not in said:
                raise Failure(f"{command} ended with {done.returncode}: {said}")
    finally:
        house.close()


def slow_refresh():
    """The provider answers after the caller's `total`; the rotated refresh token must be kept, not hung up on."""
    house = House(["--fault", "slow=3@refresh", "--refresh-tokens", "reuse_detection"],
                  "    timeouts: { connect: 1s, total: 1s }\n")
    try:
        record = consent(house)
        for _ in range(2):
            ends(["refresh", record, "--config", house.config], 0, "1 refreshed")
    finally:
        house.close()


def interrupted_refresh():
    """The first signal lets the refresh under way come to its end and begins no other; the second ends at once."""
    house = House(["--fault", "slow=2@refresh", "--refresh-tokens", "reuse_detection"], through=Proxy)
    try:
        first, second = consent(house, "one"), consent(house, "two")
        for signals, status in ((1, 130), (2, 130)):
            before = token_calls(house)
            process = subprocess.Popen([program(), "refresh", first, second, "--json", "--config", house.config],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            wait_until(lambda: token_calls(house) > before, "a refresh on the wire")
            for _ in range(signals):
                process.send_signal(signal.SIGINT)
                time.sleep(0.2)
            text, errors = process.communicate(timeout=DEADLINE)
            if process.returncode != status:
                raise Failure(f"{signals} signals: status {process.returncode}: {errors.decode()}")
            if signals == 1:
                outcomes = [item["outcome"] for item in json.loads(text)["items"]]
                if outcomes != ["refreshed", "not_begun"]:
                    raise Failure(f"interrupted: {outcomes}")
            if token_calls(house) != before + 1:
                raise Failure("another refresh was begun after the signal")
    finally:
        house.close()


def file_keys():
    """A key of the configuration has its name for itself: the events tell keys by their names."""
    house = House()
    try:
        config = ["--config", house.config]
        with open(house.config, "a") as file:
            file.write(f"""\
auth:
  api_keys:
    - {{ name: files, sha256: {hashlib.sha256(b"cgk_files_x").hexdigest()}, scopes: ["consents:read"] }}
""")
        with open(house.config) as file:
            line = 1 + next(number for number, text in enumerate(file) if "name: files" in text)
        place = f"{house.config}:{line}: auth.api_keys[0].name"
        ends(["keys", "api", "create", "files", *config, "--scopes", "admin", "--output", f"{house.folder}/key"], 1, place)
        if os.path.exists(f"{house.folder}/key"):
            raise Failure("a key that was not made stays in its file")
        ends(["keys", "api", "list", *config], 0, "files", "from auth.api_keys")
        ends(["keys", "api", "revoke", "files", *config], 1, place, "remove it there", "SIGHUP")
        ends(["check", *config], 0)
        gateway = house.serve()
        asked = {"Authorization": "Bearer cgk_files_x"}
        if call(gateway.ready["api"], "GET", "/v1/consents", None, asked)[0] != 200:
            raise Failure("the key of the configuration is not known")
        # Another configuration on the same store makes a key of that name.
        with open(house.config) as file:
            text = file.read()
        with open(f"{house.folder}/other.yaml", "w") as file:
            file.write(text[:text.index("auth:")])
        ends(["keys", "api", "create", "files", "--config", f"{house.folder}/other.yaml", "--scopes", "admin"], 0)
        os.remove(f"{house.folder}/other.yaml")
        gateway.process.send_signal(signal.SIGHUP)
        wait_until(lambda: place in house.log_text(), "a reload that names the key of both")
        if call(gateway.ready["api"], "GET", "/v1/consents", None, asked)[0] != 200:
            raise Failure("the configuration that was read again wrongly has taken a key away")
        gateway.stop()
        for command, status in (("serve", 3), ("check", 1)):
            ends([command, *config], status, place, "the store has a key of that name, too")
        ends(["keys", "api", "revoke", "files", *config], 1, place, "the store's key of that name is revoked")
        ends(["serve", *config], 3, place)
    finally:
        house.close()


def lost_key():
    """A key that nobody could read is none, and its name is free."""
    house = House()
    try:
        create = ["keys", "api", "create", "lost", "--config", house.config, "--scopes", "consents:read"]
        with open("/dev/full", "wb") as full:
            for stdout, shell in ((full, []), (None, ["sh", "-c", 'exec "$@" >&-', "sh"])):
                for more in ([], ["--json"]):
                    done = subprocess.run([*shell, program(), *create, *more], stdout=stdout, stderr=subprocess.PIPE,
                                          timeout=DEADLINE)
                    if done.returncode != 1 or b"'lost' could not be printed and was removed again" not in done.stderr:
                        raise Failure(f"a key that nobody saw: {done.returncode} {done.stderr.decode()}")
            reader, writer = os.pipe()
            os.close(reader)
            done = subprocess.run([program(), *create], stdout=writer, stderr=subprocess.PIPE, timeout=DEADLINE)
            os.close(writer)
            if done.returncode != 1 or b"was removed again" not in done.stderr:
                raise Failure(f"a key whose reader has gone: {done.returncode} {done.stderr.decode()}")
            if "lost" in ends(["keys", "api", "list", "--config", house.config], 0):
                raise Failure("a key that nobody saw is there")
            done = subprocess.run([program(), *create, "--output", f"{house.folder}/key"], stdout=full,
                                  stderr=subprocess.PIPE, timeout=DEADLINE)
            if done.returncode != 1 or b"could not be printed" not in done.stderr:
                raise Failure(f"a key in a file: {done.returncode} {done.stderr.decode()}")
        with open(f"{house.folder}/key") as file:
            key = file.read().strip()
        os.remove(f"{house.folder}/key")
        gateway = house.serve()
        asked = {"Authorization": f"Bearer {key}"}
        if call(gateway.ready["api"], "GET", "/v1/consents", None, asked)[0] != 200:
            raise Failure("the key that lies in its file is not known")
        gateway.stop()
        if "within 5 seconds" not in ends([*create[:3], "another", *create[4:]], 0):
            raise Failure("a new key does not say from when it is known")
    finally:
        house.close()


def lost_output():
    house = House()
    try:
        config = ["--config", house.config]
        with open("/dev/full", "wb") as full:
            for command in (["--help"], ["check", *config]):
                done = subprocess.run([program(), *command], stdout=full, stderr=subprocess.PIPE, timeout=DEADLINE)
                if done.returncode != 1 or b"could not be printed" not in done.stderr:
                    raise Failure(f"{command} into a full disk ended with {done.returncode}")
        closed = subprocess.Popen(
            ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", program(), "serve", *config], start_new_session=True)
        try:
            folder = f"/proc/{closed.pid}/fd"
            wait_until(lambda: any("consents.db" in target(f"{folder}/{name}") for name in names(folder)), "the store")
            standard = [target(f"{folder}/{number}") for number in range(3)]
            if standard != ["/dev/null"] * 3:
                raise Failure(f"without standard descriptors their numbers went to {standard}")
        finally:
            closed.terminate()
            closed.wait(timeout=DEADLINE)
        if closed.returncode != 0:
            raise Failure(f"serve without standard descriptors ended with {closed.returncode}")
    finally:
        house.close()


def names(folder):
    try:
        return os.listdir(folder)
    except OSError:
        return []


def target(link):
    try:
        return os.readlink(link)
    except OSError:
        return ""


def draining():
    """A balancer must see that a draining gateway takes no more."""
    house = House(["--fault", "slow=2@exchange"])
    try:
        gateway = house.serve()
        api, admin = gateway.ready["api"], gateway.ready["admin"]
        answers = []
        code = house.fresh_code()
        caller = threading.Thread(target=lambda: answers.append(house.post_code(api, code, "user")[0]))
        caller.start()
        time.sleep(0.5)
        gateway.process.send_signal(signal.SIGTERM)
        wait_until(lambda: call(admin, "GET", "/readyz")[0] == 503, "a draining gateway that says so")
        status, _, ready = call(admin, "GET", "/readyz")
        if (status, ready["status"], ready["store"]) != (503, "draining", True):
            raise Failure(f"/readyz of a draining gateway: {status} {ready}")
        caller.join()
        if answers != [201] or gateway.process.wait(timeout=DEADLINE) != 0:
            raise Failure(f"the exchange under way: {answers}")
    finally:
        house.close()


def first_words():
    """A newcomer's first minute has no warning in it, and nothing of the demo stays."""
    process = subprocess.Popen([program(), "demo", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    ready = json.loads(process.stdout.readline())
    made = call(ready["provider"], "POST", "/simulator/codes", {})[2]
    status, _, record = call(ready["api"], "POST", "/v1/consents?subject=user-42", made["authorization"],
                             {"Authorization": f"Bearer {ready['api_key']}"})
    process.send_signal(signal.SIGTERM)
    errors = process.communicate(timeout=DEADLINE)[1].decode()
    if (status, process.returncode) != (201, 0) or " warning " in errors or " error " in errors:
        raise Failure(f"demo: {status} {record}, status {process.returncode}: {errors}")
    if os.path.exists(os.path.dirname(ready["config"])):
        raise Failure("the demo's folder stays")


def lint(page):
    """What promtool makes of a metrics page: its status, and what it says."""
    linter = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".ci", "promtool")
    done = subprocess.run([linter, "check", "metrics"], input=page, capture_output=True, timeout=300)
    return done.returncode, (done.stdout + done.stderr).decode()


def metrics():
    """The metrics page after some traffic is one that Prometheus reads and its linter has nothing to say about."""
    house = House()
    try:
        gateway = house.serve()
        api = gateway.ready["api"]
        record = house.post_code(api, house.fresh_code(), "user")[2]
        for method, path, headers in (
                ("GET", f"/v1/consents/{record['id']}", house.authorized()),
                ("POST", f"/v1/consents/{record['id']}/refresh", house.authorized()),
                ("GET", "/v1/nothing", house.authorized()), ("PUT", "/v1/consents", house.authorized()),
                ("GET", "/v1/consents", {"Authorization": "Bearer cgk_nobody_0"}), ("GET", "/openapi.json", {})):
            call(api, method, path, None, headers)
        house.post_code(api, "forged", "user")
        with urllib.request.urlopen(gateway.ready["admin"] + "/metrics", timeout=DEADLINE) as answer:
            page = answer.read()
        gateway.stop()
        for word in (b"http_requests_total{", b"provider_calls_total{", b"store_writes_total{", b"_bucket{"):
            if word not in page:
                raise Failure(f"the metrics page lacks {word.decode()}: {page.decode()}")
        status, said = lint(page)
        if status != 0 or said:
            raise Failure(f"promtool check metrics ended with {status}: {said}")
        if lint(page.replace(b"# HELP", b"#"))[0] == 0:
            raise Failure("promtool finds nothing wrong with a page whose metrics are not explained")
    finally:
        house.close()


def nothing_done():
    """What is there stays as it is and ends with 1; an address that is taken is the configuration's, 3."""
    house = House()
    try:
        config = ["--config", house.config]
        with open(f"{house.folder}/vault-keys.json", "rb") as file:
            ring = file.read()
        ends(["keys", "init", *config], 1, "vault.keys", "vault-keys.json", "was left as it is")
        with open(f"{house.folder}/vault-keys.json", "rb") as file:
            if file.read() != ring:
                raise Failure("keys init wrote over a ring")
        ends(["keys", "api", "create", "test", *config, "--scopes", "consents:read", "--output",
              f"{house.folder}/key"], 1, "'test' already")
        if os.path.exists(f"{house.folder}/key"):
            raise Failure("a key that was not made stays in its file")
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = "127.0.0.1:%d" % taken.getsockname()[1]
            for name in ("LISTEN", "ADMIN_LISTEN"):
                ends(["serve", *config], 3, f"server.{name.lower()} {address}", "in use",
                     env={**os.environ, f"CONSENT_GATEWAY__SERVER__{name}": address})
            ends(["simulate", "--listen", address], 3, f"--listen {address}", "in use")
        ends(["demo", *config], 2, "has a configuration of its own")
    finally:
        house.close()


def no_core_dump():
    """whichever command reads a secret, its process writes no core dump by then, wherever dumps are wanted"""
    limits = resource.getrlimit(resource.RLIMIT_CORE)
    if limits[1] == 0:
        raise Failure("here no process may write a core dump: allow it (ulimit -Hc), or nothing can be shown")
    resource.setrlimit(resource.RLIMIT_CORE, (limits[1], limits[1]))
    house = House()
    try:
        # A secret that is read from a program, which looks at who asks for it.
        seen = f"{house.folder}/limits"
        look = f"grep 'core file size' /proc/$PPID/limits >> {seen}; printf {CLIENT_SECRET}"
        with open(house.config) as file:
            text = file.read().replace(f"client_secret: {CLIENT_SECRET}",
                                       f'client_secret: {{ command: [sh, -c, "{look}"] }}')
        with open(house.config, "w") as file:
            file.write(text)
        config = ["--config", house.config]
        subprocess.run(["sh", "-c", look], stdout=subprocess.DEVNULL, check=True)
        house.serve().stop()
        commands = (["check"], ["job"], ["verify"], ["consents", "list"], ["refresh", "--all"], ["keys", "api", "list"],
                    ["migrate", "--status"], ["provider", "test", "paypal"])
        for command in commands:
            ends([*command, *config], 0)
        with open(seen) as file:
            own, *others = [line.split()[4:6] for line in file]
        if own == ["0", "0"] or len(others) < 1 + len(commands) or any(limit != ["0", "0"] for limit in others):
            raise Failure(f"core dumps: here {own}, of the commands {others}")
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, limits)
        house.close()


def usage():
    ends(["simulate", "--fault", "slwo"], 2, "there is no fault")
    ends(["simulate", "--fault", "slow=3@nowhere"], 2, "there is no place")
    house = House()
    try:
        for command in ([b"consents", b"list", b"--subject", b"\xff"], [b"refresh", b"--all", b"--subject=\xc3"],
                        [b"keys", b"api", b"revoke", b"a\xed\xa0\x80"], [b"\xffserve"]):
            ends([*command, "--config", house.config], 2, f"argument {len(command)} is not UTF-8")
        ends(["consents", "list", "--subject", "\ufffd", "--config", house.config], 0)
        with open(house.config, "a") as file:
            file.write("    ca_file: nothing.pem\n")
        ends(["serve", "--config", house.config], 3, "providers.paypal.ca_file", "nothing.pem")
        ends(["check", "--config", house.config], 1, "error    providers.paypal.ca_file")
    finally:
        house.close()


def main():
    for step in (another_ring, no_store, unwritable_store, slow_refresh, interrupted_refresh, file_keys, lost_key,
                 lost_output, draining, first_words, metrics, nothing_done, no_core_dump, usage):
        step()
        if left := [house.home for house in House.built if os.path.exists(house.home)]:
            raise Failure(f"{step.__name__} leaves its house: {left}")
        print(f"operations: {step.__name__} ok")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"operations: {failure}")
