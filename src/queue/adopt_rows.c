/* The rows of the old table: what they must be, and how they are read. All by SQL, so that a table
 * of any size passes without a copy in memory. */
#include "queue/adopt.h"

#include <stdio.h>
#include <string.h>

#define PARK_BEYOND_S (30 * 86400) /* due later than that, a failed mail was given up */

/* ---- values ---- In these templates {x} is the column, {s} its text. */

#define TEXT_OF "trim(CAST({x} AS TEXT))"
#define EMPTY   "({x} IS NULL OR {s} = '' OR {s} GLOB '0000-00-00*')"

/* A number of seconds, of milliseconds (13 digits) or microseconds (16). One that may be a date
 * (20261121, 20261121093500) is none of them. */
#define SCALED(n)                                              \
    "CASE WHEN " n " BETWEEN 19000101 AND 20991231 THEN NULL " \
    "WHEN abs(" n ") < 100000000000 THEN " n " "               \
    "WHEN abs(" n ") < 10000000000000 THEN " n " / 1000 "      \
    "WHEN " n " BETWEEN 1000000000000000 AND 9999999999999999 THEN " n " / 1000000 END"

/* Offsets as SQLite reads them: with a colon. */
#define WITH_OFFSET                                                   \
    "CASE WHEN {s} GLOB '*:*[+-][0-9][0-9][0-9][0-9]' "               \
    "THEN substr({s}, 1, length({s}) - 2) || ':' || substr({s}, -2) " \
    "WHEN {s} GLOB '*:*[+-][0-9][0-9]' THEN {s} || ':00' "            \
    "WHEN upper({s}) GLOB '* UTC' OR upper({s}) GLOB '* GMT' "        \
    "THEN substr({s}, 1, length({s}) - 4) ELSE upper({s}) END"

/* UTC seconds of whatever holds a time; NULL where there is none or it cannot be read. Real numbers
 * below those of 1970's March are days (Julian), as SQLite's julianday() gives them. A date that
 * the calendar does not have would be taken for another. */
static const char time_of[] = "CASE WHEN typeof({x}) = 'integer' THEN " SCALED(
    "{x}") " WHEN typeof({x}) = 'real' AND {x} BETWEEN 2440587.5 AND 5373484.5"
           " THEN CAST(round(({x} - 2440587.5) * 86400) AS INTEGER)"
           " WHEN typeof({x}) = 'real' OR ({s} GLOB '[0-9]*' AND {s} NOT GLOB '*[^0-9.]*' AND {s} "
           "NOT GLOB '*.*.*')"
           " THEN " SCALED("CAST({x} AS INTEGER)") " WHEN date(substr({s}, 1, 10), '+0 days') = "
                                                   "substr({s}, 1, 10)"
                                                   " THEN CAST(strftime('%s', " WITH_OFFSET
                                                   ") AS INTEGER) END";

/* An integer in whatever spelling; NULL where it is none. */
static const char int_of[] =
    "CASE WHEN typeof({x}) = 'integer' THEN {x} "
    "WHEN CAST(CAST({s} AS INTEGER) AS TEXT) IN ({s}, rtrim(rtrim({s}, '0'), '.')) "
    "THEN CAST({s} AS INTEGER) END";

static const char status_of[] = "lower({s})";
static const char word_of[] = "CAST({x} AS TEXT)";
/* 4711.0 is 4711; nothing is NULL, so that such rows are not each other's duplicates. */
static const char reference_of[] =
    "NULLIF(CASE WHEN typeof({x}) = 'real' AND {x} = CAST({x} AS INTEGER) "
    "THEN CAST(CAST({x} AS INTEGER) AS TEXT) ELSE CAST({x} AS TEXT) END, '')";

static void expand(struct mq_buffer *out, const char *text, const char *name)
{
    for (const char *brace = strchr(text, '{'); brace; brace = strchr(text, '{')) {
        mq_buffer_append(out, text, (size_t)(brace - text));
        if (brace[1] == 's') {
            expand(out, TEXT_OF, name);
        } else {
            mq_adopt_quote(out, name);
        }
        text = brace + 3;
    }
    mq_buffer_cstr(out, text);
}

