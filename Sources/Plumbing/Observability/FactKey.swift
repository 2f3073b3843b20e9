// SPDX-License-Identifier: Apache-2.0

/// What a log line can tell. Tokens, codes, secrets, subjects and attributes have no key, and get none.
package enum FactKey: String, Sendable, CaseIterable {
    // Whose work it is
    case requestID = "request_id", traceID = "trace_id", caller, instance
    // What it is about
    case consentID = "consent_id", provider, environment, attempt, generation
    // The request, or the call to a provider
    case call, route, method, status, code, peer
    // What came of it
    case outcome, reason, durationMilliseconds = "duration_ms"
    case providerStatus = "provider_status", providerError = "provider_error"
    case providerErrorDescription = "provider_error_description"
    case providerCorrelationID = "provider_correlation_id", oddities
    case problem, retryAfterSeconds = "retry_after"
    // The house
    case setting, path, address, port, version, schema, component, signal, count, level, keyID = "key_id"
    // A checkpoint of the evidence
    case checkpoint, atMilliseconds = "at_ms", consents, events, previous, root, signature
}
