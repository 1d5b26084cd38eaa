/* The number of a relay's sessions. From half of what was too many, it rises quickly to just below
 * that number, and stays there longer each time the number is still too many: each try costs the
 * relay a refused connection. */
#include "policy/session_limit.h"

/* The time between two steps, and how long the former ceiling must hold to count as passed. */
#define STEP_MS 500
#define HOLD_MS 3000
/* How long the number stays just below the ceiling: this, doubled up to the other. */
#define WAIT_MS     1000
#define WAIT_MAX_MS 30000
/* The number rises by 1, or by 1/STEPS of the most if that is more. */
#define STEPS 50

void mq_sessions_init(struct mq_sessions *sessions, size_t most)
{
    *sessions = (struct mq_sessions){.most = most, .allowed = most, .wait_ms = WAIT_MS};
}

static void fall(struct mq_sessions *sessions, size_t to, size_t ceiling, int64_t now_ms,
                 int64_t wait_s)
{
    if (sessions->ceiling != 0 && ceiling >= sessions->ceiling) { /* it was tried too early */
        int64_t doubled_ms = 2 * sessions->wait_ms;
        sessions->wait_ms = doubled_ms < WAIT_MAX_MS ? doubled_ms : WAIT_MAX_MS;
    }
    sessions->allowed = to > 0 ? to : 1;
    sessions->ceiling = ceiling;
    sessions->fell_ms = now_ms;
    sessions->raise_ms = now_ms + (to + 1 < ceiling ? STEP_MS : sessions->wait_ms);
    if (sessions->raise_ms < now_ms + wait_s * 1000) {
        sessions->raise_ms = now_ms + wait_s * 1000;
    }
}

static bool belongs_to_last(const struct mq_sessions *sessions, int64_t begun_ms)
{
    return sessions->fell_ms != 0 && begun_ms <= sessions->fell_ms;
}

void mq_sessions_refused(struct mq_sessions *sessions, size_t working, int64_t begun_ms,
                         int64_t now_ms, int64_t wait_s)
{
    if (!belongs_to_last(sessions, begun_ms)) {
        size_t to = working < sessions->most ? working : sessions->most;
        fall(sessions, to, to + 1, now_ms, wait_s);
        sessions->refused = true;
    }
}

bool mq_sessions_crowded(struct mq_sessions *sessions, size_t working, int64_t begun_ms,
                         int64_t now_ms, int64_t wait_s)
{
    size_t n = working < sessions->allowed ? working : sessions->allowed;
    if (belongs_to_last(sessions, begun_ms)) {
        return true;
    }
    if (n < 2) {
        return false;
    }
    /* One session more was tried and is too many: those before it were not. */
    bool tried = n == sessions->ceiling;
    fall(sessions, tried ? n - 1 : n / 2, n, now_ms, wait_s);
    sessions->refused = false;
    return true;
}

void mq_sessions_opened(struct mq_sessions *sessions, size_t working)
{
    /* It may have been accepted before the one that was refused. */
    if (sessions->refused && working > sessions->allowed && working <= sessions->most) {
        sessions->allowed = working;
        sessions->ceiling = working + 1;
    }
}

static size_t step_of(const struct mq_sessions *sessions)
{
    size_t step = (sessions->most + STEPS - 1) / STEPS;
    size_t left = sessions->most - sessions->allowed;
    if (sessions->ceiling != 0) {
        /* Up to just below the ceiling, and then one more. */
        size_t below = sessions->ceiling - 1;
        size_t gap = sessions->allowed < below ? below - sessions->allowed : 1;
        left = left < gap ? left : gap;
    }
    return step < left ? step : left;
}

void mq_sessions_raise(struct mq_sessions *sessions, int64_t now_ms)
{
    if (sessions->allowed >= sessions->most || now_ms < sessions->raise_ms) {
        return;
    }
    if (sessions->ceiling != 0 && sessions->allowed >= sessions->ceiling) {
        sessions->ceiling = 0; /* it has held */
        sessions->refused = false;
        sessions->wait_ms = WAIT_MS;
    }
    sessions->allowed += step_of(sessions);
    sessions->raise_ms = now_ms + STEP_MS;
    if (sessions->allowed + 1 == sessions->ceiling) {
        sessions->raise_ms = now_ms + sessions->wait_ms;
    } else if (sessions->allowed == sessions->ceiling) {
        sessions->raise_ms = now_ms + HOLD_MS;
    }
}
