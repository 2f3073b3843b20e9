// SPDX-License-Identifier: Apache-2.0
import NativeCrypto

/// The token endpoint (RFC 6749 sections 4.1.3 and 6) and revocation (RFC 7009).
extension Simulation {
    mutating func token(
        _ call: SimulatedCall, _ form: FormPairs, _ route: Route, refusal: Refusal?, at now: Int64
    ) -> SimulatedAnswer {
        let dialect = dialect(of: route)
        do throws(Refusal) {
            let clientID = try client(of: call, form)
            if let refusal { throw refusal }
            switch route.endpoint {
            case .exchange:
                let issued = try exchange(form, clientID, at: now)
                return dialect.answer(
                    issued, isRefresh: false, nonce: state.randomText(), idToken: idToken(for: issued, at: now))
            case .refresh:
                let issued = try refresh(form, clientID, at: now)
                return dialect.answer(
                    issued, isRefresh: true, nonce: state.randomText(), idToken: idToken(for: issued, at: now))
            default: throw .grantTypeUnsupported
            }
        } catch {
            return dialect.answer(error)
        }
    }

    private mutating func exchange(
        _ form: FormPairs, _ clientID: String, at now: Int64
    ) throws(Refusal) -> ProviderState.Issued {
        guard let code = form["code"], !code.isEmpty else { throw .requestInvalid("Missing parameter code") }
        var use = CodeUse(code: code, clientID: clientID, redirectURI: form["redirect_uri"])
        if let verifier = form["code_verifier"] {
            use.verifier = verifier
            use.verifierDigest = Base64.urlSafe.text(of: sha256(verifier))
        }
        let issued = try state.redeem(use, at: now)
        log.codeTaken(code)
        return issued
    }

    private mutating func refresh(
        _ form: FormPairs, _ clientID: String, at now: Int64
    ) throws(Refusal) -> ProviderState.Issued {
        guard let text = form["refresh_token"], !text.isEmpty else {
            throw .requestInvalid("Missing parameter refresh_token")
        }
        let issued = try state.refresh(text, clientID: clientID, at: now)
        log.refreshTokenTaken(text)
        return issued
    }

    mutating func revoke(_ call: SimulatedCall, _ form: FormPairs, _ dialect: Dialect) -> SimulatedAnswer {
        do throws(Refusal) {
            let clientID = try client(of: call, form)
            guard let token = form["token"] else { throw .requestInvalid("Missing parameter token") }
            state.revoke(token, clientID: clientID)
            return SimulatedAnswer(status: 200, type: "application/json", body: [])
        } catch {
            return dialect.answer(error)
        }
    }

    /// The client that shows who it is in one way, by HTTP Basic or in the body (RFC 6749 section 2.3.1).
    ///
    /// - Throws: `clientUnknown`; `requestInvalid` for two ways at once.
    private func client(of call: SimulatedCall, _ form: FormPairs) throws(Refusal) -> String {
        let shown: ClientCredentials?
        if let field = call.field("authorization") {
            guard form["client_secret"] == nil else { throw .requestInvalid("More than one client authentication") }
            shown = ClientCredentials(basic: field, encoding: options.basicEncoding)
        } else if let identifier = form["client_id"], let secret = form["client_secret"] {
            shown = ClientCredentials(identifier: identifier, secret: secret)
        } else {
            shown = nil
        }
        guard let shown, options.clients[shown.identifier] == shown.secret else { throw .clientUnknown }
        return shown.identifier
    }
}
