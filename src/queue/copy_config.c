/* What else is moved with a queue: its settings, strict mode's ledger. */
#include "queue/copy_private.h"

#include <stdlib.h>
#include <string.h>

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
