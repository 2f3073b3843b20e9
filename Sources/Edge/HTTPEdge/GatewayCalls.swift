// SPDX-License-Identifier: Apache-2.0
package import ConsentUseCases

/// What the API can have done: one use case a call.
package struct GatewayCalls: Sendable {
    let redeem: RedeemCode
    let list: ListConsents
    let read: ReadConsent
    let withdraw: WithdrawConsent
    let profile: ReadProfile
    let refresh: RefreshConsent
    let accessToken: HandOutAccessToken
    let events: ReadEvents
    let receipt: IssueReceipt
    let holdOwner: HoldOwner

    package init(
        redeem: RedeemCode, list: ListConsents, read: ReadConsent, withdraw: WithdrawConsent, profile: ReadProfile,
        refresh: RefreshConsent, accessToken: HandOutAccessToken, events: ReadEvents, receipt: IssueReceipt,
        holdOwner: HoldOwner
    ) {
        self.redeem = redeem
        self.list = list
        self.read = read
        self.withdraw = withdraw
        self.profile = profile
        self.refresh = refresh
        self.accessToken = accessToken
        self.events = events
        self.receipt = receipt
        self.holdOwner = holdOwner
    }
}
