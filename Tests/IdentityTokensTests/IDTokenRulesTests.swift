// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import IdentityTokens

@Suite struct TypeRuleTests {
    @Test("a type that names another kind of token is refused, whatever its case and prefix")
    func types() {
        let rule = TypeRule.unnamed(or: ["at+jwt"])
        for type in [nil, "JWT", "jwt", "application/jwt", "AT+JWT", "application/at+jwt"] {
            #expect(rule.allows(type))
        }
        for type in ["logout+jwt", "application/secevent+jwt", "dpop+JWT"] { #expect(!rule.allows(type)) }
        #expect(TypeRule.exactly("at+jwt").allows("application/AT+jwt"))
        for type in [nil, "JWT", "at-jwt", "at+jwt "] { #expect(!TypeRule.exactly("at+jwt").allows(type)) }
    }
}
