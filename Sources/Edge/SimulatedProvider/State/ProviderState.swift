// SPDX-License-Identifier: Apache-2.0

/// The simulated provider's memory: which codes, tokens and families there are, and what a use of one brings.
///
/// No clock and no socket: each call is told the time, in milliseconds since 1970. What it remembers is bounded.
struct ProviderState: Sendable {
    /// A code that was issued here or has been used.
    struct Code: Sendable {
        var person: Person
        var scopes: [String]
        var binding = CodeBinding()
        var nonce: String?
        /// Milliseconds since 1970 from which on it is dead.
        var end: Int64
        /// The grant that it became.
        var grant: UInt64?
    }

    /// What a token answer tells.
    struct Issued: Equatable, Sendable {
        let accessToken: String
        /// Absent where the one that was sent stays.
        let refreshToken: String?
        let scopes: [String]
        /// Seconds.
        let lifetime: Int
        let fault: Fault?
        // What an ID token says besides.
        let person: Person
        let clientID: String
        /// Of the request for the code; only with the code.
        let nonce: String?
        /// Milliseconds since 1970: when the code became tokens.
        let authenticatedAt: Int64
    }

    let options: SimulatorOptions
    /// Whether the refresh under way brings a new refresh token in every mode.
    var isRotating = false
    private var random: any RandomNumberGenerator & Sendable
    private var codes: BoundedTable<Code>
    private var grants: [UInt64: Grant] = [:]
    private var oldestGrant: UInt64 = 1
    private var nextGrant: UInt64 = 1

    init(options: SimulatorOptions, random: any RandomNumberGenerator & Sendable) {
        self.options = options
        self.random = random
        codes = BoundedTable(capacity: options.capacity)
    }

    mutating func randomText() -> String { TokenText.random(&random) }

    mutating func randomNumber() -> UInt64 { random.next() }

    // MARK: Codes

    /// A fresh code that works once within its life; it names the person so that a reader of logs sees whose it is.
    mutating func issueCode(_ request: CodeRequest, at now: Int64) -> String {
        let random = randomText()
        let prefix = request.fault.map { "fault:\($0):" } ?? ""
        let text = prefix + (request.person.map { "code-for:\($0):\(random)" } ?? "C21AA" + random)
        codes.put(
            text,
            Code(
                person: request.person.map(People.named) ?? People.first, scopes: request.scopes ?? options.scopes,
                binding: request.binding, nonce: request.nonce, end: now + Int64(options.codeLifetime) * 1000))
        return text
    }

    /// Spends a code.
    ///
    /// - Throws: `codeDead`, for one that was used before too, whose family then ends where reuse is detected;
    ///   `codeBoundElsewhere`; `requestInvalid` for a code that names an unknown fault.
    mutating func redeem(_ use: CodeUse, at now: Int64) throws(Refusal) -> Issued {
        let said: CodeText
        do { said = try CodeText(use.code) } catch { throw .requestInvalid(error.description) }
        if options.constantCodes.contains(where: { use.code.hasPrefix($0) }) {
            let code = Code(person: People.first, scopes: options.scopes, end: now + 1)
            return open(code, use.clientID, said.fault, at: now).issued
        }
        guard var code = codes[use.code] ?? selfMade(said, at: now) else { throw .codeDead }
        if let grant = code.grant {
            if detectsReuse { grants[grant]?.isRevoked = true }
            throw .codeDead
        }
        guard now < code.end, code.binding.clientID.map({ $0 == use.clientID }) ?? true else { throw .codeDead }
        guard code.binding.accepts(use) else { throw .codeBoundElsewhere }
        let (grant, issued) = open(code, use.clientID, said.fault, at: now)
        code.grant = grant
        codes.put(use.code, code)
        return issued
    }

    private func selfMade(_ said: CodeText, at now: Int64) -> Code? {
        guard options.takesSelfMadeCodes, said.isSelfMade else { return nil }
        let person = said.person.map(People.named) ?? People.first
        return Code(person: person, scopes: options.scopes, end: now + 1)
    }

    private mutating func open(
        _ code: Code, _ clientID: String, _ fault: Fault?, at now: Int64
    ) -> (grant: UInt64, issued: Issued) {
        let number = nextGrant
        nextGrant += 1
        let refresh = TokenText.make(TokenText.refreshPrefix, grant: number, &random)
        grants[number] = Grant(
            person: code.person, scopes: code.scopes, clientID: clientID, fault: fault, openedAt: now,
            refreshToken: refresh)
        if grants.count > options.capacity {
            grants[oldestGrant] = nil
            oldestGrant += 1
        }
        let access = addAccessToken(to: number, at: now)
        return (
            number,
            Issued(
                accessToken: access, refreshToken: refresh, scopes: code.scopes, lifetime: options.accessTokenLifetime,
                fault: fault, person: code.person, clientID: clientID, nonce: code.nonce, authenticatedAt: now)
        )
    }

