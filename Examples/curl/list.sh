#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The consents of a user, newest first, ten at a time.
#   list.sh SUBJECT [CURSOR]     CURSOR: the last answer's next_cursor
source "$(dirname "$0")/call.sh"
call "$GATEWAY/v1/consents?limit=10&subject=${1:?is the user}${2:+&cursor=$2}"
