// SPDX-License-Identifier: Apache-2.0
import ConsentClient
import Foundation

// Plays the app on a desk: GATEWAY and KEY from the environment, on standard input what the SDK gave the app, or
// {"provider", "code", "code_verifier"?, "redirect_uri"?, "nonce"?} as any other provider does. Nothing on standard
// input is a person who has cancelled.
//
//     mobile-client SUBJECT [PATIENCE_IN_SECONDS [ATTEMPTS]] < authorization.json
//
// KEY is an API key, or the session of a user (`auth.jwt`): then SUBJECT is -, for the session says whose it is.
// Exit status: 0 kept or cancelled, 2 usage, 3 ask the person again, 4 try later, 5 neither helps.

/// A code as another provider's SDK, or the app's own browser, brings it.
struct PlainCode: Decodable {
    let provider: String
    let code: String
    let codeVerifier: String?
    let redirectUri: String?
    let nonce: String?
}

func authorization(from input: Data) -> Authorization? {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    guard let plain = try? decoder.decode(PlainCode.self, from: input) else { return Authorization(sdkResponse: input) }
    return Authorization(
        provider: plain.provider, code: plain.code, codeVerifier: plain.codeVerifier, redirectURI: plain.redirectUri,
        nonce: plain.nonce)
}

func end(_ sentence: String, _ status: Int32) -> Never {
    print(sentence)
    exit(status)
}

/// What a careless log line would show of these values: on standard error, for a test to search.
func trace(_ values: Any...) {
    var text = ""
    dump(values, to: &text)
    FileHandle.standardError.write(Data(text.utf8))
}

let environment = ProcessInfo.processInfo.environment
let arguments = CommandLine.arguments.dropFirst()
let numbers = arguments.dropFirst().map { Double($0) ?? -1 }
guard let gateway = environment["GATEWAY"].flatMap(URL.init), let key = environment["KEY"],
    let subject = arguments.first, numbers.count <= 2, numbers.allSatisfy({ $0 >= 0 && $0 < 1e6 })
else { end("usage: GATEWAY=URL KEY=... mobile-client SUBJECT [PATIENCE_IN_SECONDS [ATTEMPTS]] < FILE", 2) }

let input = FileHandle.standardInput.readDataToEndOfFile()
if input.isEmpty { end("The person has cancelled; nothing was sent.", 0) }
guard let authorization = authorization(from: input) else { end("The input is no JSON object.", 2) }
let patience = ConsentClient.Patience(seconds: numbers.first ?? 60, attempts: numbers.count > 1 ? Int(numbers[1]) : 8)
let credential = Credential(key)
guard let client = try? ConsentClient(gateway: gateway, credential: credential, patience: patience) else {
    end("The gateway's address must be https, or http to this machine.", 2)
}

let outcome = try await client.keep(authorization, subject: subject == "-" ? nil : subject)
trace(client, credential, authorization, outcome)
switch outcome {
case .kept(let consent): end("Kept: \(consent).", 0)
case .askAgain(let reason): end("Ask the person again: \(reason.rawValue).", 3)
case .tryLater(let seconds): end("Try the same later: after \(Int(seconds.rounded(.up))) s.", 4)
case .cannot(let problem): end("Neither the person nor waiting can help: \(problem).", 5)
}
