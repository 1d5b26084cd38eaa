/* Writes into the config table, whatever version the queue's own tables have. */
#include "queue/config/config.h"

#include "queue/handle.h"

#define NUMBER_OCTETS 32 /* which any kind of column can hold */

/* Some databases silently cut what a column cannot hold, if the connection is set so. */
static enum mq_status check_whole(struct mq_queue *queue, struct mq_args both, struct mq_error *err)
{
    int64_t same = 0;
    if (both.values[1].s.len <= NUMBER_OCTETS || !mq_sql_has(queue, MQ_SQL_CONFIG_SAME)) {
        return MQ_OK;
    }
    MQ_TRY(mq_sql_int(queue, MQ_SQL_CONFIG_SAME, both, &same, err));
    return same ? MQ_OK
                : mq_error_set(err, MQ_SCHEMA, queue->names.config,
                               "the column `value` of table %s cannot hold the %zu octets of %s: "
                               "make it a TEXT in utf8mb4",
                               queue->names.config, both.values[1].s.len, both.values[0].s.data);
}

enum mq_status mq_config_put(struct mq_queue *queue, const char *key, const char *value,
                             struct mq_error *err)
{
    struct mq_args both = MQ_ARGS(mq_cstr(key), mq_cstr(value));
    if (!value) {
        return mq_sql_exec(queue, MQ_SQL_CONFIG_DELETE, MQ_ARGS(mq_cstr(key)), err);
    }
    MQ_TRY(mq_sql_exec(queue, MQ_SQL_CONFIG_UPDATE, both, err));
    if (mq_sql_changes(queue) == 0) {
        MQ_TRY(mq_sql_exec(queue, MQ_SQL_CONFIG_INSERT, both, err));
        if (mq_sql_changes(queue) == 0) {
            MQ_TRY(mq_sql_exec(queue, MQ_SQL_CONFIG_UPDATE, both, err));
        }
    }
    return check_whole(queue, both, err);
}
