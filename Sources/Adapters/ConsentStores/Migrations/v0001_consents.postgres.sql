-- SPDX-License-Identifier: Apache-2.0
-- The same tables as v0001_consents.sql, for PostgreSQL; there the columns are explained.
-- Everything that is counted or said yes or no to is bigint, so that a parameter is of one type on both stores. Texts
-- are compared byte by byte, as SQLite does, and cheaper than by a language's rules.
-- Events have no foreign key: the same transaction holds the consent's row, which each event's check would lock again.

CREATE TABLE consents (
    id bytea NOT NULL PRIMARY KEY CHECK (octet_length(id) = 16),
    provider text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,    -- '' without a preset, so that the unique index works
    subject_index bytea NOT NULL,
    provider_subject_index bytea,
    is_sharing_watched bigint NOT NULL DEFAULT 0 CHECK (is_sharing_watched IN (0, 1)),
    status text COLLATE "C" NOT NULL CHECK (
        status = 'active' OR status = 'failing' OR status = 'reauthorization_required'
        OR status = 'superseded' OR status = 'expired' OR status = 'revoked'),
    status_reason text COLLATE "C" CHECK (
        status_reason IS NULL OR status_reason = 'provider_rejected' OR status_reason = 'ambiguous_rotation'
        OR status_reason = 'client_changed' OR status_reason = 'no_refresh_token'
        OR status_reason = 'id_token_invalid' OR status_reason = 'restored_backup'
        OR status_reason = 'withdrawn_at_provider' OR status_reason = 'user' OR status_reason = 'operator'
        OR status_reason = 'retention'),
    superseded_by bytea,
    client_id text COLLATE "C" NOT NULL,      -- who the grant was issued to
    token_endpoint text COLLATE "C" NOT NULL,
    requested_scopes text COLLATE "C" NOT NULL,
    granted_scopes text COLLATE "C" NOT NULL,
    profile_status text COLLATE "C" NOT NULL CHECK (
        profile_status = 'current' OR profile_status = 'pending' OR profile_status = 'unavailable'),
    profile_fetched_at bigint,
    generation bigint NOT NULL CHECK (generation > 0),
    issued_at bigint NOT NULL,
    access_token_expires_at bigint NOT NULL,
    refresh_token_expires_at bigint,
    due_at bigint,                            -- refresh, backoff or, while claimed, the lease's end
    due_before_claim bigint,                  -- what due_at was before the claim
    is_refreshable bigint NOT NULL CHECK (is_refreshable IN (0, 1)),
    last_refreshed_at bigint,
    refresh_failures bigint NOT NULL DEFAULT 0,
    last_outcome text COLLATE "C",            -- class of the last refresh's outcome
    attempt_id bytea,
    attempt_phase text COLLATE "C" CHECK (attempt_phase IN ('sent', 'unknown')),
    attempt_owner bytea,
    attempt_sent_at bigint,
    lease_until bigint,                       -- milliseconds of the server's clock
    lease_boot text COLLATE "C",              -- always the same word
    unknown_attempt_id bytea,                 -- an attempt of unknown outcome that stood here before this claim
    unknown_owner bytea,
    unknown_sent_at bigint,
    saved_attempt bytea,                      -- the last attempt that wrote tokens
    settled_attempt bytea,                    -- the last attempt that wrote a failure
    app_platform text COLLATE "C",
    app_product_name text COLLATE "C",
    app_sdk_version text COLLATE "C",
    notice text COLLATE "C",
    notice_is_assumed bigint,
    event_count bigint NOT NULL DEFAULT 0,
    chain_head bytea NOT NULL DEFAULT '',     -- mac of the last event
    head_period bigint NOT NULL DEFAULT 0,    -- of the last event
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    erased_at bigint,
    evidence_removed_at bigint,               -- since when the chain has nothing but where it ended
    key_sealed bytea,
    subject_sealed bytea,
    provider_subject_sealed bytea,
    tokens_sealed bytea,
    spare_tokens_sealed bytea,                -- the loser of a race, tried once if the winner's is refused
    spare_generation bigint,
    has_rotated bigint NOT NULL DEFAULT 0 CHECK (has_rotated IN (0, 1)), -- another refresh token came once
    profile_sealed bytea,
    profile_due_at bigint NOT NULL DEFAULT 0, -- when a pending profile is asked for again
    profile_tries bigint NOT NULL DEFAULT 0
);

