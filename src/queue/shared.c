/* What processes share through the database: time, identity, worker slots, and the news that mail
 * was stored. */
#include <poll.h>
#include <stdlib.h>

#include "core/hash.h"
#include "db/db.h"
#include "queue/handle.h"
#include "queue/news.h"
#include "queue/queue.h"

/* ---- time ---- */

static int64_t host_ms(void *context)
{
    const struct mq_queue *queue = context;
    return queue->host.boot_ms(queue->host.context);
}

static int64_t shared_now_us(void *context)
{
    const struct mq_queue *queue = context;
    if (queue->server_time_us == 0) {
        return queue->host.now_us(queue->host.context);
    }
    return queue->server_time_us + (host_ms(context) - queue->told_ms) * 1000;
}

void mq_queue_set_clock(struct mq_queue *queue, const struct mq_clock *host)
{
    queue->host = *host;
    queue->clock = *host;
    if (queue->dialect->shared) {
        queue->clock = (struct mq_clock){shared_now_us, host_ms, queue};
    }
}

const char *mq_queue_table(const struct mq_queue *queue)
{
    return queue->names.table;
}

const struct mq_clock *mq_queue_clock(const struct mq_queue *queue)
{
    return &queue->clock;
}

enum mq_status mq_queue_now(struct mq_queue *queue, int64_t *now_s, struct mq_error *err)
{
    if (!mq_sql_has(queue, MQ_SQL_NOW)) {
        *now_s = mq_clock_now_s(&queue->clock);
        return MQ_OK;
    }
    /* Sets the clock to the end of the second that the server says, as of before the query. So it
     * is never slow: if a mail were dated too early, the hourly limit would forget it too soon. */
    int64_t asked_ms = host_ms(queue);
    int64_t told_s = 0;
    MQ_TRY(mq_sql_int(queue, MQ_SQL_NOW, MQ_NO_ARGS, &told_s, err));
    *now_s = told_s;
    queue->server_time_us = told_s * 1000000 + 999999;
    queue->told_ms = asked_ms;
    return MQ_OK;
}

/* ---- identity and slots ---- */

const char *mq_queue_identity(struct mq_queue *queue, struct mq_error *err)
{
    if (queue->identity || !mq_sql_has(queue, MQ_SQL_IDENTITY)) {
        return queue->identity;
    }
    enum mq_status status =
        mq_sql_text_of(queue, MQ_SQL_IDENTITY, MQ_NO_ARGS, &queue->identity, err);
    if (!queue->identity && (status == MQ_OK || status == MQ_DATABASE || status == MQ_READONLY)) {
        /* The server is too old, or does not tell its identity to this user. If this host works for
         * two such servers, they share a run directory: at worst a mail counts as uncertain
         * although its outcome was known. */
        queue->identity = mq_str_dup(mq_str_of(queue->names.table));
        if (!queue->identity) {
            mq_error_nomem(err);
        }
    }
    return queue->identity;
}

/* The queue's number in its server's locks: 31 bits, because PostgreSQL takes a signed integer. */
static enum mq_status number_of(struct mq_queue *queue, int64_t *number, struct mq_error *err)
{
    const char *identity = mq_queue_identity(queue, err);
    if (!identity) {
        return err ? err->status : MQ_DATABASE;
    }
    *number = (int64_t)(mq_hash_32(mq_str_of(identity)) >> 1);
    return MQ_OK;
}

enum mq_status mq_queue_take_slot(struct mq_queue *queue, int max, int *slot, struct mq_error *err)
{
    int64_t number = 0;
    int64_t taken = 0;
    MQ_TRY(number_of(queue, &number, err));
    for (int i = 0; i < max && !taken; i++) {
        struct mq_args args = MQ_ARGS(mq_int(number), mq_int(i));
        MQ_TRY(mq_sql_int(queue, MQ_SQL_SLOT_TAKE, args, &taken, err));
        *slot = i;
    }
    if (!taken) {
        *slot = -1;
    }
    return MQ_OK;
}

void mq_queue_free_slot(struct mq_queue *queue, int slot)
{
    struct mq_error why;
    int64_t number = 0;
    if (number_of(queue, &number, &why) == MQ_OK) {
        mq_sql_exec(queue, MQ_SQL_SLOT_FREE, MQ_ARGS(mq_int(number), mq_int(slot)), &why);
    }
}

enum mq_status mq_queue_slots_held(struct mq_queue *queue, int max, int *held, struct mq_error *err)
{
    int64_t number = 0;
    int64_t count = 0;
    MQ_TRY(number_of(queue, &number, err));
    struct mq_args args = MQ_ARGS(mq_int(number), mq_int(max));
    MQ_TRY(mq_sql_int(queue, MQ_SQL_SLOTS_HELD, args, &count, err));
    *held = (int)count;
    return MQ_OK;
}

/* ---- news ---- */

/* A failure is not reported: the next transaction shows if the connection is lost. */
static void unlisten(struct mq_queue *queue)
{
    struct mq_error why;
    const char *script = mq_sql_text(queue, MQ_SQL_UNLISTEN);
    if (script) {
        mq_db_script(queue->db, script, &why);
    }
}

static bool can_listen(struct mq_queue *queue)
{
    struct mq_error why;
    int64_t taken = 0;
    if (mq_sql_int(queue, MQ_SQL_LISTEN_LOCK, MQ_NO_ARGS, &taken, &why) != MQ_OK || !taken) {
        return false;
    }
    if (mq_sql_exec(queue, MQ_SQL_LISTEN, MQ_NO_ARGS, &why) == MQ_OK) {
        return true;
    }
    unlisten(queue);
    return false;
}

bool mq_queue_watch(struct mq_queue *queue, bool *begun)
{
    *begun = false;
    if (!queue->listens && queue->db->waits && mq_sql_has(queue, MQ_SQL_LISTEN)) {
        *begun = queue->listens = can_listen(queue);
    }
    return queue->listens || mq_sql_has(queue, MQ_SQL_VERSION);
}

enum mq_status mq_queue_wait(struct mq_queue *queue, int64_t ms, bool *told, struct mq_error *err)
{
    int64_t version = queue->version;
    if (queue->listens) {
        return queue->db->driver->wait(queue->db, ms, told, err);
    }
    poll(NULL, 0, (int)ms);
    if (mq_sql_has(queue, MQ_SQL_VERSION)) {
        MQ_TRY(mq_sql_int(queue, MQ_SQL_VERSION, MQ_NO_ARGS, &version, err));
    }
    *told = version != queue->version;
    queue->version = version;
    return MQ_OK;
}

void mq_queue_unwatch(struct mq_queue *queue)
{
    if (queue->listens) {
        queue->listens = false;
        unlisten(queue);
    }
}
