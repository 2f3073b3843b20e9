// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Consents
import NativeJSON
import Testing

@Suite("What the other commands print")
struct OutputTests {
    private let key = SecretText("cgk_backend_0123456789abcdef")

    @Test("check prints a line on each finding and fails on an error only")
    func check() {
        let good = [CheckFinding(.ok, "the store answers"), CheckFinding(.warning, "a secret is written literally")]
        let output = CheckOutput.lines(good, json: false)
        #expect(
            output.text == """
                ok       the store answers
                warning  a secret is written literally

                """)
        #expect(output.status == .done)
        let bad = good + [CheckFinding(.error, "no keys")]
        #expect(CheckOutput.lines(bad, json: false).text.hasSuffix("error    no keys\n"))
        #expect(CheckOutput.lines(bad, json: false).status == .partlyDone)
        #expect(CheckOutput.lines(bad, json: true, failure: .configuration).status == .configuration)
    }

    @Test("check as JSON says whether all is well")
    func checkJSON() {
        let output = CheckOutput.lines([CheckFinding(.error, "no \"keys\"")], json: true)
        #expect(
            output.text == """
                {
                  "ok": false,
                  "items": [
                    {
                      "level": "error",
                      "detail": "no \\"keys\\""
                    }
                  ]
                }

                """)
    }

    @Test("a caller's key is printed once, on a line of its own")
    func apiKey() {
        let request = NewAPIKey(name: "backend", scopes: [.consentsRead, .consentsWrite])
        let output = KeyOutput.apiKeyMade(request, key: key, expiresAt: nil, json: false)
        #expect(
            output.text == """
                The key 'backend' may do consents:read, consents:write, until it is revoked; a running 'serve' knows it within \
                5 seconds.
                It is shown this once:

                cgk_backend_0123456789abcdef

                """)
    }

    @Test("a caller's key that goes to a file is printed nowhere", arguments: [false, true])
    func apiKeyFile(json: Bool) {
        let request = NewAPIKey(name: "ops", scopes: [.admin], outputPath: "ops.key")
        let expiry = Instant(milliseconds: 1_767_323_045_000)
        let output = KeyOutput.apiKeyMade(request, key: key, expiresAt: expiry, json: json)
        #expect(!output.text.contains("cgk_") && !output.errors.contains("cgk_"))
        #expect(output.text.contains("ops.key") && output.text.contains("2026-01-02T03:04:05Z"))
        #expect(KeyOutput.file(of: key) == Array("cgk_backend_0123456789abcdef\n".utf8))
    }

    @Test("a caller's key as JSON has the key, its scopes and its end")
    func apiKeyJSON() throws {
        let request = NewAPIKey(name: "backend", scopes: [.tokensRead])
        let output = KeyOutput.apiKeyMade(request, key: key, expiresAt: nil, json: true)
        #expect(
            output.text == """
                {
                  "name": "backend",
                  "scopes": [
                    "tokens:read"
                  ],
                  "expires_at": null,
                  "key": "cgk_backend_0123456789abcdef"
                }

                """)
    }

    @Test("a ring that is there is left and reported, a new one is named")
    func ring() {
        #expect(KeyOutput.ringExists(path: "keys.json").status == .partlyDone)
        #expect(
            KeyOutput.ringExists(path: "keys.json").errors
                == "consent-gateway: vault.keys: keys.json is there already and was left as it is\n")
        #expect(KeyOutput.ringMade(path: "keys.json", json: false).text.hasPrefix("The vault's keys are in keys.json"))
        #expect(KeyOutput.nameTaken("b").errors == "consent-gateway: there is a key named 'b' already\n")
        #expect(
            KeyOutput.nameRevoked("b", at: Instant(milliseconds: 0)).errors
                == "consent-gateway: the key 'b' was revoked 1970-01-01T00:00:00Z, and a name is not used again, for "
                + "events tell callers by it: take another one\n")
    }

    @Test("the schema's status tells old, right and new apart")
    func migration() {
        #expect(
            MigrationOutput.status(found: 0, known: 1, json: false)
                == CommandOutput(
                    text: "The store's schema is version 0, this program wants 1: run 'consent-gateway migrate'.\n",
                    status: .partlyDone))
        #expect(
            MigrationOutput.status(found: 1, known: 1, json: false).text
                == "The store's schema is version 1, this program wants 1: nothing to do.\n")
        #expect(MigrationOutput.status(found: 1, known: 1, json: true).text.contains("\"up_to_date\": true"))
        #expect(MigrationOutput.status(found: 2, known: 1, json: true).status == .storeOrKeys)
        #expect(
            MigrationOutput.applied(from: 0, to: 1, json: false).text
                == "The store's schema went from version 0 to 1.\n")
        #expect(
            MigrationOutput.applied(from: 1, to: 1, json: false).text == "The store's schema is version 1 already.\n")
    }

    private var demo: DemoAddresses {
        DemoAddresses(
            api: "http://127.0.0.1:1", admin: "http://127.0.0.1:2", provider: "http://127.0.0.1:3", apiKey: key,
            configPath: "demo.yaml", sampleCode: "EBYh", environment: "sandbox")
    }

    @Test("a demo tells programs where it is in one line")
    func demoLine() {
        #expect(
            ReadyOutput.demo(demo, json: true).text == """
                {"api":"http://127.0.0.1:1","admin":"http://127.0.0.1:2","provider":"http://127.0.0.1:3",\
                "api_key":"cgk_backend_0123456789abcdef","config":"demo.yaml"}

                """)
    }

    @Test("a demo gives people lines to paste, with a body that is the SDK's")
    func demoText() throws {
        let text = ReadyOutput.demo(demo, json: false).text
        #expect(text.contains("\nKEY=cgk_backend_0123456789abcdef\n"))
        let body = try #require(text.split(separator: "\n").first { $0.hasPrefix("  --data '") })
        let json = try JSONValue.parse(Array(body.dropFirst(10).dropLast(3).utf8), as: .callers)
        #expect(json["response"]?["code"]?.string == "EBYh")
        #expect(json["client"]?["environment"]?.string == "sandbox")
    }

    @Test("serve and simulate tell their addresses")
    func ready() {
        #expect(
            ReadyOutput.serve(api: "http://a", admin: "http://b", json: false).text
                == "API at http://a, admin at http://b\n")
        #expect(
            ReadyOutput.serve(api: "http://a", admin: "http://b", json: true).text
                == "{\"api\":\"http://a\",\"admin\":\"http://b\"}\n")
        let simulated = ReadyOutput.simulator(provider: "http://c", client: "id", secret: "word", json: false).text
        for words in ["http://c/token, http://c/userinfo", "client_id: id, client_secret: word", "/simulator/codes\n"] {
            #expect(simulated.contains(words))
        }
        #expect(
            ReadyOutput.simulator(provider: "http://c", client: "id", secret: "word", json: true).text
                == "{\"provider\":\"http://c\"}\n")
    }

    @Test("faults stand in groups, a line each, and the end says how to ask for one")
    func faults() {
        let faults = [
            ListedFault(group: "Late", name: "slow", sentence: "Answers late.", places: ["exchange", "refresh"]),
            ListedFault(group: "Cut", name: "cut_off", sentence: "Answers never.", places: ["refresh"]),
        ]
        let text = FaultsOutput.list(faults, json: false).text
        #expect(text.hasPrefix("Late\n  slow     Answers late.\n\nCut\n  cut_off  Answers never.\n\nWritten NAME"))
        #expect(text.hasSuffix("\nWhat the gateway answers to each: Config/faults.md.\n"))
        let json = FaultsOutput.list(faults, json: true).text
        #expect(json.contains("\"name\": \"cut_off\""))
        #expect(json.contains("\"group\": \"Late\""))
    }
}
