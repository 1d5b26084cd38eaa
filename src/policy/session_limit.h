/* How many sessions a relay is given: it falls when the relay says that there are too many, and
 * rises step by step when it no longer does (additive increase, multiplicative decrease, as TCP's
 * congestion window, RFC 5681). Times are those of one clock, in ms. */
#ifndef MQ_POLICY_SESSION_LIMIT_H
#define MQ_POLICY_SESSION_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mq_sessions {
    size_t most;      /* as configured, 1 or more */
    size_t allowed;   /* now, 1 … most */
    size_t ceiling;   /* so many were too many; 0: not known */
    bool refused;     /* the last fall was for a session that could not be opened */
    int64_t fell_ms;  /* the last fall; 0: none yet */
    int64_t raise_ms; /* the next rise, not before then */
    int64_t wait_ms;  /* how long the next fall keeps the number below the ceiling */
};

void mq_sessions_init(struct mq_sessions *sessions, size_t most);
/* One more than the `working` sessions could not be opened. They stay: the relay has taken them.
 * begun_ms is when that was tried. What began before the last fall belongs to it and changes
 * nothing. wait_s is what the relay asks for; 0: nothing. */
void mq_sessions_refused(struct mq_sessions *sessions, size_t working, int64_t begun_ms,
                         int64_t now_ms, int64_t wait_s);
/* A session that works, one of `working`, was told that there are too many: halves the number, once
 * for all that began before; if one more was just tried, takes that back. Returns false if there is
 * only this one. */
bool mq_sessions_crowded(struct mq_sessions *sessions, size_t working, int64_t begun_ms,
                         int64_t now_ms, int64_t wait_s);
/* `working` sessions are open, one of them since now. */
void mq_sessions_opened(struct mq_sessions *sessions, size_t working);
/* More sessions are needed than are allowed: allows more if it is time. */
void mq_sessions_raise(struct mq_sessions *sessions, int64_t now_ms);

#endif
