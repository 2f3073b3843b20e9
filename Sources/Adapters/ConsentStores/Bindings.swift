// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativeSQLite

// How the domain's values lie in columns.

extension UUIDv7: SQLiteBindable { var sqliteValue: SQLiteValue { .words(high, low) } }
extension ConsentID: SQLiteBindable { var sqliteValue: SQLiteValue { uuid.sqliteValue } }
extension AttemptID: SQLiteBindable { var sqliteValue: SQLiteValue { uuid.sqliteValue } }
extension InstanceID: SQLiteBindable { var sqliteValue: SQLiteValue { uuid.sqliteValue } }
extension BlindIndex: SQLiteBindable { var sqliteValue: SQLiteValue { .blob(bytes) } }
extension SealedBytes: SQLiteBindable { var sqliteValue: SQLiteValue { .blob(bytes) } }
extension Instant: SQLiteBindable { var sqliteValue: SQLiteValue { .integer(milliseconds) } }
extension ScopeSet: SQLiteBindable { var sqliteValue: SQLiteValue { .text(blankSeparated) } }

extension ProviderKey {
    /// `''` where there is no environment: NULLs would all differ in the unique index.
    var environmentColumn: String { environment ?? "" }
}

extension SQLiteStatement {
    func instant() -> Instant { Instant(milliseconds: integer()) }
    func optionalInstant() -> Instant? { optionalInteger().map(Instant.init(milliseconds:)) }
    func optionalSealed() -> SealedBytes? { optionalBlob().map(SealedBytes.init) }
    func optionalIndex() -> BlindIndex? { optionalBlob().map(BlindIndex.init) }
    func scopes() -> ScopeSet { ScopeSet(blankSeparated: text()) }
    func flag() -> Bool { integer() != 0 }

    /// - Throws: `SQLiteError.corrupt` for anything but 16 bytes.
    func identifier() throws(SQLiteError) -> UUIDv7 {
        guard let uuid = try optionalIdentifier() else { throw .corrupt }
        return uuid
    }

    func optionalIdentifier() throws(SQLiteError) -> UUIDv7? {
        guard let bytes = optionalBlob() else { return nil }
        guard let uuid = UUIDv7(bytes: bytes) else { throw .corrupt }
        return uuid
    }

    func provider() -> ProviderKey {
        let name = text()
        let environment = text()
        return ProviderKey(name: name, environment: environment.isEmpty ? nil : environment)
    }

    /// - Throws: `SQLiteError.corrupt` for a word that this program does not know.
    func word<Word: RawRepresentable>(_: Word.Type) throws(SQLiteError) -> Word where Word.RawValue == String {
        guard let word = Word(rawValue: text()) else { throw .corrupt }
        return word
    }

    func optionalWord<Word: RawRepresentable>(_: Word.Type) throws(SQLiteError) -> Word?
    where Word.RawValue == String {
        guard let text = optionalText() else { return nil }
        guard let word = Word(rawValue: text) else { throw .corrupt }
        return word
    }
}
