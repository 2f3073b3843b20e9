// SPDX-License-Identifier: Apache-2.0
internal import CPostgres
internal import Glibc
internal import NativeSystem

/// Opens a connection and waits until it stands. The blocking way: only there libpq goes on to the next host where one
/// has not answered in time (postgresql.org/docs/15/libpq-connect.html, `connect_timeout`).
func openHandle(_ settings: PostgresSettings) throws(PostgresError) -> OpaquePointer {
    let secrets = try secrets(of: settings)
    guard let handle = unsafe connect(settings.parameters) else { throw PostgresError(.resources, detail: "no memory") }
    do throws(PostgresError) {
        guard unsafe PQstatus(handle) == CONNECTION_OK else { throw unsafe openingError(handle, secrets) }
        guard unsafe PQsetnonblocking(handle, 1) == 0 else { throw PostgresError(.lost) }
        return unsafe handle
    } catch {
        unsafe PQfinish(handle)
        throw error
    }
}

private func connect(_ parameters: [(keyword: String, value: String)]) -> OpaquePointer? {
    var keywords: [UnsafePointer<CChar>?] = unsafe []
    var values: [UnsafePointer<CChar>?] = unsafe []
    for (keyword, value) in parameters {
        unsafe keywords.append(UnsafePointer(strdup(keyword)))
        unsafe values.append(UnsafePointer(strdup(value)))
    }
    defer { unsafe (keywords + values).forEach { unsafe forget($0) } }
    return unsafe PQconnectdbParams(keywords + [nil], values + [nil], 1)
}

/// Frees a copy that may hold a password, after overwriting it.
private func forget(_ copy: UnsafePointer<CChar>?) {
    guard let copy = unsafe UnsafeMutablePointer(mutating: copy) else { return }
    unsafe explicit_bzero(copy, strlen(copy))
    unsafe free(copy)
}

/// Waits for one of the events or the deadline.
/// - Returns: false at the deadline.
func waitForSocket(_ socket: Int32, _ events: Int16, until deadline: MonotonicInstant) -> Bool {
    while true {
        let left = MonotonicInstant.now().duration(to: deadline)
        let milliseconds = left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000
        var entry = pollfd(fd: socket, events: events, revents: 0)
        let count = unsafe poll(&entry, 1, Int32(clamping: max(0, milliseconds)))
        if count > 0 || (count < 0 && errno != EINTR) { return true }
        if left <= .zero { return false }
    }
}

/// Why no connection was made. libpq keeps no SQLSTATE of it, so that its sentence has to be looked at: it is the
/// server's where it says `FATAL:`, in the server's language, and names no row.
private func openingError(_ handle: OpaquePointer, _ secrets: [String]) -> PostgresError {
    let sentence = unsafe String(cString: PQerrorMessage(handle))
    var detail = sentence.split(whereSeparator: \.isNewline).joined(separator: "; ")
    for secret in secrets { detail = detail.without(secret) }
    return PostgresError(kind(ofOpening: sentence), detail: String(detail.prefix(400)))
}

private func kind(ofOpening sentence: String) -> PostgresError.Kind {
    func says(_ words: String...) -> Bool { words.contains { sentence.contains(word: $0) } }
    if says("too many clients", "too many connections", "remaining connection slots") { return .tooManyConnections }
    if says("the database system is", "server is shutting down") { return .shuttingDown }
    let isRefusal = says(
        "authentication failed", "no password supplied", "pg_hba.conf", "does not exist", "is not permitted to log in",
        "permission denied", "no such user", "no such database")
    return isRefusal ? .notAdmitted : .unreachable
}

extension String {
    /// Plain search by bytes; the standard library has none without Foundation.
    fileprivate func contains(word: String) -> Bool {
        firstPlace(of: Array(word.utf8), in: Array(utf8), from: 0) != nil
    }

    /// With `***` for each place where the secret stands.
    fileprivate func without(_ secret: String) -> String {
        let (all, wanted) = (Array(utf8), Array(secret.utf8))
        guard !wanted.isEmpty else { return self }
        var kept: [UInt8] = []
        var start = 0
        while let place = firstPlace(of: wanted, in: all, from: start) {
            kept += all[start..<place] + Array("***".utf8)
            start = place + wanted.count
        }
        return String(decoding: kept + all[start...], as: UTF8.self)
    }
}

private func firstPlace(of wanted: [UInt8], in all: [UInt8], from start: Int) -> Int? {
    guard !wanted.isEmpty, all.count - start >= wanted.count else { return nil }
    return (start...(all.count - wanted.count)).first { all[$0..<($0 + wanted.count)].elementsEqual(wanted) }
}

/// The passwords that the settings have, to be kept out of messages.
/// - Throws: `.settings` where the URL cannot be read; libpq's own message would quote it.
private func secrets(of settings: PostgresSettings) throws(PostgresError) -> [String] {
    let known = settings.password.map { [$0] } ?? []
    return known + (try parsed(settings.url).compactMap { $0.keyword.hasSuffix("password") ? $0.value : nil })
}

/// The parts of a URL as libpq reads them.
/// - Throws: `.settings` without a word of the URL.
func parsed(_ url: String) throws(PostgresError) -> [(keyword: String, value: String)] {
    guard url.hasPrefix("postgres://") || url.hasPrefix("postgresql://") else {
        throw PostgresError(.settings, detail: "the URL does not begin with postgres://")
    }
    var message: UnsafeMutablePointer<CChar>?
    let options = unsafe PQconninfoParse(url, &message)
    unsafe PQfreemem(message)
    guard let options = unsafe options else {
        throw PostgresError(.settings, detail: "the URL is not one that libpq reads")
    }
    defer { unsafe PQconninfoFree(options) }
    var parts: [(keyword: String, value: String)] = []
    var next = unsafe options
    while let keyword = unsafe next.pointee.keyword {
        if let value = unsafe next.pointee.val {
            unsafe parts.append((String(cString: keyword), String(cString: value)))
        }
        unsafe next += 1
    }
    return parts
}

/// A URL of a database, fit to be shown: without a password.
package struct PostgresAddress: Sendable, Equatable, CustomStringConvertible {
    package let host, port, database, user, sslMode: String
    /// The URL holds one, where it ends up in process lists and logs.
    package let hasPassword: Bool

    /// Whether somebody between here and the server could pretend to be it: the way is a network's, and who the server is
    /// is not looked at. A name of this machine and a socket's folder are no network.
    package var trustsTheNetwork: Bool {
        let isRemote = host.split(separator: ",").contains { host in
            !host.hasPrefix("/") && !["localhost", "127.0.0.1", "::1"].contains(host)
        }
        return isRemote && sslMode != "verify-full"
    }

    /// - Throws: `.settings`.
    package init(url: String) throws(PostgresError) {
        let parts = try parsed(url)
        func part(_ keyword: String) -> String { parts.last { $0.keyword == keyword }?.value ?? "" }
        (host, port, database, user) = (part("host"), part("port"), part("dbname"), part("user"))
        sslMode = part("sslmode")
        hasPassword = !part("password").isEmpty
    }

    package var description: String {
        "postgres://\(user.isEmpty ? "" : "\(user)@")\(host)\(port.isEmpty ? "" : ":\(port)")/\(database)"
    }
}
