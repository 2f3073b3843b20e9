# SPDX-License-Identifier: Apache-2.0
# Sourced by the benchmarks, from the top of the project: builds the program and the bench, and says in BIN where they
# are; where BIN is set already, they are there.
if [[ -z ${BIN:-} ]]; then
    .ci/install
    export BENCHMARKS=1
    build=(swift build -c release --scratch-path .build/benchmarks)
    "${build[@]}" --product consent-gateway
    "${build[@]}" --product exchange-bench
    BIN=$("${build[@]}" --show-bin-path)
fi
export BIN
