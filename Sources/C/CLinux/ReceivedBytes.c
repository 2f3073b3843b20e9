// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CLinux.h"

#include <dlfcn.h>

static _Thread_local clinux_received thread_received;
static _Thread_local void *thread_received_context;

void clinux_tap_received(clinux_received received, void *context) {
  thread_received = received;
  thread_received_context = context;
}

// Stands before glibc's in the order of lookup, for every library of the process, and does the same.
ssize_t recv(int descriptor, void *buffer, size_t size, int flags) {
  const ssize_t count = recvfrom(descriptor, buffer, size, flags, NULL, NULL);
  if (count > 0 && flags == 0 && thread_received != NULL)
    thread_received(thread_received_context, descriptor, buffer, (size_t)count);
  return count;
}

bool clinux_receives_itself(void) { return dlsym(RTLD_DEFAULT, "recv") == (void *)recv; }
