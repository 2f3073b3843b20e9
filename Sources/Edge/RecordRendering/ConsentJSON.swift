// SPDX-License-Identifier: Apache-2.0
package import Consents
package import NativeJSON

/// A consent record as JSON: the one shape that the API, `--json` and later the export answer (contract, section 2).
package enum ConsentJSON {
    /// The record, its members in the contract's order; what is not known is null.
    ///
    /// - Parameters:
    ///   - includingProfile: whether the member `profile` stands in it, null where no attributes are held. Only for
    ///     the owner or a key with `profiles:read`, and in the answers of a POST only.
    package static func value(of consent: OpenedConsent, includingProfile: Bool) -> JSONValue {
        let record = consent.record
        var json = JSONValue.object()
        json.set("id", record.id.description)
        json.set("provider", record.provider.name)
        json.set("environment", orNull: record.provider.environment)
        json.set("subject", consent.subject.text)
        json.set("provider_subject", orNull: consent.providerSubject?.reveal())
        json.set("status", record.status.rawValue)
        json.set("status_reason", orNull: record.statusReason?.rawValue)
        json.set("superseded_by", orNull: record.supersededBy?.description)
        json.set("scopes", scopes(of: record))
        json.set("profile_status", record.profileStatus.rawValue)
        json.set("profile_fetched_at", orNull: record.profileFetchedAt?.text)
        if includingProfile { json.set("profile", consent.profile.map(claims(of:))) }
        setTimes(of: record, in: &json)
        json.set("client", record.client.map(app))
        json.set("notice", orNull: record.notice?.text)
        json.set("created_at", record.createdAt.text)
        json.set("updated_at", record.updatedAt.text)
        return json
    }

    /// The attributes by their OpenID Connect names, in a fixed order with `address` last; only those that are held.
    package static func claims(of profile: Profile) -> JSONValue {
        var json = JSONValue.object()
        for name in ClaimName.allCases {
            switch profile.claims[name] {
            case .text(let text): json.set(name.rawValue, text)
            case .flag(let flag): json.set(name.rawValue, flag)
            case .integer(let number): json.set(name.rawValue, number)
            case nil: continue
            }
        }
        guard !profile.address.isEmpty else { return json }
        var address = JSONValue.object()
        for part in AddressPart.allCases {
            if let text = profile.address[part] { address.set(part.rawValue, text) }
        }
        json.set("address", address)
        return json
    }

    private static func scopes(of record: ConsentRecord) -> JSONValue {
        var json = JSONValue.object()
        json.set("requested", record.requested.names)
        json.set("granted", record.granted.names)
        return json
    }

    private static func setTimes(of record: ConsentRecord, in json: inout JSONValue) {
        json.set("access_token_expires_at", orNull: record.accessTokenExpiresAt?.text)
        json.set("refreshable", record.isRefreshable)
        json.set("last_refreshed_at", orNull: record.lastRefreshedAt?.text)
        json.set("next_refresh_at", orNull: record.timing.dueAt?.text)
        json.set("refresh_failures", record.refreshFailures)
    }

    private static func app(_ client: ClientApp) -> JSONValue {
        var json = JSONValue.object()
        json.set("platform", orNull: client.platform)
        json.set("product_name", orNull: client.productName)
        json.set("sdk_version", orNull: client.sdkVersion)
        return json
    }
}
