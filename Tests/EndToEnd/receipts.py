#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Signed receipts, checked by somebody else's JWT library with the published keys: of the API and of the command line,
of a live consent and of one that was withdrawn; altered ones are refused, and so are other keys and other types."""
import json
import sys

import jwt

from harness import Failure, House, call, expect, run
from http.client import HTTPConnection

NOTICES = """\
notices:
  - { id: signup, version: "3", controller: Shop GmbH, privacy_policy: "https://shop.example/privacy",
      purposes: [Account], jurisdiction: DE }
"""


def signed(api, house, record):
    """The receipt as a token, from the API."""
    host, port = api.removeprefix("http://").rsplit(":", 1)
    connection = HTTPConnection(host, int(port), timeout=30)
    connection.request("GET", f"/v1/consents/{record}/receipt",
                       headers={**house.authorized(), "Accept": "application/jwt"})
    answer = connection.getresponse()
    token = answer.read().decode()
    connection.close()
    expect(answer.status == 200 and answer.headers["Content-Type"] == "application/jwt", f"no token: {answer.status}")
    return token


def opened(token, keys):
    """The claims of a token whose signature one of the keys has made."""
    header = jwt.get_unverified_header(token)
    expect(header["typ"] == "consent-receipt+jwt" and header["alg"] == "ES256", f"the header is {header}")
    key = {key.key_id: key for key in keys.keys}[header["kid"]]
    return jwt.decode(token, key.key, algorithms=["ES256"], issuer="http://127.0.0.1:0")


def altered(token):
    """The token with one letter of its payload changed."""
    head, payload, signature = token.split(".")
    middle = len(payload) // 2
    other = "A" if payload[middle] != "A" else "B"
    return ".".join([head, payload[:middle] + other + payload[middle + 1:], signature])


def main():
    house = House(provider_settings=NOTICES)
    try:
        gateway = house.serve()
        api = gateway.ready["api"]
        _, _, made = house.post_code(api, house.fresh_code(), "user-42")
        record = made["id"]
        status, headers, published = call(api, "GET", "/.well-known/receipt-keys.json")
        expect(status == 200 and headers["Cache-Control"] == "no-store", f"the keys: {status}")
        keys = jwt.PyJWKSet.from_dict(published)
        token = signed(api, house, record)
        claims = opened(token, keys)
        expect(claims["dpv:hasRecordOfActivity"]["gateway:status"] == "active", "the record is not active")
        try:
            opened(altered(token), keys)
            raise Failure("an altered token was taken")
        except jwt.InvalidSignatureError:
            pass
        call(api, "DELETE", f"/v1/consents/{record}", headers=house.authorized())
        _, _, document = call(api, "GET", f"/v1/consents/{record}/receipt", headers=house.authorized())
        steps = document["dpv:hasRecordOfActivity"]["dpv:hasConsentStatus"]
        expect([step["@type"][0] for step in steps] == ["dpv:ConsentGiven", "dpv:ConsentWithdrawn"], f"steps: {steps}")
        for other in (signed(api, house, record),
                      run("consents", "receipt", record, "--jwt", "--config", house.config).decode().strip()):
            claims = opened(other, keys)
            expect(claims["dpv:hasRecordOfActivity"] == document["dpv:hasRecordOfActivity"], "another record is signed")
        printed = json.loads(run("consents", "receipt", record, "--json", "--config", house.config))
        expect(printed["dpv:hasRecordOfActivity"] == document["dpv:hasRecordOfActivity"], "another record is printed")
        table = run("consents", "receipt", record, "--config", house.config).decode()
        for line in (f"Receipt {document['dct:identifier']}", "controller      Shop GmbH", "status          revoked (user)"):
            expect(line in table, f"{line!r} does not stand in {table}")
        gateway.stop()
    finally:
        house.close()
    print("receipts: ok")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"receipts: {failure}")
