// SPDX-License-Identifier: Apache-2.0
import SimulatedProvider

/// Every fault of the simulated provider with what the gateway makes of it; `Config/faults.md` is made of these lines.
enum FaultCases {
    static let all =
        shapes + documents + forms + unreadable + dead + refused + trouble + wire + profiles + idTokens
        + revocations

    private static func taken(_ fault: String, _ exchange: ExchangeEnd = .kept) -> FaultCase {
        FaultCase(fault, exchange: exchange, refresh: .refreshed)
    }

    private static func takenEverywhere(_ fault: String, revocation: RevocationEnd? = nil) -> FaultCase {
        FaultCase(fault, exchange: .kept, refresh: .refreshed, profile: .current, revocation: revocation)
    }

    static let shapes = [
        taken("token_type_missing"),
        taken("token_type_odd_case"),
        taken("token_type_other"),
        taken("long_tokens"),
        taken("long_tokens=40000"),
        taken("access_token_line_break", .kept(profile: .pending)),
        taken("refresh_token_missing", .kept(isRefreshable: false)),
        taken("refresh_token_blank", .kept(isRefreshable: false)),
        taken("refresh_token_null", .kept(isRefreshable: false)),
        FaultCase("refresh_token_rotated", refresh: .refreshed),
        taken("refresh_token_ends"),
        taken("id_token_empty"),
        taken("id_token_unasked"),
        taken("expires_in", .kept(lifetime: 300)),
        taken("expires_in_text", .kept(lifetime: 28_800)),
        taken("expires_in_fraction", .kept(lifetime: 3599)),
        taken("expires_in_zero"),
        taken("expires_in_negative"),
        taken("expires_in_infinite"),
        taken("expires_in_beyond_64_bits"),
        taken("expires_in_centuries"),
        taken("expires_in_word"),
        taken("expires_in_object"),
        taken("expires_in_null"),
        taken("expires_in_missing"),
        taken("expires"),
        taken("scope_array"),
        taken("scope_commas"),
        taken("scope_reordered"),
        taken("scope_wider", .kept(scopes: 7)),
        taken("scope_narrower", .kept(scopes: 2)),
        taken("scope_empty", .kept(scopes: 5)),
        taken("scope_null", .kept(scopes: 5)),
        taken("scope_number", .kept(scopes: 5)),
        taken("scope_missing", .kept(scopes: 5)),
    ]

    /// At a provider whose ID tokens are ignored, as PayPal's are.
    static let idTokens = FaultTable.list.filter { fault in
        fault.group.contains("ID tokens") && !fault.places.contains(.keys)
    }.map { taken($0.name) }

    static let documents = [
        taken("error_beside_token"),
        taken("lone_surrogate"),
        taken("null_character"),
        taken("huge_number"),
        taken("many_odd_numbers"),
        taken("odd_name"),
        taken("deep_member"),
        taken("large_member"),
        taken("duplicate_members"),
        taken("bad_utf8"),
        takenEverywhere("reversed_members"),
        takenEverywhere("blanks_around"),
        takenEverywhere("byte_order_mark"),
    ]

    static let forms = [
        taken("form_encoded"),
        taken("form_as_text"),
        taken("form_as_json"),
        takenEverywhere("type_html"),
        takenEverywhere("type_missing"),
        takenEverywhere("type_odd_case"),
        takenEverywhere("type_latin1"),
        takenEverywhere("status=201", revocation: .revoked),
        takenEverywhere("status=203", revocation: .revoked),
        takenEverywhere("status=299", revocation: .revoked),
        takenEverywhere("gzip"),
        takenEverywhere("encoding_identity"),
        takenEverywhere("odd_fields", revocation: .revoked),
        takenEverywhere("many_fields", revocation: .revoked),
        takenEverywhere("chunked", revocation: .revoked),
        takenEverywhere("http_1_0", revocation: .revoked),
        takenEverywhere("connection_close", revocation: .revoked),
        takenEverywhere("bare_line_feeds", revocation: .revoked),
        takenEverywhere("early_hints", revocation: .revoked),
    ]

