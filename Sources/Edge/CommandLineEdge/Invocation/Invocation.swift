// SPDX-License-Identifier: Apache-2.0
package import Consents

/// What the command line asks for.
package struct Invocation: Sendable, Equatable {
    package var command: Command
    /// The value of `--config`; nil leaves the choice to the environment and the default.
    package var configPath: String?
    /// Whether what is printed is JSON.
    package var json: Bool

    package init(command: Command, configPath: String? = nil, json: Bool = false) {
        self.command = command
        self.configPath = configPath
        self.json = json
    }
}

/// The commands that are built (contract, section 3).
package enum Command: Sendable, Equatable {
    case serve
    case demo
    case simulate(SimulateOptions)
    /// Refreshes these consents now; each is named once. Forced: the kept tokens of one that needs a new consent, too.
    case refresh([ConsentID], isForced: Bool)
    /// Refreshes those that are due, or all.
    case refreshSweep(RefreshSweep)
    /// Who would be refreshed when and why; of one provider, by its configured name, or of all.
    case refreshPlan(provider: String?)
    /// The calls to come.
    case refreshForecast(ForecastRequest)
    /// How one grant stands and why.
    case explain(ConsentID)
    /// What keeps calls from providers.
    case incidents
    /// Decides the verdicts that are held of the provider with that name.
    case decideVerdicts(VerdictDecision, provider: String)
    case consentsList(ConsentFilter)
    case consentsShow(ConsentID)
    /// Withdraws it on an operator's word.
    case consentsRevoke(ConsentID)
    case consentsEvents(ConsentID)
    /// As a document, or signed.
    case consentsReceipt(ConsentID, isSigned: Bool)
    /// Forced: although the store was sealed with another ring.
    case keysInit(isForced: Bool)
    case keysStatus
    case keysAPICreate(NewAPIKey)
    case keysAPIList
    /// By the key's name.
    case keysAPIRevoke(String)
    /// With the checkpoint that must be there, and all that stood when it was made.
    case verify(since: CheckpointName?)
    /// Accepting takes a store that came back from a copy as it is.
    case restoreCheck(isAccepting: Bool)
    case providerList
    /// A configured provider, or else a built-in profile, by its name; the one below likewise.
    case providerShow(String)
    case providerTest(String)
    /// A dry run says what waits, changes nothing and calls nobody.
    case job(isDryRun: Bool)
    case migrate(statusOnly: Bool)
    /// Moves a file's consents into a server's tables.
    case move(MoveRequest)
    case check
    /// The help text of that command or group; of the whole program where the path is empty.
    case help([String])
    case version
}

/// How the simulated provider is started.
package struct SimulateOptions: Sendable, Equatable {
    /// Address and port as written; port 0 picks a free one.
    package var listen: String
    /// Faults as written (`NAME[=NUMBER][@PLACE]`), in their order; the simulated provider knows their names.
    package var faults: [String]
    /// Print the faults' names and end.
    package var listsFaults: Bool
    package var refreshTokens: RefreshTokens
    /// The environment that its authorization responses name.
    package var environment: Environment

    /// How ID tokens are signed; nil: none are issued.
    package var idTokens: IDTokens?
    /// Whether OpenID's userinfo endpoint answers with a signed token.
    package var signsUserinfo: Bool

    package enum Environment: String, Sendable, CaseIterable { case live, sandbox, mock }
    package enum IDTokens: String, Sendable, CaseIterable { case es256 = "ES256", rs256 = "RS256", ps256 = "PS256" }

    /// What becomes of a refresh token that was used: `static`, `rotating`, `reuse_detection` or `grace:SECONDS`.
    package struct RefreshTokens: Sendable, Equatable {
        /// The mode as it is written.
        package let text: String

        /// - Returns: nil for anything but the four.
        package init?(_ text: String) {
            let seconds = text.hasPrefix("grace:") ? Int(text.dropFirst("grace:".count)) : nil
            guard RefreshTokens.forms.dropLast().contains(text) || seconds.map({ $0 >= 0 }) == true else {
                return nil
            }
            self.text = text
        }

        private init(known text: String) { self.text = text }

        /// As they are told to somebody who wrote none of them.
        package static let forms = ["static", "rotating", "reuse_detection", "grace:SECONDS"]

        /// As PayPal's: it stays.
        package static let fixed = RefreshTokens(known: "static")
    }

    package init(
        listen: String = SimulateOptions.defaultListen, faults: [String] = [], listsFaults: Bool = false,
        refreshTokens: RefreshTokens = .fixed, environment: Environment = .mock, idTokens: IDTokens? = nil,
        signsUserinfo: Bool = false
    ) {
        self.listen = listen
        self.faults = faults
        self.listsFaults = listsFaults
        self.refreshTokens = refreshTokens
        self.environment = environment
        self.idTokens = idTokens
        self.signsUserinfo = signsUserinfo
    }

    package static let defaultListen = "127.0.0.1:9400"
}

/// What `keys api create` is asked for.
package struct NewAPIKey: Sendable, Equatable {
    /// 1 to 64 of `A-Z a-z 0-9 . -`, the first a letter or digit: it stands in the key between underscores.
    package var name: String
    /// In the order in which they were written, each once; at least one.
    package var scopes: [CallerScope]
    /// How long the key is good for from now; nil is until revoked.
    package var lifetime: Duration?
    /// The file that the key goes to, with mode 0600; nil prints it.
    package var outputPath: String?

    package init(name: String, scopes: [CallerScope], lifetime: Duration? = nil, outputPath: String? = nil) {
        self.name = name
        self.scopes = scopes
        self.lifetime = lifetime
        self.outputPath = outputPath
    }

    /// Whether a key may have that name.
    package static func isName(_ text: String) -> Bool {
        guard (1...64).contains(text.utf8.count), let first = text.utf8.first else { return false }
        return isLetterOrDigit(first)
            && text.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
