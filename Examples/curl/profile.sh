#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The person's attributes, and which of those that were asked for are missing, and why.
#   profile.sh ID [MAX_AGE]      fetched again if they are older than so many seconds
source "$(dirname "$0")/call.sh"
call "$GATEWAY/v1/consents/${1:?is the id of a consent}/profile${2:+?max_age=$2}"
