/* The routes of a run at a claim. Mail whose route cannot take more now is passed over: it stays
 * as it is, and the claim goes on behind it. So that the next claims need not read it again, each
 * route has places: the first mail of the route is behind them. */
#ifndef MQ_QUEUE_CLAIM_TURNS_H
#define MQ_QUEUE_CLAIM_TURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mq_job;

/* A job's place in the order of claims; without a due time, the front. */
struct mq_place {
    int64_t priority, due_s, id;
};

enum { MQ_TURN_PLACES = 8 }; /* priorities; in others a route begins at the front */

struct mq_turn {
    int64_t room; /* how many more jobs the route can take */
    struct mq_place places[MQ_TURN_PLACES];
    size_t count;
};

struct mq_turns {
    const struct mq_turn *before; /* one for each route */
    struct mq_turn *after;        /* out: valid if the transaction is committed */
    size_t count;
    /* The index of a job's route. Called within the transaction. */
    size_t (*of)(void *context, const struct mq_job *job);
    void *context;
    int64_t passed; /* out: how many jobs the claim has passed over */
    bool goes_on;   /* out: there were too many for one claim, so the next one goes on */
};

/* Begins a claim. All functions do nothing without turns (NULL), or a turn. */
void mq_turns_begin(struct mq_turns *turns);
/* Finds the place behind which the routes with room have mail of this priority. *rows: how many
 * jobs the routes that begin there can take. Returns false if no route has room. */
bool mq_turns_first(const struct mq_turns *turns, int64_t priority, struct mq_place *place,
                    int64_t *rows);
/* Whether a route is full, so that jobs may be left for it. */
bool mq_turns_full(const struct mq_turns *turns);
/* Whether the job is passed over. *turn: its route's. */
bool mq_turns_pass(struct mq_turns *turns, const struct mq_job *job, struct mq_turn **turn);
/* Notes that the route took a job from this place. */
void mq_turns_take(const struct mq_turns *turns, struct mq_turn *turn,
                   const struct mq_place *place);
/* Notes that all jobs of the place's priority up to it were looked at. */
void mq_turns_reach(struct mq_turns *turns, const struct mq_place *place);
/* Ends a claim. `empty`: it left no due job. */
void mq_turns_end(struct mq_turns *turns, bool empty, int64_t now_s);

#endif
