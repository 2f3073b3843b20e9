// SPDX-License-Identifier: Apache-2.0
import SimulatedProvider

/// `Config/faults.md`, made of the cases that the tests run.
enum FaultsPage {
    static var text: String {
        var page = opening
        var groups: [String] = []
        for fault in FaultTable.list where !groups.contains(fault.group) { groups.append(fault.group) }
        for group in groups {
            page += "\n## \(group)\n\n" + (note(of: group) ?? "")
            let faults = FaultTable.list.filter { $0.group == group }
            let identities = IdentityFaults.all.filter { $0.description?.group == group }
            if !identities.isEmpty {
                page += row(["fault", "what happens", "exchange", "new consent screen", "refresh"])
                page += row(Array(repeating: "---", count: 5))
                for item in identities { page += row(of: item) }
                continue
            }
            page += row(["fault", "what happens", "exchange", "new consent screen", "refresh", "profile", "revocation"])
            page += row(Array(repeating: "---", count: 7))
            for fault in faults {
                for item in FaultCases.all where item.name == fault.name { page += row(of: item, fault) }
            }
        }
        return page
    }

    private static func note(of group: String) -> String? {
        if group.contains("ID tokens") {
            return """
                They need `simulate --id-tokens ES256` (or RS256, PS256), and strike at `/token`, where ID tokens are issued.
                With `id_token: ignored` they are passed over: 201, and 200 at a refresh. Below it is `required`, the default:


                """
        }
        guard group.contains("key sets") else { return nil }
        return """
            For everybody only: no code asks for these documents. With `issuer` and `id_token: required`; once there are keys
            and metadata, those are kept and used for a week where newer ones cannot be had.


            """
    }

    private static func row(of item: IdentityFault) -> String {
        let number = item.description?.number ?? ""
        let sentence = (item.description?.sentence ?? "").replacing(" (\(number))", with: "")
            .replacing("NUMBER", with: number)
        return row([
            "`\(item.name)`", sentence, item.exchange.text, item.exchange.needsNewConsent ? "yes" : "no",
            item.refresh?.text ?? "",
        ])
    }

    private static func row(of item: FaultCase, _ fault: FaultDescription) -> String {
        let parts = item.fault.split(separator: "=")
        let number = fault.number ?? ""
        let sentence = fault.sentence.replacing(" (\(number))", with: "")
            .replacing("NUMBER", with: parts.count > 1 ? String(parts[1]) : number)
        return row([
            "`\(item.fault)`" + (item.isGeneric ? " (by endpoints)" : ""), sentence, exchange(item),
            item.exchange.map { $0.needsNewConsent ? "yes" : "no" } ?? "", refresh(item),
            item.profile?.rawValue ?? "", item.revocation.map(word) ?? "",
        ])
    }

    private static func row(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |\n" }

    private static func exchange(_ item: FaultCase) -> String {
        guard let end = item.exchange else { return "" }
        if item.isLate { return "503 `exchange_pending`, then " + (end.code.map { "\(end.status) `\($0)`" } ?? "200") }
        var text = end.code.map { "\(end.status) `\($0)`" } ?? "\(end.status)"
        if case .unavailable(let delay) = end { text += ", Retry-After \(delay)" }
        return text
    }

    private static func refresh(_ item: FaultCase) -> String {
        guard let end = item.refresh else { return "" }
        if item.isLate { return "503 `provider_unavailable`, then `\(end.record)`" }
        return (end.code.map { "\(end.status) `\($0)`" } ?? "\(end.status)") + ", `\(end.record)`"
    }

    private static func word(_ end: RevocationEnd) -> String { end == .again ? "tried again" : end.rawValue }

    private static let opening = """
        <!-- SPDX-License-Identifier: Apache-2.0 -->
        # What the gateway makes of a provider's faults

        Every fault of the simulated provider (`consent-gateway simulate --list-faults`), and what comes of it. Each line is
        a test: a real gateway, a real simulated provider, the code `fault:NAME:…` posted, the answer compared. This file is
        written by the tests (`CONSENT_GATEWAY_WRITE_FAULTS=1 swift test --disable-xctest --filter FaultsPageTests`).

        **exchange**: the answer to `POST /v1/consents` when the fault strikes the token endpoint. The code is sent once.

        | answer | the same request again | new consent screen |
        | --- | --- | --- |
        | 201 | 200 with the same consent; nothing is sent | no |
        | 422 `code_rejected` | the same answer; nothing is sent | yes |
        | 502 `provider_bad_response` | the same answer; nothing is sent | yes |
        | 422 `id_token_invalid` | the same answer; nothing is sent | yes |
        | 504 `exchange_unknown` | the same answer; nothing is sent | yes |
        | 502 `provider_misconfigured` | the code is unspent and may be sent; an operator must look | no |
        | 503 `provider_unavailable`, with `Retry-After` | the code is unspent and is sent | no |
        | 503 `exchange_pending`, with `Retry-After: 2` | nothing is sent; sooner or later one of the others | no |

        **refresh**: the answer to `POST /v1/consents/{id}/refresh`, and the record's `status` after it. Only
        `reauthorization_required` needs a new consent screen; `failing` and `active` go on by themselves.

        **profile**: the record's `profile_status` when the fault strikes the userinfo endpoint. The consent is kept and
        answered with 201 whatever happens there; `pending` is fetched later, `unavailable` is what the provider refuses.

        **revocation**: what becomes of a withdrawn grant's tokens. The withdrawal itself is 200 and holds at once.

        """
}