static void write_value(const struct mq_adopt *self, const struct mq_column *column,
                        struct mq_buffer *out)
{
    static const char *const readers[] = {
        [MQ_COLUMN_ID] = int_of,        [MQ_COLUMN_REFERENCE] = reference_of,
        [MQ_COLUMN_STATUS] = status_of, [MQ_COLUMN_TEXT] = word_of,
        [MQ_COLUMN_INT] = int_of,       [MQ_COLUMN_TIME] = time_of,
    };
    const struct mq_adopt_column *old = mq_adopt_find(self, mq_adopt_name(self, column));
    if (old) {
        expand(out, readers[column->kind], old->name);
    } else if (column->kind == MQ_COLUMN_ID && self->rowid) {
        mq_buffer_cstr(out, self->rowid);
    } else if (column->name && strcmp(column->name, "next_attempt_at") == 0) {
        mq_buffer_int(out, self->now_s);
    } else {
        mq_buffer_cstr(out, "NULL");
    }
}

/* ---- checks ---- */

/* What a row is called in a message: by rowid, or by the reference. */
static void write_label(const struct mq_adopt *self, struct mq_buffer *out)
{
    if (!self->rowid) {
        expand(out,
               "'with "
               "the reference ' || COALESCE(CAST({x} AS TEXT), 'NULL')",
               self->queue->names.reference);
    } else {
        mq_buffer_cstr(out, self->rowid);
    }
}

static void write_from(const struct mq_adopt *self, struct mq_buffer *out)
{
    mq_buffer_cstr(out, " FROM ");
    mq_adopt_quote(out, self->table);
}

static void copy_text(struct mq_queue *queue, int index, char *out, size_t size)
{
    struct mq_value v = queue->db->driver->column(queue->db, index);
    if (v.type == MQ_INT) {
        snprintf(out, size, "%lld", (long long)v.i);
    } else {
        mq_str_printable(out, size, 0, v.s.data ? v.s : MQ_STR("NULL"));
    }
}

/* A row that must not be. */
struct bad {
    bool found;
    char label[80];
    char value[80];
};

/* Runs a query for label and value of such a row. */
static enum mq_status find_bad(struct mq_adopt *self, struct mq_buffer *sql, struct bad *out,
                               struct mq_error *err)
{
    out->found = false;
    enum mq_status status = mq_adopt_query(self, sql, err);
    if (status == MQ_OK) {
        status = mq_sql_next(self->queue, &out->found, err);
    }
    if (status == MQ_OK && out->found) {
        copy_text(self->queue, 0, out->label, sizeof(out->label));
        copy_text(self->queue, 1, out->value, sizeof(out->value));
        mq_sql_finish(self->queue);
    }
    return status;
}

/* Numbers and times that say nothing. */
static enum mq_status check_value(struct mq_adopt *self, const struct mq_column *column,
                                  struct mq_error *err)
{
    struct mq_buffer sql;
    struct bad bad;
    const char *name = mq_adopt_name(self, column);
    bool is_time = column->kind == MQ_COLUMN_TIME;
    if (!mq_adopt_find(self, name) || (!is_time && column->kind != MQ_COLUMN_INT)) {
        return MQ_OK;
    }
    mq_buffer_init(&sql);
    mq_buffer_cstr(&sql, "SELECT ");
    write_label(self, &sql);
    expand(&sql, ", CAST({x} AS TEXT)", name);
    write_from(self, &sql);
    expand(&sql, " WHERE NOT " EMPTY " AND (", name);
    write_value(self, column, &sql);
    mq_buffer_cstr(&sql, ") IS NULL LIMIT 1");
    enum mq_status status = find_bad(self, &sql, &bad, err);
    if (status == MQ_OK && bad.found) {
        status = mq_error_set(err, MQ_SCHEMA, name,
                              "table %s cannot become the queue's: column %s of row %s holds "
                              "\"%s\", which is no %s. Correct it; nothing was changed",
                              self->table, name, bad.label, bad.value,
                              is_time ? "time (YYYY-MM-DD HH:MM:SS in UTC, or seconds since 1970)"
                                      : "whole number");
    }
    return status;
}

