# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# One request to the gateway, for the scripts beside this one. They read, from the environment:
#   GATEWAY  its address, such as http://127.0.0.1:8080
#   KEY      an API key, as `consent-gateway keys api create` prints it
# An answer that is no success is printed too, and the exit status is then curl's 22. The key is handed to curl in a
# file descriptor: on the command line every user of the machine could read it.
set -euo pipefail
: "${GATEWAY:?is the address of the gateway}" "${KEY:?is an API key}"

call() {
    curl --silent --show-error --fail-with-body --max-time 30 \
        --header @<(printf 'Authorization: Bearer %s\n' "$KEY") "$@"
    echo
}
