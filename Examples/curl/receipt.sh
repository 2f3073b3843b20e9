#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The consent receipt (ISO/IEC TS 27560, JSON-LD).
#   receipt.sh ID
source "$(dirname "$0")/call.sh"
call "$GATEWAY/v1/consents/${1:?is the id of a consent}/receipt"
