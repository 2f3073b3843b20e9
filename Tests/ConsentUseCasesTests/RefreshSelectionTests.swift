// SPDX-License-Identifier: Apache-2.0
import ConsentUseCases
import Consents
import Testing

@Suite("Which consents a sweep takes")
struct RefreshSelectionTests {
    private static let now = Instant(milliseconds: 1_767_323_045_000)
    private static let past = Instant(milliseconds: 1_767_323_044_999)
    private static let future = Instant(milliseconds: 1_767_323_045_001)

    /// Status, next refresh, and whether `--due`, `--all` and each with `--include-failing` take it.
    static let rows: [(ConsentStatus, Instant?, due: Bool, all: Bool, dueWithFailing: Bool, allWithFailing: Bool)] = [
        (.active, past, true, true, true, true),
        (.active, now, true, true, true, true),
        (.active, future, false, true, false, true),
        (.active, nil, false, true, false, true),
        (.failing, past, true, false, true, true),
        (.failing, future, false, false, true, true),
        (.reauthorizationRequired, past, false, false, false, false),
        (.superseded, past, false, false, false, false),
        (.expired, past, false, false, false, false),
        (.revoked, past, false, false, false, false),
    ]

    private static func record(_ status: ConsentStatus, _ dueAt: Instant?) throws -> ConsentRecord {
        ConsentRecord(
            id: try #require(ConsentID("cns_019378f0c0de7000a1b2c3d4e5f60718")),
            provider: ProviderKey(name: "paypal", environment: "sandbox"),
            issuer: IssuingClient(clientID: "client", tokenEndpoint: "https://provider.example/token"), status: status,
            requested: ScopeSet(["openid"]), granted: ScopeSet(["openid"]), profileStatus: .current,
            profileFetchedAt: nil, generation: 1,
            timing: TokenTiming(issuedAt: past, accessTokenExpiresAt: now, refreshTokenExpiresAt: nil, dueAt: dueAt),
            isRefreshable: true, client: nil, notice: nil, createdAt: past, updatedAt: past)
    }

    private static func takes(_ record: ConsentRecord, isDueOnly: Bool, includesFailing: Bool) -> Bool {
        RefreshSelection(subject: nil, provider: nil, isDueOnly: isDueOnly, includesFailing: includesFailing)
            .takes(record, at: now)
    }

    @Test("the status and the time of the next refresh decide", arguments: rows)
    func row(
        _ status: ConsentStatus, _ dueAt: Instant?, due: Bool, all: Bool, dueWithFailing: Bool, allWithFailing: Bool
    ) throws {
        var record = try Self.record(status, dueAt)
        #expect(Self.takes(record, isDueOnly: true, includesFailing: false) == due)
        #expect(Self.takes(record, isDueOnly: false, includesFailing: false) == all)
        #expect(Self.takes(record, isDueOnly: true, includesFailing: true) == dueWithFailing)
        #expect(Self.takes(record, isDueOnly: false, includesFailing: true) == allWithFailing)
        record.isRefreshable = false
        #expect(!Self.takes(record, isDueOnly: false, includesFailing: true))
    }
}
