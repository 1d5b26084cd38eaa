/* Which deliveries count for which domains of recipients, and which ones are held. A domain is
 * known here as long as it has deliveries. */
#include "worker/relay/kept.h"

#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "policy/limits.h"
#include "queue/claim.h"
#include "worker/deliveries.h"
#include "worker/run.h"

#define HELD_MAX 100 /* of one domain */
#define DOT_MS   100 /* for a mail, as long as nothing is known of the relay */
#define BACK_MAX 600 /* seconds */

struct mq_domain_sessions {
    char *text;
    struct mq_limits rules; /* n is the number; they point into the text */
    struct mq_domain_use **items;
    size_t count, room;
};

/* ---- the domains ---- */

static void free_use(struct mq_domain_use *use)
{
    free(use->name);
    free(use);
}

void mq_domain_sessions_free(struct mq_domain_sessions *sessions)
{
    for (size_t i = 0; sessions && i < sessions->count; i++) {
        free_use(sessions->items[i]);
    }
    if (sessions) {
        free(sessions->items);
        free(sessions->text);
    }
    free(sessions);
}

static size_t most_of(const struct mq_domain_sessions *sessions, const char *name)
{
    return (size_t)mq_sessions_to(&sessions->rules, name);
}

static struct mq_domain_use *find(const struct mq_domain_sessions *sessions, struct mq_str name)
{
    uint64_t hash = mq_hash_lower(name);
    for (size_t i = 0; i < sessions->count; i++) {
        struct mq_domain_use *use = sessions->items[i];
        if (use->hash == hash && mq_str_equal_nocase(mq_str_of(use->name), name)) {
            return use;
        }
    }
    return NULL;
}

/* Finds a domain, or adds it if it has a rule. NULL: it has none, or without memory, which only
 * means that its deliveries are not held. */
static struct mq_domain_use *find_or_add(struct mq_domain_sessions *sessions, struct mq_str name)
{
    struct mq_domain_use *use = find(sessions, name);
    if (use || most_of(sessions, name.data) == 0) {
        return use;
    }
    if (sessions->count == sessions->room) {
        size_t room = sessions->room ? 2 * sessions->room : 16;
        struct mq_domain_use **items = realloc(sessions->items, room * sizeof(*items));
        if (!items) {
            return NULL;
        }
        sessions->items = items;
        sessions->room = room;
    }
    use = calloc(1, sizeof(*use));
    if (!use || !(use->name = mq_str_dup(name))) {
        free(use);
        return NULL;
    }
    use->hash = mq_hash_lower(name);
    use->most = most_of(sessions, use->name);
    sessions->items[sessions->count++] = use;
    return use;
}

/* ---- the rules ---- */

enum mq_status mq_run_take_sessions(struct mq_run *run, const struct mq_claim *claim,
                                    struct mq_error *err)
{
    struct mq_domain_sessions *sessions = run->sessions;
    struct mq_str before = mq_str_of(sessions ? sessions->text : NULL);
    struct mq_str now = mq_str_of(claim->sessions);
    if (mq_str_equal(before, now)) {
        return MQ_OK;
    }
    if (!sessions) {
        sessions = run->sessions = calloc(1, sizeof(*sessions));
    }
    char *text = sessions ? mq_str_dup(now) : NULL;
    if (!text) {
        return mq_error_nomem(err);
    }
    free(sessions->text);
    sessions->text = text;
    MQ_TRY(mq_sessions_parse(mq_str_of(text), &sessions->rules, err));
    for (size_t i = 0; i < sessions->count; i++) {
        sessions->items[i]->most = most_of(sessions, sessions->items[i]->name);
    }
    run->domain_left = true;
    return MQ_OK;
}

/* ---- what goes ---- */

/* Whether all its domains have room. */
static bool has_room(const struct mq_delivery *delivery)
{
    bool all = true;
    for (size_t i = 0; i < delivery->use_count; i++) {
        const struct mq_domain_use *use = delivery->uses[i];
        all = all && (use->most == 0 || use->count < use->most);
    }
    return all;
}

