/* Reading and setting a config key, for people and programs. */

#include <stdlib.h>
#include <string.h>

#include "queue/config/kept_hours.h"
#include "queue/config/keys.h"
#include "queue/handle.h"
#include "queue/job.h"
#include "queue/queue.h"
#include "queue/sql/schema.h"
#include "queue/sql/transaction.h"

enum mq_status mq_queue_config(struct mq_queue *queue, const char *key, char **value,
                               struct mq_error *err)
{
    MQ_TRY(mq_schema_check(queue, err));
    return mq_sql_text_of(queue, MQ_SQL_CONFIG_GET, MQ_ARGS(mq_cstr(key)), value, err);
}

enum mq_status mq_queue_max_workers(struct mq_queue *queue, int *most, struct mq_error *err)
{
    const struct mq_config_key *key = &mq_config_keys[MQ_KEY_MAX_WORKERS];
    char *text = NULL;
    int64_t number = 0;
    MQ_TRY(mq_queue_config(queue, key->name, &text, err));
    mq_config_parse(key->kind, mq_str_of(key->standard), &number);
    mq_config_parse(key->kind, mq_str_trim(mq_str_of(text)), &number);
    free(text);
    *most = (int)number;
    return MQ_OK;
}

static enum mq_status check_set(struct mq_queue *queue, const char *name, const char *value,
                                struct mq_error *err)
{
    if (!name[0]) {
        return mq_error_set(err, MQ_INVALID, "key", "a config key cannot be empty");
    }
    if (strcmp(name, queue->names.version_key) == 0) {
        return mq_error_set(err, MQ_INVALID, name,
                            "%s is set by migrations alone: run `mailqueue migrate`", name);
    }
    const struct mq_config_key *key = mq_config_key(name);
    struct mq_str text = mq_str_trim(mq_str_of(value));
    int64_t number = 0;
    if (!key || text.len == 0) {
        return MQ_OK;
    }
    if (mq_config_parse(key->kind, text, &number)) {
        return key == &mq_config_keys[MQ_KEY_HOURS] ? mq_hours_check(queue, value, err) : MQ_OK;
    }
    struct mq_error why;
    mq_config_why(key, text, &why);
    return mq_error_set(err, MQ_INVALID, name, "%s cannot be \"%.*s\"; %s", name,
                        (int)mq_utf8_cut(text, 100), text.data, why.text);
}

static bool is_key(const char *key, enum mq_config_id id)
{
    return strcmp(key, mq_config_keys[id].name) == 0;
}

/* Mail that waits because its domain is slowed down, or its relays are paused, is tried at once by
 * another setting. */
static enum mq_status end_waits(struct mq_tx *tx, const char *key, struct mq_error *err)
{
    bool slow = is_key(key, MQ_KEY_SLOWDOWN) || is_key(key, MQ_KEY_SLOW_DOMAINS);
    if (!slow && !is_key(key, MQ_KEY_RELAY_PAUSE)) {
        return MQ_OK;
    }
    return mq_sql_exec_text(
        tx->queue,
        "UPDATE {t} SET next_attempt_at = ?1, waits_for = NULL WHERE waits_for "
        "LIKE ?2 AND next_attempt_at > ?1 AND " MQ_CLAIMABLE_SQL,
        MQ_ARGS(mq_int(tx->now_s), mq_cstr(slow ? "mailSlowdown:%" : MQ_FOR_PAUSE)), err);
}

enum mq_status mq_queue_set_config(struct mq_queue *queue, const char *key, const char *value,
                                   struct mq_error *err)
{
    struct mq_tx tx = {.queue = queue};
    enum mq_status status = check_set(queue, key, value, err);
    while (mq_tx_next(&tx, &status, err)) {
        status = mq_config_put(queue, key, value, err);
        status = status == MQ_OK ? end_waits(&tx, key, err) : status;
    }
    return status;
}
