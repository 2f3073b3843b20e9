// SPDX-License-Identifier: Apache-2.0
// What Swift cannot call of this library (variadics, cast macros), and nothing else.
#pragma once
#include <sqlite3.h>

// Variadic.
static inline int csqlite_count_no_memory(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

static inline int csqlite_use_memory(const sqlite3_mem_methods *_Nonnull methods) {
  return sqlite3_config(SQLITE_CONFIG_MALLOC, methods);
}

// SQLITE_STATIC is a cast macro: the library reads the bytes where they are.
static inline int csqlite_bind_blob_in_place(
    sqlite3_stmt *_Nonnull statement, int position, const void *_Nonnull bytes, sqlite3_uint64 count) {
  return sqlite3_bind_blob64(statement, position, bytes, count, SQLITE_STATIC);
}

static inline int csqlite_bind_text_in_place(
    sqlite3_stmt *_Nonnull statement, int position, const void *_Nonnull text, sqlite3_uint64 count) {
  return sqlite3_bind_text64(statement, position, (const char *)text, count, SQLITE_STATIC, SQLITE_UTF8);
}
