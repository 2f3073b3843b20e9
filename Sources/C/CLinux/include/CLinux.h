// SPDX-License-Identifier: Apache-2.0
// What Glibc's Swift module lacks: epoll and its friends. No _GNU_SOURCE here: with it glibc's types differ from
// those of Glibc's Swift module, and the two no longer import together. What needs it is wrapped in CLinux.c.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

int clinux_set_thread_name(const char *_Nonnull name);

// The variables of this process; Swift 6 takes the global `environ` for unsafe to share.
char *_Nullable *_Nullable clinux_environment(void);

// Begins a loop's thread: names it, keeps the process's signals off it (another thread waits for those),
// and marks it, so that clinux_thread_mark() tells whose thread this is.
void clinux_begin_thread(const char *_Nonnull name, const void *_Nonnull mark);
const void *_Nullable clinux_thread_mark(void);

// getrlimit and setrlimit take an enum that glibc spells as an int in C++ and in Swift: fixed to open files.
int clinux_get_file_limit(struct rlimit *_Nonnull limit);
int clinux_set_file_limit(const struct rlimit *_Nonnull limit);

// prctl is variadic, and RLIMIT_CORE of the same enum. Answers 0, else -1 and errno.
int clinux_forbid_core_dumps(void);
// 0 where no core is written and no other process of the user may look in (prctl(2), PR_GET_DUMPABLE).
int clinux_core_dump_state(void);

// SIG_IGN is a cast. Answers 0, else -1 and errno.
int clinux_ignore_broken_pipes(void);

// A signal handler may do next to nothing: this one writes the signal's number, one byte, into a pipe. A handler has
// no argument of its own, so there is one pipe a process; EBUSY while another watches.
int clinux_watch_signals(int descriptor);
void clinux_unwatch_signals(void);
int clinux_catch_signal(int number, bool caught);
// The processors that this process may run on; CPU_COUNT is a macro.
int clinux_processor_count(void);
