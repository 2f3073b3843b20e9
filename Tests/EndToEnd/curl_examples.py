#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every script of Examples/curl, run against a gateway and the simulated provider, its answer compared; and what they
do where the gateway refuses. Nothing secret stands on a command line meanwhile: each is written down, and the house
searches what is written."""
import base64
import hashlib
import json
import os
import secrets
import shutil
import subprocess
import sys
import urllib.parse

from harness import DEADLINE, Failure, House, call, expect

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Examples", "curl")
# Stands before curl on the PATH and writes down its arguments.
WITNESS = """\
#!/bin/sh
printf '%s\\n' "$@" >> "{folder}/arguments"
exec {curl} "$@"
"""
REDIRECT = "example.shop:/callback"
# The simulated provider's own endpoints of a provider that asks for PKCE.
SETTINGS = """\
    access_tokens: on
  acme:
    token_endpoint: {url}/token
    userinfo_endpoint: {url}/userinfo
    client_id: simulated-client
    client_secret: simulated-secret
    scopes: [openid, email]
    id_token: ignored
    redirect_uris: ["{redirect}"]
"""


class Scripts:
    """The scripts with the address and key of a gateway, and the names of those that have run."""

    def __init__(self, gateway, key, witness=None):
        path = os.environ["PATH"] if witness is None else f"{witness}:{os.environ['PATH']}"
        self.environment = {**os.environ, "PATH": path, "GATEWAY": gateway, "KEY": key, "no_proxy": "*"}
        self.run_so_far = set()

    def run(self, name, *arguments, given=None, status=0):
        """What a script has printed; its exit status must be that one."""
        self.run_so_far.add(name)
        done = subprocess.run([f"{FOLDER}/{name}", *arguments], env=self.environment, capture_output=True,
                              input=given if given is None else json.dumps(given).encode(), timeout=DEADLINE)
        if done.returncode != status:
            raise Failure(f"{name} ended with {done.returncode}: {done.stdout.decode()}{done.stderr.decode()}")
        return done.stdout.decode()

    def json(self, name, *arguments, **more):
        return json.loads(self.run(name, *arguments, **more))


def witness(house):
    """A folder for the PATH; what it writes lies in the house's, where nothing secret may be found."""
    folder = f"{house.folder}/bin"
    os.mkdir(folder)
    with open(f"{folder}/curl", "w", opener=lambda path, flags: os.open(path, flags, 0o755)) as file:
        file.write(WITNESS.format(folder=house.folder, curl=shutil.which("curl")))
    return folder


def proof_key():
    """A PKCE verifier and its challenge (RFC 7636, section 4)."""
    verifier = secrets.token_urlsafe(32)
    return verifier, base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")


def code_with_proof(provider, challenge):
    """The code that a browser brings back from the provider."""
    query = urllib.parse.urlencode({
        "response_type": "code", "client_id": "simulated-client", "redirect_uri": REDIRECT, "scope": "openid email",
        "code_challenge": challenge, "code_challenge_method": "S256"})
    _, headers, _ = call(provider, "GET", f"/authorize?{query}")
    return urllib.parse.parse_qs(urllib.parse.urlsplit(headers["Location"]).query)["code"][0]


def exchanges(scripts, house):
    """The two bodies; returns the record that came of the first."""
    authorization = {"response_type": "authorization_code", "response": {"code": house.fresh_code()},
                     "client": {"environment": "sandbox", "platform": "iOS"}}
    made = scripts.json("exchange-sdk.sh", "user-42", given=authorization)
    expect(made["status"] == "active" and made["subject"] == "user-42" and made["profile"]["email"], made)
    verifier, challenge = proof_key()
    plain = {"provider": "acme", "subject": "user-42", "code": code_with_proof(house.provider_url, challenge),
             "redirect_uri": REDIRECT, "code_verifier": verifier}
    house.codes.append(plain["code"])
    other = scripts.json("exchange-code.sh", given=plain)
    expect(other["provider"] == "acme" and other["scopes"]["granted"] == ["openid", "email"], other)
    wrong = {**plain, "code": code_with_proof(house.provider_url, challenge), "code_verifier": proof_key()[0]}
    house.codes.append(wrong["code"])
    refused = scripts.json("exchange-code.sh", given=wrong, status=22)
    expect(refused["code"] == "code_rejected", "another verifier:", refused)
    return made


def readings(scripts, made):
    record = made["id"]
    listed = scripts.json("list.sh", "user-42")
    expect([item["provider"] for item in listed["items"]] == ["acme", "paypal"] and not listed["next_cursor"], listed)
    expect(scripts.json("list.sh", "nobody")["items"] == [], "nobody's consents")
    expect(scripts.json("show.sh", record)["id"] == record, "the record")
    for arguments in ((record,), (record, "60")):
        profile = scripts.json("profile.sh", *arguments)
        expect(profile["claims"]["email"] == made["profile"]["email"] and not profile["stale"], profile)
    refreshed = scripts.json("refresh.sh", record)
    expect(refreshed["last_refreshed_at"] and not made["last_refreshed_at"], refreshed)
    token = scripts.json("access-token.sh", record)
    expect(token["token_type"] == "Bearer" and token["access_token"], "the access token's members:", list(token))
    expect(scripts.json("show.sh", "cns_" + "0" * 32, status=22)["code"] == "not_found", "no such record")


def evidence(scripts, record):
    withdrawn = scripts.json("withdraw.sh", record)
    expect(withdrawn["status"] == "revoked" and scripts.json("withdraw.sh", record) == withdrawn, withdrawn)
    events = [item["type"] for item in scripts.json("events.sh", record)["items"]]
    expect(events[0] == "consent.created" and "consent.revoked" in events, events)
    receipt = scripts.json("receipt.sh", record)
    head, payload, _ = scripts.run("receipt-jwt.sh", record).strip().split(".")
    opened = [json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))) for part in (head, payload)]
    expect(opened[0]["typ"] == "consent-receipt+jwt", opened[0])
    expect(opened[1]["dpv:hasRecordOfActivity"] == receipt["dpv:hasRecordOfActivity"], "another record is signed")


def refusals(scripts):
    """Without an address, a key or an id: a sentence, and nothing is sent."""
    for missing in ("GATEWAY", "KEY"):
        bare = Scripts("http://127.0.0.1:9", "cgk_test")
        del bare.environment[missing]
        bare.run("list.sh", "user-42", status=1)
    scripts.run("show.sh", status=1)
    expect(Scripts(scripts.environment["GATEWAY"], "cgk_wrong").json("list.sh", "user-42", status=22)["code"]
           == "unauthenticated", "a wrong key")


def main():
    house = House(provider_settings="", scopes=",tokens:read")
    try:
        with open(house.config, "a") as file:
            file.write(SETTINGS.format(url=house.provider_url, redirect=REDIRECT))
        gateway = house.serve()
    except Failure:
        house.close()
        raise
    try:
        scripts = Scripts(gateway.ready["api"], house.key, witness(house))
        made = exchanges(scripts, house)
        readings(scripts, made)
        evidence(scripts, made["id"])
        refusals(scripts)
        there = {name for name in os.listdir(FOLDER) if name.endswith(".sh") and name != "call.sh"}
        expect(there == scripts.run_so_far, "not run:", there ^ scripts.run_so_far)
        with open(f"{house.folder}/arguments") as file:
            expect(file.read().count("--header\n@/dev/fd/") > len(there), "the command lines were not written down")
        gateway.stop()
    finally:
        gateway.kill()
        house.close()
    print(f"curl examples: {len(there)} scripts: ok")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"curl examples: {failure}")
