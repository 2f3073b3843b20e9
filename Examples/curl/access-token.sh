#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An access token that is good for ten minutes at least. The provider needs `access_tokens: on`, the key `tokens:read`.
#   access-token.sh ID
source "$(dirname "$0")/call.sh"
call --header 'Content-Type: application/json' --data '{"min_ttl": 600}' \
    "$GATEWAY/v1/consents/${1:?is the id of a consent}/access-token"
