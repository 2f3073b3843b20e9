// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CLinux.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

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

int clinux_forbid_core_dumps(void) {
  const struct rlimit none = {0, 0};
  if (setrlimit(RLIMIT_CORE, &none) != 0) return -1;
  return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

int clinux_core_dump_state(void) { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0); }

int clinux_ignore_broken_pipes(void) { return signal(SIGPIPE, SIG_IGN) == SIG_ERR ? -1 : 0; }

static atomic_int signal_descriptor = -1;

// Only what signal-safety(7) allows.
static void pass_signal_on(int number) {
  const int kept = errno;
  const int descriptor = atomic_load(&signal_descriptor);
  const unsigned char byte = (unsigned char)number;
  if (descriptor >= 0 && write(descriptor, &byte, 1) < 0) { /* the pipe is full: enough signals wait there */ }
  errno = kept;
}

int clinux_watch_signals(int descriptor) {
  int none = -1;
  if (atomic_compare_exchange_strong(&signal_descriptor, &none, descriptor)) return 0;
  errno = EBUSY;
  return -1;
}

void clinux_unwatch_signals(void) { atomic_store(&signal_descriptor, -1); }

int clinux_catch_signal(int number, bool caught) {
  struct sigaction action = {.sa_flags = SA_RESTART};
  action.sa_handler = caught ? pass_signal_on : SIG_DFL;
  sigemptyset(&action.sa_mask);
  return sigaction(number, &action, NULL);
}

int clinux_processor_count(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}