static enum mq_status check_ids(struct mq_adopt *self, struct mq_error *err)
{
    struct mq_buffer sql;
    struct bad bad;
    const struct mq_column *id = mq_schema_column("id");
    if (!self->rowid && !mq_adopt_find(self, "id")) {
        return MQ_OK;
    }
    mq_buffer_init(&sql);
    mq_buffer_cstr(&sql, "SELECT key, count(*) FROM (SELECT ");
    write_value(self, id, &sql);
    mq_buffer_cstr(&sql, " AS key");
    write_from(self, &sql);
    mq_buffer_cstr(
        &sql, ") GROUP BY key HAVING typeof(key) <> 'integer' OR key < 1 OR count(*) > 1 LIMIT 1");
    enum mq_status status = find_bad(self, &sql, &bad, err);
    if (status == MQ_OK && bad.found) {
        status = mq_error_set(err, MQ_SCHEMA, "id",
                              "table %s cannot become the queue's: its id %s (in %s rows) is no "
                              "whole number above 0 that one row alone has. Correct it, or give "
                              "the column another name; nothing was changed",
                              self->table, bad.label, bad.value);
    }
    return status;
}

static enum mq_status check_types(struct mq_adopt *self, struct mq_error *err)
{
    struct mq_buffer sql;
    struct bad bad;
    mq_buffer_init(&sql);
    mq_buffer_cstr(&sql, "SELECT ");
    write_label(self, &sql);
    mq_buffer_cstr(&sql, ", 0");
    write_from(self, &sql);
    mq_buffer_cstr(&sql, " WHERE COALESCE(CAST(mail_type AS TEXT), '') = '' LIMIT 1");
    enum mq_status status = find_bad(self, &sql, &bad, err);
    if (status == MQ_OK && bad.found) {
        status = mq_error_set(err, MQ_SCHEMA, "mail_type",
                              "table %s cannot become the queue's: row %s has no mail_type. Give "
                              "it one, or delete it; nothing was changed",
                              self->table, bad.label);
    }
    return status;
}

/* "'sent' (3), 'new' (1)": what another program means by its words nobody here knows, and a guess
 * would lose mails or send them twice. */
static enum mq_status check_states(struct mq_adopt *self, struct mq_error *err)
{
    struct mq_queue *queue = self->queue;
    struct mq_buffer sql;
    struct mq_buffer list;
    bool row = true;
    mq_buffer_init(&sql);
    mq_buffer_init(&list);
    mq_buffer_cstr(&sql, "SELECT ");
    expand(&sql, status_of, "status");
    mq_buffer_cstr(&sql, " AS state, count(*)");
    write_from(self, &sql);
    mq_buffer_cstr(&sql, " GROUP BY state");
    enum mq_status status = mq_adopt_query(self, &sql, err);
    while (status == MQ_OK) {
        status = mq_sql_next(queue, &row, err);
        if (status != MQ_OK || !row) {
            break;
        }
        enum mq_state state;
        struct mq_str text = mq_sql_column_str(queue, 0);
        if (text.data && mq_state_parse(text, &state)) {
            continue;
        }
        char word[60];
        copy_text(queue, 0, word, sizeof(word));
        mq_buffer_printf(&list, "%s\"%s\" (%lld)", list.len ? ", " : "", word,
                         (long long)mq_sql_column_int(queue, 1));
    }
    if (status == MQ_OK && list.failed) {
        status = mq_error_nomem(err);
    } else if (status == MQ_OK && list.len) {
        status = mq_error_set(err, MQ_SCHEMA, "status",
                              "table %s cannot become the queue's: it has rows with the status "
                              "%.200s. Delete those that were sent; give the others pending, "
                              "failed, parked (not sent by itself) or sending (begun; it may have "
                              "arrived). Nothing was changed",
                              self->table, list.data);
    }
    mq_buffer_clear(&list);
    return status;
}

enum mq_status mq_adopt_check(struct mq_adopt *self, struct mq_error *err)
{
    size_t count;
    const struct mq_column *columns = mq_schema_columns(&count);
    enum mq_status status = check_states(self, err);
    if (status == MQ_OK) {
        status = check_types(self, err);
    }
    if (status == MQ_OK) {
        status = check_ids(self, err);
    }
    for (size_t i = 0; i < count && status == MQ_OK; i++) {
        status = check_value(self, &columns[i], err);
    }
    return status;
}

/* ---- the copy ---- In these {n} is now; columns are what the readers above gave. */

#define GIVEN_UP "(status = 'failed' AND (next_attempt_at IS NULL OR next_attempt_at > {n} + {d}))"

/* What depends on more than the value. The rest is copied, and NULL is 0 where the queue has that.
 *
 * Of a mail in sending only its old program knows more: recovery, once its lease is over, takes it
 * as one that may have arrived. The token is nobody's. A program that marks what it is sending by
 * the lease alone is waited for, too. */
