// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import ConsentUseCases
import Consents
import NativeHTTPServer
import NativeSystem
import Observability
import ProviderClients

/// The two listeners as the metrics page finds them: it is made before they listen.
struct ListenerSlots: Sendable {
    private let servers = Locked<[MetricListener: HTTPServer]>([:])

    func put(_ server: HTTPServer, at listener: MetricListener) { servers.withLock { $0[listener] = server } }

    func server(_ listener: MetricListener) -> HTTPServer? { servers.withLock { $0[listener] } }

    /// The page is one of the admin listener's own, so that the two hold each other until this.
    func clear() { servers.withLock { $0 = [:] } }
}

/// What the metrics page reads anew each time.
enum GatewayReadings {
    /// What is due at each provider; four readings are of one look at the store.
    private static func due(_ place: Workplace, _ gateway: Gateway) -> [MetricReading] {
        gateway.directory.all.map(\.facts.key).flatMap { key in
            let looks = DueLooks(key, gateway.store, place.time)
            return [
                MetricReading(.refreshesDue, [key.name]) { await looks.tally().map { Double($0.due) } },
                MetricReading(.refreshesOverdue, [key.name]) { await looks.tally().map { Double($0.overdue) } },
                MetricReading(.refreshLag, [key.name]) { await looks.lag() },
                MetricReading(.grantsInDoubt, [key.name]) { await looks.tally().map { Double($0.ambiguous) } },
            ]
        }
    }

    /// What keeps calls from each provider.
    private static func blocked(_ place: Workplace, _ gateway: Gateway) -> [MetricReading] {
        let (store, time) = (gateway.store, place.time)
        return gateway.directory.all.map(\.facts.key).flatMap { key in
            let blocks = MetricBlock.allCases.map { block in
                MetricReading(.providerBlocked, [key.name, block.rawValue]) {
                    guard let states = try? await store.providerStates() else { return nil }
                    let state = states.first { $0.provider == key }
                    let conditions = state?.conditions(at: time.now) ?? []
                    return conditions.contains { $0.rawValue == block.rawValue } ? 1 : 0
                }
            }
            let held = MetricReading(.heldVerdicts, [key.name]) {
                guard let states = try? await store.providerStates() else { return nil }
                return Double(states.first { $0.provider == key }?.heldVerdicts ?? 0)
            }
            return blocks + [held]
        }
    }

    /// Where each provider's clock is, as far as its issuer has told.
    static func clocks(_ gateway: Gateway) -> [MetricReading] {
        gateway.issuers.map { name, issuer in
            MetricReading(.providerClockOffset, [name]) { [clock = issuer.clock] in
                clock.offset.map { Double($0.components.seconds) + Double($0.components.attoseconds) / 1e18 }
            }
        }
    }

    static func all(_ place: Workplace, _ gateway: Gateway, _ slots: ListenerSlots, _ readiness: ReadinessCheck)
        -> [MetricReading]
    {
        let (log, store) = (place.log, gateway.store)
        let (redeem, refresh) = (gateway.redeem, gateway.refresh)
        let listeners = MetricListener.allCases.flatMap { listener in
            [
                MetricReading(.httpOpenConnections, [listener.rawValue]) {
                    slots.server(listener).map { Double($0.openConnections) }
                },
                MetricReading(.httpOpenRequests, [listener.rawValue]) {
                    slots.server(listener).map { Double($0.openRequests) }
                },
            ]
        }
        return listeners + due(place, gateway) + blocked(place, gateway) + clocks(gateway) + [
            MetricReading(.flights, [MetricFlight.exchange.rawValue]) { Double(await redeem.flightsUnderWay) },
            MetricReading(.flights, [MetricFlight.refresh.rawValue]) { Double(await refresh.flightsUnderWay) },
            MetricReading(.storeReady, []) { await readiness.isReady() ? 1 : 0 },
            MetricReading(.checkpointAge, []) {
                guard let last = try? await store.lastCheckpoint() else { return nil }
                return Double(place.time.now.milliseconds - last.checkpoint.at.milliseconds) / 1000
            },
            MetricReading(.logLinesLost, []) { Double(log.lostLines) },
            .buildInfo(version: Program.version),
        ] + MetricReading.ofProcess
    }
}

/// What is due at one provider, looked at once a second at most.
private actor DueLooks {
    private let key: ProviderKey
    private let store: any DueRefreshes
    private let time: any Timekeeper
    private var last: (at: Duration, tally: DueTally?)?

    init(_ key: ProviderKey, _ store: any DueRefreshes, _ time: any Timekeeper) {
        self.key = key
        self.store = store
        self.time = time
    }

    func tally() async -> DueTally? {
        if let last, time.monotonic < last.at + .seconds(1) { return last.tally }
        let tally = try? await store.dueTally(of: key, at: time.now)
        last = (time.monotonic, tally)
        return tally
    }

    func lag() async -> Double? {
        guard let tally = await tally() else { return nil }
        return tally.oldest.map { Double(time.now.milliseconds - $0.milliseconds) / 1000 } ?? 0
    }
}
