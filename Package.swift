// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// The house has storeys; a room is one target, and imports go down only:
// Programs → Edge → UseCases → Domain ← Adapters → Native → C, with Plumbing beside Native for everybody above it.
// `swift build --explicit-target-dependency-import-check error` holds every import against this file.

let language: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
    .treatAllWarnings(as: .error),
]

/// A C library as Debian installs it: a module map and a `shim.h`.
func door(_ name: String, _ pkgConfig: String, _ debianPackage: String) -> Target {
    .systemLibrary(name: name, path: "Sources/C/\(name)", pkgConfig: pkgConfig, providers: [.apt([debianPackage])])
}

/// One room of a storey.
func room(_ storey: String, _ name: String, _ uses: [String] = [], resources: [Resource]? = nil) -> Target {
    .target(
        name: name, dependencies: uses.map { .init(stringLiteral: $0) }, path: "Sources/\(storey)/\(name)",
        resources: resources, swiftSettings: language + [.strictMemorySafety()])
}

/// The tests of one room; they may poke at raw sockets, so the strict memory check stays with the sources.
func tests(of name: String, _ uses: [String] = []) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: ([name] + uses).map { .init(stringLiteral: $0) },
        path: "Tests/\(name)Tests", swiftSettings: language)
}

/// A suite that belongs to no single room.
func suite(_ name: String, _ uses: [String]) -> Target {
    .testTarget(
        name: name, dependencies: uses.map { .init(stringLiteral: $0) }, path: "Tests/\(name)", swiftSettings: language)
}

/// What holds for every input of a reader. The suite replays the corpus through it; with `FUZZING=1` (`.ci/fuzz`) the
/// same sources are a library under libFuzzer, and nothing else of the package changes.
let fuzzedReaders = [
    "AnswerJournals", "ConsentUseCases", "Consents", "HTTPEdge", "IdentityTokens", "NativeCrypto", "NativeHTTPServer",
    "NativeJOSE", "NativeJSON", "NativeSystem", "NativeYAML", "ProviderClients", "Settings", "TokenVaults",
]
let fuzzing: [Target] =
    Context.environment["FUZZING"] == nil
    ? [
        .testTarget(
            name: "FuzzingTests", dependencies: fuzzedReaders.map { .init(stringLiteral: $0) }, path: "Tests/Fuzzing",
            exclude: ["Corpus", "Fuzzer", "words"], sources: ["Properties", "Replay"], swiftSettings: language)
    ]
    : [
        .target(
            name: "FuzzProperties", dependencies: fuzzedReaders.map { .init(stringLiteral: $0) },
            path: "Tests/Fuzzing/Properties", swiftSettings: language),
        .executableTarget(
            name: "fuzz-readers", dependencies: ["FuzzProperties"], path: "Tests/Fuzzing/Fuzzer",
            swiftSettings: language + [.unsafeFlags(["-parse-as-library"])]),
    ]

