// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeSQLite
import NativeSystem
import Observability

@testable import ConsentStores

/// A duty's store, a file or a `postgres://` database that nobody else uses: tables without any index but the primary
/// keys, behind the gateway's own writer.
struct DutyStore {
    let writer: SQLWriter

    /// - Parameter pool: connections of a gateway's pool, of which one half writes.
    init(_ place: String, pool: Int) throws {
        let metrics = Metrics(MetricWords(routes: [], codes: [], providers: [], version: ""))
        let health = WriteHealth(time: BenchTime())
        if place.hasPrefix("postgres") {
            let server = try PostgresServer(url: place, password: nil, pool: pool, applicationName: "duty")
            let clock = try bootClock()
            try SQLConnection.postgres(try PostgresLink(server, clock)).execute(DutyStore.postgresTables)
            writer = try SQLWriter(
                server, clock, instance: InstanceID(BenchTime.identifier()), limits: .standard, health: health,
                metrics: metrics)
            return
        }
        try prepareFile(place)
        try openForWriting(place, .seconds(2)).execute(DutyStore.tables)
        let locks = try InstanceLocks(stateDirectory: folder(of: place), instance: InstanceID(BenchTime.identifier()))
        writer = try SQLWriter(
            path: place, limits: .standard, guardian: FileGuardian(path: place, locks: locks), health: health,
            metrics: metrics)
    }

    private static let tables = """
        CREATE TABLE reservations (digest BLOB PRIMARY KEY, content BLOB) STRICT;
        CREATE TABLE consents (id BLOB PRIMARY KEY, content BLOB) STRICT;
        CREATE TABLE events (id BLOB PRIMARY KEY, content BLOB) STRICT;
        """

    /// The writer marks its batches. `EXTERNAL`, for no time is spent on making the gateway's sealed bytes smaller either.
    private static let postgresTables = """
        DROP TABLE IF EXISTS reservations, consents, events, batch_marks;
        CREATE TABLE reservations (digest bytea PRIMARY KEY, content bytea);
        CREATE TABLE consents (id bytea PRIMARY KEY, content bytea);
        CREATE TABLE events (id bytea PRIMARY KEY, content bytea);
        CREATE TABLE batch_marks (instance bytea, writer bigint, number bigint, is_written bigint,
            PRIMARY KEY (instance, writer, number));
        ALTER TABLE reservations ALTER COLUMN content SET STORAGE EXTERNAL;
        ALTER TABLE consents ALTER COLUMN content SET STORAGE EXTERNAL;
        ALTER TABLE events ALTER COLUMN content SET STORAGE EXTERNAL;
        """
}
