// swift-tools-version: 6.0
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

/// What an app needs to hand a consent to the gateway (copy the folder `Sources/ConsentClient`), and a small program
/// that shows it at work on a desk.
let package = Package(
    name: "MobileClient",
    platforms: [.iOS(.v15), .macOS(.v12)],
    products: [
        .library(name: "ConsentClient", targets: ["ConsentClient"]),
        .executable(name: "mobile-client", targets: ["mobile-client"]),
    ],
    targets: [
        .target(name: "ConsentClient"),
        .executableTarget(name: "mobile-client", dependencies: ["ConsentClient"]),
    ],
    swiftLanguageModes: [.v6]
)