static const struct {
    const char *name;
    const char *value;
} rules[] = {
    {"status", "CASE WHEN " GIVEN_UP " THEN 'parked' ELSE status END"},
    {"parked_for", "CASE WHEN " GIVEN_UP " THEN 'exhausted' "
                   "WHEN status = 'parked' THEN COALESCE(parked_for, 'hold') END"},
    {"next_attempt_at", "max(COALESCE(next_attempt_at, {n}), CASE WHEN locked_until > {n} "
                        "AND status IN ('pending','failed') THEN locked_until ELSE 0 END)"},
    {"locked_until", "CASE WHEN status = 'sending' THEN max(1, COALESCE(locked_until, {n})) END"},
    {"locked_by", "CASE WHEN status = 'sending' THEN lower(hex(randomblob(16))) END"},
    {"attempts", "max(COALESCE(attempts, 0), status = 'sending')"},
    {"paid", "0"},
    {"created_at", "COALESCE(created_at, CASE WHEN next_attempt_at > 0 "
                   "AND next_attempt_at < {n} THEN next_attempt_at ELSE {n} END)"},
    {"message_id", "COALESCE(NULLIF(message_id, ''), "
                   "'<' || lower(hex(randomblob(16))) || '@localhost>')"},
};

static void write_rule(const struct mq_adopt *self, const struct mq_column *column,
                       struct mq_buffer *out)
{
    const char *name = mq_adopt_name(self, column);
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        if (column->name && strcmp(rules[i].name, name) == 0) {
            const char *text = rules[i].value;
            for (const char *b = strchr(text, '{'); b; b = strchr(text, '{')) {
                mq_buffer_append(out, text, (size_t)(b - text));
                mq_buffer_int(out, b[1] == 'n' ? self->now_s : PARK_BEYOND_S);
                text = b + 3;
            }
            mq_buffer_cstr(out, text);
            return;
        }
    }
    bool zero = strstr(column->declaration, "DEFAULT 0") != NULL;
    mq_buffer_cstr(out, zero ? "COALESCE(" : "");
    mq_adopt_quote(out, name);
    mq_buffer_cstr(out, zero ? ", 0)" : "");
}

/* The names of the application's columns that have values of their own. */
static void write_others(const struct mq_adopt *self, struct mq_buffer *out)
{
    for (size_t i = 0; i < self->count; i++) {
        if (!self->columns[i].own && !self->columns[i].generated) {
            mq_buffer_cstr(out, ", ");
            mq_adopt_quote(out, self->columns[i].name);
        }
    }
}

enum mq_status mq_adopt_copy(struct mq_adopt *self, struct mq_error *err)
{
    struct mq_buffer sql;
    size_t count;
    const struct mq_column *columns = mq_schema_columns(&count);
    mq_buffer_init(&sql);
    mq_buffer_cstr(&sql, "INSERT INTO " MQ_ADOPT_NEW "(");
    for (size_t i = 0; i < count; i++) {
        mq_buffer_cstr(&sql, i ? ", " : "");
        mq_adopt_quote(&sql, mq_adopt_name(self, &columns[i]));
    }
    write_others(self, &sql);
    mq_buffer_cstr(&sql, ") SELECT ");
    for (size_t i = 0; i < count; i++) {
        mq_buffer_cstr(&sql, i ? ", " : "");
        write_rule(self, &columns[i], &sql);
    }
    write_others(self, &sql);
    mq_buffer_cstr(&sql, " FROM (SELECT ");
    for (size_t i = 0; i < count; i++) {
        mq_buffer_cstr(&sql, i ? ", " : "");
        write_value(self, &columns[i], &sql);
        mq_buffer_cstr(&sql, " AS ");
        mq_adopt_quote(&sql, mq_adopt_name(self, &columns[i]));
    }
    write_others(self, &sql);
    write_from(self, &sql);
    /* OFFSET keeps SQLite from putting each of these long terms in wherever its column is used. */
    mq_buffer_cstr(&sql, " LIMIT -1 OFFSET 0)");
    if (!self->rowid && !mq_adopt_find(self, "id")) {
        mq_buffer_cstr(&sql, " ORDER BY next_attempt_at");
    }
    return mq_adopt_run(self, &sql, err);
}