/* Lists the delivery's domains that have rules, each once. */
static void list_uses(struct mq_domain_sessions *sessions, struct mq_delivery *delivery)
{
    const struct mq_strings *to = &delivery->job.recipients;
    for (size_t i = 0; i < to->count; i++) {
        const char *at = strrchr(to->items[i], '@');
        struct mq_domain_use *use = at ? find_or_add(sessions, mq_str_of(at)) : NULL;
        struct mq_domain_use **uses = NULL;
        size_t known = 0;
        while (known < delivery->use_count && delivery->uses[known] != use) {
            known++;
        }
        if (use && known == delivery->use_count) {
            uses = realloc(delivery->uses, (known + 1) * sizeof(struct mq_domain_use *));
        }
        if (uses) {
            delivery->uses = uses;
            uses[delivery->use_count++] = use;
        }
    }
}

/* Counts the delivery for its domains: as one that goes, or is held. */
static void count(struct mq_delivery *delivery, bool goes)
{
    delivery->is_kept = !goes;
    for (size_t i = 0; i < delivery->use_count; i++) {
        delivery->uses[i]->count += goes;
        delivery->uses[i]->held += !goes;
    }
}

/* For how many seconds a delivery goes back to the queue, because too many are held, of one of its
 * domains or of all; 0: it is held as well. That is half the time until its turn, so that a domain
 * never runs out of held mail. */
static int64_t back_s(struct mq_delivery *delivery)
{
    const struct mq_run *run = delivery->run;
    int64_t now_ms = mq_run_now_ms(run), dot_ms = mq_run_dot_ms(run);
    int64_t all = mq_least((int64_t)run->slots, mq_run_claims_max(run));
    bool many = (int64_t)run->kept.count >= all / 2; /* the others are for mail that can go */
    int64_t seconds = 0;
    for (size_t i = 0; i < delivery->use_count; i++) {
        struct mq_domain_use *use = delivery->uses[i];
        if (use->most == 0 || (use->held < HELD_MAX && !(many && use->count >= use->most))) {
            continue;
        }
        int64_t step_ms = (dot_ms > 0 ? dot_ms : DOT_MS) / (int64_t)use->most + 1;
        int64_t turn_ms = now_ms + (int64_t)use->held * step_ms;
        use->line_ms = (use->line_ms > turn_ms ? use->line_ms : turn_ms) + step_ms;
        seconds = mq_least((use->line_ms - now_ms) / 2000, BACK_MAX);
        seconds = seconds < 1 ? 1 : seconds;
    }
    return seconds;
}

bool mq_delivery_enters(struct mq_delivery *delivery, int64_t *seconds)
{
    struct mq_run *run = delivery->run;
    bool known = delivery->use_count > 0; /* it was held, or moves to another route */
    *seconds = 0;
    if (known || !run->sessions || run->sessions->rules.count == 0) {
        return true;
    }
    list_uses(run->sessions, delivery);
    bool goes = has_room(delivery);
    *seconds = goes ? 0 : back_s(delivery);
    count(delivery, goes);
    if (!goes && *seconds == 0) {
        mq_delivery_move(delivery, &run->kept);
    }
    return goes;
}

/* Forgets domains without deliveries. */
static void forget_unused(struct mq_domain_sessions *sessions)
{
    size_t kept = 0;
    for (size_t i = 0; i < sessions->count; i++) {
        struct mq_domain_use *use = sessions->items[i];
        if (use->count + use->held > 0) {
            sessions->items[kept++] = use;
        } else {
            free_use(use);
        }
    }
    sessions->count = kept;
}

struct mq_delivery *mq_run_next_held(struct mq_run *run)
{
    struct mq_delivery *delivery = run->kept.head;
    if (!run->domain_left || run->stop.begun) {
        return NULL;
    }
    while (delivery && !has_room(delivery)) {
        delivery = delivery->next;
    }
    if (!delivery) {
        run->domain_left = false;
        forget_unused(run->sessions);
        return NULL;
    }
    for (size_t i = 0; i < delivery->use_count; i++) {
        delivery->uses[i]->held--;
    }
    count(delivery, true);
    return delivery;
}
