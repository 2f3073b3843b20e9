// SPDX-License-Identifier: Apache-2.0
internal import CBlocks
internal import CSQLite

/// How SQLite comes by its memory, set once a process and before the first database is opened, for it is taken only
/// then (sqlite3_config(3)).
///
/// Its small blocks are those that the thread was given back: Debian's SQLite is built without lookaside memory, and an
/// update of a row takes a block for each text and blob in it. And nothing is counted, for nobody asks: that would take
/// one mutex of all threads and ask for a block's size at each allocation and release.
let isMemorySetUp: Bool = {
    let counting = csqlite_count_no_memory()
    let taking = unsafe withUnsafePointer(to: blocks) { unsafe csqlite_use_memory($0) }
    return counting == SQLITE_OK && taking == SQLITE_OK
}()

/// Copied by `sqlite3_config`.
private var blocks: sqlite3_mem_methods {
    unsafe sqlite3_mem_methods(
        xMalloc: { unsafe cblocks_take(Int($0)) }, xFree: { unsafe cblocks_give($0) },
        xRealloc: { unsafe cblocks_resize($0, Int($1)) },
        xSize: { unsafe Int32(clamping: cblocks_size($0)) }, xRoundup: { ($0 + 7) & ~7 },
        xInit: { _ in SQLITE_OK }, xShutdown: { _ in }, pAppData: nil)
}
