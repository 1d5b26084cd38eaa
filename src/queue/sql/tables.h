/* The columns of the tables beside the job table, for the dialects. docs/schema.sql says what they
 * mean. */
#ifndef MQ_QUEUE_SQL_TABLES_H
#define MQ_QUEUE_SQL_TABLES_H

#define MQ_WINDOW_COLUMNS \
    "scope {v} NOT NULL, at {n} NOT NULL, n {n} NOT NULL, PRIMARY KEY (scope, at)"
#define MQ_COUNT_COLUMNS                                                                     \
    "hour {n} NOT NULL, mail_type {v} NOT NULL, event {h} NOT NULL, part INTEGER NOT NULL, " \
    "mails {n} NOT NULL, recipients {n} NOT NULL, PRIMARY KEY (hour, mail_type, event, part)"
#define MQ_LOG_COLUMNS                                                                      \
    "id {I}, at {n} NOT NULL, job_id {n} NOT NULL, reference {v}, mail_type {v} NOT NULL, " \
    "subject {z}, relay {z}, event {h} NOT NULL, phase {h}, attempt INTEGER NOT NULL, "     \
    "recipients INTEGER NOT NULL, uncertain INTEGER NOT NULL, reply {z}, ms {n}, waited {n}"
#define MQ_SUPPRESSION_COLUMNS                                                       \
    "hash {n} NOT NULL, scope {v} NOT NULL, reason {h} NOT NULL, seq {n} NOT NULL, " \
    "address {z}, source {z}, created_at {n} NOT NULL, PRIMARY KEY (hash, scope, reason)"
#define MQ_BOUNCE_COLUMNS                                                         \
    "hash {n} NOT NULL, event {n} NOT NULL, at {n} NOT NULL, kind {h} NOT NULL, " \
    "n INTEGER NOT NULL, PRIMARY KEY (hash, event)"
#define MQ_CAMPAIGN_COLUMNS                                                                \
    "id {i}, name {v} NOT NULL, state {h} NOT NULL, mail_type {v} NOT NULL, "              \
    "priority INTEGER NOT NULL, max_attempts INTEGER, message_id {z}, envelope_from {z}, " \
    "relay {z}, scope {v} NOT NULL, list_url {z}, start_at {n} NOT NULL DEFAULT 0, "       \
    "created_at {n} NOT NULL, started_at {n}, finished_at {n}, on_finished {h}, "          \
    "last_id {n} NOT NULL, fed_to {n} NOT NULL, recipients {n} NOT NULL DEFAULT 0, "       \
    "fed {n} NOT NULL DEFAULT 0, sent {n} NOT NULL DEFAULT 0, "                            \
    "suppressed {n} NOT NULL DEFAULT 0, uncertain {n} NOT NULL DEFAULT 0"
#define MQ_RECIPIENT_COLUMNS                                                                  \
    "id {n} PRIMARY KEY, campaign_id {n} NOT NULL, hash {n} NOT NULL, address {z} NOT NULL, " \
    "name {z}, fields {z}, cleared {n}"

#endif
