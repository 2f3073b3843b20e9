// SPDX-License-Identifier: Apache-2.0
// What Glibc's Swift module lacks: epoll and its friends.
#pragma once
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
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
