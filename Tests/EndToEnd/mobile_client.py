#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example of a mobile client, built and run against `demo` in fair weather and foul: it asks the person again where
the code is spent, sends the same request again where that can help, and otherwise gives up at once; each time with as
many requests as that takes and no secret in what it prints."""
import base64
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from harness import DEADLINE, Failure, House, Listening, Process, call, random_word, read_message, wait_until

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
KEPT, ASK_AGAIN, TRY_LATER, CANNOT = (0, "Kept: the consent cns_"), (3, "Ask the person again: "), \
    (4, "Try the same later: after "), (5, "Neither the person nor waiting can help: the answer ")
RECORD = {"id": "cns_" + "0" * 32, "status": "active", "profile": {"email": "jane@example.com"}}


def build():
    """The built example. Its folder of objects is the repository's, so that nothing is left in the example."""
    command = ["swift", "build", "--package-path", f"{ROOT}/Examples/MobileClient",
               "--scratch-path", f"{ROOT}/.build/mobile-client", "-Xswiftc", "-warnings-as-errors"]
    subprocess.run(command, check=True, stdout=sys.stderr)
    shown = subprocess.run([*command, "--show-bin-path"], check=True, capture_output=True)
    return shown.stdout.decode().strip() + "/mobile-client"


def sdk(code, environment="sandbox"):
    """What PayPal's SDK hands the app."""
    return {"response_type": "authorization_code", "response": {"code": code},
            "client": {"environment": environment, "paypal_sdk_version": "2.18.1", "platform": "iOS",
                       "product_name": "PayPal iOS SDK"}}


class App:
    """The example, with the address and the key that it was given."""

    def __init__(self, binary, gateway, key):
        self.binary, self.gateway, self.key = binary, gateway, key

    def started(self, subject, *patience):
        proxyless = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        return subprocess.Popen([self.binary, subject, *map(str, patience)], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env={**proxyless, "GATEWAY": self.gateway, "KEY": self.key})

    def hands_over(self, authorization, expected, words="", subject=None, patience=()):
        """Runs it to its end, which must be the expected one; returns what it printed."""
        text = json.dumps(authorization) if authorization else ""
        process = self.started(subject or "user-" + random_word(), *patience)
        output, trace = map(bytes.decode, process.communicate(text.encode(), timeout=DEADLINE * 2))
        status, beginning = expected
        if process.returncode != status or not output.startswith(beginning + words):
            raise Failure(f"{text}: ended with {process.returncode}, not {status} {beginning + words!r}: "
                          + output + trace)
        code = authorization and (authorization.get("code") or authorization.get("response", {}).get("code"))
        if any(secret in output + trace for secret in (self.key, code or self.key, "example.com")):
            raise Failure(f"a secret or an attribute is printed: {output}{trace}")
        return output


class Demo:
    """`consent-gateway demo`, and how often it was asked for what."""

    def __init__(self, folder):
        self.log = f"{folder}/demo.log"
        self.process = Process(["demo"], self.log, {"TMPDIR": folder})
        ready = self.process.ready
        self.api, self.provider, self.key = ready["api"], ready["provider"], ready["api_key"]

    def answers(self):
        """The statuses of the requests answered so far."""
        with open(self.log) as file:
            lines = [line for line in file if "request answered" in line]
        return [word.removeprefix("status=") for line in lines for word in line.split() if word.startswith("status=")]

    def fresh_code(self):
        return call(self.provider, "POST", "/simulator/codes", {})[2]["code"]

    def set_fault(self, fault, times):
        call(self.provider, "POST", "/simulator/faults", {"fault": fault, "times": times})

    def sendings(self, code):
        """How often a code has reached the provider, and how often it was taken."""
        digest = hashlib.sha256(code.encode()).hexdigest()
        listed = call(self.provider, "GET", "/simulator/log")[2]["codes"]
        return next(((entry["sent"], entry["taken"]) for entry in listed if entry["sha256"] == digest), (0, 0))

    def expect_sendings(self, code, sent, taken):
        if self.sendings(code) != (sent, taken):
            raise Failure(f"{code}: sent and taken {self.sendings(code)}, not {sent, taken}")


class Scripted(Listening):
    """In the gateway's place: gives each request the next of these answers; None closes without one."""

    def __init__(self, *answers):
        self.answers, self.requests = list(answers), []
        super().__init__()
        self.url = f"http://127.0.0.1:{self.port}"

    def serve(self, connection):
        with connection:
            while request := read_message(connection):
                self.requests.append(request)
                answer = self.answers.pop(0) if self.answers else None
                if answer is None:
                    return
                status, fields, body = answer
                body = (body if isinstance(body, str) else json.dumps(body)).encode()
                lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}"]
                lines += [f"{name}: {value}" for name, value in fields.items()]
                connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)


