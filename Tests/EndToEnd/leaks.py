#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nothing of a person and no secret can be read in what the gateway leaves behind: exchanges, refreshes and refusals
go through, then every file of the store, the state and the log is searched for every value that went over the wire."""
import json
import sys

from harness import CLIENT_SECRET, Failure, House, Proxy, call


def leaves(value):
    """The texts of a JSON document that are long enough to be told from chance."""
    if isinstance(value, dict):
        for member in value.values():
            yield from leaves(member)
    elif isinstance(value, list):
        for member in value:
            yield from leaves(member)
    elif isinstance(value, str) and len(value) >= 4:
        yield value


# Members that are the same for everybody, and the provider's own names for its log lines, which are shown.
HARMLESS = ("token_type", "scope", "app_id", "locale", "zoneinfo", "account_type", "country", "error", "correlation_id",
            "debug_id")


def canaries(house, codes, subjects):
    values = set(codes) | set(subjects) | {CLIENT_SECRET, house.key}
    for answer in house.proxy.answers:
        document = json.loads(answer.partition(b"\r\n\r\n")[2] or b"{}")
        if "address" in document:
            document["address"].pop("country", None)
        values |= set(leaves({name: value for name, value in document.items() if name not in HARMLESS}))
    return values


def main():
    house = House(through=Proxy)
    gateway = house.serve()
    api = gateway.ready["api"]
    codes, subjects = [], []
    for number in range(12):
        code = house.fresh_code() if number % 4 != 3 else f"forged-canary-code-{number:04}"
        codes.append(code)
        subjects.append(f"canary-subject-{number:04}@shop.example")
        status, _, body = house.post_code(api, code, subjects[-1])
        if status == 201:
            call(api, "POST", f"/v1/consents/{body['id']}/refresh", None, house.authorized())
            call(api, "GET", f"/v1/consents/{body['id']}", None, house.authorized())
        elif number % 4 != 3:
            raise Failure(f"a good code was answered {status} {body}")
        house.post_code(api, code, "canary-subject-of-another")
    call(api, "GET", "/v1/consents/canary-path-value", None, {"Authorization": "Bearer cgk_canary_guess"})
    values = canaries(house, codes, subjects + ["canary-subject-of-another", "canary-path-value", "cgk_canary_guess"])
    house.search(values)
    gateway.stop()
    size = house.search(values)
    files = len(house.files())
    house.close()
    print(f"{len(values)} values searched for in {size} bytes of {files} files: none found")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"leaks: {failure}")
