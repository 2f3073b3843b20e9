// SPDX-License-Identifier: Apache-2.0
/// What is wrong with a checkpoint, or with what it tells of.
package struct CheckpointFinding: Sendable, Equatable {
    package enum Fault: Sendable, Equatable {
        /// Its signature is not what the key makes of it.
        case altered
        /// The ring does not hold the key that signed it.
        case keyUnknown(String)
        /// Its signature was taken away: a later one has one.
        case unsigned
        /// It names another one before it than the store has.
        case orderBroken
        /// It and those up to this number are not in the store.
        case gone(through: Int64)
        /// It was asked for, and another one of its number stands in the store; its name, if it has one.
        case replaced(by: String?)
        /// It was asked for, and the store's last one is older: the store was put back to an older state, or cut.
        case newerThanStore(newest: Int64)
        /// The chains are not the ones that it was made of.
        case rootDiffers
        /// Of what was written between that one and it, some is missing, or more is there.
        case countsDiffer(since: Int64, told: Counts, found: Counts)
    }

    package struct Counts: Sendable, Equatable {
        package var consents: Int64
        package var events: Int64

        package init(consents: Int64, events: Int64) {
            self.consents = consents
            self.events = events
        }
    }

    package let number: Int64
    package let fault: Fault

    package init(number: Int64, fault: Fault) {
        self.number = number
        self.fault = fault
    }
}
