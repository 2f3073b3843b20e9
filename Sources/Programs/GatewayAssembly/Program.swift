// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import ConsentStores
import ConsentUseCases
import Consents
import NativeSystem
import Observability
import Settings
import TokenVaults

/// The program: one command, from its arguments to its exit status.
package enum Program {
    package static let version = "0.1.0"

    /// Runs the command that the process was started with. Whichever it is, no secret of it reaches a core dump.
    package static func run() async -> Int32 {
        do throws(SystemCallError) { try forbidCoreDumps() } catch {
            let output = CommandOutput.failure("the process cannot be prepared: \(error)", status: .partlyDone)
            occupyStandardDescriptors()
            OutputStream.standardError.write(output.errors)
            return output.status.rawValue
        }
        let given = processArguments()
        let arguments = given.compactMap(\.self)
        guard arguments.count == given.count else {
            let number = 1 + (given.firstIndex(of: nil) ?? 0)
            let output = UsageError.argumentNotText(number: number).output
            occupyStandardDescriptors()
            OutputStream.standardError.write(output.errors)
            return output.status.rawValue
        }
        return await run(arguments: arguments, environment: processEnvironment())
    }

    /// - Parameters:
    ///   - arguments: without the program's name.
    /// - Returns: the status of the contract's section 3.
    package static func run(arguments: [String], environment: [String: String]) async -> Int32 {
        occupyStandardDescriptors()
        let output: CommandOutput
        do throws(UsageError) {
            output = await perform(try CommandLineParser.parse(arguments), environment)
        } catch {
            output = error.output
        }
        let isPrinted = OutputStream.standardOutput.write(output.text)
        OutputStream.standardError.write(output.errors)
        if isPrinted { return output.status.rawValue }
        let failure = CommandOutput.failure(
            "what was done could not be printed: the standard output takes nothing", status: .partlyDone)
        OutputStream.standardError.write(failure.errors)
        return output.status == .done ? failure.status.rawValue : output.status.rawValue
    }

    private static func perform(_ asked: Invocation, _ environment: [String: String]) async -> CommandOutput {
        switch asked.command {
        case .help(let path): return .help(path)
        case .version: return .version(version, json: asked.json)
        case .serve:
            return await ServeCommand.run(configPath: asked.configPath, environment: environment, json: asked.json)
        case .demo: return await DemoCommand.run(environment: environment, json: asked.json)
        case .simulate(let options): return await SimulateCommand.run(options, json: asked.json)
        case .check:
            return await CheckCommand.run(configPath: asked.configPath, environment: environment, json: asked.json)
        case .keysInit(let isForced): return RingMaking.run(asked, environment, isForced: isForced)
        case .keysStatus:
            return withSettings(asked, environment) { settings in
                RingCommands.status(settings, environment: environment, json: asked.json)
            }
        case .providerList:
            return withSettings(asked, environment) { ProviderCommands.list($0, json: asked.json) }
        case .providerShow(let name):
            return withSettings(asked, environment) { ProviderCommands.show(name, $0, json: asked.json) }
        case .providerTest(let name):
            return await withPlace(asked, environment) { place in
                await ProviderTest(name: name, place: place).run(json: asked.json)
            }
        case .migrate(let statusOnly):
            return await withPlace(asked, environment) { place in
                StoreCommands.migrate(statusOnly: statusOnly, in: place, json: asked.json)
            }
        case .move(let request):
            return await withPlace(asked, environment) { place in
                await MoveCommand(request: request, place: place, json: asked.json).run()
            }
        default:
            let use: StoreUse = if case .keysAPICreate = asked.command { .keeps } else { .visits }
            return await withGateway(asked, environment, for: use) { place, gateway in
                await performOnStore(asked, place, gateway)
            }
        }
    }

    /// The commands that work on the store while `serve` may be running.
    private static func performOnStore(_ asked: Invocation, _ place: Workplace, _ gateway: Gateway) async
        -> CommandOutput
    {
        let records = RecordCommands(place: place, gateway: gateway, json: asked.json)
        let keys = APIKeyCommands(place: place, gateway: gateway, json: asked.json) { text in
            OutputStream.standardOutput.write(text)
        }
        switch asked.command {
        case .refresh(let ids, let isForced):
            return await StoreCommands.refresh(ids, isForced: isForced, gateway, json: asked.json)
        case .refreshSweep(let sweep):
            return await StoreCommands.refresh(sweep, in: place, gateway, json: asked.json)
        case .refreshPlan(let provider):
            return await OutlookCommands(place: place, gateway: gateway, json: asked.json).plan(of: provider)
        case .refreshForecast(let request):
            return await OutlookCommands(place: place, gateway: gateway, json: asked.json).forecast(request)
        case .explain(let id): return await records.explain(id)
        case .incidents: return await IncidentCommands.list(place, gateway, json: asked.json)
        case .decideVerdicts(let decision, let name):
            return await IncidentCommands.decide(decision, of: name, gateway, json: asked.json)
        case .consentsList(let filter): return await records.list(filter)
        case .consentsShow(let id): return await records.show(id)
        case .consentsRevoke(let id): return await records.revoke(id)
        case .consentsEvents(let id): return await records.events(id)
        case .consentsReceipt(let id, let isSigned): return await records.receipt(id, isSigned: isSigned)
        case .keysAPICreate(let request): return await keys.create(request)
        case .keysAPIList: return await keys.list()
        case .keysAPIRevoke(let name): return await keys.revoke(name)
        case .restoreCheck(let isAccepting):
            return isAccepting
                ? await RestoreCommands.accept(gateway, json: asked.json)
                : await RestoreCommands.check(gateway, json: asked.json)
        case .verify(let since): return await records.verify(since: since)
        case .job(let isDryRun):
            return isDryRun
                ? await JobCommand.dryRun(place, gateway, json: asked.json)
                : await JobCommand.run(place, gateway, json: asked.json)
        default: return .failure("this command does not work on the store", status: .usage)
        }
    }

    /// For what asks neither store nor provider: the secrets are not read.
    private static func withSettings(
        _ asked: Invocation, _ environment: [String: String], _ body: (GatewaySettings) -> CommandOutput
    ) -> CommandOutput {
        do throws(SettingsErrors) {
            return body(
                try SettingsLoader.load(path: asked.configPath, environment: environment, options: .withoutSecrets)
                    .settings)
        } catch {
            return StartFailure(error).output
        }
    }

    private static func withPlace(
        _ asked: Invocation, _ environment: [String: String], _ body: (Workplace) async -> CommandOutput
    ) async -> CommandOutput {
        do throws(StartFailure) {
            let place = try Workplace.open(
                configPath: asked.configPath, environment: environment, loops: 1, sink: Workplace.standardError())
            place.log.setLevel(.warning)
            let output = await body(place)
            place.close()
            return output
        } catch {
            return error.output
        }
    }

    /// Whether the store must first be held against what was noted of it.
    private static func sendsRefreshTokens(_ command: Command) -> Bool {
        switch command {
        case .refresh: true
        case .refreshSweep(let sweep): !sweep.isDryRun
        case .job(let isDryRun): !isDryRun
        default: false
        }
    }

    private static func withGateway(
        _ asked: Invocation, _ environment: [String: String], for use: StoreUse,
        _ body: @escaping @Sendable (Workplace, Gateway) async -> CommandOutput
    ) async -> CommandOutput {
        await withPlace(asked, environment) { place in
            do throws(StartFailure) {
                let gateway = try Gateway.open(in: place, for: use)
                let output = await LoopLauncher(loops: place.loops).result {
                    do throws(StoreFailure) {
                        if sendsRefreshTokens(asked.command) { try await gateway.epoch.begin() }
                    } catch { return gateway.output(of: error) }
                    let output = await body(place, gateway)
                    // An answer that is still awaited may hold the only refresh token that is good from now on.
                    await gateway.land(within: place.settings.server.shutdownGrace, place.time)
                    return output
                }
                await gateway.close()
                return output
            } catch {
                return error.output
            }
        }
    }
}
