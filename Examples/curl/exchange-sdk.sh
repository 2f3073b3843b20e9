#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Has PayPal's code exchanged. Standard input: the SDK's answer, exactly as the app got it.
#   exchange-sdk.sh SUBJECT < authorization.json
# SUBJECT is your own identifier of the user; the scripts take it as it stands, so let it be letters, digits, - and _.
source "$(dirname "$0")/call.sh"
call --header 'Content-Type: application/json' --data-binary @- \
    "$GATEWAY/v1/consents?subject=${1:?is the user}"
