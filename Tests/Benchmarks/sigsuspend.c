// SPDX-License-Identifier: Apache-2.0
// Swift's main thread waits in sigsuspend with a mask that lies in memory which cannot be written, and valgrind writes to
// the mask that it is given. Preloaded, this gives it a copy.
#define _GNU_SOURCE
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

int sigsuspend(const sigset_t *mask) {
    sigset_t copy = *mask;
    return (int)syscall(SYS_rt_sigsuspend, &copy, 8);
}
