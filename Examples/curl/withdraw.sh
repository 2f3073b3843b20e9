#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The person withdraws: tokens and attributes are destroyed, the record says so. Once more does no harm.
#   withdraw.sh ID
source "$(dirname "$0")/call.sh"
call --request DELETE "$GATEWAY/v1/consents/${1:?is the id of a consent}"
