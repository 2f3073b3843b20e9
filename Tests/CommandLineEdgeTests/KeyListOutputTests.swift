// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Consents
import Testing

@Suite("What lists of keys print")
struct KeyListOutputTests {
    /// 2026-01-02T03:04:05Z.
    private let moment = Instant(milliseconds: 1_767_323_045_000)

    private let ring = RingStatus(
        source: "file var/vault-keys.json", currentID: "k2",
        keys: [
            RingStatus.Key(id: "k2", createdAt: "2026-02-01T00:00:00Z", retiredAt: nil),
            RingStatus.Key(id: "k1-old", createdAt: "2026-01-01T00:00:00Z", retiredAt: "2026-02-01T00:00:00Z"),
        ], currentEvidenceID: "e2",
        evidenceKeys: [
            RingStatus.Key(id: "e2", createdAt: "2026-02-02T00:00:00Z", retiredAt: nil),
            RingStatus.Key(id: "e1", createdAt: "2026-01-01T00:00:00Z", retiredAt: "2026-02-02T00:00:00Z"),
        ])

    @Test("a ring is told by names and times, the oldest key first")
    func ringText() {
        #expect(
            KeyListOutput.ring(ring, json: false).text == """
                From file var/vault-keys.json:
                  k1-old  made 2026-01-01T00:00:00Z  retired 2026-02-01T00:00:00Z, opens only
                  k2      made 2026-02-01T00:00:00Z  current, seals and opens
                  e1      made 2026-01-01T00:00:00Z  retired 2026-02-02T00:00:00Z, verifies evidence only
                  e2      made 2026-02-02T00:00:00Z  current, signs evidence

                """)
    }

    @Test("a ring as JSON says which key is the current one")
    func ringJSON() {
        #expect(
            KeyListOutput.ring(ring, json: true).text == """
                {
                  "source": "file var/vault-keys.json",
                  "current": "k2",
                  "items": [
                    {
                      "id": "k1-old",
                      "current": false,
                      "created_at": "2026-01-01T00:00:00Z",
                      "retired_at": "2026-02-01T00:00:00Z"
                    },
                    {
                      "id": "k2",
                      "current": true,
                      "created_at": "2026-02-01T00:00:00Z",
                      "retired_at": null
                    }
                  ],
                  "evidence": {
                    "current": "e2",
                    "items": [
                      {
                        "id": "e1",
                        "current": false,
                        "created_at": "2026-01-01T00:00:00Z",
                        "retired_at": "2026-02-02T00:00:00Z"
                      },
                      {
                        "id": "e2",
                        "current": true,
                        "created_at": "2026-02-02T00:00:00Z",
                        "retired_at": null
                      }
                    ]
                  }
                }

                """)
    }

    private func key(
        _ name: String, _ scopes: Set<CallerScope>, expiresAt: Instant? = nil, revokedAt: Instant? = nil,
        lastUsedAt: Instant? = nil, source: ListedAPIKey.Source = .store
    ) -> ListedAPIKey {
        let key = APIKey(
            name: name, digest: [UInt8](repeating: 7, count: 32), scopes: scopes, createdAt: moment,
            expiresAt: expiresAt, revokedAt: revokedAt, lastUsedAt: lastUsedAt)
        return ListedAPIKey(key, at: moment.advanced(by: .seconds(10)), source: source)
    }

    @Test("callers' keys are lines with state, scopes, end and last use")
    func keys() {
        let soon = moment.advanced(by: .seconds(5))
        let listed = [
            key("backend", [.consentsWrite, .consentsRead], lastUsedAt: soon),
            key("old", [.admin], expiresAt: soon), key("gone", [.tokensRead], revokedAt: soon),
            key("files", [.profilesRead], source: .configuration),
        ]
        #expect(
            KeyListOutput.apiKeys(listed, json: false).text == """
                backend  active   consents:read,consents:write  made 2026-01-02T03:04:05Z, until it is revoked, \
                last used 2026-01-02T03:04:10Z
                old      expired  admin                         made 2026-01-02T03:04:05Z, \
                until 2026-01-02T03:04:10Z, last used never
                gone     revoked  tokens:read                   made 2026-01-02T03:04:05Z, \
                revoked 2026-01-02T03:04:10Z, last used never
                files    active   profiles:read                 from auth.api_keys

                """)
        #expect(
            KeyListOutput.apiKeys([], json: false).text == "There is no key: make one with 'keys api create'.\n")
    }

    @Test("callers' keys as JSON hold no digest")
    func keysJSON() {
        #expect(
            KeyListOutput.apiKeys([key("files", [.profilesRead], source: .configuration)], json: true).text == """
                {
                  "items": [
                    {
                      "name": "files",
                      "state": "active",
                      "scopes": [
                        "profiles:read"
                      ],
                      "source": "configuration",
                      "created_at": null,
                      "expires_at": null,
                      "revoked_at": null,
                      "last_used_at": null
                    }
                  ]
                }

                """)
    }

    @Test("a key that was revoked is named, one that is not there fails")
    func revoked() {
        #expect(
            KeyListOutput.revoked("backend", json: false).text
                == "The key 'backend' is revoked; a running 'serve' refuses it within 5 seconds.\n")
        #expect(
            KeyListOutput.revoked("backend", json: true).text
                == "{\n  \"name\": \"backend\",\n  \"state\": \"revoked\"\n}\n")
        #expect(
            KeyListOutput.revokedBefore("b", at: Instant(milliseconds: 0), json: false)
                == CommandOutput(text: "The key 'b' is revoked already, since 1970-01-01T00:00:00Z.\n"))
        #expect(
            KeyListOutput.notThere("b")
                == CommandOutput(
                    errors: "consent-gateway: the store has no key 'b'; 'keys api list' names those that it has\n",
                    status: .partlyDone))
    }
}
