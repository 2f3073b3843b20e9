-- SPDX-License-Identifier: Apache-2.0
-- Times are milliseconds since 1970 unless a comment says otherwise; identifiers are the 16 bytes of a UUIDv7;
-- `sealed` columns are the vault's envelopes; an `_index` or `digest` is a keyed digest of 32 bytes.
-- A CHECK of three words or more spells them out with OR: for IN, SQLite fills a temporary table at each write.
-- One of a column that is mostly NULL asks for that first, and one of a state tries what comes most often first.
-- Tables of small rows have no rowid. Consents, reservations and events have one: in a tree by its key, a row of more
-- than a quarter of a page spills into a page of its own, as a new consent's event did, and each state of a reservation
-- rewrites a page somewhere else.
-- Events have no foreign key: the same transaction has read or written the consent's row.
-- An index by a digest dirties a page of its own for each new row, somewhere in the file: consents have one, as have
-- reservations. With three more the SQLite work of an exchange cost 1.4 times as much.

CREATE TABLE consents (
    id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    provider TEXT NOT NULL,
    environment TEXT NOT NULL,                -- '' without a preset, so that the unique index works
    subject_index BLOB NOT NULL,
    provider_subject_index BLOB,
    is_sharing_watched INTEGER NOT NULL DEFAULT 0 CHECK (is_sharing_watched IN (0, 1)),
    status TEXT NOT NULL CHECK (
        status = 'active' OR status = 'failing' OR status = 'reauthorization_required'
        OR status = 'superseded' OR status = 'expired' OR status = 'revoked'),
    status_reason TEXT CHECK (
        status_reason IS NULL OR status_reason = 'provider_rejected' OR status_reason = 'ambiguous_rotation'
        OR status_reason = 'client_changed' OR status_reason = 'no_refresh_token'
        OR status_reason = 'id_token_invalid' OR status_reason = 'restored_backup'
        OR status_reason = 'withdrawn_at_provider' OR status_reason = 'user' OR status_reason = 'operator'
        OR status_reason = 'retention'),
    superseded_by BLOB,
    client_id TEXT NOT NULL,                  -- who the grant was issued to
    token_endpoint TEXT NOT NULL,
    requested_scopes TEXT NOT NULL,
    granted_scopes TEXT NOT NULL,
    profile_status TEXT NOT NULL CHECK (
        profile_status = 'current' OR profile_status = 'pending' OR profile_status = 'unavailable'),
    profile_fetched_at INTEGER,
    generation INTEGER NOT NULL CHECK (generation > 0),
    issued_at INTEGER NOT NULL,
    access_token_expires_at INTEGER NOT NULL,
    refresh_token_expires_at INTEGER,
    due_at INTEGER,                           -- refresh, backoff or, while claimed, the lease's end
    due_before_claim INTEGER,                 -- what due_at was before the claim
    is_refreshable INTEGER NOT NULL CHECK (is_refreshable IN (0, 1)),
    last_refreshed_at INTEGER,
    refresh_failures INTEGER NOT NULL DEFAULT 0,
    last_outcome TEXT,                        -- class of the last refresh's outcome
    attempt_id BLOB,
    attempt_phase TEXT CHECK (attempt_phase IN ('sent', 'unknown')),
    attempt_owner BLOB,
    attempt_sent_at INTEGER,
    lease_until INTEGER,                      -- milliseconds of CLOCK_BOOTTIME
    lease_boot TEXT,                          -- the boot that lease_until counts from
    unknown_attempt_id BLOB,                  -- an attempt of unknown outcome that stood here before this claim
    unknown_owner BLOB,
    unknown_sent_at INTEGER,
    saved_attempt BLOB,                       -- the last attempt that wrote tokens
    settled_attempt BLOB,                     -- the last attempt that wrote a failure
    app_platform TEXT,
    app_product_name TEXT,
    app_sdk_version TEXT,
    notice TEXT,
    notice_is_assumed INTEGER,
    event_count INTEGER NOT NULL DEFAULT 0,
    chain_head BLOB NOT NULL DEFAULT x'',     -- mac of the last event
    head_period INTEGER NOT NULL DEFAULT 0,   -- of the last event
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    erased_at INTEGER,
    evidence_removed_at INTEGER,              -- since when the chain has nothing but where it ended
    key_sealed BLOB,
    subject_sealed BLOB,
    provider_subject_sealed BLOB,
    tokens_sealed BLOB,
    spare_tokens_sealed BLOB,                 -- the loser of a race, tried once if the winner's is refused
    spare_generation INTEGER,
    has_rotated INTEGER NOT NULL DEFAULT 0 CHECK (has_rotated IN (0, 1)),  -- another refresh token came once
    profile_sealed BLOB,
    profile_due_at INTEGER NOT NULL DEFAULT 0, -- when a pending profile is asked for again
    profile_tries INTEGER NOT NULL DEFAULT 0
) STRICT;

