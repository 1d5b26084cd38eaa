/* When mail to a domain is slowed down, and by how much: multiplicative decrease, additive
 * increase, as in policy/session_limit.c. */
#include "policy/slowdown.h"

#define ENOUGH      20  /* recipients that show how many of a domain's fail */
#define HALF_S      300 /* after so long, what was counted counts half */
#define PAUSE_S     10  /* the first pause, and the shortest */
#define PAUSE_MAX_S 320
#define RISE_S      100 /* each step is one mail more in this time */
#define FORGET_S    3600

static bool too_many(int64_t good, int64_t bad, int64_t percent)
{
    return bad * 100 > percent * (good + bad);
}

static void fade(struct mq_slowdown *slow, int64_t now_s)
{
    int64_t halves = (now_s - slow->since_s) / HALF_S;
    if (now_s < slow->since_s) { /* the clock was set back */
        slow->since_s = now_s;
        return;
    }
    if (halves > 62) { /* or nothing was counted yet */
        *slow = (struct mq_slowdown){
            .since_s = now_s, .pause_s = slow->pause_s, .changed_s = slow->changed_s};
        return;
    }
    slow->good >>= halves;
    slow->bad >>= halves;
    slow->since_s += halves * HALF_S;
}

static bool is_forgotten(const struct mq_slowdown *slow, int64_t now_s)
{
    return slow->pause_s > 0 && now_s - slow->changed_s >= FORGET_S;
}

static void set_pause(struct mq_slowdown *slow, int64_t pause_s, int64_t now_s)
{
    slow->pause_s = pause_s < PAUSE_MAX_S ? pause_s : PAUSE_MAX_S;
    slow->changed_s = now_s;
    /* The few mails of now count as much as the many before. */
    while (slow->good + slow->bad > 2 * ENOUGH) {
        slow->good /= 2;
        slow->bad = (slow->bad + 1) / 2;
    }
}

/* Sets the next pause. What comes within the last one had begun before it. */
static void adjust(struct mq_slowdown *slow, const struct mq_slow_seen *seen, int64_t percent,
                   int64_t now_s)
{
    int64_t faster_s = slow->pause_s * RISE_S / (slow->pause_s + RISE_S);
    if (now_s >= slow->changed_s && now_s < slow->changed_s + slow->pause_s) {
        return;
    }
    if (too_many(seen->good, seen->bad, percent)) {
        set_pause(slow, seen->general ? slow->pause_s : 2 * slow->pause_s, now_s);
    } else if (seen->good > 0 && faster_s < PAUSE_S && !too_many(slow->good, slow->bad, percent)) {
        *slow = (struct mq_slowdown){.since_s = now_s};
    } else if (seen->good > 0) {
        set_pause(slow, faster_s > PAUSE_S ? faster_s : PAUSE_S, now_s);
    }
}

void mq_slowdown_count(struct mq_slowdown *slow, const struct mq_slow_seen *seen, int64_t percent,
                       int64_t now_s)
{
    if (percent == 0 || is_forgotten(slow, now_s)) {
        *slow = (struct mq_slowdown){.since_s = now_s};
    }
    if (percent == 0) {
        return;
    }
    fade(slow, now_s);
    slow->good += seen->good;
    slow->bad += seen->bad;
    if (slow->pause_s > 0) {
        adjust(slow, seen, percent, now_s);
    } else if (seen->bad > 0 && !seen->general && slow->good + slow->bad >= ENOUGH &&
               too_many(slow->good, slow->bad, percent)) {
        set_pause(slow, PAUSE_S, now_s);
    }
}

int64_t mq_slowdown_pause_s(const struct mq_slowdown *slow, int64_t now_s)
{
    return is_forgotten(slow, now_s) ? 0 : slow->pause_s;
}

bool mq_slowdown_is_over(const struct mq_slowdown *slow, int64_t now_s)
{
    struct mq_slowdown now = *slow;
    fade(&now, now_s);
    return now.bad == 0 && mq_slowdown_pause_s(slow, now_s) == 0;
}
