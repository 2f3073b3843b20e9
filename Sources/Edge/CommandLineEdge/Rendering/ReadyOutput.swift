// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeJSON

/// Where a demo answers, and what its visitor needs.
package struct DemoAddresses: Sendable {
    /// `http://127.0.0.1:PORT`, without a slash at the end; the two below likewise.
    package var api: String
    package var admin: String
    package var provider: String
    package var apiKey: SecretText
    package var configPath: String
    /// A code that the simulated provider takes, and the environment that goes with it.
    package var sampleCode: String
    package var environment: String

    package init(
        api: String, admin: String, provider: String, apiKey: SecretText, configPath: String, sampleCode: String,
        environment: String
    ) {
        self.api = api
        self.admin = admin
        self.provider = provider
        self.apiKey = apiKey
        self.configPath = configPath
        self.sampleCode = sampleCode
        self.environment = environment
    }
}

/// What `serve`, `demo` and `simulate` print as soon as they are ready.
package enum ReadyOutput {
    package static func serve(api: String, admin: String, json: Bool) -> CommandOutput {
        if json { return CommandOutput(text: jsonLine(["api": JSONValue(api), "admin": JSONValue(admin)])) }
        return CommandOutput(text: "API at \(api), admin at \(admin)\n")
    }

    /// - Parameters:
    ///   - client: the identifier of the one client that it knows.
    ///   - secret: that client's secret, which is none: it is the same everywhere.
    package static func simulator(provider: String, client: String, secret: String, json: Bool) -> CommandOutput {
        if json { return CommandOutput(text: jsonLine(["provider": JSONValue(provider)])) }
        return CommandOutput(
            text: """
                Simulated provider at \(provider)
                As PayPal: environment: mock, api_url: \(provider)
                As any other provider: \(provider)/token, \(provider)/userinfo, \(provider)/revoke
                Its client: client_id: \(client), client_secret: \(secret)
                A code: curl -s -X POST \(provider)/simulator/codes

                """)
    }

    /// One line of JSON for programs, or lines to paste for people.
    package static func demo(_ demo: DemoAddresses, json: Bool) -> CommandOutput {
        if json {
            return CommandOutput(
                text: jsonLine([
                    "api": JSONValue(demo.api), "admin": JSONValue(demo.admin), "provider": JSONValue(demo.provider),
                    "api_key": JSONValue(demo.apiKey.reveal()), "config": JSONValue(demo.configPath),
                ]))
        }
        return CommandOutput(text: invitation(demo))
    }

    private static func invitation(_ demo: DemoAddresses) -> String {
        """
        The gateway is ready. It ends with Ctrl-C, and nothing of it stays.

          API                 \(demo.api)
          admin               \(demo.admin)
          simulated provider  \(demo.provider)
          configuration       \(demo.configPath)

        To paste into another terminal:

        API=\(demo.api)
        PROVIDER=\(demo.provider)
        KEY=\(demo.apiKey.reveal())

        # The app hands over what the SDK gave it; the answer is a consent and its profile.
        curl -s -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
          --data '\(authorization(demo))' \\
          "$API/v1/consents?subject=user-42"

        # With the answer's id: the record, and new tokens.
        ID=cns_...
        curl -s -H "Authorization: Bearer $KEY" "$API/v1/consents/$ID"
        curl -s -H "Authorization: Bearer $KEY" -X POST "$API/v1/consents/$ID/refresh"

        # Another person consents: a new code.
        curl -s -X POST "$PROVIDER/simulator/codes"

        """
    }

    /// The SDK's authorization response in one line.
    private static func authorization(_ demo: DemoAddresses) -> String {
        let client: JSONValue = [
            "environment": JSONValue(demo.environment), "platform": "iOS", "product_name": "PayPal iOS SDK",
        ]
        let document: JSONValue = [
            "response_type": "authorization_code", "response": ["code": JSONValue(demo.sampleCode)], "client": client,
        ]
        return String(decoding: document.serialized(.compact), as: UTF8.self)
    }
}
