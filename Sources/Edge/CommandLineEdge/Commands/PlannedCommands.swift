// SPDX-License-Identifier: Apache-2.0
/// Commands of the contract that are not built yet: known by name and answered so. Building one deletes its row.
enum PlannedCommands {
    static let all = [
        ["subjects"],
        ["keys", "rotate"],
        ["keys", "purge"],
        ["webhooks"],
    ]
}
