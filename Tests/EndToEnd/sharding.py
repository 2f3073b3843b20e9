#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What .github/SHARDING.md describes, simulated on one machine: four private clusters, each behind a group of instances
of its own, and a router that knows where a subject, an identifier and a code are at home. Exchanges, reads, refreshes,
lists and withdrawals under load; one cluster is killed and comes back. Only what is at home there may notice; nothing
that was answered may be lost, nothing may be sent twice, and each consent lies in the cluster of its subject.
`sharding.py [SECONDS]`: for so long before and after the outage (6)."""
import hashlib
import http.client
import http.server
import json
import os
import queue
import random
import secrets
import shutil
import statistics
import sys
import tempfile
import threading
import time
import urllib.parse

os.environ["CONSENT_GATEWAY_TEST_STORE"] = "postgres"
import stores  # noqa: E402
from harness import Failure, Process, Proxy, call, expect, run, wait_until  # noqa: E402

NODES, INSTANCES, OUTAGE = 4, 2, 5
BUCKETS = 64
KEY = "cgk_router_" + secrets.token_urlsafe(32)


def bucket(text):
    """Many more than nodes, so that one can be moved without the others."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") % BUCKETS


def home(text):
    """Number of the node of a subject or a code."""
    return bucket(text) % NODES


class Node:
    """A cluster and the instances on it; all nodes have one key ring and one caller."""

    def __init__(self, number, folder, provider):
        self.number = number
        self.server = stores.PostgresServer()
        self.database = stores.PostgresDatabase(self.server.url)
        # Which subject's node has a code: for codes that are at home here, whatever their subject. The router's own.
        stores.psql(self.server.url, ["CREATE TABLE code_homes (digest bytea PRIMARY KEY, node bigint NOT NULL)"])
        self.code_homes = CodeHomes(self.server.url)
        self.home = f"{folder}/node-{number}"
        self.config = f"{self.home}/gateway.yaml"
        os.mkdir(self.home)
        with open(self.config, "w") as file:
            file.write(f"""\
server: {{ listen: "127.0.0.1:0", admin_listen: "127.0.0.1:0", limits: {{ requests_per_caller: 1000000/s }} }}
store: {{ url: "{self.database.url}", pool: 4 }}
state_dir: .
vault: {{ keys: {{ file: {folder}/vault-keys.json }} }}
auth:
  api_keys:
    - name: router
      sha256: {hashlib.sha256(KEY.encode()).hexdigest()}
      scopes: ["consents:write", "consents:read", "profiles:read"]
providers:
  paypal:
    preset: paypal
    environment: sandbox
    api_url: {provider}
    client_id: simulated-client
    client_secret: simulated-secret
    scopes: [openid, profile, email, address, phone]
    refresh_token_reuse: forbidden
""")
        if not number:
            run("keys", "init", "--config", self.config)
        run("migrate", "--config", self.config)
        self.gateways = [Process(["serve", "--config", self.config], f"{self.home}/gateway.log")
                         for _ in range(INSTANCES)]

    def ask(self, method, target, body, headers):
        """(status, body) of one of its instances; OSError where none answers."""
        status, _, answer = call(random.choice(self.gateways).ready["api"], method, target, body, headers, timeout=25)
        return status, answer

    def make_due(self):
        """Gives the schedulers something to claim."""
        try:
            self.database.execute([
                "UPDATE consents SET due_at = 1000 * extract(epoch FROM clock_timestamp())::bigint WHERE id IN (SELECT "
                "id FROM consents WHERE attempt_phase IS NULL AND due_at IS NOT NULL ORDER BY random() LIMIT 10)"])
        except OSError:
            pass

    def is_ready(self):
        try:
            return all(call(one.ready["admin"], "GET", "/readyz", timeout=10)[0] == 200 for one in self.gateways)
        except OSError:
            return False

    def close(self):
        for gateway in self.gateways:
            gateway.kill()
        self.code_homes.close()
        self.server.remove()


