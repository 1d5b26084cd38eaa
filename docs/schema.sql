-- The queue's tables on each database. Written by tools/schema, from the statements that create them.


-- SQLite

CREATE TABLE config (
    key TEXT PRIMARY KEY,                      -- see docs/settings.md
    value TEXT
);

CREATE TABLE mail_queue (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- never used again
    reference TEXT,                            -- what the mail is about; with mail_type queued once
    mail_type TEXT NOT NULL,                   -- "mail" where enqueue() is given no type
    status TEXT NOT NULL,                      -- pending, sending, failed, parked or held
    priority INTEGER NOT NULL DEFAULT 0,       -- -100 … 100; larger first
    attempts INTEGER NOT NULL DEFAULT 0,       -- that failed, and the one under way
    max_attempts INTEGER,                      -- NULL: as the backoff policy says
    uncertain INTEGER NOT NULL DEFAULT 0,      -- attempts whose outcome nobody knows
    paid INTEGER NOT NULL DEFAULT 0,           -- tokens of the hourly limit that this claim has taken
    next_attempt_at INTEGER NOT NULL,          -- UTC seconds since 1970, as all times
    expires_at INTEGER,                        -- deleted if it is not sent by then
    locked_until INTEGER,                      -- the end of the lease; NULL: not claimed
    locked_by TEXT,                            -- the claim token of the worker's run
    last_attempt_at INTEGER,
    last_error TEXT,                           -- why the last attempt failed
    parked_for TEXT,                           -- refused, exhausted, uncertain, hold, unreadable or suppressed; hours: waits for mailHours
    created_at INTEGER NOT NULL,
    message_id TEXT NOT NULL,                  -- the same for every attempt
    envelope_from TEXT,                        -- NULL: the message's own
    recipients TEXT,                           -- JSON: those still to be tried; NULL: composing says
    refused TEXT,                              -- JSON: address → reply, of those given up
    campaign_id INTEGER,                       -- the id in mail_campaign
    fields TEXT,                               -- JSON: delivery status notifications that are wanted
    subject TEXT,                              -- decoded, at most 255 characters; NULL: not known before it is sent
    resent_of INTEGER,                         -- the id of the mail that this one replaced
    uncertain_to TEXT,                         -- JSON: recipients still to be tried that may have it
    paid_to TEXT,                              -- the relay whose limits this claim counts for
    waits_for TEXT,                            -- the limit that put the mail back, or "pause"
    relay TEXT,                                -- a key of the map of relays; NULL: the sender decides
    scope TEXT,                                -- the list that it is mail to, as list:news
    cleared INTEGER,                           -- the newest suppression when its recipients were looked up; NULL: not looked up
    recipient_id INTEGER                       -- the id in mail_recipient
);

CREATE UNIQUE INDEX mail_queue_key
    ON mail_queue(reference, mail_type)
    WHERE reference IS NOT NULL;

CREATE INDEX mail_queue_due
    ON mail_queue(priority, next_attempt_at, id)
    WHERE status IN ('pending','failed');

CREATE INDEX mail_queue_lease
    ON mail_queue(locked_until)
    WHERE status = 'sending';

CREATE INDEX mail_queue_parked
    ON mail_queue(id)
    WHERE status = 'parked';

CREATE INDEX mail_queue_rest
    ON mail_queue(status, id)
    WHERE status IN ('failed','held');

CREATE INDEX mail_queue_expiry
    ON mail_queue(expires_at)
    WHERE expires_at IS NOT NULL;

CREATE TABLE mail_body (
    id INTEGER PRIMARY KEY,                    -- the job's
    content BLOB NOT NULL                      -- the message; a job without one is composed when it is sent
);

CREATE TABLE mail_spent (
    at INTEGER PRIMARY KEY,                    -- when
    n INTEGER NOT NULL                         -- recipients handed over then, for mailRateMode strict
);

CREATE TABLE mail_window (
    scope TEXT NOT NULL,                       -- a limit of mailLimits, and whose count it is
    at INTEGER NOT NULL,                       -- when this leaves the window
    n INTEGER NOT NULL,                        -- recipients or mails handed over
    PRIMARY KEY (scope, at)
) WITHOUT ROWID;

