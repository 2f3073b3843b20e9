#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The record of a consent: what was granted, and what became of it.
#   show.sh ID
source "$(dirname "$0")/call.sh"
call "$GATEWAY/v1/consents/${1:?is the id of a consent}"
