// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativePostgres

/// Tells what became of a transaction whose COMMIT was not answered: each writes a row with its number before anything
/// else. Whoever asks later writes the row itself where it is not there, and from then on that transaction cannot be
/// committed any more: its own row breaks the key.
///
/// One for each writing thread, whose transactions come one after the other. A row that is written once and removed,
/// not one that is changed each time: a reader of hours, as a backup is, would make that one ever slower to find.
struct BatchMarks {
    enum Fate { case written, neverWritten }

    private let instance: InstanceID
    /// Which of its writing threads.
    private let writer: Int
    /// That of the last transaction that was begun.
    private(set) var number: Int64 = 0
    /// None of its own lies before.
    private var oldest: Int64 = 1

    init(of instance: InstanceID, writer: Int) {
        self.instance = instance
        self.writer = writer
    }

    /// How many rows may lie there, before they are removed.
    private static let kept: Int64 = 64

    /// Draws the number of the next transaction.
    mutating func draw() -> Int64 {
        number += 1
        return number
    }

    /// Writes the row, first in the transaction.
    func set(_ number: Int64, in connection: borrowing SQLConnection) throws(SQLError) {
        try connection.run(MarkQueries.set, instance, writer, number)
    }

    /// Removes rows of which nobody will ask, in the transaction that was drawn last, where enough have come together.
    mutating func tidy(in connection: borrowing SQLConnection) throws(SQLError) {
        guard number - oldest >= BatchMarks.kept else { return }
        // From where the last time ended: what was removed there lies in the index for a while.
        try connection.run(MarkQueries.removeSome, instance, writer, oldest, number)
        oldest = number
    }

    /// Removes all, outside a transaction: before the first, and after the last.
    func removeAll(_ connection: borrowing SQLConnection) throws(SQLError) {
        try connection.run(MarkQueries.removeAll, instance, writer)
    }

    /// Waits for the transaction where the server has not ended it yet. What it has found is as safe as a commit.
    /// - Throws: where it could not be found out.
    func fate(of number: Int64, _ connection: borrowing SQLConnection) throws(SQLError) -> Fate {
        let row = try connection.prepare(MarkQueries.ask)
        try row.bind(instance, writer, number)
        guard try row.step() else { throw .corrupt }
        return row.flag() ? .written : .neverWritten
    }
}

private enum MarkQueries {
    static let set = SQLQuery("INSERT INTO batch_marks (instance, writer, number, is_written) VALUES (?, ?, ?, 1)")
    /// Changes the row where it is there, if to what it was: so it waits for what a commit waits for, a standby too.
    static let ask = SQLQuery(
        """
        INSERT INTO batch_marks (instance, writer, number, is_written) VALUES (?, ?, ?, 0)
        ON CONFLICT (instance, writer, number) DO UPDATE SET is_written = batch_marks.is_written
        RETURNING is_written
        """)
    static let removeSome = SQLQuery(
        "DELETE FROM batch_marks WHERE instance = ? AND writer = ? AND number >= ? AND number < ?")
    static let removeAll = SQLQuery("DELETE FROM batch_marks WHERE instance = ? AND writer = ?")
}
