/* The statements of a move; what else is moved with a queue: its settings, strict mode's ledger. */
#include "queue/copy_private.h"

#include <stdlib.h>
#include <string.h>

/* ---- statements ---- */

/* `before` and the columns' names, with commas between. */
static void write_columns(struct mq_buffer *out, const char *before)
{
    size_t count;
    const struct mq_column *columns = mq_schema_columns(&count);
    for (size_t i = 0; i < count; i++) {
        const char *name = columns[i].name ? columns[i].name : "{r}";
        mq_buffer_printf(out, "%s%s%s", i ? ", " : "", before, name);
    }
}

static enum mq_status keep_text(struct mq_queue *queue, enum mq_sql slot, struct mq_buffer *text,
                                struct mq_error *err)
{
    if (!text->failed && !queue->sql[slot]) {
        queue->sql[slot] = mq_sql_expand(queue->spelling, &queue->names, text->data);
    }
    enum mq_status status = text->failed || !queue->sql[slot] ? mq_error_nomem(err) : MQ_OK;
    mq_buffer_reset(text);
    return status;
}

enum mq_status mq_copy_prepare(struct mq_queue *queue, struct mq_error *err)
{
    static const char where[] = " WHERE {t}.id > ?1 AND {t}.id <= ?2 ORDER BY {t}.id";
    struct mq_buffer text;
    size_t count;
    mq_schema_columns(&count);
    mq_buffer_init(&text);
    mq_buffer_cstr(&text, "SELECT ");
    write_columns(&text, "{t}.");
    mq_buffer_printf(&text, ", {b}.content FROM {t} LEFT JOIN {b} ON {b}.id = {t}.id%s", where);
    enum mq_status status = keep_text(queue, MQ_SQL_COPY_ROWS, &text, err);
    if (status == MQ_OK) {
        mq_buffer_cstr(&text, "SELECT ");
        write_columns(&text, "{t}.");
        mq_buffer_printf(&text, " FROM {t}%s", where);
        status = keep_text(queue, MQ_SQL_COPY_LIGHT, &text, err);
    }
    if (status == MQ_OK) {
        mq_buffer_cstr(&text, "INSERT INTO {t}(");
        write_columns(&text, "");
        mq_buffer_cstr(&text, ") VALUES (");
        for (size_t i = 0; i < count; i++) {
            mq_buffer_printf(&text, "%s?%zu", i ? ", " : "", i + 1);
        }
        mq_buffer_char(&text, ')');
        status = keep_text(queue, MQ_SQL_COPY_INSERT, &text, err);
    }
    mq_buffer_clear(&text);
    return status;
}

/* ---- settings and ledger ---- */

/* The tables' version and the notes of moves are each database's own. */
static bool is_moved(const struct mq_config_key *key)
{
    return strcmp(key->name, "mailSchemaVersion") != 0 &&
           strncmp(key->name, "mailQueueMoved", 14) != 0;
}

static enum mq_status copy_key(struct mq_queue *source, struct mq_queue *target,
                               const struct mq_config_key *about, struct mq_copy_report *report,
                               struct mq_error *err)
{
    char *from = NULL;
    char *to = NULL;
    const char *key = about->name;
    enum mq_status status = mq_queue_config(source, key, &from, err);
    if (status == MQ_OK) {
        status = mq_queue_config(target, key, &to, err);
    }
    if (status != MQ_OK) {
        goto out;
    }
    bool same = from && to && strcmp(from, to) == 0;
    bool noted = true;
    if (from && to && !same && !about->internal) {
        noted = mq_strings_add(&report->changed, mq_str_of(key));
    } else if (to && !from && !about->internal) {
        noted = mq_strings_add(&report->kept, mq_str_of(key));
    }
    if (!noted) {
        status = mq_error_nomem(err);
    } else if (from && !same) {
        status = mq_config_put(target, key, from, err);
    }
out:
    free(from);
    free(to);
    return status;
}

enum mq_status mq_copy_settings(struct mq_queue *source, struct mq_queue *target,
                                struct mq_copy_report *report, struct mq_error *err)
{
    size_t count;
    enum mq_status status = MQ_OK;
    const struct mq_config_key *keys = mq_config_keys(&count);
    mq_strings_clear(&report->changed);
    mq_strings_clear(&report->kept);
    for (size_t i = 0; i < count && status == MQ_OK; i++) {
        if (is_moved(&keys[i])) {
            status = copy_key(source, target, &keys[i], report, err);
        }
    }
    return status;
}

enum mq_status mq_copy_ledger(struct mq_queue *source, struct mq_queue *target,
                              struct mq_error *err)
{
    bool row = true;
    enum mq_status status =
        mq_sql_exec(target, MQ_SQL_SPENT_PURGE, MQ_ARGS(mq_int(INT64_MAX)), err);
    if (status == MQ_OK) {
        status = mq_sql_query(source, MQ_SQL_SPENT_ROWS, MQ_ARGS(mq_int(0)), err);
    }
    while (status == MQ_OK) {
        status = mq_sql_next(source, &row, err);
        if (status != MQ_OK || !row) {
            break;
        }
        int64_t at = mq_sql_column_int(source, 0);
        int64_t n = mq_sql_column_int(source, 1);
        status = mq_sql_exec(target, MQ_SQL_SPENT_ADD, MQ_ARGS(mq_int(at), mq_int(n)), err);
        if (status != MQ_OK) {
            mq_sql_finish(source);
        }
    }
    return status;
}

enum mq_status mq_copy_find_ignored(struct mq_queue *source, struct mq_copy_report *report,
                                    struct mq_error *err)
{
    bool row = true;
    struct mq_args args = MQ_ARGS(mq_cstr(source->names.table));
    enum mq_status status = mq_sql_query(source, MQ_SQL_COLUMNS_OF, args, err);
    while (status == MQ_OK) {
        status = mq_sql_next(source, &row, err);
        if (status != MQ_OK || !row) {
            break;
        }
        char name[256];
        struct mq_str text = mq_sql_column_str(source, 0);
        mq_str_printable(name, sizeof(name), 0, text);
        bool own = mq_schema_column(name) ||
                   mq_str_equal_nocase(text, mq_str_of(source->names.reference)) ||
                   strstr(source->spelling->claimable, name) != NULL; /* a generated column */
        if (!own && !mq_strings_add(&report->ignored, mq_str_of(name))) {
            mq_sql_finish(source);
            return mq_error_nomem(err);
        }
    }
    return status;
}