def one_after_the_other(demo, app):
    """What needs to know of every request: fair weather, a person who cancels, a caller that is not known, a provider
    that throttles once."""
    code = demo.fresh_code()
    first = app.hands_over(sdk(code), KEPT, subject="user-42")
    again = app.hands_over(sdk(code), KEPT, subject="user-42")
    if first != again:
        raise Failure(f"the same code made two records: {first}{again}")
    app.hands_over(sdk(code), CANNOT, "409 code_already_used", subject="user-43")
    app.hands_over(None, (0, "The person has cancelled"))
    App(app.binary, demo.api, "cgk_demo_wrong").hands_over(sdk(demo.fresh_code()), CANNOT, "401 unauthenticated")
    app.hands_over(sdk(demo.fresh_code(), "live"), CANNOT, "400 environment_mismatch")
    App(app.binary, "http://gateway.example.org", app.key).hands_over(sdk(code), (2, "The gateway's address must be"))
    demo.expect_sendings(code, 1, 1)

    code = demo.fresh_code()
    demo.set_fault("throttled=1@exchange", 1)
    app.hands_over(sdk(code), KEPT)
    demo.expect_sendings(code, 2, 1)
    wait_until(lambda: len(demo.answers()) == 7, "seven requests have been answered")
    if demo.answers() != ["201", "200", "409", "401", "400", "503", "201"]:
        raise Failure(f"the answers were {demo.answers()}")


# Fault of the code, what the app must make of it, with which patience (seconds, attempts); how often the code arrives.
WEATHER = [
    ("dead_code", ASK_AGAIN, "code_rejected", (), 1),
    ("html", ASK_AGAIN, "provider_bad_response", (), 1),
    ("server_error=502", ASK_AGAIN, "exchange_unknown", (), 1),
    ("reset", ASK_AGAIN, "exchange_unknown", (), 1),
    ("invalid_client=401", CANNOT, "502 provider_misconfigured", (), 1),
    # Longer than the gateway waits: 503 exchange_pending, and the record when it is there.
    ("slow=10.5@exchange", KEPT, "", (), 1),
]
# What a provider says for everybody: each with a gateway of its own, whose provider is gated from then.
STORMS = [
    # Worth waiting for, but not as long as that; and longer than the code has to live.
    ("throttled=7", TRY_LATER, "", (3,), 1),
    ("unavailable", TRY_LATER, "", (0,), 1),
    ("unavailable_for=1", TRY_LATER, "", (20, 2), 2),
    ("throttled=200", ASK_AGAIN, "code_too_old", (), 1),
    ("throttled_absurd", ASK_AGAIN, "code_too_old", (), 1),
]


def weather(demo, app, row):
    fault, expected, words, patience, sent = row
    code = f"fault:{fault}:{random_word()}"
    app.hands_over(sdk(code), expected, words, patience=patience)
    if demo.sendings(code)[0] != sent:
        raise Failure(f"{code} was sent {demo.sendings(code)[0]} times, not {sent}")


def storm(folder, binary, row):
    own = tempfile.mkdtemp(dir=folder)
    demo = Demo(own)
    try:
        weather(demo, App(binary, demo.api, demo.key), row)
        demo.process.stop()
    finally:
        demo.process.kill()


def app_is_killed(demo, app):
    """The system ends the app while the code is out; started again it hands over what it has, and has the consent."""
    code, subject = f"fault:slow=2@exchange:{random_word()}", "user-" + random_word()
    process = app.started(subject)
    process.stdin.write(json.dumps(sdk(code)).encode())
    process.stdin.close()
    wait_until(lambda: demo.sendings(code)[0] == 1, "the code has reached the provider")
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    process.stderr.close()
    app.hands_over(sdk(code), KEPT, subject=subject)
    demo.expect_sendings(code, 1, 1)