CREATE TABLE mail_count (
    hour INTEGER NOT NULL,                     -- when it began; after 90 days, when the day began
    mail_type TEXT NOT NULL,
    event TEXT NOT NULL,                       -- as in the log: claimed, sent, try_later, refused, parked, …
    part INTEGER NOT NULL,                     -- one of several on a server, which are to be added up; 0 in a file
    mails INTEGER NOT NULL,                    -- how many mails had it
    recipients INTEGER NOT NULL,               -- and to how many recipients
    PRIMARY KEY (hour, mail_type, event, part)
) WITHOUT ROWID;

CREATE TABLE mail_log (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,                       -- when
    job_id INTEGER NOT NULL,                   -- the id in mail_queue; most are gone there
    reference TEXT,
    mail_type TEXT NOT NULL,
    subject TEXT,
    relay TEXT,                                -- without a password
    event TEXT NOT NULL,                       -- as in the log, without claimed
    phase TEXT,                                -- where it was decided: compose, check, connect, mail, rcpt, data, dot, handover
    attempt INTEGER NOT NULL,                  -- 1 for the first
    recipients INTEGER NOT NULL,               -- how many it is about
    uncertain INTEGER NOT NULL,                -- earlier attempts whose outcome nobody knows
    reply TEXT,                                -- the relay's, or the error
    ms INTEGER,                                -- from MAIL to the reply, in milliseconds
    waited INTEGER                             -- seconds from when the attempt was due to its begin; NULL: no message went out
);

CREATE TABLE mail_suppression (
    hash INTEGER NOT NULL,                     -- of the address, with mailSuppressionKey
    scope TEXT NOT NULL,                       -- the list or campaign that it is about, as list:news; empty: all mail
    reason TEXT NOT NULL,                      -- unsubscribe, hard_bounce, complaint or manual
    seq INTEGER NOT NULL,                      -- counts up in the order of commits
    address TEXT,                              -- in lower case and A-labels; NULL: forgotten
    source TEXT,                               -- who or what says so
    created_at INTEGER NOT NULL,               -- when
    PRIMARY KEY (hash, scope, reason),
    UNIQUE (seq)
) WITHOUT ROWID;

CREATE TABLE mail_campaign (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- its message is in mail_body under the same id with a minus
    name TEXT NOT NULL,
    state TEXT NOT NULL,                       -- draft, running, paused, cancelled or finished
    mail_type TEXT NOT NULL,                   -- these columns, up to scope, are those of its jobs
    priority INTEGER NOT NULL,
    max_attempts INTEGER,
    message_id TEXT,                           -- that of its mails without the .id before the @; NULL: it has no message yet
    envelope_from TEXT,
    relay TEXT,
    scope TEXT NOT NULL,                       -- list:NAME, or without a list campaign:NAME
    list_url TEXT,                             -- the page to unsubscribe at
    start_at INTEGER NOT NULL DEFAULT 0,       -- not before; 0: at once
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    finished_at INTEGER,
    on_finished TEXT,                          -- begun, or called when onFinished returned; NULL: not yet
    last_id INTEGER NOT NULL,                  -- of a recipient
    fed_to INTEGER NOT NULL,                   -- the recipients up to this one have, or had, jobs
    recipients INTEGER NOT NULL DEFAULT 0,     -- how many were added
    fed INTEGER NOT NULL DEFAULT 0,            -- for how many there were jobs
    sent INTEGER NOT NULL DEFAULT 0,
    suppressed INTEGER NOT NULL DEFAULT 0,
    uncertain INTEGER NOT NULL DEFAULT 0,      -- attempts whose outcome nobody knows
    UNIQUE (name)
);

