// SPDX-License-Identifier: Apache-2.0

/// A large value in a block of its own: whoever holds it, and each async frame that it lies in, holds one reference and
/// not its hundreds of bytes. It is a value all the same: a change makes a new block.
@propertyWrapper
package struct Boxed<Value: Sendable>: Sendable {
    private final class Block: Sendable {
        let value: Value
        init(_ value: Value) { self.value = value }
    }
    private var block: Block

    package init(wrappedValue: Value) { block = Block(wrappedValue) }

    package var wrappedValue: Value {
        get { block.value }
        set { block = Block(newValue) }
    }
}
