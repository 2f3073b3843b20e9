// SPDX-License-Identifier: Apache-2.0
import NativeJSON
import SimulatedProvider
import Testing

@Suite("Token families of the simulated provider")
struct FamilyTests {
    @Test("a static refresh token works again and again, and its answers carry none")
    func staticTokens() {
        let bench = Bench()
        let token = bench.redeem(bench.code())?.text("refresh_token")
        for _ in 0..<3 {
            let reply = bench.refresh(token)
            #expect(reply?.status == 200)
            #expect(reply?.json?["refresh_token"] == nil)
            #expect(reply?.text("expires_in") == "900")
        }
    }

    @Test("a rotating token is dead once it was used, and nothing else happens")
    func rotating() {
        let bench = Bench { $0.refreshMode = .rotating }
        let first = bench.redeem(bench.code())?.text("refresh_token")
        let second = bench.refresh(first)?.text("refresh_token")
        #expect(second != nil && second != first)
        let reply = bench.refresh(first)
        #expect(reply?.status == 400)
        #expect(reply?.text("error") == "invalid_grant")
        #expect(bench.refresh(second)?.status == 200)
    }

    @Test("a dead token that comes back ends the whole family where reuse is detected")
    func reuse() {
        let bench = Bench { $0.refreshMode = .reuseDetection }
        let first = bench.redeem(bench.code())?.text("refresh_token")
        let reply = bench.refresh(first)
        #expect(bench.refresh(first)?.text("error") == "invalid_grant")
        #expect(bench.refresh(reply?.text("refresh_token"))?.text("error") == "invalid_grant")
        #expect(bench.userinfo(reply?.text("access_token"))?.status == 401)
    }

    @Test("a code that comes back ends its family where reuse is detected, and only there")
    func codeReuse() {
        for (mode, status) in [(RefreshMode.reuseDetection, 401), (.static, 200)] {
            let bench = Bench { $0.refreshMode = mode }
            let code = bench.code()
            let token = bench.redeem(code)?.text("access_token")
            #expect(bench.redeem(code)?.status == 400)
            #expect(bench.userinfo(token)?.status == status)
        }
    }

    @Test("within its grace the last dead token brings its successor, after it the family's end")
    func grace() {
        let bench = Bench { $0.refreshMode = .grace(seconds: 30) }
        let first = bench.redeem(bench.code())?.text("refresh_token")
        let second = bench.refresh(first)?.text("refresh_token")
        bench.now += 29_999
        #expect(bench.refresh(first)?.text("refresh_token") == second)
        bench.now += 1
        #expect(bench.refresh(first)?.text("error") == "invalid_grant")
        #expect(bench.refresh(second)?.text("error") == "invalid_grant")
    }

    @Test("an access token ends with its lifetime")
    func accessTokenEnd() {
        let bench = Bench { $0.accessTokenLifetime = 60 }
        let token = bench.redeem(bench.code())?.text("access_token")
        bench.now += 59_999
        #expect(bench.userinfo(token)?.status == 200)
        bench.now += 1
        #expect(bench.userinfo(token)?.text("error") == "invalid_token")
    }

    @Test("revoking a refresh token ends its family; an unknown token is no error")
    func revocation() {
        let bench = Bench { $0.refreshMode = .rotating }
        let reply = bench.redeem(bench.code())
        let (access, refresh) = (reply?.text("access_token") ?? "", reply?.text("refresh_token") ?? "")
        #expect(bench.post("/revoke", ["token": "unknown"])?.status == 200)
        #expect(bench.post("/revoke", ["token": access])?.status == 200)
        #expect(bench.userinfo(access)?.status == 401)
        #expect(bench.post("/v1/oauth2/token/terminate", ["token": refresh])?.status == 200)
        #expect(bench.refresh(refresh)?.text("error") == "invalid_grant")
    }

    @Test(
        "modes are written as words",
        arguments: [
            ("static", RefreshMode.static), ("rotating", .rotating), ("reuse_detection", .reuseDetection),
            ("grace:30", .grace(seconds: 30)), ("grace:", nil), ("grace:-1", nil), ("other", nil),
        ])
    func words(text: String, mode: RefreshMode?) {
        #expect(RefreshMode(text) == mode)
    }
}
