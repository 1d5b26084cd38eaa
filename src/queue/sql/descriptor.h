/* The columns of the job table. A line of MQ_COLUMNS says how a column is created, how it is read
 * and what a new row gets. A new column goes to the end, takes NULL or has a DEFAULT, and
 * needs the next MQ_SCHEMA_VERSION: opening a queue adds it to tables of an earlier version. */
#ifndef MQ_QUEUE_SQL_DESCRIPTOR_H
#define MQ_QUEUE_SQL_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "core/buffer.h"

/* Arguments of X: symbol, name, type; the member of struct mq_job; the SQL of a new row's value,
 * with ? for a parameter (NULL: the column's default); its value (`job`: struct mq_new_job). */
#define MQ_COLUMNS(X)                                                                             \
    X(ID, "id", "{i}", READ_INT64(id), NULL, mq_null())                                           \
    X(REFERENCE, "{r}", "{v}", READ_TEXT(reference), "?", mq_text(job->reference))                \
    X(MAIL_TYPE, "mail_type", "{v} NOT NULL", READ_TEXT(mail_type), "?", mq_text(job->mail_type)) \
    X(STATUS, "status", "{h} NOT NULL", READ_NOT, "'pending'", mq_null())                         \
    X(PRIORITY, "priority", "INTEGER NOT NULL DEFAULT 0", READ_INT(priority), "?",                \
      mq_int(job->priority))                                                                      \
    X(ATTEMPTS, "attempts", "INTEGER NOT NULL DEFAULT 0", READ_INT(attempts), NULL, mq_null())    \
    X(MAX_ATTEMPTS, "max_attempts", "INTEGER", READ_INT(max_attempts), "?",                       \
      mq_int_or_null(job->max_attempts))                                                          \
    X(UNCERTAIN, "uncertain", "INTEGER NOT NULL DEFAULT 0", READ_INT(uncertain), NULL, mq_null()) \
    X(PAID, "paid", "INTEGER NOT NULL DEFAULT 0", READ_INT(paid), NULL, mq_null())                \
    X(NEXT_ATTEMPT_AT, "next_attempt_at", "{n} NOT NULL", READ_INT64(next_attempt_at),            \
      "COALESCE(?, {y})", mq_int_or_null(job->send_at))                                           \
    X(EXPIRES_AT, "expires_at", "{n}", READ_INT64(expires_at), "?",                               \
      mq_int_or_null(job->expires_at))                                                            \
    X(LOCKED_UNTIL, "locked_until", "{n}", READ_INT64(locked_until), NULL, mq_null())             \
    X(LOCKED_BY, "locked_by", "{h}", READ_NOT, NULL, mq_null())                                   \
    X(LAST_ATTEMPT_AT, "last_attempt_at", "{n}", READ_INT64(last_attempt_at), NULL, mq_null())    \
    X(LAST_ERROR, "last_error", "{z}", READ_TEXT(last_error), NULL, mq_null())                    \
    X(PARKED_FOR, "parked_for", "{h}", READ_TEXT(parked_for), NULL, mq_null())                    \
    X(CREATED_AT, "created_at", "{n} NOT NULL", READ_INT64(created_at), "{y}", mq_null())         \
    X(MESSAGE_ID, "message_id", "{z} NOT NULL", READ_TEXT(message_id), "?",                       \
      mq_cstr(job->message_id))                                                                   \
    X(ENVELOPE_FROM, "envelope_from", "{z}", READ_TEXT(envelope_from), "?",                       \
      mq_cstr(job->envelope_from))                                                                \
    X(RECIPIENTS, "recipients", "{z}", READ_NOT, "?", mq_text(mq_buffer_view(&row->recipients)))  \
    X(REFUSED, "refused", "{z}", READ_TEXT(refused), NULL, mq_null())                             \
    X(CAMPAIGN_ID, "campaign_id", "{n}", READ_INT64(campaign_id), NULL, mq_null())                \
    X(FIELDS, "fields", "{z}", READ_NOT, "?", mq_text(mq_buffer_view(&row->notify)))              \
    X(SUBJECT, "subject", "{z}", READ_TEXT(subject), "?", mq_note(job->subject))                  \
    X(RESENT_OF, "resent_of", "{n}", READ_INT64(resent_of), "?", mq_int_or_null(job->resent_of))  \
    X(UNCERTAIN_TO, "uncertain_to", "{z}", READ_TEXT(uncertain_to), NULL, mq_null())              \
    X(PAID_TO, "paid_to", "{z}", READ_TEXT(paid_to), NULL, mq_null())                             \
    X(WAITS_FOR, "waits_for", "{z}", READ_TEXT(put_back), NULL, mq_null())                        \
    X(RELAY, "relay", "{z}", READ_TEXT(relay), "?", mq_text(job->relay))                          \
    X(SCOPE, "scope", "{z}", READ_TEXT(scope), "?", mq_text(job->scope))                          \
    X(CLEARED, "cleared", "{n}", READ_INT64(cleared), "?", mq_int_or_null(job->cleared))          \
    X(RECIPIENT_ID, "recipient_id", "{n}", READ_INT64(recipient_id), NULL, mq_null())

#define MQ_COLUMN_SYMBOL(symbol, ...) MQ_COL_##symbol,
enum mq_column_index { MQ_COLUMNS(MQ_COLUMN_SYMBOL) MQ_COL_COUNT };

/* How a column is read into struct mq_job. */
enum mq_read {
    MQ_READ_NOT, /* not at all, or by read_job() itself */
    MQ_READ_INT,
    MQ_READ_INT64,
    MQ_READ_TEXT /* char *, malloc'ed */
};

struct mq_column {
    const char *name; /* as in a template; {r} for the reference */
    const char *type;
    enum mq_read read;
    size_t read_at;  /* offset in struct mq_job */
    const char *sql; /* the value in a new row; NULL: the column's default */
};
extern const struct mq_column mq_columns[MQ_COL_COUNT];

/* The columns' parameters in an INSERT begin with this one. ?1 is the time, if the host's clock is
 * used (then {y} is ?1), ?2 the body, if the statement stores it as well. */
#define MQ_FIRST_NEW_PARAMETER 3

/* Writes the values of a new row, in parentheses, with parameters from ?first on. Returns the
 * number after the last one. */
int mq_columns_write_values(struct mq_buffer *out, int first);

#endif
