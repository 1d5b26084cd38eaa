/* The columns of the job table: one line of MQ_COLUMNS makes the table, what is read of a row and
 * what a new row gets. Another column that may be NULL goes to the end, with the next
 * MQ_SCHEMA_VERSION: tables of an earlier version get it when the queue is opened. */
#ifndef MQ_QUEUE_SQL_DESCRIPTOR_H
#define MQ_QUEUE_SQL_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "core/buffer.h"

/* Symbol, name, type; what it is in struct mq_job; what it is in struct mq_new_job. */
#define MQ_COLUMNS(X)                                                                            \
    X(ID, "id", "{i}", READ_INT64(id), NEW_NOT)                                                  \
    X(REFERENCE, "{r}", "{v}", READ_TEXT(reference), NEW_STR(reference))                         \
    X(MAIL_TYPE, "mail_type", "{v} NOT NULL", READ_TEXT(mail_type), NEW_STR(mail_type))          \
    X(STATUS, "status", "{h} NOT NULL", READ_NOT, NEW_SQL("'pending'"))                          \
    X(PRIORITY, "priority", "INTEGER NOT NULL DEFAULT 0", READ_INT(priority), NEW_INT(priority)) \
    X(ATTEMPTS, "attempts", "INTEGER NOT NULL DEFAULT 0", READ_INT(attempts), NEW_NOT)           \
    X(MAX_ATTEMPTS, "max_attempts", "INTEGER", READ_INT(max_attempts), NEW_OPTION(max_attempts)) \
    X(UNCERTAIN, "uncertain", "INTEGER NOT NULL DEFAULT 0", READ_INT(uncertain), NEW_NOT)        \
    X(PAID, "paid", "INTEGER NOT NULL DEFAULT 0", READ_INT(paid), NEW_NOT)                       \
    X(NEXT_ATTEMPT_AT, "next_attempt_at", "{n} NOT NULL", READ_INT64(next_attempt_at),           \
      NEW_TIME(send_at, "COALESCE(?, {y})"))                                                     \
    X(EXPIRES_AT, "expires_at", "{n}", READ_INT64(expires_at), NEW_TIME(expires_at, "?"))        \
    X(LOCKED_UNTIL, "locked_until", "{n}", READ_INT64(locked_until), NEW_NOT)                    \
    X(LOCKED_BY, "locked_by", "{h}", READ_NOT, NEW_NOT)                                          \
    X(LAST_ATTEMPT_AT, "last_attempt_at", "{n}", READ_INT64(last_attempt_at), NEW_NOT)           \
    X(LAST_ERROR, "last_error", "{z}", READ_TEXT(last_error), NEW_NOT)                           \
    X(PARKED_FOR, "parked_for", "{h}", READ_TEXT(parked_for), NEW_NOT)                           \
    X(CREATED_AT, "created_at", "{n} NOT NULL", READ_INT64(created_at), NEW_SQL("{y}"))          \
    X(MESSAGE_ID, "message_id", "{z} NOT NULL", READ_TEXT(message_id), NEW_CSTR(message_id))     \
    X(ENVELOPE_FROM, "envelope_from", "{z}", READ_TEXT(envelope_from), NEW_CSTR(envelope_from))  \
    X(RECIPIENTS, "recipients", "{z}", READ_NOT, NEW_RECIPIENTS)                                 \
    X(REFUSED, "refused", "{z}", READ_TEXT(refused), NEW_NOT)                                    \
    X(CAMPAIGN_ID, "campaign_id", "{n}", READ_NOT, NEW_NOT)                                      \
    X(FIELDS, "fields", "{z}", READ_NOT, NEW_NOTIFY)                                             \
    X(SUBJECT, "subject", "{z}", READ_TEXT(subject), NEW_NOTE(subject))

#define MQ_COLUMN_SYMBOL(symbol, ...) MQ_COL_##symbol,
enum mq_column_index { MQ_COLUMNS(MQ_COLUMN_SYMBOL) MQ_COL_COUNT };

/* How a column is read into struct mq_job. */
enum mq_read {
    MQ_READ_NOT, /* not at all, or by read_job() itself */
    MQ_READ_INT,
    MQ_READ_INT64,
    MQ_READ_TEXT /* char *, malloc'ed */
};

/* What a new row has in a column. */
enum mq_new {
    MQ_NEW_NOT,  /* the default */
    MQ_NEW_SQL,  /* no parameter */
    MQ_NEW_STR,  /* struct mq_str */
    MQ_NEW_NOTE, /* the same, for people */
    MQ_NEW_CSTR,
    MQ_NEW_INT,
    MQ_NEW_OPTION, /* int; 0 is NULL */
    MQ_NEW_TIME,   /* int64_t; 0 is NULL */
    MQ_NEW_RECIPIENTS,
    MQ_NEW_NOTIFY
};

struct mq_column {
    const char *name; /* in a template: the reference's is {r} */
    const char *type;
    enum mq_read read;
    size_t read_at; /* offset in struct mq_job */
    enum mq_new fresh;
    size_t fresh_at; /* offset in struct mq_new_job */
    const char *sql; /* of a new row's value; its parameter is a lone question mark */
};
extern const struct mq_column mq_columns[MQ_COL_COUNT];

/* Parameters of an INSERT: the time, where the host's clock counts (then {y} is ?1), the body,
 * where the statement stores it too, and the columns' from here on. */
#define MQ_FIRST_NEW_PARAMETER 3

/* The names of all columns or of those that a new row gets, with their types or without. */
void mq_columns_write(struct mq_buffer *out, bool types, bool fresh);
/* The values of a new row, in parentheses, whose parameters begin with ?first; the number behind
 * the last one. */
int mq_columns_write_values(struct mq_buffer *out, int first);

#endif
