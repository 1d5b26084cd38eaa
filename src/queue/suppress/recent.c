/* The hashes of the newest suppressions, in memory, so that a claim need not ask the database about
 * mail that was looked up when it was stored. */
#include <stdlib.h>

#include "queue/sql/dialect.h"
#include "queue/sql/statements.h"
#include "queue/suppress/internal.h"

/* To read a hash costs about as much as a question about a recipient. So that a run which claims
 * little does not read much, it reads at most twice as many as it has asked questions. */
#define LEAST           256
#define MOST            65536 /* 512 KiB */
#define READ_A_QUESTION 2

int64_t mq_suppress_reach(const struct mq_suppress_state *state)
{
    int64_t reach = LEAST;
    while (reach < MOST && state->asked >= (size_t)reach / READ_A_QUESTION) {
        reach *= 2;
    }
    return reach;
}

static int compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

bool mq_suppress_is_recent(const struct mq_suppress_state *state, uint64_t hash)
{
    return state->count &&
           bsearch(&hash, state->hashes, state->count, sizeof(hash), compare) != NULL;
}

/* Merges `count` sorted hashes into those of the state. False without memory. */
static bool merge(struct mq_suppress_state *state, const uint64_t *more, size_t count)
{
    size_t left = state->count, to = left + count;
    uint64_t *all = realloc(state->hashes, (to + 1) * sizeof(*all));
    if (!all) {
        return false;
    }
    state->hashes = all;
    state->count = to;
    while (count > 0) {
        all[--to] = left > 0 && all[left - 1] > more[count - 1] ? all[--left] : more[--count];
    }
    return true;
}

/* Reads the hashes after state->to. */
static enum mq_status read_more(struct mq_queue *queue, struct mq_suppress_state *state,
                                int64_t newest, struct mq_error *err)
{
    size_t count = 0, room = (size_t)(newest - state->to);
    uint64_t *more = malloc(room * sizeof(*more));
    enum mq_status status =
        more ? mq_sql_query_template(queue, "SELECT hash FROM {Z} WHERE seq > ?1 AND seq <= ?2",
                                     MQ_ARGS(mq_int(state->to), mq_int(newest)), err)
             : mq_error_nomem(err);
    while (mq_sql_next(queue, &status, err)) {
        if (count < room) { /* numbers are unique, so there is room */
            more[count++] = (uint64_t)mq_sql_column_int(queue, 0);
        }
    }
    if (count > 0) {
        qsort(more, count, sizeof(*more), compare);
    }
    if (status == MQ_OK && !merge(state, more, count)) {
        status = mq_error_nomem(err);
    }
    free(more);
    return status;
}

enum mq_status mq_suppress_recent(struct mq_queue *queue, struct mq_suppress_state *state,
                                  int64_t from, int64_t newest, struct mq_error *err)
{
    if (state->to == newest && state->from <= from) {
        return MQ_OK;
    }
    if (state->to == 0 || state->to > newest || state->from > from || newest - state->from > MOST) {
        state->from = state->to = from;
        state->count = 0;
    }
    enum mq_status status = read_more(queue, state, newest, err);
    state->to = status == MQ_OK ? newest : 0;
    return status;
}
