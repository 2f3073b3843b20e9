// SPDX-License-Identifier: Apache-2.0
internal import NativeSystem

/// How a value looks under its seal: its version in one byte, then its fields.
///
/// A field is its number in one byte, the length of its content in four, the most significant first, and the content:
/// UTF-8, bytes, an integer in eight bytes, a flag in one, or further values. Numbers rise, and nothing lies between or
/// behind. A later program reads what an earlier one wrote: fields are added, never given another number; one that is
/// not known is skipped. The version rises only where an earlier program could not read the rest.
protocol SealedForm {
    /// Writes the fields, in the order of their numbers; the same ones each time.
    func write(to form: inout FormWriter)
    /// - Throws: where a field is missing, or is none of its kind.
    init(from form: inout FormReader) throws(FormDamage)
}

/// Bytes that are no form, or not that of the value which they are read as.
struct FormDamage: Error {}

extension SealedForm {
    private func writeWhole(to form: inout FormWriter) {
        form.version(1)
        write(to: &form)
    }

    /// How many bytes the form has. A form is written into a buffer of that room, so that none of it stays behind where
    /// a buffer was outgrown.
    var formLength: Int {
        var form = FormWriter.measuring()
        writeWhole(to: &form)
        return form.length
    }

    /// Appends the form.
    func appendForm(to bytes: inout [UInt8]) {
        var form = FormWriter(appendingTo: bytes)
        // Held by one alone, the buffer is written where it lies.
        bytes = []
        writeWhole(to: &form)
        bytes = form.finish()
    }

    /// The value whose form those bytes are.
    init(form bytes: [UInt8]) throws(FormDamage) {
        guard bytes.first == 1 else { throw FormDamage() }
        var form = try FormReader(bytes[1...])
        try self.init(from: &form)
    }
}

/// Writes fields, or adds up how long they are.
struct FormWriter {
    private var bytes: [UInt8]
    private let isMeasuring: Bool
    private(set) var length = 0

    init(appendingTo bytes: consuming [UInt8]) {
        self.bytes = bytes
        isMeasuring = false
    }

    private init() {
        bytes = []
        isMeasuring = true
    }

    static func measuring() -> FormWriter { FormWriter() }

    consuming func finish() -> [UInt8] { bytes }

    mutating func version(_ version: UInt8) {
        length += 1
        if !isMeasuring { bytes.append(version) }
    }

    private mutating func head(_ number: UInt8, _ count: Int) {
        length += 5 + count
        guard !isMeasuring else { return }
        bytes.append(number, bigEndian: UInt32(count))
    }

    // MARK: Fields; nil takes no room

    mutating func text(_ number: UInt8, _ text: String?) {
        guard let text else { return }
        head(number, text.utf8.count)
        if !isMeasuring { bytes.append(text: text) }
    }

    mutating func bytes(_ number: UInt8, _ content: [UInt8]?) {
        guard let content else { return }
        head(number, content.count)
        if !isMeasuring { bytes.append(contentsOf: content) }
    }

    mutating func integer(_ number: UInt8, _ value: Int64?) {
        guard let value else { return }
        head(number, 8)
        if !isMeasuring { bytes.append(bigEndian: UInt64(bitPattern: value)) }
    }

    mutating func flag(_ number: UInt8, _ value: Bool?) {
        guard let value else { return }
        head(number, 1)
        if !isMeasuring { bytes.append(value ? 1 : 0) }
    }

    /// Texts, as fields of the number 1 each.
    mutating func texts(_ number: UInt8, _ texts: [String]?) {
        guard let texts else { return }
        nest(number) { form in
            for text in texts { form.text(1, text) }
        }
    }

    /// What `write` writes, as the content of one field.
    mutating func nest(_ number: UInt8, _ write: (inout FormWriter) -> Void) {
        head(number, 0)
        let (place, before) = (bytes.count, length)
        write(&self)
        guard !isMeasuring else { return }
        bytes.overwrite(from: place - 4, bigEndian: UInt32(length - before))
    }
}

/// Reads fields in the order of their numbers.
struct FormReader {
    private let bytes: ArraySlice<UInt8>
    /// Where the next field begins.
    private var next: Int

    /// - Throws: where the bytes are not fields from the first to the last, in the order of their numbers.
    init(_ bytes: ArraySlice<UInt8>) throws(FormDamage) {
        self.bytes = bytes
        next = bytes.startIndex
        var (place, last) = (bytes.startIndex, UInt8(0))
        while place < bytes.endIndex {
            guard bytes.endIndex - place >= 5, bytes[place] >= last, bytes[place] > 0 else { throw FormDamage() }
            last = bytes[place]
            guard let end = end(of: place) else { throw FormDamage() }
            place = end
        }
    }

    private func end(of place: Int) -> Int? {
        let count = bytes[(place + 1)..<(place + 5)].reduce(0) { $0 << 8 | Int($1) }
        return count <= bytes.endIndex - place - 5 ? place + 5 + count : nil
    }

    /// The content of the next field of that number; those of lower numbers are not known, or were asked for, and are
    /// skipped.
    mutating func bytes(_ number: UInt8) -> ArraySlice<UInt8>? {
        while next < bytes.endIndex, bytes[next] <= number, let end = end(of: next) {
            defer { next = end }
            if bytes[next] == number { return bytes[(next + 5)..<end] }
        }
        return nil
    }

    mutating func text(_ number: UInt8) throws(FormDamage) -> String? {
        guard let content = bytes(number) else { return nil }
        return try String(validating: content, as: UTF8.self).orDamage()
    }

    mutating func integer(_ number: UInt8) throws(FormDamage) -> Int64? {
        guard let content = bytes(number) else { return nil }
        guard content.count == 8 else { throw FormDamage() }
        return Int64(bitPattern: content.reduce(0) { $0 << 8 | UInt64($1) })
    }

    mutating func flag(_ number: UInt8) throws(FormDamage) -> Bool? {
        guard let content = bytes(number) else { return nil }
        guard content.count == 1, let byte = content.first, byte <= 1 else { throw FormDamage() }
        return byte == 1
    }

    mutating func texts(_ number: UInt8) throws(FormDamage) -> [String]? {
        guard var form = try nested(number) else { return nil }
        var texts: [String] = []
        while let text = try form.text(1) { texts.append(text) }
        return texts
    }

    mutating func nested(_ number: UInt8) throws(FormDamage) -> FormReader? {
        guard let content = bytes(number) else { return nil }
        return try FormReader(content)
    }
}

extension Optional {
    /// The value of a field that every form of its kind has.
    func orDamage() throws(FormDamage) -> Wrapped {
        guard let self else { throw FormDamage() }
        return self
    }
}
