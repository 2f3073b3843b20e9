// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativeJSON

/// What became of a move, in words of this room.
package struct MoveFindings: Sendable {
    package enum End: Sendable, Equatable {
        case moved
        /// By an earlier run, then.
        case movedBefore(String)
        case differs
    }

    package struct Table: Sendable {
        package var name: String
        /// Rows of the file, and of the server.
        package var source, target: Int64
        /// Rows that this run has copied.
        package var copied: Int64
        /// Key of the first row that is not the same on both sides.
        package var difference: String?

        package init(name: String, source: Int64, target: Int64, copied: Int64, difference: String?) {
            self.name = name
            self.source = source
            self.target = target
            self.copied = copied
            self.difference = difference
        }
    }

    package struct Chains: Sendable {
        package var count: Int64
        /// In hexadecimal digits.
        package var root: String

        package init(count: Int64, root: String) {
            self.count = count
            self.root = root
        }
    }

    package var end: End
    package var tables: [Table]
    package var source, target: Chains
    /// Somebody wrote to the file while it was read.
    package var isSourceChanged: Bool

    package init(end: End, tables: [Table], source: Chains, target: Chains, isSourceChanged: Bool) {
        self.end = end
        self.tables = tables
        self.source = source
        self.target = target
        self.isSourceChanged = isSourceChanged
    }

    fileprivate var haveSameChains: Bool { source.count == target.count && source.root == target.root }
}

/// `migrate --from`.
package enum MoveOutput {
    /// - Returns: status 1 where the tables do not hold what the file holds.
    package static func report(_ found: MoveFindings, json: Bool) -> CommandOutput {
        let status: ExitStatus = found.end == .differs ? .partlyDone : .done
        if json { return CommandOutput(text: jsonDocument(document(found)), status: status) }
        if case .movedBefore(let time) = found.end {
            return CommandOutput(text: "The file was moved on \(time), and every row was verified: nothing to do.\n")
        }
        var rows = [["table", "rows", "copied now", ""]]
        rows += found.tables.map { ["\($0.name)", "\($0.target)", "\($0.copied)", remark(on: $0)] }
        return CommandOutput(text: TextTable.text(rows) + verdict(found), status: status)
    }

    private static func remark(on table: MoveFindings.Table) -> String {
        var remark = table.source == table.target ? "" : "the file has \(table.source)"
        if let difference = table.difference {
            remark += (remark.isEmpty ? "" : "; ") + "first difference at \(difference)"
        }
        return remark
    }

    private static func verdict(_ found: MoveFindings) -> String {
        if found.end == .moved {
            return """
                Moved and verified: every row is the same on both sides, and \(found.source.count) chains end alike
                (Merkle root \(found.source.root)).
                The file was not changed. Do not start a gateway on it again: its refresh tokens are used by the new store.

                """
        }
        var lines = found.isSourceChanged ? ["The file was written to while it was read."] : []
        if !found.haveSameChains {
            lines.append(
                "The chains end differently: \(found.source.count) in the file, root \(found.source.root); "
                    + "\(found.target.count) in the tables, root \(found.target.root).")
        }
        lines.append(
            "Not moved: the file has changed since a part of it was copied. Stop every gateway on it, make the database "
                + "anew, and run it again.")
        return lines.joined(separator: "\n") + "\n"
    }

    private static func document(_ found: MoveFindings) -> JSONValue {
        var document = JSONValue.object()
        document.set("moved", found.end != .differs)
        if case .movedBefore(let time) = found.end {
            document.set("moved_before_at", time)
            return document
        }
        document.set("tables", found.tables.map(item))
        document.set("chains", found.target.count)
        document.set("root", found.target.root)
        document.set("source_chains", found.source.count)
        document.set("source_root", found.source.root)
        document.set("source_changed", found.isSourceChanged)
        return document
    }

    private static func item(_ table: MoveFindings.Table) -> JSONValue {
        var item = JSONValue.object()
        item.set("table", table.name)
        item.set("source_rows", table.source)
        item.set("rows", table.target)
        item.set("copied_now", table.copied)
        item.set("first_difference", table.difference)
        return item
    }

    /// The line that a terminal shows meanwhile.
    package static func progress(_ step: String, table: String, done: Int64, total: Int64) -> String {
        "\(step) \(table)  \(done)/\(total)"
    }
}
