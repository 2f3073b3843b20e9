#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Has any provider's code exchanged, with the PKCE verifier that the app made for it. Standard input: a JSON object.
#   exchange-code.sh <<< '{"provider":"acme","subject":"user-42","code":"...","code_verifier":"..."}'
# A `redirect_uri`, a `nonce` and a `notice` (ID@VERSION) may stand there too.
source "$(dirname "$0")/call.sh"
call --header 'Content-Type: application/json' --data-binary @- "$GATEWAY/v1/consents"
