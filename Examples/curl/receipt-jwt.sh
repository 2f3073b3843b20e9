#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The same receipt, signed: a JWT. Anyone can check it with the keys of $GATEWAY/.well-known/receipt-keys.json.
#   receipt-jwt.sh ID
source "$(dirname "$0")/call.sh"
call --header 'Accept: application/jwt' "$GATEWAY/v1/consents/${1:?is the id of a consent}/receipt"
