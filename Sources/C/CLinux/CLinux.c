// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CLinux.h"
#include <signal.h>

// Glibc's Swift module hides pthread_setname_np.
int clinux_set_thread_name(const char *name) { return pthread_setname_np(pthread_self(), name); }

char **clinux_environment(void) { return environ; }

static _Thread_local const void *thread_mark;

void clinux_begin_thread(const char *name, const void *mark) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGHUP);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGPIPE);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGUSR1);
  sigaddset(&signals, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &signals, NULL);
  (void)clinux_set_thread_name(name);
  thread_mark = mark;
}

const void *clinux_thread_mark(void) { return thread_mark; }

int clinux_get_file_limit(struct rlimit *limit) { return getrlimit(RLIMIT_NOFILE, limit); }
int clinux_set_file_limit(const struct rlimit *limit) { return setrlimit(RLIMIT_NOFILE, limit); }