CREATE TABLE mail_recipient (
    id INTEGER PRIMARY KEY,                    -- counts up from campaign_id * 2^40 + 1
    campaign_id INTEGER NOT NULL,
    hash INTEGER NOT NULL,                     -- of the address, with mailSuppressionKey
    address TEXT NOT NULL,                     -- JSON: a list of one address, as in mail_queue.recipients
    name TEXT,                                 -- display name
    fields TEXT,                               -- JSON object, for the templates
    cleared INTEGER,                           -- as in mail_queue
    UNIQUE (campaign_id, hash)
);

CREATE TABLE mail_bounce (
    hash INTEGER NOT NULL,                     -- of the address, with mailSuppressionKey
    event INTEGER NOT NULL,                    -- a hash that tells events apart: the same one counts once
    at INTEGER NOT NULL,                       -- when it was read; kept for 30 days
    kind TEXT NOT NULL,                        -- hard, soft, quota, blocked, policy, unknown, complaint or unsubscribe
    n INTEGER NOT NULL,                        -- 1: it counts with others; 0: not, or not any more
    PRIMARY KEY (hash, event),
    UNIQUE (at, hash, event)
) WITHOUT ROWID;

CREATE INDEX mail_queue_live
    ON mail_queue(campaign_id, next_attempt_at)
    WHERE campaign_id IS NOT NULL AND status <> 'parked';

CREATE INDEX mail_queue_w
    ON mail_window(at);

CREATE INDEX mail_log_id
    ON mail_log(job_id);

CREATE INDEX mail_log_at
    ON mail_log(at);


-- PostgreSQL

CREATE TABLE config (
    key TEXT PRIMARY KEY,
    value TEXT
);

CREATE TABLE mail_queue (
    id BIGSERIAL PRIMARY KEY,
    reference TEXT,
    mail_type TEXT NOT NULL,
    status TEXT NOT NULL,
    priority INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    max_attempts INTEGER,
    uncertain INTEGER NOT NULL DEFAULT 0,
    paid INTEGER NOT NULL DEFAULT 0,
    next_attempt_at BIGINT NOT NULL,
    expires_at BIGINT,
    locked_until BIGINT,
    locked_by TEXT,
    last_attempt_at BIGINT,
    last_error TEXT,
    parked_for TEXT,
    created_at BIGINT NOT NULL,
    message_id TEXT NOT NULL,
    envelope_from TEXT,
    recipients TEXT,
    refused TEXT,
    campaign_id BIGINT,
    fields TEXT,
    subject TEXT,
    resent_of BIGINT,
    uncertain_to TEXT,
    paid_to TEXT,
    waits_for TEXT,
    relay TEXT,
    scope TEXT,
    cleared BIGINT,
    recipient_id BIGINT
) WITH (autovacuum_vacuum_scale_factor = 0.01);

CREATE UNIQUE INDEX mail_queue_key
    ON mail_queue(reference, mail_type)
    WHERE reference IS NOT NULL;

CREATE INDEX mail_queue_due
    ON mail_queue(priority, next_attempt_at, id)
    WHERE status IN ('pending','failed');

CREATE INDEX mail_queue_lease
    ON mail_queue(locked_until)
    WHERE status = 'sending';

CREATE INDEX mail_queue_parked
    ON mail_queue(id)
    WHERE status = 'parked';

CREATE INDEX mail_queue_rest
    ON mail_queue(status, id)
    WHERE status IN ('failed','held');

CREATE INDEX mail_queue_expiry
    ON mail_queue(expires_at)
    WHERE expires_at IS NOT NULL;

CREATE TABLE mail_body (
    id BIGINT PRIMARY KEY,
    content BYTEA NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.01, toast.autovacuum_vacuum_scale_factor = 0.01);

CREATE TABLE mail_spent (
    at BIGINT PRIMARY KEY,
    n BIGINT NOT NULL
);

CREATE TABLE mail_window (
    scope TEXT NOT NULL,
    at BIGINT NOT NULL,
    n BIGINT NOT NULL,
    PRIMARY KEY (scope, at)
);

CREATE TABLE mail_count (
    hour BIGINT NOT NULL,
    mail_type TEXT NOT NULL,
    event TEXT NOT NULL,
    part INTEGER NOT NULL,
    mails BIGINT NOT NULL,
    recipients BIGINT NOT NULL,
    PRIMARY KEY (hour, mail_type, event, part)
);

