/* Stores bounces and other events about addresses that got mail. */
#include "queue/suppress/bounce.h"

#include "queue/handle.h"
#include "queue/sql/transaction.h"
#include "queue/suppress/internal.h"

/* ---- events ---- */

/* What there is about an address. */
struct before {
    int all;
    int counting; /* of them */
    bool known;   /* one of them is the event */
};

static enum mq_status look(struct mq_tx *tx, uint64_t hash, int64_t event, struct before *out,
                           struct mq_error *err)
{
    *out = (struct before){0};
    enum mq_status status =
        mq_sql_query_template(tx->queue, "SELECT event, n FROM {!} WHERE hash = ?1{u}",
                              MQ_ARGS(mq_int((int64_t)hash)), err);
    while (mq_sql_next(tx->queue, &status, err)) {
        out->all++;
        out->known = out->known || mq_sql_column_int(tx->queue, 0) == event;
        out->counting += mq_sql_column_int(tx->queue, 1) > 0;
    }
    return status;
}

static enum mq_status store(struct mq_tx *tx, uint64_t hash, const struct mq_bounce *bounce,
                            struct mq_error *err)
{
    int64_t at_s = bounce->what.created_at;
    struct mq_args args = MQ_ARGS(mq_int((int64_t)hash), mq_int(bounce->event),
                                  mq_int(at_s > 0 && at_s < tx->now_s ? at_s : tx->now_s),
                                  mq_text(bounce->kind), mq_int(bounce->least > 1));
    return mq_sql_exec_text(tx->queue,
                            "INSERT INTO {!}(hash, event, at, kind, n) VALUES (?1, ?2, ?3, ?4, ?5)",
                            args, err);
}

/* Locks the number of suppressions first, as adding one does, so that events come one after the
 * other. */
static enum mq_status record(struct mq_tx *tx, uint64_t hash, const struct mq_bounce *bounce,
                             enum mq_bounce_result *result, struct mq_error *err)
{
    struct before before;
    struct mq_suppression what = bounce->what;
    int64_t newest = 0, added = 0;
    *result = MQ_BOUNCE_KNOWN;
    MQ_TRY(mq_suppress_newest(tx->queue, true, &newest, err));
    MQ_TRY(mq_sql_exec_text(tx->queue, "DELETE FROM {!} WHERE at < ?1",
                            MQ_ARGS(mq_int(tx->now_s - MQ_BOUNCE_DAYS * MQ_DAY_S)), err));
    MQ_TRY(look(tx, hash, bounce->event, &before, err));
    if (before.known || (before.all >= MQ_BOUNCES_MAX && bounce->least == 0)) {
        return MQ_OK;
    }
    MQ_TRY(before.all < MQ_BOUNCES_MAX ? store(tx, hash, bounce, err) : MQ_OK);
    *result = MQ_BOUNCE_COUNTED;
    if (bounce->least == 0 || (bounce->least > 1 && before.counting + 1 < bounce->least)) {
        return MQ_OK;
    }
    what.hash = hash;
    *result = MQ_BOUNCE_SUPPRESSED;
    return mq_suppress_add(tx, &what, 1, &added, err);
}

enum mq_status mq_queue_bounce(struct mq_queue *queue, const struct mq_bounce *bounce,
                               enum mq_bounce_result *result, struct mq_error *err)
{
    struct mq_tx tx = {.queue = queue};
    uint64_t hash = bounce->what.hash;
    if (!mq_queue_suppression_key(queue, err)) {
        return err->status;
    }
    enum mq_status status = bounce->what.address.data
                                ? mq_suppress_hash_of(queue, bounce->what.address, &hash, err)
                                : MQ_OK;
    while (mq_tx_next(&tx, &status, err)) {
        status = record(&tx, hash, bounce, result, err);
    }
    return status;
}
