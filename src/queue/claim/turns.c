/* Which mail a claim passes over, and where the next claim goes on. */
#include "queue/claim/turns.h"

#include <string.h>

#include "queue/claim.h"

/* Mail can be committed with a due time that is a little in the past, so the next claims read the
 * last seconds again. */
#define BEHIND_S 2

static bool is_before(const struct mq_place *a, const struct mq_place *b)
{
    return a->due_s != b->due_s ? a->due_s < b->due_s : a->id < b->id;
}

/* The turn's place in this priority; NULL: the front. `add`: makes one, if there is room. */
static struct mq_place *place_of(struct mq_turn *turn, int64_t priority, bool add)
{
    size_t i = 0;
    while (i < turn->count && turn->places[i].priority != priority) {
        i++;
    }
    if (i == turn->count && add && i < MQ_TURN_PLACES) {
        turn->places[turn->count++] = (struct mq_place){priority, INT64_MIN, 0};
    }
    return i < turn->count ? &turn->places[i] : NULL;
}

static void move_to(struct mq_turn *turn, const struct mq_place *place)
{
    struct mq_place *at = place_of(turn, place->priority, true);
    if (at && is_before(at, place)) {
        *at = *place;
    }
}

void mq_turns_begin(struct mq_turns *turns)
{
    if (turns) {
        memcpy(turns->after, turns->before, turns->count * sizeof(*turns->after));
        turns->passed = 0;
        turns->goes_on = false;
    }
}

bool mq_turns_first(const struct mq_turns *turns, int64_t priority, struct mq_place *place,
                    int64_t *rows)
{
    *place = (struct mq_place){priority, INT64_MAX, INT64_MAX};
    *rows = turns ? 0 : MQ_CLAIM_MAX;
    for (size_t i = 0; turns && i < turns->count; i++) {
        struct mq_turn *turn = &turns->after[i];
        const struct mq_place front = {priority, INT64_MIN, 0};
        const struct mq_place *at = place_of(turn, priority, false);
        at = at ? at : &front;
        if (turn->room > 0 && is_before(at, place)) {
            *place = *at;
            *rows = 0;
        }
        *rows += turn->room > 0 && !is_before(place, at) ? turn->room : 0;
    }
    if (!turns) {
        place->due_s = INT64_MIN;
    }
    return *rows > 0;
}

bool mq_turns_full(const struct mq_turns *turns)
{
    bool any = false;
    for (size_t i = 0; turns && i < turns->count && !any; i++) {
        any = turns->after[i].room <= 0;
    }
    return any;
}

bool mq_turns_pass(struct mq_turns *turns, const struct mq_job *job, struct mq_turn **turn)
{
    *turn = turns ? &turns->after[turns->of(turns->context, job)] : NULL;
    bool passes = *turn && (*turn)->room <= 0;
    if (passes && ++turns->passed >= MQ_ROWS_A_CYCLE) {
        turns->goes_on = true;
    }
    return passes;
}

/* As long as nothing is passed over, all routes begin at the front. */
void mq_turns_take(const struct mq_turns *turns, struct mq_turn *turn, const struct mq_place *place)
{
    if (turn && --turn->room == 0 && turns->passed > 0) {
        move_to(turn, place);
    }
}

void mq_turns_reach(struct mq_turns *turns, const struct mq_place *place)
{
    for (size_t i = 0; turns && turns->passed > 0 && i < turns->count; i++) {
        if (turns->after[i].room > 0) {
            move_to(&turns->after[i], place);
        }
    }
}

void mq_turns_end(struct mq_turns *turns, bool empty, int64_t now_s)
{
    const struct mq_place last = {0, now_s - BEHIND_S, 0};
    for (size_t i = 0; turns && !turns->goes_on && i < turns->count; i++) {
        struct mq_turn *turn = &turns->after[i];
        turn->count = empty ? 0 : turn->count;
        for (size_t k = 0; k < turn->count; k++) {
            struct mq_place *place = &turn->places[k];
            if (is_before(&last, place)) {
                place->due_s = last.due_s;
                place->id = last.id;
            }
        }
    }
}