class CodeHomes:
    """Which node a code went to first, as the cluster of the code's own home keeps it."""

    def __init__(self, url):
        self.url, self.idle = url, queue.SimpleQueue()

    def claim(self, code, node):
        """The node that has the code, from now on if there was none; OSError without an answer."""
        digest = hashlib.sha256(KEY.encode() + code.encode()).hexdigest()
        try:
            session = self.idle.get_nowait()
        except queue.Empty:
            session = stores.Session(self.url)
        try:
            rows = session.execute(
                f"INSERT INTO code_homes VALUES ('\\x{digest}', {node}) ON CONFLICT (digest) DO UPDATE "
                "SET node = code_homes.node RETURNING node")
            found = int(rows[0])
        except (OSError, ValueError, IndexError) as error:
            session.process.kill()
            raise OSError("a code's home does not answer") from error
        self.idle.put(session)
        return found

    def close(self):
        while not self.idle.empty():
            self.idle.get().process.kill()


class Router(http.server.ThreadingHTTPServer):
    """Sends each request to the node where its subject is at home, or the consent that it names."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, nodes):
        self.nodes = nodes
        # What has been seen; a router that begins knows nothing, and asks.
        self.home_of_id = {}
        super().__init__(("127.0.0.1", 0), Routed)
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def node(self, method, target, body, headers):
        """Whose request it is. LookupError where nobody has it, OSError where that cannot be told."""
        parts = urllib.parse.urlsplit(target)
        words = parts.path.strip("/").split("/")
        if len(words) > 2:
            return self.nodes[self.home_of(words[2], headers)]
        if method == "GET":
            return self.nodes[home(urllib.parse.parse_qs(parts.query)["subject"][0])]
        code, subject = body["authorization"]["response"]["code"], body["subject"]
        # Before anything else: no other node may take the code from here on, whose subject ever it is handed in for.
        return self.nodes[self.nodes[home(code)].code_homes.claim(code, home(subject))]

    def home_of(self, identifier, headers):
        if identifier in self.home_of_id:
            return self.home_of_id[identifier]
        silent = 0
        for node in self.nodes:
            try:
                status, _ = node.ask("GET", f"/v1/consents/{identifier}", None, headers)
            except OSError:
                status = None
            if status == 200:
                self.home_of_id[identifier] = node.number
                return node.number
            silent += status != 404
        if silent:
            # One that does not answer may have it: "not there" would be a lie.
            raise OSError("a node does not answer")
        raise LookupError(identifier)


class Routed(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def respond(self):
        length = int(self.headers["Content-Length"] or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        headers = {"Authorization": self.headers["Authorization"]}
        try:
            node = self.server.node(self.command, self.path, body, headers)
            status, answer = node.ask(self.command, self.path, body, headers)
            if status in (200, 201) and self.command == "POST" and body:
                self.server.home_of_id[answer["id"]] = node.number
        except LookupError:
            status, answer = 404, {"code": "not_found"}
        except OSError:
            status, answer = 503, {"code": "home_unavailable", "retry_after": 1}
        text = b"" if answer is None else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_DELETE = respond

    def log_message(self, *arguments):
        pass


class Asked:
    """One request: what it was, the nodes that it needs, when it began and ended, its status."""

    def __init__(self, kind, homes, begun, ended, status):
        self.kind, self.homes, self.begun, self.ended, self.status = kind, homes, begun, ended, status

    def was_refused(self):
        return self.status is None or self.status >= 500


class Load:
    """Callers, each with the subjects of one node, who go on until an answer is definite; some whose codes are at home
    anywhere, and one who hands codes in for a second subject."""

    def __init__(self, router):
        self.router, self.over, self.lock = router, threading.Event(), threading.Lock()
        self.asked, self.problems, self.stolen = [], [], 0
        # Identifier to (subject, whether it was withdrawn), and every code.
        self.consents, self.codes = {}, set()
        callers = [(node, is_local) for node in range(NODES) for is_local in (True, True, False)] + [(None, False)]
        self.threads = [threading.Thread(target=self.run, args=one, daemon=True) for one in callers]
        self.threads.append(threading.Thread(target=self.make_due, daemon=True))
        for thread in self.threads:
            thread.start()

    def make_due(self):
        while not self.over.wait(0.5):
            for node in self.router.nodes:
                node.make_due()

    def ask(self, kind, homes, method, target, body=None):
        """(status, body), at last."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            begun, status, answer = time.monotonic(), None, None
            try:
                status, _, answer = call(self.router.url, method, target, body, {"Authorization": f"Bearer {KEY}"})
            except OSError:
                pass
            with self.lock:
                self.asked.append(Asked(kind, homes, begun, time.monotonic(), status))
            if status is not None and status != 503:
                return status, answer
            time.sleep(0.1)
        return None, None

    def problem(self, *what):
        with self.lock:
            self.problems.append(" ".join(map(str, what)))

    def post(self, kind, code, subject, homes):
        return self.ask(kind, homes, "POST", "/v1/consents", {
            "provider": "paypal", "subject": subject,
            "authorization": {"response_type": "authorization_code", "response": {"code": code},
                              "client": {"environment": "sandbox", "platform": "iOS"}}})

    def run(self, node, is_local):
        while not self.over.is_set():
            try:
                self.one_life(node, is_local)
            except Exception as error:
                self.problem("a caller ended:", repr(error))
                raise

    def one_life(self, node, is_local):
        subject, code = named("user", node), named("code", node if is_local else None)
        homes = {home(subject), home(code)}
        with self.lock:
            self.codes.add(code)
        status, body = self.post("exchange", code, subject, homes)
        if status not in (200, 201):
            return self.problem("an exchange:", status, body)
        with self.lock:
            self.consents[body["id"]] = (subject, False)
        if node is None:
            self.steal(code, homes)
        self.live(body["id"], subject, {home(subject)})

    def steal(self, code, homes):
        """The code again, for somebody who is at home elsewhere."""
        status, body = self.post("stolen code", code, named("thief", None), homes)
        if status == 409 and body["code"] == "code_already_used":
            self.stolen += 1
        else:
            self.problem("a code for a second subject:", status, body)

    def live(self, consent, subject, at):
        path = f"/v1/consents/{consent}"
        status, body = self.ask("read", at, "GET", path)
        if (status, body and body["subject"]) != (200, subject):
            self.problem("a read:", status, body)
        status, body = self.ask("list", at, "GET", f"/v1/consents?subject={subject}")
        if status != 200 or [one["id"] for one in body["items"]] != [consent]:
            self.problem("a list:", status, body)
        status, body = self.ask("refresh", at, "POST", path + "/refresh")
        if (status, body and body["status"]) != (200, "active"):
            self.problem("a refresh:", status, body)
        if random.random() < 0.3:
            status, body = self.ask("withdrawal", at, "DELETE", path)
            if status not in (200, 204):
                self.problem("a withdrawal:", status, body)
            with self.lock:
                self.consents[consent] = (subject, True)

    def end(self):
        self.over.set()
        for thread in self.threads:
            thread.join(90)
            expect(not thread.is_alive(), "a caller had no answer for 90 s")


