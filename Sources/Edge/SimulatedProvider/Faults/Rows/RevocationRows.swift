// SPDX-License-Identifier: Apache-2.0
import NativeJSON

extension FaultTable {
    static let revocationRows: [FaultRow] = [
        FaultRow(
            name: "revocation_late", sentence: "503 for the first NUMBER calls (3) of a grant, then the revocation.",
            number: 3, places: [.revoke]
        ) { strike in
            strike.earlier < strike.count
                ? FaultEffect(isProcessed: false, end: .instead(.unavailable)) : FaultEffect(end: .answer)
        },
        .complain(
            "unsupported_token_type", "unsupported_token_type, with the status NUMBER (400).", status: 400,
            error: "unsupported_token_type", "This token cannot be revoked", at: [.revoke]),
        .complain(
            "unknown_token", "invalid_token, with the status NUMBER (400), as of a token that nobody knows.",
            status: 400, error: "invalid_token", "The token is not known", at: [.revoke]),
    ]
}
