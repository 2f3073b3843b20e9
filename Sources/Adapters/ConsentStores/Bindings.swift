// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativeSQLite

// How the domain's values lie in columns.

extension UUIDv7: SQLBindable {
    static var sqlKind: SQLKind { .blob }
    var sqlValue: SQLValue { .words(high, low) }
    var sqlite: SQLiteValue { .words(high, low) }
}
extension ConsentID: SQLBindable {
    static var sqlKind: SQLKind { .blob }
    var sqlValue: SQLValue { uuid.sqlValue }
    var sqlite: SQLiteValue { uuid.sqlite }
}
extension AttemptID: SQLBindable {
    static var sqlKind: SQLKind { .blob }
    var sqlValue: SQLValue { uuid.sqlValue }
    var sqlite: SQLiteValue { uuid.sqlite }
}
extension InstanceID: SQLBindable {
    static var sqlKind: SQLKind { .blob }
    var sqlValue: SQLValue { uuid.sqlValue }
    var sqlite: SQLiteValue { uuid.sqlite }
}
extension BlindIndex: SQLBindable {
    static var sqlKind: SQLKind { .blob }
    var sqlValue: SQLValue { .blob(bytes) }
    var sqlite: SQLiteValue { .blob(bytes) }
}
extension SealedBytes: SQLBindable {
    static var sqlKind: SQLKind { .blob }
    var sqlValue: SQLValue { .blob(bytes) }
    var sqlite: SQLiteValue { .blob(bytes) }
}
extension Instant: SQLBindable {
    static var sqlKind: SQLKind { .integer }
    var sqlValue: SQLValue { .integer(milliseconds) }
    var sqlite: SQLiteValue { .integer(milliseconds) }
}
extension ScopeSet: SQLBindable {
    static var sqlKind: SQLKind { .text }
    var sqlValue: SQLValue { .text(blankSeparated) }
    var sqlite: SQLiteValue { .text(blankSeparated) }
}

extension ProviderKey {
    /// `''` where there is no environment: NULLs would all differ in the unique index.
    var environmentColumn: String { environment ?? "" }
}

extension SQLStatement {
    func instant() -> Instant { Instant(milliseconds: integer()) }
    func optionalInstant() -> Instant? { optionalInteger().map(Instant.init(milliseconds:)) }
    func optionalSealed() -> SealedBytes? { optionalBlob().map(SealedBytes.init) }
    func optionalIndex() -> BlindIndex? { optionalBlob().map(BlindIndex.init) }
    func scopes() -> ScopeSet { ScopeSet(blankSeparated: text()) }
    func flag() -> Bool { integer() != 0 }

    /// - Throws: `SQLError.corrupt` for anything but 16 bytes.
    func identifier() throws(SQLError) -> UUIDv7 {
        guard let uuid = try optionalIdentifier() else { throw .corrupt }
        return uuid
    }

    func optionalIdentifier() throws(SQLError) -> UUIDv7? {
        guard let bytes = optionalBlob() else { return nil }
        guard let uuid = UUIDv7(bytes: bytes) else { throw .corrupt }
        return uuid
    }

    func provider() -> ProviderKey {
        let name = text()
        let environment = text()
        return ProviderKey(name: name, environment: environment.isEmpty ? nil : environment)
    }

    /// - Throws: `SQLError.corrupt` for a word that this program does not know.
    func word<Word: RawRepresentable>(_: Word.Type) throws(SQLError) -> Word where Word.RawValue == String {
        guard let word = Word(rawValue: text()) else { throw .corrupt }
        return word
    }

    func optionalWord<Word: RawRepresentable>(_: Word.Type) throws(SQLError) -> Word?
    where Word.RawValue == String {
        guard let text = optionalText() else { return nil }
        guard let word = Word(rawValue: text) else { throw .corrupt }
        return word
    }
}