    private static func unreadable(_ fault: String, profile: ProfileEnd? = .pending) -> FaultCase {
        FaultCase(fault, exchange: .unreadable, refresh: .unknown, profile: profile)
    }

    static let unreadable = [
        unreadable("html"),
        unreadable("empty"),
        FaultCase(
            "no_content", exchange: .unreadable, refresh: .unknown, profile: .pending, revocation: .revoked),
        unreadable("blank"),
        unreadable("empty_object"),
        unreadable("array"),
        unreadable("null"),
        unreadable("word"),
        unreadable("xml"),
        unreadable("access_token_blank", profile: nil),
        unreadable("access_token_missing", profile: nil),
        unreadable("access_token_object", profile: nil),
        unreadable("half_json"),
        unreadable("two_documents"),
        unreadable("gzip_broken"),
        unreadable("encoding_unknown"),
        unreadable("gzip_bomb"),
    ]

    private static func rejected(_ fault: String) -> FaultCase { FaultCase(fault, exchange: .rejected) }

    static let dead = [
        rejected("dead_code"),
        rejected("code_access_denied=400"), rejected("code_access_denied=401"),
        rejected("code_invalid_grant=400"), rejected("code_invalid_grant=401"),
        rejected("code_invalid_request=400"), rejected("code_invalid_request=401"),
        rejected("code_invalid_authz_code=400"), rejected("code_invalid_authz_code=401"),
        FaultCase("code_bad_verification", exchange: .rejected, isGeneric: true),
        FaultCase("invalid_grant=400", exchange: .rejected, refresh: .over),
        FaultCase("invalid_grant=401", exchange: .rejected, refresh: .over),
        FaultCase("invalid_grant=200", exchange: .rejected, refresh: .over),
        FaultCase("dead_refresh_token", refresh: .over),
        FaultCase("refresh_unable=400", refresh: .over), FaultCase("refresh_unable=401", refresh: .over),
        FaultCase("bad_refresh_token", refresh: .over, isGeneric: true),
    ]

    private static func refused(
        _ fault: String, refresh: RefreshEnd? = .request, profile: ProfileEnd? = nil, revocation: RevocationEnd? = nil
    ) -> FaultCase {
        FaultCase(fault, exchange: .misconfigured, refresh: refresh, profile: profile, revocation: revocation)
    }

    static let refused = [
        refused("invalid_client=401", refresh: .credentials, revocation: .again),
        refused("invalid_client=400", refresh: .credentials, revocation: .again),
        refused("unauthorized_client=400", refresh: .credentials),
        refused("unauthorized_client=403", refresh: .credentials),
        refused("bare=401", refresh: .credentials, profile: .unavailable, revocation: .again),
        refused("bare=403", refresh: .credentials, profile: .unavailable, revocation: .again),
        refused("bare=400", profile: .pending, revocation: .again),
        refused("bare=404", profile: .pending, revocation: .again),
        refused("refused_page=401", profile: .pending),
        refused("refused_page=403", profile: .pending),
        refused("invalid_scope"),
        refused("redirect_uri_mismatch", refresh: nil),
        refused("grant_type_missing"),
        refused("unsupported_grant_type"),
        refused("echo=400", profile: .pending, revocation: .failed),
        refused("echo=401", profile: .unavailable, revocation: .again),
    ]

    private static func down(_ fault: String, retryAfter: Int = 5, revocation: RevocationEnd? = nil) -> FaultCase {
        FaultCase(
            fault, exchange: .unavailable(retryAfter: retryAfter), refresh: .unavailable, profile: .pending,
            revocation: revocation)
    }

    private static func unknown(_ fault: String, revocation: RevocationEnd? = nil, isLate: Bool = false) -> FaultCase {
        FaultCase(
            fault, exchange: .unknown, refresh: .unknown, profile: .pending, revocation: revocation, isLate: isLate)
    }