def named(kind, node):
    """A new subject or code that is at home there."""
    while True:
        word = secrets.token_hex(6)
        text = f"code-for:person-{word}:{word}" if kind == "code" else f"{kind}-{word}"
        if node is None or home(text) == node:
            return text


def judge_outage(load, victim, down):
    """Only what is at home there was refused, and hardly ever something else than 503."""
    touched = [one for one in load.asked if one.was_refused() and victim not in one.homes]
    expect(not touched, f"{len(touched)} requests of other nodes were refused: "
           f"{[(one.kind, one.homes, one.status) for one in touched[:5]]}")
    early = [one for one in load.asked if one.was_refused() and one.ended < down]
    expect(not early, f"{len(early)} requests were refused before anything was killed")
    refused = sum(one.was_refused() for one in load.asked)
    expect(refused, "nobody noticed that a cluster was killed")
    expect(all(one.status != 404 for one in load.asked), "what was out of reach was told to be not there")
    return refused


def judge_end(load, nodes, proxy):
    """Everything that was answered is there, where it belongs; every code and every token was sent once at most."""
    twice = [code for code in load.codes if proxy.times_sent(code) > 1]
    expect(not twice, f"{len(twice)} codes were sent twice")
    tokens = {}
    for request, _ in proxy.exchanges:
        form = urllib.parse.parse_qs(request.partition(b"\r\n\r\n")[2].decode())
        for token in form.get("refresh_token", []):
            tokens[token] = tokens.get(token, 0) + 1
    twice = [token for token, count in tokens.items() if count > 1]
    expect(not twice, f"{len(twice)} refresh tokens were sent twice")
    for consent, (subject, is_withdrawn) in load.consents.items():
        path = f"/v1/consents/{consent}"
        status, body = load.ask("at the end", {home(subject)}, "GET", path)
        wanted = "revoked" if is_withdrawn else "active"
        expect(status == 200 and body["status"] == wanted, f"{consent} of {subject}: {status} {body}, not {wanted}")
        if not is_withdrawn:
            status, body = load.ask("at the end", {home(subject)}, "POST", path + "/refresh")
            expect(status == 200 and body["status"] == "active", f"{consent} of {subject}: {status} {body}")
    spread = []
    for node in nodes:
        lying = {row[0] for row in node.database.execute(["SELECT 'cns_' || encode(id, 'hex') FROM consents"])}
        mine = {consent for consent, (subject, _) in load.consents.items() if home(subject) == node.number}
        expect(lying == mine, f"node {node.number} has {len(lying)} consents and should have {len(mine)}")
        run("verify", "--config", node.config)
        spread.append(len(lying))
    return spread, len(tokens)