CREATE INDEX mail_count_p
    ON mail_count(hour)
    WHERE part > 0;

CREATE TABLE mail_log (
    id BIGSERIAL PRIMARY KEY,
    at BIGINT NOT NULL,
    job_id BIGINT NOT NULL,
    reference TEXT,
    mail_type TEXT NOT NULL,
    subject TEXT,
    relay TEXT,
    event TEXT NOT NULL,
    phase TEXT,
    attempt INTEGER NOT NULL,
    recipients INTEGER NOT NULL,
    uncertain INTEGER NOT NULL,
    reply TEXT,
    ms BIGINT,
    waited BIGINT
);

CREATE TABLE mail_suppression (
    hash BIGINT NOT NULL,
    scope TEXT NOT NULL,
    reason TEXT NOT NULL,
    seq BIGINT NOT NULL,
    address TEXT,
    source TEXT,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (hash, scope, reason),
    UNIQUE (seq)
);

CREATE TABLE mail_campaign (
    id BIGSERIAL PRIMARY KEY,
    name TEXT NOT NULL,
    state TEXT NOT NULL,
    mail_type TEXT NOT NULL,
    priority INTEGER NOT NULL,
    max_attempts INTEGER,
    message_id TEXT,
    envelope_from TEXT,
    relay TEXT,
    scope TEXT NOT NULL,
    list_url TEXT,
    start_at BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    started_at BIGINT,
    finished_at BIGINT,
    on_finished TEXT,
    last_id BIGINT NOT NULL,
    fed_to BIGINT NOT NULL,
    recipients BIGINT NOT NULL DEFAULT 0,
    fed BIGINT NOT NULL DEFAULT 0,
    sent BIGINT NOT NULL DEFAULT 0,
    suppressed BIGINT NOT NULL DEFAULT 0,
    uncertain BIGINT NOT NULL DEFAULT 0,
    UNIQUE (name)
);

CREATE TABLE mail_recipient (
    id BIGINT PRIMARY KEY,
    campaign_id BIGINT NOT NULL,
    hash BIGINT NOT NULL,
    address TEXT NOT NULL,
    name TEXT,
    fields TEXT,
    cleared BIGINT,
    UNIQUE (campaign_id, hash)
);

CREATE TABLE mail_bounce (
    hash BIGINT NOT NULL,
    event BIGINT NOT NULL,
    at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (hash, event),
    UNIQUE (at, hash, event)
);

CREATE INDEX mail_queue_live
    ON mail_queue(campaign_id, next_attempt_at)
    WHERE campaign_id IS NOT NULL AND status <> 'parked';

CREATE INDEX mail_queue_w
    ON mail_window(at);

CREATE INDEX mail_log_id
    ON mail_log(job_id);

CREATE INDEX mail_log_at
    ON mail_log(at);


-- MariaDB and MySQL

