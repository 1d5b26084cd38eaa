/* Claims and settles of many rows in few statements, where each statement is a journey to a server.
 * What is to be written is the same as row by row. */
#include "queue/batch.h"

#include <stdlib.h>
#include <string.h>

#include "queue/job.h"
#include "queue/limit.h"
#include "queue/sql/columns.h"
#include "queue/steps.h"

/* ---- lists ---- */

void mq_batch_list_add(struct mq_buffer *list, int64_t id, int64_t beside)
{
    mq_buffer_cstr(list, list->len ? ",[" : "[[");
    mq_buffer_int(list, id);
    mq_buffer_char(list, ',');
    mq_buffer_int(list, beside);
    mq_buffer_char(list, ']');
}

struct mq_value mq_batch_list_value(struct mq_buffer *list)
{
    mq_buffer_cstr(list, list->len ? "]" : "[]");
    return mq_text(mq_buffer_view(list));
}

/* ---- claims ---- */

bool mq_batch_claims(const struct mq_queue *queue)
{
    return mq_sql_has(queue, MQ_SQL_CLAIM_TAKE_MANY);
}

enum mq_status mq_batch_take(struct mq_tx *tx, struct mq_job *jobs, size_t count,
                             struct mq_error *err)
{
    struct mq_buffer list;
    struct mq_queue *queue = tx->queue;
    mq_buffer_init(&list);
    for (size_t i = 0; i < count; i++) {
        mq_batch_list_add(&list, jobs[i].id, jobs[i].paid);
    }
    struct mq_value values[] = {mq_null(), mq_int(jobs[0].locked_until), mq_cstr(jobs[0].locked_by),
                                mq_batch_list_value(&list)};
    struct mq_transition change = {MQ_PENDING, MQ_SENDING, MQ_SQL_CLAIM_TAKE_MANY, values, 4};
    enum mq_status status =
        list.failed ? mq_error_nomem(err) : mq_job_transition(queue, &change, err);
    mq_buffer_clear(&list);
    return status;
}

/* ---- settles ---- */

/* How an outcome is settled. */
enum way {
    BY_ROW,
    UNCONFIRMED, /* with the others, unless it turns out to be GONE: the lease stood, the row is
                    deleted */
    GONE
};

/* The outcomes of a cycle. */
struct group {
    struct mq_settlement *outcomes;
    size_t count;
    unsigned char *ways;
    struct mq_buffer rows; /* of the ones to delete, with their attempts */
    struct mq_buffer gone;
    const char *token; /* of all of them */
    size_t hint;       /* rows mostly come back in the order of their ids */
};

static void sort_out(struct group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        const struct mq_job *job = group->outcomes[i].job;
        if (!mq_settle_deletes(&group->outcomes[i])) {
            continue;
        }
        group->token = group->token ? group->token : job->locked_by;
        if (strcmp(group->token, job->locked_by) == 0) {
            group->ways[i] = UNCONFIRMED;
            mq_batch_list_add(&group->rows, job->id, job->attempts);
        }
    }
}

static void mark_gone(struct group *group, int64_t id, int64_t attempts)
{
    for (size_t n = 0; n < group->count; n++) {
        size_t i = (group->hint + n) % group->count;
        const struct mq_job *job = group->outcomes[i].job;
        if (group->ways[i] == UNCONFIRMED && job->id == id && job->attempts == attempts) {
            group->ways[i] = GONE;
            group->hint = i + 1;
            mq_batch_list_add(&group->gone, id, 0);
            return;
        }
    }
}

/* Deletes the rows whose lease stands, as one statement or, where a DELETE does not tell what it
 * deleted, by another behind it; then their bodies. */
static enum mq_status delete_rows(struct mq_queue *queue, struct group *group, struct mq_error *err)
{
    bool row = true;
    struct mq_args fence = MQ_ARGS(mq_batch_list_value(&group->rows), mq_cstr(group->token));
    enum mq_status status = group->rows.failed
                                ? mq_error_nomem(err)
                                : mq_sql_query(queue, MQ_SQL_SETTLE_DELETE_MANY, fence, err);
    while (status == MQ_OK) {
        status = mq_sql_next(queue, &row, err);
        if (status != MQ_OK || !row) {
            break;
        }
        mark_gone(group, mq_sql_column_int(queue, 0), mq_sql_column_int(queue, 1));
    }
    if (status != MQ_OK || (group->gone.len == 0 && !group->gone.failed)) {
        return status;
    }
    struct mq_value list = mq_batch_list_value(&group->gone);
    if (group->gone.failed) {
        return mq_error_nomem(err);
    }
    if (mq_sql_has(queue, MQ_SQL_DELETE_JOBS)) {
        status = mq_sql_exec(queue, MQ_SQL_DELETE_JOBS, MQ_ARGS(list), err);
    }
    return status == MQ_OK ? mq_sql_exec(queue, MQ_SQL_DELETE_BODIES, MQ_ARGS(list), err) : status;
}

/* What the group paid for and has handed over at one time. */
struct spent {
    int64_t paid;
    int64_t handed;
    int64_t at_s;
};

static enum mq_status spend(struct mq_tx *tx, struct spent *spent, struct mq_error *err)
{
    struct spent now = *spent;
    memset(spent, 0, sizeof(*spent));
    return now.paid || now.handed ? mq_limit_return(tx, now.paid, now.handed, now.at_s, err)
                                  : MQ_OK;
}

/* The tokens of one, with those of the ones before where the times are the same. */
static enum mq_status add_spent(struct mq_tx *tx, const struct mq_settlement *outcome,
                                struct spent *spent, struct mq_error *err)
{
    int64_t at_s = mq_limit_taken_s(tx, outcome);
    enum mq_status status = spent->at_s == at_s ? MQ_OK : spend(tx, spent, err);
    int64_t handed = outcome->handed_over;
    spent->at_s = at_s;
    spent->handed += handed;
    spent->paid += outcome->job->paid > handed ? outcome->job->paid : handed;
    return status;
}

/* All in their order: what is told is the same as row by row. */
static enum mq_status settle_each(struct mq_tx *tx, struct group *group, struct mq_error *err)
{
    enum mq_status status = MQ_OK;
    struct spent spent = {0};
    for (size_t i = 0; i < group->count && status == MQ_OK; i++) {
        struct mq_settlement *outcome = &group->outcomes[i];
        if (group->ways[i] == BY_ROW) {
            status = mq_settle_one(tx, outcome, MQ_EVENT_RELEASED, err);
            continue;
        }
        mq_settle_deleted(tx, outcome, group->ways[i] == GONE);
        if (group->ways[i] == GONE) {
            status = add_spent(tx, outcome, &spent, err);
        }
    }
    return status == MQ_OK ? spend(tx, &spent, err) : status;
}

enum mq_status mq_batch_settle(struct mq_tx *tx, struct mq_settlement *outcomes, size_t count,
                               struct mq_error *err)
{
    struct group group = {.outcomes = outcomes, .count = count};
    group.ways = calloc(count ? count : 1, 1);
    if (!group.ways) {
        return mq_error_nomem(err);
    }
    mq_buffer_init(&group.rows);
    mq_buffer_init(&group.gone);
    if (count > 1 && mq_sql_has(tx->queue, MQ_SQL_SETTLE_DELETE_MANY)) {
        sort_out(&group);
    }
    enum mq_status status = group.token ? delete_rows(tx->queue, &group, err) : MQ_OK;
    if (status == MQ_OK) {
        status = settle_each(tx, &group, err);
    }
    mq_buffer_clear(&group.rows);
    mq_buffer_clear(&group.gone);
    free(group.ways);
    return status;
}