def percentile(times, part):
    return sorted(times)[min(len(times) - 1, int(part * len(times)))] * 1000 if times else 0.0


def pace(load, victim, begin, end):
    """Median and 99th percentile, milliseconds, of what others asked meanwhile."""
    times = [one.ended - one.begun for one in load.asked if victim not in one.homes and begin <= one.begun < end]
    return f"p50 {statistics.median(times) * 1000:.0f}, p99 {percentile(times, 0.99):.0f} ms" if times else "none"


def scenario(nodes, router, proxy, seconds):
    victim = random.randrange(NODES)
    load = Load(router)
    begun = time.monotonic()
    time.sleep(seconds)
    down = time.monotonic()
    nodes[victim].server.do("kill")
    time.sleep(OUTAGE)
    nodes[victim].server.do("started")
    wait_until(nodes[victim].is_ready, "the node is ready again")
    up = time.monotonic()
    time.sleep(seconds)
    # A router that begins in the middle of it knows no identifier.
    router.home_of_id.clear()
    load.end()
    expect(not load.problems, f"{len(load.problems)} calls went wrong: {load.problems[:3]}")
    refused = judge_outage(load, victim, down)
    count = len(load.asked)
    spread, tokens = judge_end(load, nodes, proxy)
    kinds = {}
    for one in load.asked[:count]:
        kinds[one.kind] = kinds.get(one.kind, 0) + 1
    others = [one for one in load.asked[:count] if victim not in one.homes]
    counted = ", ".join(f"{number} × {kind}" for kind, number in sorted(kinds.items()))
    return (f"{count} requests ({counted}); node {victim} away for {up - down:.0f} s: {refused} requests of its own "
            f"refused and asked again, of {len(others)} others 0; others before {pace(load, victim, begun, down)}, meanwhile {pace(load, victim, down, up)}; "
            f"{len(load.consents)} consents, {' + '.join(map(str, spread))}, lost 0; {len(load.codes)} codes and "
            f"{tokens} refresh tokens, sent twice 0; {load.stolen} codes for a second subject refused")


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 6
    begun = time.monotonic()
    folder = tempfile.mkdtemp(prefix="consent-gateway-test-")
    provider = Process(["simulate", "--listen", "127.0.0.1:0", "--refresh-tokens", "reuse_detection"],
                       f"{folder}/provider.log")
    proxy, nodes = Proxy(provider.ready["provider"]), []
    try:
        for number in range(NODES):
            nodes.append(Node(number, folder, proxy.url))
        router = Router(nodes)
        said = scenario(nodes, router, proxy, seconds)
        for node in nodes:
            for gateway in node.gateways:
                gateway.stop()
            node.gateways = []
    except Failure:
        for node in nodes:
            with open(f"{node.home}/gateway.log", errors="replace") as file:
                sys.stderr.write("".join(file.readlines()[-15:]))
        raise
    finally:
        for node in nodes:
            node.close()
        proxy.close()
        provider.kill()
    shutil.rmtree(folder)
    print(f"sharding: {said} ({time.monotonic() - begun:.0f} s)")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"sharding: {failure}")
