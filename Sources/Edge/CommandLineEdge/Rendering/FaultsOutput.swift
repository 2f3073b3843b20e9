// SPDX-License-Identifier: Apache-2.0
internal import NativeJSON

/// A fault of the simulated provider, for a list.
package struct ListedFault: Sendable {
    package var group: String
    package var name: String
    package var sentence: String
    package var places: [String]

    package init(group: String, name: String, sentence: String, places: [String]) {
        self.group = group
        self.name = name
        self.sentence = sentence
        self.places = places
    }
}

/// What `simulate --list-faults` prints: the faults group by group, then how to ask for one.
package enum FaultsOutput {
    package static func list(_ faults: [ListedFault], json: Bool) -> CommandOutput {
        if json {
            let items = faults.map { fault -> JSONValue in
                [
                    "name": JSONValue(fault.name), "detail": JSONValue(fault.sentence),
                    "group": JSONValue(fault.group), "places": fault.places.json,
                ]
            }
            return CommandOutput(text: jsonDocument(["items": .array(items)]))
        }
        var groups: [String] = []
        for fault in faults where !groups.contains(fault.group) { groups.append(fault.group) }
        let width = (faults.map(\.name.count).max() ?? 0) + 2
        let parts = groups.map { group in
            let lines = faults.filter { $0.group == group }.map { fault in
                "  " + fault.name + String(repeating: " ", count: width - fault.name.count) + fault.sentence + "\n"
            }
            return group + "\n" + lines.joined() + "\n"
        }
        return CommandOutput(text: parts.joined() + closing)
    }

    private static let closing = """
        Written NAME, NAME=NUMBER or NAME=NUMBER@PLACE+PLACE, with the places exchange, refresh, userinfo, revoke, metadata.
          for every call        consent-gateway simulate --fault slow=3@refresh
          for one code          send the code fault:slow=3:TEXT, or fault:slow=3@refresh+userinfo:TEXT; any TEXT is a new code
          while it runs         curl -s --data '{"fault":"slow=3","times":2}' http://127.0.0.1:9400/simulator/faults
        What the gateway answers to each: Config/faults.md.

        """
}