    // MARK: Tokens

    private mutating func addAccessToken(to number: UInt64, at now: Int64) -> String {
        let text = TokenText.make(TokenText.accessPrefix, grant: number, &random)
        let token = Grant.AccessToken(text: text, end: now + Int64(options.accessTokenLifetime) * 1000)
        grants[number]?.accessTokens.append(token)
        if let count = grants[number]?.accessTokens.count, count > 8 { grants[number]?.accessTokens.removeFirst() }
        return text
    }

    /// The fault that the code of this grant asked for.
    func fault(of grant: UInt64) -> Fault? { grants[grant]?.fault }

    /// The refresh token that a code's grant has now.
    func refreshToken(ofCode text: String) -> String? {
        codes[text]?.grant.flatMap { grants[$0]?.refreshToken }
    }

    /// New tokens for a refresh token.
    ///
    /// - Throws: `refreshTokenDead`; where reuse is detected the family is dead from then on.
    mutating func refresh(_ text: String, clientID: String, at now: Int64) throws(Refusal) -> Issued {
        let text = TokenText.core(of: text)
        guard let number = TokenText.grant(of: text, prefix: TokenText.refreshPrefix), let grant = grants[number],
            !grant.isRevoked, grant.clientID == clientID
        else { throw .refreshTokenDead }
        let rotated = grant.refreshToken == text ? rotate(number, at: now) : try reuse(text, of: number, at: now)
        return Issued(
            accessToken: addAccessToken(to: number, at: now), refreshToken: rotated, scopes: grant.scopes,
            lifetime: options.accessTokenLifetime, fault: grant.fault, person: grant.person,
            clientID: clientID, nonce: nil, authenticatedAt: grant.openedAt)
    }

    private mutating func rotate(_ number: UInt64, at now: Int64) -> String? {
        guard isRotating || options.refreshMode != .static, var grant = grants[number] else { return nil }
        let text = TokenText.make(TokenText.refreshPrefix, grant: number, &random)
        grant.previousRefreshToken = grant.refreshToken
        grant.refreshToken = text
        grant.rotatedAt = now
        grants[number] = grant
        return text
    }

    /// The successor of an old token within its grace, else its family's end.
    private mutating func reuse(_ text: String, of number: UInt64, at now: Int64) throws(Refusal) -> String? {
        guard let grant = grants[number] else { throw .refreshTokenDead }
        if case .grace(let seconds) = options.refreshMode, grant.previousRefreshToken == text,
            now < grant.rotatedAt + Int64(seconds) * 1000
        {
            return grant.refreshToken
        }
        if detectsReuse { grants[number]?.isRevoked = true }
        throw .refreshTokenDead
    }

    private var detectsReuse: Bool {
        switch options.refreshMode {
        case .static, .rotating: false
        case .reuseDetection, .grace: true
        }
    }

    /// Whose access token this is, what it may read, and which client has it.
    ///
    /// - Throws: `accessTokenDead`.
    func holder(
        of text: String, at now: Int64
    ) throws(Refusal) -> (person: Person, scopes: [String], clientID: String) {
        let text = TokenText.core(of: text)
        guard let number = TokenText.grant(of: text, prefix: TokenText.accessPrefix), let grant = grants[number],
            !grant.isRevoked, grant.accessTokens.contains(where: { $0.text == text && now < $0.end })
        else { throw .accessTokenDead }
        return (grant.person, grant.scopes, grant.clientID)
    }

    /// Ends what the token stands for: a refresh token its family, an access token itself. Another client's or an
    /// unknown one is left alone, which is no error (RFC 7009 section 2.2).
    mutating func revoke(_ text: String, clientID: String) {
        let text = TokenText.core(of: text)
        if let number = TokenText.grant(of: text, prefix: TokenText.refreshPrefix), let grant = grants[number],
            grant.clientID == clientID, grant.refreshToken == text || grant.previousRefreshToken == text
        {
            grants[number]?.isRevoked = true
        } else if let number = TokenText.grant(of: text, prefix: TokenText.accessPrefix),
            grants[number]?.clientID == clientID
        {
            grants[number]?.accessTokens.removeAll { $0.text == text }
        }
    }
}
