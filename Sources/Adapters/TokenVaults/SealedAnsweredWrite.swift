// SPDX-License-Identifier: Apache-2.0
internal import Consents

extension AnsweredWrite: SealedForm {
    func write(to form: inout FormWriter) {
        switch self {
        case .grant(let code, let attempt, let sealed):
            form.nest(1) { form in
                form.bytes(1, code.bytes)
                form.bytes(2, attempt.uuid.bytes)
                form.bytes(3, sealed.bytes)
            }
        case .tokens(let write, let tokens):
            form.nest(2) { write.write(to: &$0) }
            form.nest(3) { tokens.write(to: &$0) }
        }
    }

    init(from form: inout FormReader) throws(FormDamage) {
        if var grant = try form.nested(1) {
            self = .grant(
                code: BlindIndex(Array(try grant.bytes(1).orDamage())), attempt: AttemptID(try grant.identifier(2)),
                sealed: SealedBytes(Array(try grant.bytes(3).orDamage())))
        } else {
            var (write, tokens) = (try form.nested(2).orDamage(), try form.nested(3).orDamage())
            self = .tokens(try TokenWrite(from: &write), try TokenSet(from: &tokens))
        }
    }
}

extension UnreadableAnswer: SealedForm {
    func write(to form: inout FormWriter) {
        switch spent {
        case .code(let code): form.bytes(1, code.bytes)
        case .refreshToken(let consent, let generation):
            form.bytes(2, consent.uuid.bytes)
            form.integer(3, generation)
        }
        form.text(4, provider.name)
        form.text(5, provider.environment)
        form.integer(6, Int64(status))
        form.text(7, body.reveal())
        form.integer(8, at.milliseconds)
    }

    init(from form: inout FormReader) throws(FormDamage) {
        let spent: Spent
        if let code = form.bytes(1) {
            spent = .code(BlindIndex(Array(code)))
        } else {
            spent = .refreshToken(ConsentID(try form.identifier(2)), generation: try form.integer(3).orDamage())
        }
        self.init(
            spent: spent,
            provider: ProviderKey(name: try form.text(4).orDamage(), environment: try form.text(5)),
            status: Int(try form.integer(6).orDamage()), body: SecretText(try form.text(7).orDamage()),
            at: Instant(milliseconds: try form.integer(8).orDamage()))
    }
}

extension TokenWrite {
    fileprivate func write(to form: inout FormWriter) {
        form.bytes(1, id.uuid.bytes)
        form.bytes(2, attempt.uuid.bytes)
        form.integer(3, expectedGeneration)
        form.bytes(4, tokens.bytes)
        form.integer(5, timing.issuedAt.milliseconds)
        form.integer(6, timing.accessTokenExpiresAt.milliseconds)
        form.integer(7, timing.refreshTokenExpiresAt?.milliseconds)
        form.integer(8, timing.dueAt?.milliseconds)
        form.flag(9, isRefreshable)
        form.texts(10, granted.names)
        form.integer(11, at.milliseconds)
        form.nest(12) { form in
            for event in events { form.nest(1) { event.write(to: &$0) } }
        }
        if hasRotated { form.flag(13, true) }
    }

    fileprivate init(from form: inout FormReader) throws(FormDamage) {
        self.init(
            id: ConsentID(try form.identifier(1)), attempt: AttemptID(try form.identifier(2)),
            expectedGeneration: try form.integer(3).orDamage(),
            tokens: SealedBytes(Array(try form.bytes(4).orDamage())),
            timing: TokenTiming(
                issuedAt: Instant(milliseconds: try form.integer(5).orDamage()),
                accessTokenExpiresAt: Instant(milliseconds: try form.integer(6).orDamage()),
                refreshTokenExpiresAt: try form.integer(7).map(Instant.init(milliseconds:)),
                dueAt: try form.integer(8).map(Instant.init(milliseconds:))),
            isRefreshable: try form.flag(9).orDamage(), granted: ScopeSet(try form.texts(10).orDamage()),
            at: Instant(milliseconds: try form.integer(11).orDamage()), events: [])
        var list = try form.nested(12).orDamage()
        while var event = try list.nested(1) { events.append(try EventDraft(from: &event)) }
        hasRotated = try form.flag(13) ?? false
    }
}

extension EventDraft {
    fileprivate func write(to form: inout FormWriter) {
        form.text(1, type.rawValue)
        form.integer(2, at.milliseconds)
        form.text(3, caller)
        form.text(4, requestID)
        form.nest(5) { form in
            for (name, value) in data {
                form.nest(1) { form in
                    form.text(1, name)
                    switch value {
                    case .text(let text): form.text(2, text)
                    case .integer(let number): form.integer(3, number)
                    }
                }
            }
        }
        form.bytes(6, personal?.bytes)
    }

    fileprivate init(from form: inout FormReader) throws(FormDamage) {
        self.init(
            type: try EventType(rawValue: try form.text(1).orDamage()).orDamage(),
            at: Instant(milliseconds: try form.integer(2).orDamage()), caller: try form.text(3).orDamage(),
            requestID: try form.text(4))
        var list = try form.nested(5).orDamage()
        while var entry = try list.nested(1) {
            let name = try entry.text(1).orDamage()
            if let text = try entry.text(2) {
                data[name] = .text(text)
            } else {
                data[name] = .integer(try entry.integer(3).orDamage())
            }
        }
        personal = form.bytes(6).map { SealedBytes(Array($0)) }
    }
}

extension FormReader {
    fileprivate mutating func identifier(_ number: UInt8) throws(FormDamage) -> UUIDv7 {
        try bytes(number).flatMap { UUIDv7(bytes: Array($0)) }.orDamage()
    }
}