    static let trouble = [
        FaultCase(
            "slow=2.5", exchange: .kept, refresh: .refreshed, profile: .pending, revocation: .again, isLate: true),
        down("throttled=7", retryAfter: 7, revocation: .again),
        down("throttled_date", retryAfter: 1),
        down("throttled_absurd", retryAfter: 3600),
        down("throttled_word"),
        down("throttled_silent"),
        down("rate_limit_400"),
        down("unavailable", revocation: .again),
        down("unavailable_for=9", retryAfter: 9, revocation: .again),
        unknown("server_error=500", revocation: .again),
        unknown("server_error=502", revocation: .again),
        unknown("server_error=504", revocation: .again),
        unknown("server_error=520", revocation: .again),
        unknown("server_page=500", revocation: .again),
        refused("error_without_name=400", profile: .pending),
        refused("error_without_name=404", profile: .pending),
        refused("redirect=301", profile: .pending, revocation: .again),
        refused("redirect=302", profile: .pending, revocation: .again),
        refused("redirect=303", profile: .pending, revocation: .again),
        refused("redirect=307", profile: .pending, revocation: .again),
        refused("redirect=308", profile: .pending, revocation: .again),
    ]

    static let wire = [
        unknown("cut_off", revocation: .again),
        unknown("cut_off=100", revocation: .again),
        FaultCase("cut_off_body=0", exchange: .unknown, refresh: .unknown, profile: .pending, revocation: .revoked),
        FaultCase("cut_off_body", exchange: .unreadable, refresh: .unknown, profile: .pending, revocation: .revoked),
        unknown("reset", revocation: .again),
        unknown("reset=100", revocation: .again),
        unknown("stall", revocation: .again, isLate: true),
        FaultCase(
            "stall_body", exchange: .unreadable, refresh: .unknown, profile: .pending, revocation: .revoked,
            isLate: true),
        takenEverywhere("drip=0.5", revocation: .revoked),
        unknown("endless_head", revocation: .again),
        unknown("endless_hints", revocation: .again),
        unknown("switching", revocation: .again),
        FaultCase("endless_body", exchange: .unreadable, refresh: .unknown, profile: .pending, revocation: .again),
        FaultCase("large_body", exchange: .unreadable, refresh: .unknown, profile: .pending),
        FaultCase("length_too_long", exchange: .kept, refresh: .refreshed, profile: .pending, revocation: .again),
        FaultCase(
            "length_too_short", exchange: .unreadable, refresh: .unknown, profile: .pending, revocation: .revoked),
        FaultCase("lengths_differ", exchange: .unreadable, refresh: .unknown, profile: .pending, revocation: .revoked),
        takenEverywhere("idle_close", revocation: .revoked),
        takenEverywhere("idle_dead=0.5", revocation: .revoked),
        takenEverywhere("two_answers", revocation: .revoked),
        unknown("garbage", revocation: .again),
        unknown("no_head", revocation: .again),
        unknown("bad_status_line", revocation: .again),
    ]

    static let profiles = [
        FaultCase("sub_missing", profile: .current),
        FaultCase("subject_missing", profile: .current),
        FaultCase("sub_number", profile: .current),
        FaultCase("sub_null", profile: .current),
        FaultCase("sub_other", profile: .current),
        FaultCase("emails_list", profile: .current),
        FaultCase("truth_as_text", profile: .current),
        FaultCase("address_as_text", profile: .current),
        FaultCase("address_odd", profile: .current),
        FaultCase("phone_local", profile: .current),
        FaultCase("null_in_claims", profile: .current),
        FaultCase("claims_null", profile: .current),
        FaultCase("claim_sources", profile: .current),
        FaultCase("userinfo_jwt", profile: .pending),
        FaultCase("insufficient_scope", profile: .unavailable),
    ]

    static let revocations = [
        FaultCase("revocation_late", revocation: .again),
        FaultCase("unsupported_token_type", revocation: .unsupported),
        FaultCase("unknown_token", revocation: .revoked),
    ]
}
