// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativeJSON

extension AnsweredWrite {
    var sealedForm: JSONValue {
        var object = SealedForm.object()
        switch self {
        case .grant(let code, let attempt, let sealed):
            object.set("kind", "grant")
            object.set("code", Hexadecimal.text(of: code.bytes))
            object.set("attempt", attempt.uuid.hexadecimal)
            object.set("sealed", Hexadecimal.text(of: sealed.bytes))
        case .tokens(let write, let tokens):
            object.set("kind", "tokens")
            object.set("write", write.sealedForm)
            object.set("tokens", tokens.sealedForm)
        }
        return object
    }

    init?(sealedForm object: JSONValue) {
        switch object["kind"]?.string {
        case "grant":
            guard let code = object["code"]?.bytes, let attempt = object["attempt"]?.identifier,
                let sealed = object["sealed"]?.bytes
            else { return nil }
            self = .grant(code: BlindIndex(code), attempt: AttemptID(attempt), sealed: SealedBytes(sealed))
        case "tokens":
            guard let write = object["write"].flatMap(TokenWrite.init(sealedForm:)),
                let tokens = object["tokens"].flatMap(TokenSet.init(sealedForm:))
            else { return nil }
            self = .tokens(write, tokens)
        default: return nil
        }
    }
}

extension UnreadableAnswer {
    var sealedForm: JSONValue {
        var object = SealedForm.object()
        switch spent {
        case .code(let code): object.set("code", Hexadecimal.text(of: code.bytes))
        case .refreshToken(let consent, let generation):
            object.set("consent", consent.uuid.hexadecimal)
            object.set("generation", generation)
        }
        object.set("provider", provider.name)
        SealedForm.set("environment", provider.environment, in: &object)
        object.set("status", status)
        object.set("body", body.reveal())
        object.set("at", at.milliseconds)
        return object
    }

    init?(sealedForm object: JSONValue) {
        guard let provider = object["provider"]?.string, let status = object["status"]?.integer,
            let body = object["body"]?.string, let at = object["at"]?.instant
        else { return nil }
        let spent: Spent
        if let code = object["code"]?.bytes {
            spent = .code(BlindIndex(code))
        } else if let consent = object["consent"]?.identifier, let generation = object["generation"]?.integer {
            spent = .refreshToken(ConsentID(consent), generation: generation)
        } else {
            return nil
        }
        self.init(
            spent: spent, provider: ProviderKey(name: provider, environment: object["environment"]?.string),
            status: Int(status), body: SecretText(body), at: at)
    }
}

extension TokenWrite {
    fileprivate var sealedForm: JSONValue {
        var object = JSONValue.object()
        object.set("consent", id.uuid.hexadecimal)
        object.set("attempt", attempt.uuid.hexadecimal)
        object.set("generation", expectedGeneration)
        object.set("sealed", Hexadecimal.text(of: tokens.bytes))
        object.set("issued_at", timing.issuedAt.milliseconds)
        object.set("expires_at", timing.accessTokenExpiresAt.milliseconds)
        if let end = timing.refreshTokenExpiresAt { object.set("refresh_token_expires_at", end.milliseconds) }
        if let due = timing.dueAt { object.set("due_at", due.milliseconds) }
        object.set("refreshable", isRefreshable)
        object.set("granted", granted.names)
        object.set("at", at.milliseconds)
        object.set("events", events.map(\.sealedForm))
        return object
    }

    fileprivate init?(sealedForm object: JSONValue) {
        guard let id = object["consent"]?.identifier, let attempt = object["attempt"]?.identifier,
            let generation = object["generation"]?.integer, let sealed = object["sealed"]?.bytes,
            let issuedAt = object["issued_at"]?.instant, let expiresAt = object["expires_at"]?.instant,
            let isRefreshable = object["refreshable"]?.boolean, let granted = object["granted"]?.array,
            let at = object["at"]?.instant, let events = object["events"]?.array
        else { return nil }
        self.init(
            id: ConsentID(id), attempt: AttemptID(attempt), expectedGeneration: generation,
            tokens: SealedBytes(sealed),
            timing: TokenTiming(
                issuedAt: issuedAt, accessTokenExpiresAt: expiresAt,
                refreshTokenExpiresAt: object["refresh_token_expires_at"]?.instant,
                dueAt: object["due_at"]?.instant),
            isRefreshable: isRefreshable, granted: ScopeSet(granted.compactMap(\.string)), at: at,
            events: events.compactMap(EventDraft.init(sealedForm:)))
        guard self.events.count == events.count else { return nil }
    }
}

extension EventDraft {
    fileprivate var sealedForm: JSONValue {
        var object = JSONValue.object()
        object.set("type", type.rawValue)
        object.set("at", at.milliseconds)
        object.set("caller", caller)
        SealedForm.set("request_id", requestID, in: &object)
        var members = JSONValue.object()
        for (name, value) in data {
            switch value {
            case .text(let text): members.set(name, text)
            case .integer(let number): members.set(name, number)
            }
        }
        object.set("data", members)
        SealedForm.set("personal", personal.map { Hexadecimal.text(of: $0.bytes) }, in: &object)
        return object
    }

    fileprivate init?(sealedForm object: JSONValue) {
        guard let type = object["type"]?.string.flatMap(EventType.init(rawValue:)), let at = object["at"]?.instant,
            let caller = object["caller"]?.string, let members = object["data"], members.kind == .object
        else { return nil }
        var data: [String: EventValue] = [:]
        for (name, value) in members.members {
            if let text = value.string { data[name] = .text(text) }
            if let number = value.integer { data[name] = .integer(number) }
        }
        self.init(
            type: type, at: at, caller: caller, requestID: object["request_id"]?.string, data: data,
            personal: object["personal"]?.bytes.map(SealedBytes.init))
    }
}

extension JSONValue {
    /// Bytes in lower-case hexadecimal.
    fileprivate var bytes: [UInt8]? { string.flatMap { Hexadecimal.bytes(of: $0) } }
    fileprivate var identifier: UUIDv7? { bytes.flatMap { UUIDv7(bytes: $0) } }
    fileprivate var instant: Instant? { integer.map { Instant(milliseconds: $0) } }
}
