// SPDX-License-Identifier: Apache-2.0
// What Swift cannot call of this library (variadics, cast macros), and nothing else.
#pragma once
#include <sqlite3.h>

// SQLITE_TRANSIENT is a cast macro: the library copies the bytes.
static inline int csqlite_bind_blob_copied(
    sqlite3_stmt *_Nonnull statement, int position, const void *_Nullable bytes, sqlite3_uint64 count) {
  return sqlite3_bind_blob64(statement, position, bytes, count, SQLITE_TRANSIENT);
}

static inline int csqlite_bind_text_copied(
    sqlite3_stmt *_Nonnull statement, int position, const char *_Nullable text, sqlite3_uint64 count) {
  return sqlite3_bind_text64(statement, position, text, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}
