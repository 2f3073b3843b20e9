// SPDX-License-Identifier: Apache-2.0
/// What an event tells beside its kind: named values, each name once, in the order of the names' UTF-8.
///
/// That order is the one of the chain's text, which is made of it as it stands. A dozen members are found in a row as
/// fast as by a hash; set in their order, each is put behind the others at once.
package struct EventData: Sendable, Equatable, ExpressibleByDictionaryLiteral, RandomAccessCollection {
    package typealias Element = (key: String, value: EventValue)

    package private(set) var members: [Element] = []

    package init() {}

    package init(dictionaryLiteral members: (String, EventValue)...) {
        for (name, value) in members { self[name] = value }
    }

    package subscript(name: String) -> EventValue? {
        get {
            let (place, isThere) = find(name)
            return isThere ? members[place].value : nil
        }
        set {
            let (place, isThere) = find(name)
            switch (newValue, isThere) {
            case (let value?, true): members[place].value = value
            case (let value?, false) where place == members.count: members.append((name, value))
            case (let value?, false): members.insert((name, value), at: place)
            case (nil, true): members.remove(at: place)
            case (nil, false): break
            }
        }
    }

    /// Makes room, so that so many members are put in without a copy.
    package mutating func reserveCapacity(_ count: Int) { members.reserveCapacity(count) }

    package mutating func merge(_ other: EventData, uniquingKeysWith combine: (EventValue, EventValue) -> EventValue) {
        for (name, value) in other.members { self[name] = self[name].map { combine($0, value) } ?? value }
    }

    package func merging(
        _ other: EventData, uniquingKeysWith combine: (EventValue, EventValue) -> EventValue
    ) -> EventData {
        var merged = self
        merged.merge(other, uniquingKeysWith: combine)
        return merged
    }

    package func filter(_ isIncluded: (Element) -> Bool) -> EventData {
        var kept = EventData()
        kept.members = members.filter(isIncluded)
        return kept
    }

    package var startIndex: Int { 0 }
    package var endIndex: Int { members.count }
    package subscript(position: Int) -> Element { members[position] }

    package static func == (left: EventData, right: EventData) -> Bool {
        left.members.elementsEqual(right.members) { $0.key == $1.key && $0.value == $1.value }
    }

    /// Where a name lies, or would; from the end, for most are set in their order.
    private func find(_ name: String) -> (place: Int, isThere: Bool) {
        var place = members.count
        while place > 0, !EventData.precedes(members[place - 1].key, name) { place -= 1 }
        return (place, place < members.count && members[place].key.utf8.elementsEqual(name.utf8))
    }

    private static func precedes(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }
}
