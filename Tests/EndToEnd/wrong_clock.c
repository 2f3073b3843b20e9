// SPDX-License-Identifier: Apache-2.0
// Preloaded into a program, a machine whose wall clock is wrong by WRONG_BY seconds. Its other clocks are right.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

typedef int (*reader)(clockid_t, struct timespec *);

static reader real;
static long wrong_by;

__attribute__((constructor)) static void begin(void) {
    real = (reader)dlsym(RTLD_NEXT, "clock_gettime");
    const char *told = getenv("WRONG_BY");
    wrong_by = told ? atol(told) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    if (!real) begin();
    int code = real(clock, now);
    if (code == 0 && clock == CLOCK_REALTIME) now->tv_sec += wrong_by;
    return code;
}