-- One live record of the four (NULL differs from NULL), and a subject's records: those that have ended differ by id.
CREATE UNIQUE INDEX consents_by_subject ON consents (subject_index, provider_subject_index, provider, environment,
    (CASE WHEN status = 'active' OR status = 'failing' OR status = 'reauthorization_required' THEN ''::bytea
        ELSE id END));
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
    consent_id bytea NOT NULL,
    seq bigint NOT NULL CHECK (seq > 0),
    type text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    canonical text COLLATE "C" NOT NULL,      -- the event as its mac was made over it, byte for byte
    mac bytea NOT NULL CHECK (octet_length(mac) = 32),
    period bigint NOT NULL,                   -- number of the last checkpoint begun before it, 0 before the first
    personal_sealed bytea,                    -- salts and values behind the digests; dropped at erasure
    PRIMARY KEY (consent_id, seq)
);

-- Reading is told once a caller and day: the other types are never looked for.
CREATE INDEX events_of_reading ON events (consent_id, type, at)
    WHERE type IN ('consent.profile_read', 'consent.token_read');

-- Begun as a number and a time; the rest comes with the signature, over the events of lower periods. Never deleted.
CREATE TABLE checkpoints (
    number bigint NOT NULL PRIMARY KEY CHECK (number > 0),
    at bigint NOT NULL,
    consent_count bigint,
    event_count bigint,
    root bytea,
    previous text COLLATE "C",                -- name of the one before, '' for the first
    key_id text COLLATE "C",
    signature bytea
);

CREATE TABLE code_reservations (
    digest bytea NOT NULL PRIMARY KEY CHECK (octet_length(digest) = 32),
    provider text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    subject_index bytea NOT NULL,
    state text COLLATE "C" NOT NULL,
    attempt bytea NOT NULL,
    owner bytea NOT NULL,
    lease_until bigint NOT NULL,              -- milliseconds of the server's clock
    lease_boot text COLLATE "C" NOT NULL,
    lease_length bigint NOT NULL,             -- milliseconds
    grant_sealed bytea,
    verdict text COLLATE "C" CHECK (
        verdict IS NULL OR verdict = 'code_rejected' OR verdict = 'id_token_invalid' OR verdict = 'shared_subject'
        OR verdict = 'provider_bad_response' OR verdict = 'exchange_unknown'),
    statement_sealed bytea,
    consent_id bytea,
    unsettled_since bigint,                   -- since when it is 'sent' or 'kept'
    updated_at bigint NOT NULL,
    expires_at bigint,
    CHECK (CASE state
        WHEN 'sent' THEN unsettled_since IS NOT NULL AND consent_id IS NULL AND verdict IS NULL
        WHEN 'kept' THEN unsettled_since IS NOT NULL AND consent_id IS NULL AND verdict IS NULL
            AND grant_sealed IS NOT NULL
        WHEN 'consent' THEN unsettled_since IS NULL AND consent_id IS NOT NULL AND verdict IS NULL
        WHEN 'ended' THEN unsettled_since IS NULL AND consent_id IS NULL AND verdict IS NOT NULL
        WHEN 'unspent' THEN unsettled_since IS NULL AND consent_id IS NULL AND verdict IS NULL
        ELSE FALSE END)
);

