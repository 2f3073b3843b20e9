#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The main job in one go, on this machine alone: a phone's authorization code becomes a kept consent, its profile is
# read, its tokens are refreshed. Store and provider are temporary; nothing is sent to PayPal and nothing stays.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '\n== %s\n' "$*"; }
fail() { printf 'quickstart: %s\n' "$*" >&2; exit 1; }
pretty() { python3 -m json.tool --no-ensure-ascii; }
# The member of the JSON document on standard input that its arguments lead to.
member() { python3 -c 'import functools, json, sys
print(functools.reduce(lambda value, name: value[name], sys.argv[1:], json.load(sys.stdin)))' "$@"; }

folder=$(mktemp -d)
demo=''
# Ends the demo and waits for it, 10 s at most; then it is ended hard.
stop_demo() {
    [[ -n $demo ]] || return 0
    kill -TERM "$demo" 2>/dev/null || true
    for ((tenths = 0; tenths < 100; tenths++)); do
        kill -0 "$demo" 2>/dev/null || break
        sleep 0.1
    done
    kill -KILL "$demo" 2>/dev/null || true
    local status=0
    wait "$demo" || status=$?
    demo=''
    return "$status"
}
clean_up() {
    local status=$?
    stop_demo || true
    if ((status != 0)) && [[ -s $folder/demo.log ]]; then
        printf '\nThe gateway said:\n' >&2
        tail -n 30 "$folder/demo.log" >&2
    fi
    rm -rf "$folder"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

say 'Building the gateway (some minutes, the first time)'
.ci/install
swift build -c release --product consent-gateway
gateway=$(swift build -c release --show-bin-path)/consent-gateway

say 'Starting it with the simulated provider and an empty store'
mkfifo "$folder/ready"
TMPDIR=$folder "$gateway" demo --json >"$folder/ready" 2>"$folder/demo.log" &
demo=$!
exec 3<"$folder/ready"
read -r -t 60 ready <&3 || fail 'it ended, or was not ready within 60 s'
api=$(member api <<<"$ready")
provider=$(member provider <<<"$ready")
printf 'Authorization: Bearer %s\n' "$(member api_key <<<"$ready")" >"$folder/caller"
printf 'API at %s, simulated provider at %s\n' "$api" "$provider"

# One request, 30 s at most; an answer that is no 2xx is shown and ends the script.
request() {
    if ! curl --silent --show-error --fail-with-body --noproxy '*' --max-time 30 --output "$folder/answer" "$@"; then
        { cat "$folder/answer" && echo; } >&2 || true
        fail "the request failed: ${*: -1}"
    fi
    cat "$folder/answer"
}
call() { request --header @"$folder/caller" "$@"; }

say 'A person consents on the phone; the SDK hands the app an authorization response'
fresh=$(request --request POST "$provider/simulator/codes")
code=$(member code <<<"$fresh")
environment=$(member authorization client environment <<<"$fresh")
# The sample of PayPal's SDK documentation, without its trailing comma, with a code that is still good.
cat >"$folder/authorization.json" <<SAMPLE
{
    "client": {
        "environment": "$environment",
        "paypal_sdk_version": "2.0.0",
        "platform": "iOS",
        "product_name": "PayPal iOS SDK"
    },
    "response": {
        "code": "$code"
    },
    "response_type": "authorization_code"
}
SAMPLE
cat "$folder/authorization.json"

say 'The app hands it to the gateway as it is: POST /v1/consents?subject=user-42'
consent=$(call --header 'Content-Type: application/json' --data-binary @"$folder/authorization.json" \
    "$api/v1/consents?subject=user-42")
pretty <<<"$consent"
id=$(member id <<<"$consent")

say "The kept record: GET /v1/consents/$id"
call "$api/v1/consents/$id" | pretty

say 'The profile that came with the consent'
python3 -c 'import json, sys; print(json.dumps(json.load(sys.stdin)["profile"], indent=4, ensure_ascii=False))' \
    <<<"$consent"

say "New tokens, with nobody at the phone: POST /v1/consents/$id/refresh"
call --request POST "$api/v1/consents/$id/refresh" | pretty

say 'Stopping the gateway'
stop_demo || fail "it ended with status $?"
say 'Done: the consent was made, read and refreshed.'
