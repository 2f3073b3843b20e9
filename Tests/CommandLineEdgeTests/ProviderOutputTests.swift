// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Testing

@Suite("What provider prints")
struct ProviderOutputTests {
    @Test("providers and profiles are two lists")
    func list() {
        let profiles = [
            ProviderLine(name: "generic", summary: "Any provider"), ProviderLine(name: "paypal", summary: "PayPal"),
        ]
        #expect(
            ProviderOutput.list(
                configured: [ProviderLine(name: "shop", summary: "preset paypal, sandbox")], profiles: profiles,
                json: false
            ).text == """
                Configured:
                  shop  preset paypal, sandbox

                Profiles:
                  generic  Any provider
                  paypal   PayPal

                """)
        #expect(
            ProviderOutput.list(configured: [], profiles: [profiles[1]], json: false).text
                == "Configured:\n  none\n\nProfiles:\n  paypal  PayPal\n")
        #expect(
            ProviderOutput.list(configured: [], profiles: [profiles[1]], json: true).text == """
                {
                  "configured": [],
                  "profiles": [
                    {
                      "name": "paypal",
                      "summary": "PayPal"
                    }
                  ]
                }

                """)
    }

    private let sheet = ProviderSheet(
        name: "shop", title: "A shop",
        facts: [
            ProviderSheet.Fact("token_endpoint", "https://shop.example/token"),
            ProviderSheet.Fact("revocation_endpoint", nil),
            ProviderSheet.Fact("jwks_uri", elsewhere: "by discovery"),
        ],
        codeRefusals: [ProviderSheet.Refusal(signs: "status 400", meaning: "grant_dead")], refreshRefusals: [],
        claims: [ProviderSheet.Fact("sub", "sub, user_id")])

    @Test("a provider is a sheet of facts, refusals and claims")
    func show() {
        #expect(
            ProviderOutput.show(sheet, json: false).text == """
                shop: A shop
                  token_endpoint       https://shop.example/token
                  revocation_endpoint  none
                  jwks_uri             by discovery

                A refused code means, by the first line that fits:
                  grant_dead  status 400

                Attributes, and where they stand in the answer:
                  sub  sub, user_id

                """)
    }

    @Test("a provider as JSON has the same")
    func showJSON() {
        #expect(
            ProviderOutput.show(sheet, json: true).text == """
                {
                  "name": "shop",
                  "title": "A shop",
                  "facts": {
                    "token_endpoint": "https://shop.example/token",
                    "revocation_endpoint": null,
                    "jwks_uri": null
                  },
                  "code_refusals": [
                    {
                      "meaning": "grant_dead",
                      "signs": "status 400"
                    }
                  ],
                  "refresh_refusals": [],
                  "claims": {
                    "sub": "sub, user_id"
                  }
                }

                """)
    }
}