CREATE INDEX code_reservations_unsettled ON code_reservations (unsettled_since) WHERE unsettled_since IS NOT NULL;
CREATE INDEX code_reservations_expiring ON code_reservations (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX code_reservations_ended ON code_reservations (updated_at)
    WHERE (state = 'unspent' OR state = 'ended') AND expires_at IS NULL;

-- Tokens that came with an identity that was refused, until they are destroyed.
CREATE INDEX code_reservations_quarantined ON code_reservations (updated_at)
    WHERE verdict = 'id_token_invalid' OR verdict = 'shared_subject';

-- Who presented a code for another subject before it had become a consent, whose trail they enter with it.
CREATE TABLE code_claims (
    digest bytea NOT NULL CHECK (octet_length(digest) = 32),
    subject_index bytea NOT NULL,
    caller text COLLATE "C" NOT NULL,
    request_id text COLLATE "C",
    at bigint NOT NULL,
    PRIMARY KEY (digest, subject_index, caller)
);

CREATE TABLE authorizations (
    id bytea NOT NULL PRIMARY KEY CHECK (octet_length(id) = 16),
    provider text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    begun_by text COLLATE "C" NOT NULL,
    subject_index bytea,
    status text COLLATE "C" NOT NULL CHECK (status IN
        ('pending', 'unconfirmed', 'completed', 'cancelled', 'failed', 'expired')),
    state_digest bytea NOT NULL UNIQUE,
    confirmation_digest bytea,
    tries bigint NOT NULL DEFAULT 0,
    request_sealed bytea NOT NULL,            -- return URL, verifier, nonce, subject, scopes, notice
    grant_sealed bytea,
    consent_id bytea,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    expires_at bigint NOT NULL
);

CREATE INDEX authorizations_open ON authorizations (expires_at) WHERE status IN ('pending', 'unconfirmed');

CREATE TABLE revocation_outbox (
    id bytea NOT NULL PRIMARY KEY CHECK (octet_length(id) = 16),
    provider text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    consent_id bytea,
    client_id text COLLATE "C" NOT NULL,
    provider_subject_index bytea,             -- whose token it is, where that is known
    reason text COLLATE "C" NOT NULL CHECK (reason IN ('withdrawal', 'erasure', 'unconfirmed')),
    token_kind text COLLATE "C" NOT NULL CHECK (token_kind IN ('refresh_token', 'access_token')),
    state text COLLATE "C" NOT NULL CHECK (state IN ('pending', 'held', 'done', 'dead')),
    outcome text COLLATE "C",                 -- what the provider made of it, one word
    token_sealed bytea,
    tries bigint NOT NULL DEFAULT 0,          -- how often it was handed out
    due_at bigint,
    owner bytea,                              -- who has it, until the lease is over
    lease_until bigint,                       -- milliseconds of the server's clock
    lease_boot text COLLATE "C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
);

CREATE INDEX revocation_outbox_by_due ON revocation_outbox (due_at, id) WHERE state = 'pending';
CREATE INDEX revocation_outbox_by_consent ON revocation_outbox (consent_id, id) WHERE state IN ('pending', 'held');
CREATE INDEX revocation_outbox_held ON revocation_outbox (provider_subject_index)
    WHERE outcome = 'held' AND state = 'pending' AND provider_subject_index IS NOT NULL;
CREATE INDEX revocation_outbox_over ON revocation_outbox (updated_at) WHERE state = 'done' OR state = 'dead';

CREATE TABLE webhook_outbox (
    id bytea NOT NULL PRIMARY KEY CHECK (octet_length(id) = 16),
    endpoint text COLLATE "C" NOT NULL,
    consent_id bytea NOT NULL,
    seq bigint NOT NULL,                      -- of the event; deliveries for one consent go in this order
    type text COLLATE "C" NOT NULL,
    body_sealed bytea,
    state text COLLATE "C" NOT NULL CHECK (state IN ('pending', 'delivered', 'dead')),
    tries bigint NOT NULL DEFAULT 0,
    due_at bigint,
    owner bytea,
    lease_until bigint,
    lease_boot text COLLATE "C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
);

CREATE INDEX webhook_outbox_by_due ON webhook_outbox (due_at) WHERE state = 'pending';
CREATE UNIQUE INDEX webhook_outbox_by_consent ON webhook_outbox (consent_id, endpoint, seq);

CREATE TABLE api_keys (
    name text COLLATE "C" NOT NULL PRIMARY KEY,
    digest bytea NOT NULL UNIQUE CHECK (octet_length(digest) = 32),
    scopes text COLLATE "C" NOT NULL,         -- blank-separated
    created_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint,
    last_used_at bigint                       -- to within some minutes
);

-- What calls have shown of a provider; one that shows nothing has no row, or one whose columns are as they begin.
CREATE TABLE provider_states (
    provider text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    gate_since bigint,
    gate_until bigint,                        -- nobody asks before
    throttles bigint NOT NULL DEFAULT 0,      -- throttled calls in a row, one a gate
    breaker_since bigint,
    breaker_reason text COLLATE "C" CHECK (breaker_reason IN ('unreachable', 'unknown')),
    failed_trials bigint NOT NULL DEFAULT 0,  -- since the breaker is open
    consecutive_failures bigint NOT NULL DEFAULT 0,
    paused_since bigint,
    paused_by_name bigint NOT NULL DEFAULT 0,
    accusers text COLLATE "C" NOT NULL DEFAULT '', -- whose codes were refused for our credentials, blank-separated
    brake_since bigint,                       -- the death brake holds verdicts since
    brake_window text COLLATE "C" NOT NULL DEFAULT '', -- the last distinct grants and how they came out
    trial_attempt bytea,                      -- the one call that is to show whether it is better
    trial_until bigint,
    trial_owner bytea,
    next_trial_at bigint,
    recovery_since bigint,                    -- failing grants are to be spread over the time from then
    first_secret_digest bytea,                -- the client secret that worked last, tried first
    updated_at bigint NOT NULL,
    PRIMARY KEY (provider, environment)
);

CREATE TABLE held_verdicts (
    consent_id bytea NOT NULL PRIMARY KEY,
    provider text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    generation bigint NOT NULL,
    reason text COLLATE "C" NOT NULL,
    at bigint NOT NULL
);

CREATE INDEX held_verdicts_by_provider ON held_verdicts (provider, environment);

CREATE TABLE store_identity (
    "only" bigint NOT NULL PRIMARY KEY CHECK ("only" = 1),
    incarnation bytea,                        -- which life of this store; a restored backup starts another
    epoch bigint NOT NULL DEFAULT 0,
    epoch_at bigint,
    refresh_stop text COLLATE "C" CHECK (refresh_stop IN ('behind_state_folder', 'went_back')), -- no claim holds
    refresh_stopped_at bigint,
    accepted_at bigint,                       -- when an operator began this incarnation
    tries bigint NOT NULL DEFAULT 0           -- writes that were only to show whether writes get through
);

INSERT INTO store_identity ("only") VALUES (1);

-- How far each process has taken the epoch itself. Where the store went back, a process finds its own last step missing,
-- though another may have stepped on since and made the count look whole.
CREATE TABLE epoch_steps (
    instance bytea NOT NULL PRIMARY KEY CHECK (octet_length(instance) = 16),
    epoch bigint NOT NULL
);

-- A file's consents that are moved into these tables; until that is over nothing else opens them.
CREATE TABLE store_move (
    "only" bigint NOT NULL PRIMARY KEY CHECK ("only" = 1),
    source bytea NOT NULL,                    -- the file's incarnation, '' where it had none
    begun_at bigint NOT NULL,
    finished_at bigint
);

-- Sealed bytes do not get smaller: no time is spent on trying, nor on unpacking.
ALTER TABLE consents ALTER COLUMN tokens_sealed SET STORAGE EXTERNAL, ALTER COLUMN profile_sealed SET STORAGE EXTERNAL,
    ALTER COLUMN spare_tokens_sealed SET STORAGE EXTERNAL;
ALTER TABLE code_reservations ALTER COLUMN grant_sealed SET STORAGE EXTERNAL;
ALTER TABLE events ALTER COLUMN personal_sealed SET STORAGE EXTERNAL;

-- Who lives: a lock of a session of its own, and when it was seen last; milliseconds of the server's clock.
CREATE TABLE instances (
    id bytea NOT NULL PRIMARY KEY CHECK (octet_length(id) = 16),
    lock_number bigint NOT NULL,              -- second key of its advisory lock, 32 bits with their sign
    seen_at bigint NOT NULL,
    left_at bigint                            -- left in good order
);

-- Which transactions of an instance's writing threads were committed: of the last few, for whoever had no answer.
CREATE TABLE batch_marks (
    instance bytea NOT NULL CHECK (octet_length(instance) = 16),
    writer bigint NOT NULL,
    number bigint NOT NULL,
    is_written bigint NOT NULL CHECK (is_written IN (0, 1)),    -- 0: given up, so that it never can be
    PRIMARY KEY (instance, writer, number)
);
