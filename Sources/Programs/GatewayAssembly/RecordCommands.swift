// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import ConsentUseCases
import Consents
import RecordRendering

/// `consents …` and `verify`: the same records as the API answers, for an operator.
struct RecordCommands: Sendable {
    let place: Workplace
    let gateway: Gateway
    let json: Bool

    /// What the largest page of the store holds.
    private static let pageSize = 200

    func list(_ filter: ConsentFilter) async -> CommandOutput {
        let subject: Subject?
        do throws(SubjectFailure) {
            subject = try filter.subject?.read()
        } catch {
            return .failure(error.sentence, status: .usage)
        }
        var items: [OpenedConsent] = []
        var next: ConsentID?
        do throws(ConsentFailure) {
            repeat {
                let page = try await gateway.list(
                    subject: subject, provider: filter.provider, status: filter.status, before: next,
                    limit: min(RecordCommands.pageSize, filter.limit - items.count))
                items += page.items
                next = page.next
            } while next != nil && items.count < filter.limit
            if items.isEmpty, let name = filter.provider, let output = try await gateway.refusalToList(name) {
                return output
            }
            return ListOutput.consents(items, hasMore: next != nil, json: json)
        } catch {
            return failure(error, nil)
        }
    }

    func show(_ id: ConsentID) async -> CommandOutput {
        do throws(ConsentFailure) {
            return ConsentOutput.show(try await gateway.read(id), json: json)
        } catch {
            return failure(error, id)
        }
    }

    func explain(_ id: ConsentID) async -> CommandOutput {
        do throws(ConsentFailure) {
            return ExplainOutput.account(try await gateway.explain(id), json: json)
        } catch {
            return failure(error, id)
        }
    }

    func revoke(_ id: ConsentID) async -> CommandOutput {
        let caller = CallerIdentity(name: "command line", requestID: nil)
        do throws(ConsentFailure) {
            return ConsentOutput.show(try await gateway.withdraw(id, reason: .operator, caller: caller), json: json)
        } catch {
            return failure(error, id)
        }
    }

    func events(_ id: ConsentID) async -> CommandOutput {
        do throws(ConsentFailure) {
            return ListOutput.events(try await gateway.events(id), json: json)
        } catch {
            return failure(error, id)
        }
    }

    func receipt(_ id: ConsentID, isSigned: Bool) async -> CommandOutput {
        let receipt: ConsentReceipt
        do throws(ConsentFailure) { receipt = try await gateway.receipt(id) } catch { return failure(error, id) }
        guard isSigned else { return ReceiptOutput.receipt(receipt, from: gateway.receipts, json: json) }
        do throws(VaultFailure) {
            return ReceiptOutput.token(try gateway.receipts.token(of: receipt), json: json)
        } catch {
            return .failure("\(error)", status: .storeOrKeys)
        }
    }

    func verify(since: CheckpointName?) async -> CommandOutput {
        do throws(StoreFailure) {
            let report = try await gateway.verify(since: since)
            let findings = report.findings.map {
                LedgerReport.Finding(
                    consent: $0.consent, sequence: $0.sequence, fault: $0.fault.rawValue, column: $0.column?.rawValue)
            }
            let checkpoints = LedgerReport.Checkpoints(
                count: report.checkpoints, last: report.last.map(LedgerReport.Named.init), isSinceAsked: since != nil,
                since: report.since.map(LedgerReport.Named.init), findings: report.checkpointFindings)
            return LedgerOutput.report(
                LedgerReport(
                    consents: report.consents, events: report.events, findings: findings, checkpoints: checkpoints),
                json: json)
        } catch {
            return gateway.output(of: error)
        }
    }

    private func failure(_ failure: ConsentFailure, _ id: ConsentID?) -> CommandOutput {
        let name = id.map { "the consent \($0)" } ?? "a consent"
        switch failure {
        case .notFound: return .failure("there is no consent \(id?.description ?? "")", status: .partlyDone)
        case .consentEnded(let status):
            return .failure("\(name) is \(status.rawValue) and stays so", status: .partlyDone)
        case .evidenceDiffers(let doubts):
            return .failure(
                "no receipt is made: \(name) does not agree with its chain of events: \(doubts.joined(separator: ", ")) "
                    + "(verify says more)", status: .partlyDone)
        case .storeUnavailable: return gateway.outOfReach
        default: return .failure("\(name) cannot be opened with the vault's keys", status: .storeOrKeys)
        }
    }
}

extension LedgerReport.Named {
    fileprivate init(_ named: NamedCheckpoint) { self.init(name: named.name, at: named.checkpoint.at) }
}
