// SPDX-License-Identifier: Apache-2.0
#include "CBlocks.h"

#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// glibc's chunks are multiples of 16 bytes, of which 8 are its own: 24, 40, … 536 bytes for whoever asks.
enum { smallest = 24, step = 16, kinds = 33, largest = smallest + step * (kinds - 1) };
// What a thread keeps of each size, in bytes: a megabyte in all. Nothing under the address sanitizer, which then sees
// who uses a block that was given back.
#if __has_feature(address_sanitizer)
enum { most = 0 };
#else
enum { most = 32 << 10 };
#endif

struct block { struct block *next; };
// The blocks of one size, and how many more may be kept.
struct stack { struct block *first; uint32_t room; };
struct kept { struct stack of[kinds]; bool ends_with_thread; };

static _Thread_local struct kept kept;
static pthread_key_t thread_end;
static pthread_once_t is_prepared = PTHREAD_ONCE_INIT;
static bool knows_thread_end;

static void let_go(void *argument) {
  struct kept *all = argument;
  for (int kind = 0; kind < kinds; kind++) {
    for (struct block *block = all->of[kind].first, *next; block; block = next) {
      next = block->next;
      free(block);
    }
  }
  *all = (struct kept){0};
}

static void prepare(void) { knows_thread_end = pthread_key_create(&thread_end, let_go) == 0; }

// A thread's first block finds no room. Nothing is kept on a thread whose end nobody would tell.
static __attribute__((noinline)) bool make_room(void) {
  if (kept.ends_with_thread) return false;
  pthread_once(&is_prepared, prepare);
  if (!knows_thread_end || pthread_setspecific(thread_end, &kept) != 0) return false;
  for (int kind = 0; kind < kinds; kind++) kept.of[kind].room = most / (smallest + step * kind);
  return kept.ends_with_thread = true;
}

void *cblocks_take(size_t size) {
  if (size > largest) return malloc(size);
  const size_t kind = size <= smallest ? 0 : (size - smallest + step - 1) / step;
  struct stack *stack = &kept.of[kind];
  struct block *block = stack->first;
  if (!block) return malloc(smallest + step * kind);
  stack->first = block->next;
  stack->room++;
  return block;
}

void cblocks_give(void *block) {
  if (!block) return;
  // No block is smaller than the smallest.
  const size_t kind = (malloc_usable_size(block) - smallest) / step;
  if (kind >= kinds) return free(block);
  struct stack *stack = &kept.of[kind];
  if (stack->room == 0 && (!make_room() || stack->room == 0)) return free(block);
  struct block *given = block;
  given->next = stack->first;
  stack->first = given;
  stack->room--;
}

void *cblocks_resize(void *block, size_t size) {
  if (!block) return cblocks_take(size);
  const size_t held = malloc_usable_size(block);
  if (held > largest && size > largest) return realloc(block, size);
  if (size <= held && held <= largest) return block;
  void *other = cblocks_take(size);
  if (!other) return NULL;
  memcpy(other, block, held < size ? held : size);
  cblocks_give(block);
  return other;
}

void *cblocks_take_zeroed(size_t count, size_t size) {
  if (size != 0 && count > SIZE_MAX / size) return NULL;
  if (count * size > largest) return calloc(count, size);
  void *block = cblocks_take(count * size);
  return block ? memset(block, 0, count * size) : NULL;
}

char *cblocks_copy(const char *text) {
  if (!text) return NULL;
  const size_t size = strlen(text) + 1;
  char *copy = cblocks_take(size);
  return copy ? memcpy(copy, text, size) : NULL;
}

size_t cblocks_size(void *block) { return malloc_usable_size(block); }
