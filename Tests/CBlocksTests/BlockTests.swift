// SPDX-License-Identifier: Apache-2.0
import CBlocks
import Glibc
import Testing

@Suite struct BlockTests {
    @Test("a block holds what was asked for, and what is written into it, at every size")
    func sizes() throws {
        for size in Array(1...700) + [4096, 1 << 20] {
            let block = try #require(cblocks_take(size))
            #expect(UInt(bitPattern: block) % 16 == 0)
            memset(block, Int32(size & 0xFF), size)
            let bytes = UnsafeRawBufferPointer(start: block, count: size)
            #expect(bytes.first == UInt8(size & 0xFF) && bytes.last == UInt8(size & 0xFF))
            cblocks_give(block)
        }
    }

    @Test("blocks that are held at the same time do not overlap, however often they are given back and taken")
    func apart() throws {
        var held: [(block: UnsafeMutableRawPointer, size: Int, mark: UInt8)] = []
        var random = SplitMix(state: 7)
        for turn in 0..<20_000 {
            if held.count < 200 || random.next() % 2 == 0, held.count < 400 {
                let size = Int(random.next() % 900) + 1
                let block = try #require(cblocks_take(size))
                memset(block, Int32(turn & 0xFF), size)
                held.append((block, size, UInt8(turn & 0xFF)))
            } else {
                let one = held.remove(at: Int(random.next() % UInt64(held.count)))
                #expect(UnsafeRawBufferPointer(start: one.block, count: one.size).allSatisfy { $0 == one.mark })
                cblocks_give(one.block)
            }
        }
        for one in held { cblocks_give(one.block) }
    }

    @Test(
        "what stood in a block stands in the one that it grows or shrinks to",
        arguments: [(1, 500), (500, 900), (900, 4), (600, 20), (30, 31)])
    func resizes(from: Int, to: Int) throws {
        let first = try #require(cblocks_take(from))
        memset(first, 0x5A, from)
        let second = try #require(cblocks_resize(first, to))
        #expect(UnsafeRawBufferPointer(start: second, count: min(from, to)).allSatisfy { $0 == 0x5A })
        cblocks_give(second)
        let fresh = try #require(cblocks_resize(nil, to))
        cblocks_give(fresh)
    }

    @Test("a zeroed block is zero where a used one comes again, and one too large for the machine is none")
    func zeroed() throws {
        let used = try #require(cblocks_take(96))
        memset(used, 0xFF, 96)
        cblocks_give(used)
        let zeroed = try #require(cblocks_take_zeroed(12, 8))
        #expect(UnsafeRawBufferPointer(start: zeroed, count: 96).allSatisfy { $0 == 0 })
        cblocks_give(zeroed)
        #expect(cblocks_take_zeroed(.max, 4) == nil)
        cblocks_give(nil)
    }

    @Test("a copy of a text ends with its NUL; of none there is none")
    func copies() throws {
        let copy = try #require(cblocks_copy("consent"))
        #expect(String(cString: copy) == "consent")
        cblocks_give(copy)
        #expect(cblocks_copy(nil) == nil)
    }

    @Test("another thread, or free itself, may give a block back")
    func threads() throws {
        for _ in 0..<50 {
            var thread = pthread_t()
            let block = try #require(cblocks_take(64))
            let code = pthread_create(
                &thread, nil,
                { argument in
                    cblocks_give(argument)
                    for size in 1...500 {
                        let other = cblocks_take(size)
                        if size % 7 == 0 { free(other) } else { cblocks_give(other) }
                    }
                    return cblocks_take(128)
                }, block)
            #expect(code == 0)
            var result: UnsafeMutableRawPointer?
            pthread_join(thread, &result)
            cblocks_give(result)
        }
    }
}

private struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
