// SPDX-License-Identifier: Apache-2.0
import ConsentUseCases
import Consents
import NativeJSON
import RecordRendering

/// The answer of `GET …/profile`.
enum ProfileJSON {
    static func value(of reading: ReadProfile.Reading) -> JSONValue {
        var missing = JSONValue.object()
        for (name, absence) in reading.missing.sorted(by: { $0.key < $1.key }) { missing.set(name, absence.rawValue) }
        var json = JSONValue.object()
        json.set("consent_id", reading.record.id.description)
        json.set("provider", reading.record.provider.name)
        json.set("fetched_at", reading.fetchedAt.text)
        json.set("stale", reading.isStale)
        json.set("claims", ConsentJSON.claims(of: reading.profile))
        json.set("missing", missing)
        return json
    }
}
