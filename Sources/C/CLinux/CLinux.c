// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CLinux.h"

// Glibc's Swift module hides pthread_setname_np.
int clinux_set_thread_name(const char *name) { return pthread_setname_np(pthread_self(), name); }

char **clinux_environment(void) { return environ; }
