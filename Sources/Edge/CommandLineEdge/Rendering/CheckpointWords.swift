// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativeJSON

/// A checkpoint's fault as a line and as JSON.
enum CheckpointWords {
    static func line(_ finding: CheckpointFinding) -> String {
        "\(subject(finding))  \(word(finding.fault)): \(meaning(finding.fault))"
    }

    private static func subject(_ finding: CheckpointFinding) -> String {
        if case .gone(let last) = finding.fault, last > finding.number {
            return "checkpoints \(finding.number) to \(last)"
        }
        return "checkpoint \(finding.number)"
    }

    private static func word(_ fault: CheckpointFinding.Fault) -> String {
        switch fault {
        case .altered: "altered"
        case .keyUnknown: "key_unknown"
        case .unsigned: "unsigned"
        case .orderBroken: "order_broken"
        case .gone: "gone"
        case .replaced: "replaced"
        case .newerThanStore: "newer_than_store"
        case .rootDiffers: "root_differs"
        case .countsDiffer: "counts_differ"
        }
    }

    private static func meaning(_ fault: CheckpointFinding.Fault) -> String {
        switch fault {
        case .altered: "its signature is not what the key makes of it"
        case .keyUnknown(let id): "the ring does not hold the key '\(Printable.text(id))' that signed it"
        case .unsigned: "its signature was taken away"
        case .orderBroken: "it names another one before it than the store has"
        case .gone: "not in the store any more"
        case .replaced(let name?): "the store has another one of that number, \(Printable.text(name))"
        case .replaced(nil): "the store has another one of that number, without a signature"
        case .newerThanStore(0): "the store has none: it is older, or was cut"
        case .newerThanStore(let newest): "the store's last one is \(newest): it is older, or was cut"
        case .rootDiffers: "the chains are not the ones that it was made of"
        case .countsDiffer(let since, let told, let found):
            "\(since == 0 ? "from the start" : "since checkpoint \(since)") it tells of \(counts(told)), "
                + "\(counts(found)) are there"
        }
    }

    private static func counts(_ counts: CheckpointFinding.Counts) -> String {
        "\(counts.consents) consent\(counts.consents == 1 ? "" : "s") and "
            + "\(counts.events) event\(counts.events == 1 ? "" : "s")"
    }

    static func document(_ finding: CheckpointFinding) -> JSONValue {
        var document: JSONValue = ["checkpoint": JSONValue(finding.number), "fault": JSONValue(word(finding.fault))]
        switch finding.fault {
        case .altered, .unsigned, .orderBroken, .rootDiffers: break
        case .keyUnknown(let id): document.set("key_id", id)
        case .gone(let last): document.set("through", last)
        case .replaced(let name): document.set("found", name)
        case .newerThanStore(let newest): document.set("newest", newest)
        case .countsDiffer(let since, let told, let found):
            document.set("since", since)
            document.set("told", self.document(told))
            document.set("found", self.document(found))
        }
        return document
    }

    private static func document(_ counts: CheckpointFinding.Counts) -> JSONValue {
        ["consents": JSONValue(counts.consents), "events": JSONValue(counts.events)]
    }
}
