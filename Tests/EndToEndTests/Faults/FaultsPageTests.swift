// SPDX-License-Identifier: Apache-2.0
import Glibc
import NativeSystem
import Testing

@Suite("The page of faults")
struct FaultsPageTests {
    @Test("Config/faults.md is what the cases say; CONSENT_GATEWAY_WRITE_FAULTS=1 writes it anew")
    func page() throws {
        let path = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/") + "/Config/faults.md"
        if getenv("CONSENT_GATEWAY_WRITE_FAULTS") != nil {
            let file = try #require(fopen(path, "w"))
            #expect(fputs(FaultsPage.text, file) >= 0)
            #expect(fclose(file) == 0)
        }
        let content = try readFile(at: path, limit: 1 << 20)
        #expect(String(decoding: content.bytes, as: UTF8.self) == FaultsPage.text)
    }
}