def base64url(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class Login:
    """The merchant's own login: signs sessions of its users, and keeps its public key in a file."""

    def __init__(self, folder):
        self.key, self.keys = f"{folder}/login.key", f"{folder}/login-keys.json"
        self.openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", self.key)
        modulus = self.openssl("rsa", "-in", self.key, "-noout", "-modulus").decode().strip().partition("=")[2]
        with open(self.keys, "w") as file:
            json.dump({"keys": [{"kty": "RSA", "kid": "k1", "n": base64url(bytes.fromhex(modulus)), "e": "AQAB"}]}, file)
        self.settings = "\n".join((
            "auth:", "  jwt:", "    - issuer: https://login.shop.example", "      audience: consent-gateway",
            f"      jwks: {{ file: {self.keys} }}", "      subject_prefix: 'shop:'", ""))

    @staticmethod
    def openssl(*arguments, data=None):
        return subprocess.run(["openssl", *arguments], input=data, check=True, capture_output=True).stdout

    def session(self, user, life=600):
        now = int(time.time())
        claims = {"iss": "https://login.shop.example", "aud": "consent-gateway", "sub": user, "iat": now,
                  "exp": now + life}
        parts = [base64url(json.dumps(part).encode()) for part in ({"alg": "RS256", "typ": "JWT", "kid": "k1"}, claims)]
        message = ".".join(parts)
        return message + "." + base64url(self.openssl("dgst", "-sha256", "-sign", self.key, data=message.encode()))


def as_its_user(binary, folder):
    """The app shows its user's session in place of a key: the consent is that user's and nobody else's."""
    login = Login(folder)
    house = House(provider_settings=login.settings)
    gateway = house.serve()
    try:
        api, sessions = gateway.ready["api"], {user: login.session(user) for user in ("ada", "bob")}
        ada, bob = (App(binary, api, sessions[user]) for user in ("ada", "bob"))
        code = house.fresh_code()
        first = ada.hands_over(sdk(code), KEPT, subject="-")
        if ada.hands_over(sdk(code), KEPT, subject="-") != first:
            raise Failure(f"the same code made two records for a user: {first}")
        bob.hands_over(sdk(code), CANNOT, "409 code_already_used", subject="-")
        bob.hands_over(sdk(house.fresh_code()), CANNOT, "400 invalid_request", subject="shop:ada")
        App(binary, api, login.session("ada", -120)).hands_over(
            sdk(house.fresh_code()), CANNOT, "401 unauthenticated", subject="-")
        for user, expected in (("ada", ["shop:ada"]), ("bob", [])):
            listed = call(api, "GET", "/v1/consents", None, {"Authorization": f"Bearer {sessions[user]}"})[2]
            if [item["subject"] for item in listed["items"]] != expected:
                raise Failure(f"{user} sees {listed}")
        gateway.stop()
        house.search({*sessions.values(), "shop:ada"})
    finally:
        gateway.kill()
        house.close()


def problem(status, code, **fields):
    return status, {"Content-Type": "application/problem+json", **fields}, {"status": status, "code": code}


def between_app_and_gateway(binary):
    """What lies between answers in its place, or nothing comes back: (answers, expected end, its words)."""
    once_more = {"Retry-After": "0"}
    elsewhere = Scripted((201, {}, RECORD))
    rows = [
        ([None, (201, {}, RECORD)], KEPT, ""),
        ([(502, {}, "<html>Bad Gateway</html>"), (503, once_more, ""), (504, once_more, "{}"), (200, {}, RECORD)],
         KEPT, ""),
        ([problem(408, "invalid_request"), problem(429, "rate_limited", **{"Retry-After": "1"}),
          problem(503, "exchange_pending", **{"Retry-After": "1"}), (201, {}, RECORD)], KEPT, ""),
        ([problem(503, "exchange_pending", **{"Retry-After": "1e300"})], TRY_LATER, ""),
        ([problem(503, "provider_unavailable", **{"Retry-After": "-1"}), (200, {}, RECORD)], KEPT, ""),
        ([problem(422, "id_token_invalid")], ASK_AGAIN, "id_token_invalid"),
        ([problem(500, "internal", **{"X-Request-Id": "abc"})], CANNOT, "500 internal, request abc"),
        ([(307, {"Location": elsewhere.url + "/v1/consents"}, "")], CANNOT, "307 of something"),
        ([(200, {}, "<html>Welcome to the hotel's network</html>")], CANNOT, "200 of something"),
    ]
    for answers, expected, words in rows:
        gateway = Scripted(*answers)
        code = {"provider": "acme", "code": random_word(), "code_verifier": random_word()}
        App(binary, gateway.url, "cgk_test_" + random_word()).hands_over(code, expected, words)
        gateway.close()
        bodies = {request.partition(b"\r\n\r\n")[2] for request in gateway.requests}
        if len(gateway.requests) != len(answers) or len(bodies) != 1 or code.items() - json.loads(bodies.pop()).items():
            raise Failure(f"{answers}: {len(gateway.requests)} requests, {gateway.requests}")
        # Nothing listens there any more.
        App(binary, gateway.url, "cgk_test_key").hands_over(code, TRY_LATER, patience=(0,))
    if elsewhere.requests:
        raise Failure("the key and the code went where a redirect pointed to")
    elsewhere.close()
    return len(rows)


def main():
    binary = build()
    with tempfile.TemporaryDirectory(prefix="consent-gateway-test-") as folder:
        demo = Demo(folder)
        try:
            app = App(binary, demo.api, demo.key)
            one_after_the_other(demo, app)
            with ThreadPoolExecutor(8) as pool:
                scripted = pool.submit(between_app_and_gateway, binary)
                killed = pool.submit(app_is_killed, demo, app)
                user = pool.submit(as_its_user, binary, folder)
                for done in [pool.submit(weather, demo, app, row) for row in reversed(WEATHER)]:
                    done.result()
                for done in [pool.submit(storm, folder, binary, row) for row in STORMS]:
                    done.result()
                killed.result()
                user.result()
                count = scripted.result()
            demo.process.stop()
        finally:
            demo.process.kill()
    print(f"mobile client: {len(WEATHER) + len(STORMS)} kinds of weather, {count} between app and gateway: ok")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"mobile client: {failure}")
