// SPDX-License-Identifier: Apache-2.0
// Memory for libraries that take many small blocks and give them back soon after, as jansson does for a document's
// every name and value. Each thread keeps the small blocks that it was given back, up to a bound, and hands them out
// again. Every block is one of malloc(3)'s, so that it does not matter which thread gives it back, or whether free(3)
// does.
#pragma once
#include <stddef.h>

// As malloc(3), realloc(3), calloc(3), strdup(3) and free(3).
void *_Nullable cblocks_take(size_t size);
void *_Nullable cblocks_resize(void *_Nullable block, size_t size);
void *_Nullable cblocks_take_zeroed(size_t count, size_t size);
char *_Nullable cblocks_copy(const char *_Nullable text);
void cblocks_give(void *_Nullable block);

// As malloc_usable_size(3): at least what was asked for.
size_t cblocks_size(void *_Nullable block);