let package = Package(
    name: "consent-gateway",
    products: [.executable(name: "consent-gateway", targets: ["consent-gateway"])],
    targets: [
        // C: doors to the system's libraries
        door("CCurl", "libcurl", "libcurl4-openssl-dev"),
        door("CJansson", "jansson", "libjansson-dev"),
        door("CMicrohttpd", "libmicrohttpd", "libmicrohttpd-dev"),
        door("CYAML", "yaml-0.1", "libyaml-dev"),
        door("CSQLite", "sqlite3", "libsqlite3-dev"),
        door("CPostgres", "libpq", "libpq-dev"),
        door("COpenSSL", "libcrypto", "libssl-dev"),
        door("CCjose", "cjose", "libcjose-dev"),
        .target(name: "CLinux", path: "Sources/C/CLinux"),
        .target(name: "CBlocks", path: "Sources/C/CBlocks"),

        // Native: one room a C library; the only storey where `unsafe` is written
        room("Native", "NativeSystem", ["CLinux"]),
        room("Native", "NativeEventLoop", ["CLinux", "NativeSystem"]),
        room("Native", "NativeCurl", ["CBlocks", "CCurl", "NativeEventLoop", "NativeSystem"]),
        room("Native", "NativeHTTPServer", ["CMicrohttpd", "CLinux", "NativeEventLoop", "NativeSystem"]),
        room("Native", "NativeJSON", ["CBlocks", "CJansson"]),
        room("Native", "NativeYAML", ["CYAML"]),
        room("Native", "NativeSQLite", ["CBlocks", "CSQLite", "NativeSystem"]),
        room("Native", "NativePostgres", ["CPostgres", "NativeSystem"]),
        room("Native", "NativeCrypto", ["COpenSSL", "NativeSystem"]),
        room("Native", "NativeJOSE", ["CCjose", "NativeCrypto", "NativeJSON"]),

        // Plumbing
        room("Plumbing", "Lifecycle", ["NativeSystem"]),
        room("Plumbing", "Observability", ["NativeSystem", "NativeJSON"]),
        room(
            "Plumbing", "Settings", ["NativeSystem", "NativeYAML"],
            // Links to Config/providers: the profiles are data for people, and part of the program.
            resources: [
                .embedInCode("Profiles/generic.yaml"), .embedInCode("Profiles/paypal.yaml"),
                .embedInCode("Profiles/google.yaml"), .embedInCode("Profiles/apple.yaml"),
                .embedInCode("Profiles/microsoft.yaml"), .embedInCode("Profiles/okta.yaml"),
                .embedInCode("Profiles/glewlwyd.yaml"), .embedInCode("Profiles/idpy-oidc.yaml"),
                .embedInCode("Profiles/django-oauth-toolkit.yaml"),
            ]),

        // Domain: imports nothing
        room("Domain", "Consents"),

        // Adapters
        room(
            "Adapters", "ProviderClients",
            [
                "Consents", "IdentityTokens", "NativeCurl", "NativeEventLoop", "NativeJSON", "NativeCrypto",
                "NativeSystem",
                "Observability",
            ]),
        room(
            "Adapters", "ConsentStores",
            ["Consents", "NativePostgres", "NativeSQLite", "NativeJSON", "NativeSystem", "Observability"],
            resources: [
                .embedInCode("Migrations/v0001_consents.sql"), .embedInCode("Migrations/v0001_consents.postgres.sql"),
            ]),
        room("Adapters", "TokenVaults", ["Consents", "NativeCrypto", "NativeJSON", "NativeSystem"]),
        room("Adapters", "AnswerJournals", ["Consents", "NativeCrypto", "NativeSystem"]),
        room("Adapters", "StateFiles", ["Consents", "NativeSystem"]),
        room(
            "Adapters", "IdentityTokens",
            ["Consents", "NativeCrypto", "NativeCurl", "NativeJOSE", "NativeJSON", "NativeSystem"]),

        // Use cases
        room("UseCases", "ConsentUseCases", ["Consents", "Observability", "NativeSystem"]),

        // Edge
        room(
            "Edge", "HTTPEdge",
            [
                "Consents", "ConsentUseCases", "RecordRendering", "NativeHTTPServer", "NativeJSON", "NativeYAML",
                "NativeCrypto", "NativeSystem", "Observability",
            ],
            // A link to Config/openapi.yaml: a file for people, and what the program answers.
            resources: [.embedInCode("Resources/openapi.yaml")]),
        room("Edge", "RecordRendering", ["Consents", "NativeCrypto", "NativeJSON"]),
        room("Edge", "RefreshSchedule", ["Consents", "ConsentUseCases", "NativeSystem", "Observability"]),
        room("Edge", "CommandLineEdge", ["Consents", "RecordRendering", "NativeJSON"]),
        room(
            "Edge", "SimulatedProvider",
            [
                "NativeHTTPServer", "NativeEventLoop", "NativeJOSE", "NativeJSON", "NativeCrypto", "NativeSystem",
            ]),

        // Programs
        room(
            "Programs", "GatewayAssembly",
            [
                "Consents", "ConsentUseCases", "HTTPEdge", "CommandLineEdge", "RecordRendering", "RefreshSchedule",
                "SimulatedProvider", "ProviderClients", "IdentityTokens", "ConsentStores", "TokenVaults",
                "AnswerJournals", "StateFiles", "Settings", "Lifecycle", "Observability", "NativeEventLoop",
                "NativeHTTPServer", "NativeSystem", "NativeCrypto", "NativeCurl", "NativeJOSE", "NativeJSON",
            ]),
        .executableTarget(
            name: "consent-gateway", dependencies: ["GatewayAssembly"], path: "Sources/Programs/consent-gateway",
            swiftSettings: language + [.strictMemorySafety()]),

        // Tests
        .target(
            name: "TestSupport", dependencies: ["NativeSystem", "Observability"],
            path: "Tests/Support",
            swiftSettings: language),
        .target(
            name: "TestServers", dependencies: ["NativePostgres", "NativeSystem", "TestSupport"], path: "Tests/Servers",
            swiftSettings: language),
        tests(of: "CBlocks"),
        tests(of: "NativeEventLoop", ["NativeSystem", "TestSupport"]),
        tests(of: "NativeHTTPServer", ["NativeCurl", "NativeEventLoop", "NativeSystem", "TestSupport"]),
        tests(of: "NativeJSON"),
        tests(of: "NativeYAML"),
        tests(of: "Settings", ["NativeSystem", "NativeYAML"]),
        tests(
            of: "SimulatedProvider",
            [
                "NativeCrypto", "NativeEventLoop", "NativeHTTPServer", "NativeJOSE", "NativeJSON", "NativeSystem",
                "TestSupport",
            ]),
        tests(of: "RecordRendering", ["Consents", "NativeCrypto", "NativeJSON"]),
        tests(of: "CommandLineEdge", ["Consents", "NativeJSON", "RecordRendering"]),
        tests(of: "NativeCrypto"),
        tests(of: "NativeJOSE", ["NativeCrypto", "NativeJSON"]),
        tests(
            of: "IdentityTokens",
            [
                "Consents", "NativeCrypto", "NativeCurl", "NativeEventLoop", "NativeJOSE", "NativeJSON", "NativeSystem",
                "TestSupport",
            ]),
        tests(of: "Lifecycle", ["NativeSystem", "TestSupport"]),
        tests(of: "NativeSystem", ["TestSupport"]),
        tests(of: "AnswerJournals", ["Consents", "NativeSystem", "TestSupport"]),
        tests(of: "StateFiles", ["Consents", "NativeSystem", "TestSupport"]),
        tests(of: "TokenVaults", ["Consents", "NativeCrypto", "NativeSystem"]),
        tests(of: "Observability", ["NativeSystem", "NativeJSON", "TestSupport"]),
        tests(of: "Consents", ["NativeCrypto"]),
        tests(of: "NativeCurl", ["NativeEventLoop", "NativeSystem", "TestSupport"]),
        tests(of: "ConsentUseCases", ["Consents"]),
        tests(
            of: "ProviderClients",
            [
                "Consents", "IdentityTokens", "NativeCurl", "NativeEventLoop", "NativeSystem", "Observability",
                "Settings",
                "TestSupport",
            ]),
        tests(
            of: "HTTPEdge",
            [
                "Consents", "ConsentUseCases", "NativeHTTPServer", "NativeJSON", "NativeSystem", "Observability",
                "RecordRendering",
            ]),
        tests(of: "RefreshSchedule", ["Consents"]),
        tests(of: "NativeSQLite", ["NativeSystem"]),
        tests(of: "NativePostgres", ["NativeSystem", "TestServers", "TestSupport"]),
        suite(
            "StoreContractTests",
            [
                "ConsentStores", "ConsentUseCases", "Consents", "NativeCrypto", "NativePostgres", "NativeSQLite",
                "NativeSystem", "Observability", "RefreshSchedule", "TestServers", "TestSupport", "TokenVaults",
            ]),
        suite(
            "EndToEndTests",
            [
                "CommandLineEdge", "ConsentStores", "ConsentUseCases", "Consents", "GatewayAssembly", "HTTPEdge",
                "NativeCurl",
                "NativeCrypto", "NativeEventLoop", "NativeJOSE",
                "NativeHTTPServer", "NativeJSON", "NativeSQLite", "NativeSystem", "Observability", "RefreshSchedule",
                "Settings", "SimulatedProvider", "TestSupport", "TokenVaults",
            ]),
        // Drives the same gateways as the suite above.
        suite(
            "ConformanceTests",
            [
                "CommandLineEdge", "EndToEndTests", "GatewayAssembly", "NativeCrypto", "NativeCurl", "NativeJOSE",
                "NativeJSON", "NativeSystem", "TestSupport",
            ]),
    ] + fuzzing,
    swiftLanguageModes: [.v6]
)

// Built only when Tests/Benchmarks/run asks for it. It uses the store's own writer, so that room is built with testing
// enabled; the others as in the program, where the compiler knows every use of what is internal.
if Context.environment["BENCHMARKS"] != nil {
    for target in package.targets where target.name == "ConsentStores" {
        target.swiftSettings?.append(.unsafeFlags(["-enable-testing"]))
    }
    package.targets.append(
        .executableTarget(
            name: "exchange-bench",
            dependencies: [
                "Consents", "ConsentStores", "NativeCrypto", "NativeCurl", "NativeEventLoop", "NativeHTTPServer",
                "NativeJSON", "NativeSQLite", "NativeSystem", "Observability",
            ],
            path: "Tests/Benchmarks/ExchangeBench", swiftSettings: language))
}
