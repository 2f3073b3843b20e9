// SPDX-License-Identifier: Apache-2.0
package import Consents

extension TokenAnswer {
    /// A member as recorded answers tell what it must be read as: `access_token`, `refresh_token`, `id_token`,
    /// `token_type`, `expires_in` and `refresh_token_expires_in` in seconds, `scope` with blanks; `none` for one that is
    /// not there. Of synthetic answers only: it shows tokens.
    /// - Returns: nil for another name.
    package func text(of member: String) -> String? {
        switch member {
        case "access_token": tokens.accessToken.reveal()
        case "refresh_token": tokens.refreshToken?.reveal() ?? "none"
        case "id_token": tokens.idToken?.reveal() ?? "none"
        case "token_type": tokens.tokenType
        case "expires_in": expiresIn.map { String($0) } ?? "none"
        case "refresh_token_expires_in": refreshTokenExpiresIn.map { String($0) } ?? "none"
        case "scope": scopes?.names.joined(separator: " ") ?? "none"
        default: nil
        }
    }
}
