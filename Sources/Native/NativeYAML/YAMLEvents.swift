// SPDX-License-Identifier: Apache-2.0
internal import CYAML

/// What libyaml tells of a text, piece by piece, copied out of its memory.
enum YAMLEvent {
    case documentStart
    case alias(String)
    case scalar(String, style: YAMLNode.ScalarStyle, anchor: String?)
    case sequenceStart(anchor: String?)
    case mappingStart(anchor: String?)
    case collectionEnd
    case streamEnd
    /// Stream start and document end, which mean nothing here.
    case other
}

/// An event with its place, lines and columns from 1.
struct PlacedYAMLEvent {
    var event: YAMLEvent
    var line: Int
    var column: Int
}

/// libyaml's parser over a copy of a text; the one owner of both.
@safe struct YAMLEventReader: ~Copyable {
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let input: UnsafeMutableBufferPointer<UInt8>

    /// - Throws: where memory is short.
    init(_ bytes: [UInt8]) throws(YAMLFailure) {
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        guard unsafe yaml_parser_initialize(parser) == 1 else {
            unsafe parser.deallocate()
            throw YAMLFailure(line: 1, column: 1, problem: "not enough memory")
        }
        unsafe self.parser = unsafe parser
        unsafe input = .allocate(capacity: max(bytes.count, 1))
        _ = unsafe input.initialize(from: bytes)
        // Without this it would guess UTF-16 from the first two bytes.
        unsafe yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        unsafe yaml_parser_set_input_string(parser, input.baseAddress, bytes.count)
    }

    deinit {
        unsafe yaml_parser_delete(parser)
        unsafe parser.deallocate()
        unsafe input.deallocate()
    }

    /// The next event.
    /// - Throws: where the text is not YAML, an explicit tag is met, or a value contains NUL.
    mutating func next() throws(YAMLFailure) -> PlacedYAMLEvent {
        var event = unsafe yaml_event_t()
        guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw currentFailure() }
        defer { unsafe yaml_event_delete(&event) }
        let mark = unsafe event.start_mark
        let (line, column) = (Int(mark.line) + 1, Int(mark.column) + 1)
        do {
            return PlacedYAMLEvent(event: unsafe try copy(event), line: line, column: column)
        } catch {
            throw YAMLFailure(line: line, column: column, problem: error.problem)
        }
    }

    private func currentFailure() -> YAMLFailure {
        let mark = unsafe parser.pointee.problem_mark
        // libyaml's problems are constant sentences: they hold nothing of the text.
        let problem = unsafe parser.pointee.problem.map { unsafe String(cString: $0) } ?? "not YAML"
        return YAMLFailure(line: Int(mark.line) + 1, column: Int(mark.column) + 1, problem: problem)
    }
}

/// What is wrong with one event, its place being known to the reader.
private struct EventFailure: Error { var problem: String }

private func copy(_ event: yaml_event_t) throws(EventFailure) -> YAMLEvent {
    switch unsafe event.type {
    case YAML_DOCUMENT_START_EVENT: return .documentStart
    case YAML_STREAM_END_EVENT: return .streamEnd
    case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: return .collectionEnd
    case YAML_ALIAS_EVENT: return .alias(unsafe text(event.data.alias.anchor) ?? "")
    case YAML_SEQUENCE_START_EVENT:
        try unsafe refuseTag(event.data.sequence_start.tag)
        return .sequenceStart(anchor: unsafe text(event.data.sequence_start.anchor))
    case YAML_MAPPING_START_EVENT:
        try unsafe refuseTag(event.data.mapping_start.tag)
        return .mappingStart(anchor: unsafe text(event.data.mapping_start.anchor))
    case YAML_SCALAR_EVENT: return try unsafe copyScalar(event)
    default: return .other
    }
}

private func copyScalar(_ event: yaml_event_t) throws(EventFailure) -> YAMLEvent {
    let scalar = unsafe event.data.scalar
    try unsafe refuseTag(scalar.tag)
    let bytes = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
    guard unsafe !bytes.contains(0) else { throw EventFailure(problem: "a text must not contain NUL") }
    let style: YAMLNode.ScalarStyle =
        switch unsafe scalar.style {
        case YAML_SINGLE_QUOTED_SCALAR_STYLE, YAML_DOUBLE_QUOTED_SCALAR_STYLE: .quoted
        case YAML_LITERAL_SCALAR_STYLE, YAML_FOLDED_SCALAR_STYLE: .block
        default: .plain
        }
    let value = unsafe String(decoding: bytes, as: UTF8.self)
    return .scalar(value, style: style, anchor: unsafe text(scalar.anchor))
}

private func refuseTag(_ tag: UnsafeMutablePointer<yaml_char_t>?) throws(EventFailure) {
    guard unsafe tag == nil else { throw EventFailure(problem: "tags are not used here: leave it out") }
}

private func text(_ pointer: UnsafeMutablePointer<yaml_char_t>?) -> String? {
    unsafe pointer.map { unsafe String(cString: $0) }
}