CREATE TABLE config (
    `key` VARCHAR(190) NOT NULL PRIMARY KEY,
    value LONGTEXT
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE mail_queue (
    id BIGINT AUTO_INCREMENT PRIMARY KEY,
    reference VARBINARY(190),
    mail_type VARBINARY(190) NOT NULL,
    status VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    priority INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    max_attempts INTEGER,
    uncertain INTEGER NOT NULL DEFAULT 0,
    paid INTEGER NOT NULL DEFAULT 0,
    next_attempt_at BIGINT NOT NULL,
    expires_at BIGINT,
    locked_until BIGINT,
    locked_by VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin,
    last_attempt_at BIGINT,
    last_error LONGBLOB,
    parked_for VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin,
    created_at BIGINT NOT NULL,
    message_id LONGBLOB NOT NULL,
    envelope_from LONGBLOB,
    recipients LONGBLOB,
    refused LONGBLOB,
    campaign_id BIGINT,
    fields LONGBLOB,
    subject LONGBLOB,
    resent_of BIGINT,
    uncertain_to LONGBLOB,
    paid_to LONGBLOB,
    waits_for LONGBLOB,
    relay LONGBLOB,
    scope LONGBLOB,
    cleared BIGINT,
    recipient_id BIGINT,
    claimable TINYINT AS (CASE WHEN status IN ('pending','failed') THEN 0 END) STORED,
    live_of BIGINT AS (CASE WHEN status <> 'parked' THEN campaign_id END) STORED,
    UNIQUE KEY mail_queue_key (reference, mail_type),
    KEY mail_queue_due (claimable, priority, next_attempt_at, id),
    KEY mail_queue_lease (locked_until),
    KEY mail_queue_state (status, id),
    KEY mail_queue_expiry (expires_at),
    KEY mail_queue_live (live_of, next_attempt_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE mail_body (
    id BIGINT PRIMARY KEY,
    content LONGBLOB NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE mail_spent (
    at BIGINT PRIMARY KEY,
    n BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE mail_window (
    scope VARBINARY(190) NOT NULL,
    at BIGINT NOT NULL,
    n BIGINT NOT NULL,
    PRIMARY KEY (scope, at),
    KEY mail_queue_w (at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE mail_count (
    hour BIGINT NOT NULL,
    mail_type VARBINARY(190) NOT NULL,
    event VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    part INTEGER NOT NULL,
    mails BIGINT NOT NULL,
    recipients BIGINT NOT NULL,
    PRIMARY KEY (hour, mail_type, event, part),
    KEY mail_count_p (part)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE mail_log (
    id BIGINT AUTO_INCREMENT PRIMARY KEY,
    at BIGINT NOT NULL,
    job_id BIGINT NOT NULL,
    reference VARBINARY(190),
    mail_type VARBINARY(190) NOT NULL,
    subject LONGBLOB,
    relay LONGBLOB,
    event VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    phase VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin,
    attempt INTEGER NOT NULL,
    recipients INTEGER NOT NULL,
    uncertain INTEGER NOT NULL,
    reply LONGBLOB,
    ms BIGINT,
    waited BIGINT,
    KEY mail_log_id (job_id),
    KEY mail_log_at (at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE mail_suppression (
    hash BIGINT NOT NULL,
    scope VARBINARY(190) NOT NULL,
    reason VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    seq BIGINT NOT NULL,
    address LONGBLOB,
    source LONGBLOB,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (hash, scope, reason),
    UNIQUE KEY mail_queue_z (seq)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE mail_campaign (
    id BIGINT AUTO_INCREMENT PRIMARY KEY,
    name VARBINARY(190) NOT NULL,
    state VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    mail_type VARBINARY(190) NOT NULL,
    priority INTEGER NOT NULL,
    max_attempts INTEGER,
    message_id LONGBLOB,
    envelope_from LONGBLOB,
    relay LONGBLOB,
    scope VARBINARY(190) NOT NULL,
    list_url LONGBLOB,
    start_at BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    started_at BIGINT,
    finished_at BIGINT,
    on_finished VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin,
    last_id BIGINT NOT NULL,
    fed_to BIGINT NOT NULL,
    recipients BIGINT NOT NULL DEFAULT 0,
    fed BIGINT NOT NULL DEFAULT 0,
    sent BIGINT NOT NULL DEFAULT 0,
    suppressed BIGINT NOT NULL DEFAULT 0,
    uncertain BIGINT NOT NULL DEFAULT 0,
    UNIQUE KEY mail_queue_n (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE mail_recipient (
    id BIGINT PRIMARY KEY,
    campaign_id BIGINT NOT NULL,
    hash BIGINT NOT NULL,
    address LONGBLOB NOT NULL,
    name LONGBLOB,
    fields LONGBLOB,
    cleared BIGINT,
    UNIQUE KEY mail_queue_r (campaign_id, hash)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE mail_bounce (
    hash BIGINT NOT NULL,
    event BIGINT NOT NULL,
    at BIGINT NOT NULL,
    kind VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (hash, event),
    KEY mail_queue_b (at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