-- One live record of the four (NULL differs from NULL), and a subject's records: those that have ended differ by id.
CREATE UNIQUE INDEX consents_by_subject ON consents (subject_index, provider_subject_index, provider, environment,
    (CASE WHEN status = 'active' OR status = 'failing' OR status = 'reauthorization_required' THEN 0 ELSE id END));
-- Who else has a provider subject; of providers only where that is looked for.
CREATE INDEX consents_by_person ON consents (provider_subject_index)
    WHERE is_sharing_watched = 1 AND provider_subject_index IS NOT NULL;
CREATE INDEX consents_by_due ON consents (provider, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX consents_by_provider ON consents (provider, status, id);
CREATE INDEX consents_sent ON consents (attempt_sent_at) WHERE attempt_phase = 'sent';
-- Providers that tell when a refresh token ends: of what is due, what ends first goes first.
CREATE INDEX consents_by_token_end ON consents (provider, refresh_token_expires_at)
    WHERE due_at IS NOT NULL AND refresh_token_expires_at IS NOT NULL;
CREATE INDEX consents_unknown ON consents (provider) WHERE attempt_phase = 'unknown';
CREATE INDEX consents_pending_profile ON consents (provider, profile_due_at)
    WHERE profile_status = 'pending' AND (status = 'active' OR status = 'failing');

-- What retention lets go, by how long ago it ended.
CREATE INDEX consents_ended ON consents (status, updated_at)
    WHERE erased_at IS NULL AND status <> 'active' AND status <> 'failing';
CREATE INDEX consents_erased ON consents (updated_at) WHERE erased_at IS NOT NULL AND evidence_removed_at IS NULL;

CREATE TABLE events (
    consent_id BLOB NOT NULL,
    seq INTEGER NOT NULL CHECK (seq > 0),
    type TEXT NOT NULL,
    at INTEGER NOT NULL,
    canonical TEXT NOT NULL,                  -- the event as its mac was made over it, byte for byte
    mac BLOB NOT NULL CHECK (length(mac) = 32),
    period INTEGER NOT NULL,                  -- number of the last checkpoint begun before it, 0 before the first
    personal_sealed BLOB,                     -- salts and values behind the digests; dropped at erasure
    PRIMARY KEY (consent_id, seq)
) STRICT;

-- Reading is told once a caller and day: the other types are never looked for.
CREATE INDEX events_of_reading ON events (consent_id, type, at)
    WHERE type IN ('consent.profile_read', 'consent.token_read');

-- Begun as a number and a time; the rest comes with the signature, over the events of lower periods. Never deleted.
CREATE TABLE checkpoints (
    number INTEGER NOT NULL PRIMARY KEY CHECK (number > 0),
    at INTEGER NOT NULL,
    consent_count INTEGER,
    event_count INTEGER,
    root BLOB,
    previous TEXT,                            -- name of the one before, '' for the first
    key_id TEXT,
    signature BLOB
) STRICT;

CREATE TABLE code_reservations (
    digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
    provider TEXT NOT NULL,
    environment TEXT NOT NULL,
    subject_index BLOB NOT NULL,
    state TEXT NOT NULL,
    attempt BLOB NOT NULL,
    owner BLOB NOT NULL,
    lease_until INTEGER NOT NULL,             -- milliseconds of CLOCK_BOOTTIME
    lease_boot TEXT NOT NULL,
    lease_length INTEGER NOT NULL,            -- milliseconds
    grant_sealed BLOB,
    verdict TEXT CHECK (
        verdict IS NULL OR verdict = 'code_rejected' OR verdict = 'id_token_invalid' OR verdict = 'shared_subject'
        OR verdict = 'provider_bad_response' OR verdict = 'exchange_unknown'),
    statement_sealed BLOB,
    consent_id BLOB,
    unsettled_since INTEGER,                  -- since when it is 'sent' or 'kept'
    updated_at INTEGER NOT NULL,
    expires_at INTEGER,
    CHECK (CASE state
        WHEN 'sent' THEN unsettled_since IS NOT NULL AND consent_id IS NULL AND verdict IS NULL
        WHEN 'kept' THEN unsettled_since IS NOT NULL AND consent_id IS NULL AND verdict IS NULL
            AND grant_sealed IS NOT NULL
        WHEN 'consent' THEN unsettled_since IS NULL AND consent_id IS NOT NULL AND verdict IS NULL
        WHEN 'ended' THEN unsettled_since IS NULL AND consent_id IS NULL AND verdict IS NOT NULL
        WHEN 'unspent' THEN unsettled_since IS NULL AND consent_id IS NULL AND verdict IS NULL
        ELSE FALSE END)
) STRICT;

CREATE INDEX code_reservations_unsettled ON code_reservations (unsettled_since) WHERE unsettled_since IS NOT NULL;
CREATE INDEX code_reservations_expiring ON code_reservations (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX code_reservations_ended ON code_reservations (updated_at)
    WHERE (state = 'unspent' OR state = 'ended') AND expires_at IS NULL;

-- Tokens that came with an identity that was refused, until they are destroyed.
CREATE INDEX code_reservations_quarantined ON code_reservations (updated_at)
    WHERE verdict = 'id_token_invalid' OR verdict = 'shared_subject';

-- Who presented a code for another subject before it had become a consent, whose trail they enter with it.
CREATE TABLE code_claims (
    digest BLOB NOT NULL CHECK (length(digest) = 32),
    subject_index BLOB NOT NULL,
    caller TEXT NOT NULL,
    request_id TEXT,
    at INTEGER NOT NULL,
    PRIMARY KEY (digest, subject_index, caller)
) STRICT, WITHOUT ROWID;

CREATE TABLE authorizations (
    id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    provider TEXT NOT NULL,
    environment TEXT NOT NULL,
    begun_by TEXT NOT NULL,
    subject_index BLOB,
    status TEXT NOT NULL CHECK (status IN
        ('pending', 'unconfirmed', 'completed', 'cancelled', 'failed', 'expired')),
    state_digest BLOB NOT NULL UNIQUE,
    confirmation_digest BLOB,
    tries INTEGER NOT NULL DEFAULT 0,
    request_sealed BLOB NOT NULL,             -- return URL, verifier, nonce, subject, scopes, notice
    grant_sealed BLOB,
    consent_id BLOB,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX authorizations_open ON authorizations (expires_at) WHERE status IN ('pending', 'unconfirmed');

CREATE TABLE revocation_outbox (
    id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    provider TEXT NOT NULL,
    environment TEXT NOT NULL,
    consent_id BLOB,
    client_id TEXT NOT NULL,
    provider_subject_index BLOB,              -- whose token it is, where that is known
    reason TEXT NOT NULL CHECK (reason IN ('withdrawal', 'erasure', 'unconfirmed')),
    token_kind TEXT NOT NULL CHECK (token_kind IN ('refresh_token', 'access_token')),
    state TEXT NOT NULL CHECK (state IN ('pending', 'held', 'done', 'dead')),
    outcome TEXT,                             -- what the provider made of it, one word
    token_sealed BLOB,
    tries INTEGER NOT NULL DEFAULT 0,         -- how often it was handed out
    due_at INTEGER,
    owner BLOB,                               -- who has it, until the lease is over
    lease_until INTEGER,                      -- milliseconds of CLOCK_BOOTTIME
    lease_boot TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX revocation_outbox_by_due ON revocation_outbox (due_at, id) WHERE state = 'pending';
CREATE INDEX revocation_outbox_by_consent ON revocation_outbox (consent_id, id) WHERE state IN ('pending', 'held');
CREATE INDEX revocation_outbox_held ON revocation_outbox (provider_subject_index)
    WHERE outcome = 'held' AND state = 'pending' AND provider_subject_index IS NOT NULL;
CREATE INDEX revocation_outbox_over ON revocation_outbox (updated_at) WHERE state = 'done' OR state = 'dead';

CREATE TABLE webhook_outbox (
    id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    endpoint TEXT NOT NULL,
    consent_id BLOB NOT NULL,
    seq INTEGER NOT NULL,                     -- of the event; deliveries for one consent go in this order
    type TEXT NOT NULL,
    body_sealed BLOB,
    state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'dead')),
    tries INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER,
    owner BLOB,
    lease_until INTEGER,
    lease_boot TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX webhook_outbox_by_due ON webhook_outbox (due_at) WHERE state = 'pending';
CREATE UNIQUE INDEX webhook_outbox_by_consent ON webhook_outbox (consent_id, endpoint, seq);

CREATE TABLE api_keys (
    name TEXT NOT NULL PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
    scopes TEXT NOT NULL,                     -- blank-separated
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_at INTEGER                      -- to within some minutes
) STRICT, WITHOUT ROWID;

-- What calls have shown of a provider; one that shows nothing has no row, or one whose columns are as they begin.
CREATE TABLE provider_states (
    provider TEXT NOT NULL,
    environment TEXT NOT NULL,
    gate_since INTEGER,
    gate_until INTEGER,                       -- nobody asks before
    throttles INTEGER NOT NULL DEFAULT 0,     -- throttled calls in a row, one a gate
    breaker_since INTEGER,
    breaker_reason TEXT CHECK (breaker_reason IN ('unreachable', 'unknown')),
    failed_trials INTEGER NOT NULL DEFAULT 0, -- since the breaker is open
    consecutive_failures INTEGER NOT NULL DEFAULT 0,
    paused_since INTEGER,
    paused_by_name INTEGER NOT NULL DEFAULT 0,
    accusers TEXT NOT NULL DEFAULT '',        -- whose codes were refused for our credentials, blank-separated
    brake_since INTEGER,                      -- the death brake holds verdicts since
    brake_window TEXT NOT NULL DEFAULT '',    -- the last distinct grants and how they came out
    trial_attempt BLOB,                       -- the one call that is to show whether it is better
    trial_until INTEGER,
    trial_owner BLOB,
    next_trial_at INTEGER,
    recovery_since INTEGER,                   -- failing grants are to be spread over the time from then
    first_secret_digest BLOB,                 -- the client secret that worked last, tried first
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (provider, environment)
) STRICT, WITHOUT ROWID;

CREATE TABLE held_verdicts (
    consent_id BLOB NOT NULL PRIMARY KEY,
    provider TEXT NOT NULL,
    environment TEXT NOT NULL,
    generation INTEGER NOT NULL,
    reason TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX held_verdicts_by_provider ON held_verdicts (provider, environment);

CREATE TABLE store_identity (
    only INTEGER NOT NULL PRIMARY KEY CHECK (only = 1),
    incarnation BLOB,                         -- which life of this store; a restored backup starts another
    epoch INTEGER NOT NULL DEFAULT 0,
    epoch_at INTEGER,
    refresh_stop TEXT CHECK (refresh_stop IN ('behind_state_folder', 'went_back')),  -- no claim holds
    refresh_stopped_at INTEGER,
    accepted_at INTEGER,                      -- when an operator began this incarnation
    tries INTEGER NOT NULL DEFAULT 0          -- writes that were only to show whether writes get through
) STRICT;

INSERT INTO store_identity (only) VALUES (1);

-- How far each process has taken the epoch itself. Where the store went back, a process finds its own last step missing,
-- though another may have stepped on since and made the count look whole.
CREATE TABLE epoch_steps (
    instance BLOB NOT NULL PRIMARY KEY CHECK (length(instance) = 16),
    epoch INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
