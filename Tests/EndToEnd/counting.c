// SPDX-License-Identifier: Apache-2.0
// Preloaded into a gateway by counts.py: counts what an exchange costs that a clock cannot tell twice alike. The counts
// lie in the file that COUNTS names, eight bytes each in the order of `enum`, for whoever maps it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { ALLOCATIONS, ALLOCATED, COPIES, COPIED, SYNCS, FILE_WRITES, FILE_WRITTEN, SENDS, WAKES, SWITCHES, TASKS, KINDS };

static _Atomic uint64_t unseen[KINDS];
__attribute__((visibility("hidden"))) _Atomic uint64_t *counts = unseen;

#define COUNT(kind, number) atomic_fetch_add_explicit(&counts[kind], (uint64_t)(number), memory_order_relaxed)

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static void *allocated(void *block, size_t size) {
    COUNT(ALLOCATIONS, 1);
    COUNT(ALLOCATED, size);
    return block;
}

void *malloc(size_t size) { return allocated(__libc_malloc(size), size); }
void *calloc(size_t number, size_t size) { return allocated(__libc_calloc(number, size), number * size); }
void *realloc(void *block, size_t size) { return allocated(__libc_realloc(block, size), size); }
void *aligned_alloc(size_t alignment, size_t size) { return allocated(__libc_memalign(alignment, size), size); }

int posix_memalign(void **block, size_t alignment, size_t size) {
    *block = allocated(__libc_memalign(alignment, size), size);
    return *block ? 0 : 12;
}

// Copies that libraries and Swift make through libc; those that a compiler writes out are not seen.
static void *(*move)(void *, const void *, size_t);

static void *copied(void *to, const void *from, size_t size) {
    if (size >= 64) {
        COUNT(COPIES, 1);
        COUNT(COPIED, size);
    }
    if (move) return move(to, from, size);
    volatile char *target = to;
    const volatile char *source = from;
    if (target < source) for (size_t i = 0; i < size; i++) target[i] = source[i];
    else for (size_t i = size; i > 0; i--) target[i - 1] = source[i - 1];
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t size) { return copied(to, from, size); }
void *memmove(void *to, const void *from, size_t size) { return copied(to, from, size); }

static int (*sync_data)(int), (*sync_all)(int);
static ssize_t (*write_at)(int, const void *, size_t, off64_t);
static int (*wake)(int, eventfd_t);
static ssize_t (*send_on)(int, const void *, size_t, int), (*send_parts)(int, const struct msghdr *, int);

int fdatasync(int file) { COUNT(SYNCS, 1); return sync_data(file); }
int fsync(int file) { COUNT(SYNCS, 1); return sync_all(file); }

ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t offset) {
    COUNT(FILE_WRITES, 1);
    COUNT(FILE_WRITTEN, size);
    return write_at(file, bytes, size, offset);
}

// A thread wakes another one.
int eventfd_write(int file, eventfd_t number) { COUNT(WAKES, 1); return wake(file, number); }

ssize_t send(int socket, const void *bytes, size_t size, int flags) {
    COUNT(SENDS, 1);
    return send_on(socket, bytes, size, flags);
}

ssize_t sendmsg(int socket, const struct msghdr *message, int flags) {
    COUNT(SENDS, 1);
    return send_parts(socket, message, flags);
}

#if defined(__x86_64__)
// Swift's own calling convention: the arguments stay where they are. r11 is nobody's across a call between libraries.
__attribute__((visibility("hidden"))) void *task_switch, *task_create;
#define PASSING(name, real, offset)                                                                                   \
    __asm__(".globl " #name "\n.type " #name ",@function\n" #name ":\n"                                                \
            "movq counts(%rip), %r11\nlock incq " #offset "(%r11)\njmp *" #real "(%rip)\n")
PASSING(swift_task_switch, task_switch, 72);
PASSING(swift_task_create, task_create, 80);
_Static_assert(SWITCHES * 8 == 72 && TASKS * 8 == 80, "the offsets above");
#endif

__attribute__((constructor)) static void begin(void) {
    move = dlsym(RTLD_NEXT, "memmove");
    sync_data = dlsym(RTLD_NEXT, "fdatasync");
    sync_all = dlsym(RTLD_NEXT, "fsync");
    write_at = dlsym(RTLD_NEXT, "pwrite64");
    wake = dlsym(RTLD_NEXT, "eventfd_write");
    send_on = dlsym(RTLD_NEXT, "send");
    send_parts = dlsym(RTLD_NEXT, "sendmsg");
#if defined(__x86_64__)
    task_switch = dlsym(RTLD_NEXT, "swift_task_switch");
    task_create = dlsym(RTLD_NEXT, "swift_task_create");
#endif
    const char *name = getenv("COUNTS");
    int file = name ? open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (file < 0 || ftruncate(file, sizeof unseen) != 0) return;
    void *shared = mmap(NULL, sizeof unseen, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared != MAP_FAILED) counts = shared;
    close(file);
}
