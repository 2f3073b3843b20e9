#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The example does what it says: the consent is active, has its profile, and was refreshed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

output=$(mktemp)
trap 'rm -f "$output"' EXIT
timeout 900 bash Examples/quickstart.sh | tee "$output"

python3 - "$output" <<'CHECK'
import json
import sys

text = open(sys.argv[1]).read()
decoder = json.JSONDecoder()
documents, position = [], 0
while (position := text.find("\n{", position)) >= 0:
    document, end = decoder.raw_decode(text, position + 1)
    documents.append(document)
    position = end
authorization, created, kept, profile, refreshed = documents
assert authorization["response_type"] == "authorization_code"
assert created["subject"] == "user-42" and created["status"] == "active", created
assert created["profile_status"] == "current" and created["profile"]["sub"] == created["provider_subject"]
assert kept == {name: value for name, value in created.items() if name != "profile"}, "the record that is kept"
assert profile == created["profile"]
assert refreshed["id"] == created["id"] and refreshed["status"] == "active"
assert created["last_refreshed_at"] is None and refreshed["last_refreshed_at"] is not None
print("The quickstart's five documents are as they should be.")
CHECK
