/* Doubts about the relay. */
#ifndef MQ_WORKER_TROUBLE_H
#define MQ_WORKER_TROUBLE_H

#include "send/transport.h"
#include <stdbool.h>
#include <stdint.h>

struct mq_delivery;
struct mq_job;
struct mq_run;

/* The failures since the last acceptance of this run. */
struct mq_doubts {
    int64_t mails;        /* that failed: in `doubted`, or settled to give back their tokens */
    int64_t drew_trouble; /* times that a mail drew a session's or the relay's trouble */
    bool denied;          /* one of them, or a denial by policy, is among them */
    uint64_t domain;      /* hash of the first recipient's */
    bool domains;         /* there are others */
    int below;            /* the lowest of their priorities */
    bool lower;           /* only mail of lower ones is claimed: does the relay take that? */
    int64_t pauses;       /* mq_queue_count_pauses(); -1: not asked yet */
};

/* What is known of the relay. */
struct mq_trouble {
    int64_t accepted;   /* jobs with an accepted recipient; 0 again when the relay is doubted */
    int64_t accepted_s; /* UTC, of the last of this run; 0: none was */
    char reason[MQ_TARGET_REPLY_MAX]; /* of the last trouble */
    int64_t untouched;                /* in a row */
    bool pause_settled;               /* the first acceptance has cleared the relay's pause */
    int64_t clear_pause_ms;           /* when to try that again */
    bool found;                       /* the relay is paused */
};

/* A job was accepted, or failed and nothing else (the delivery, in no list, goes into `doubted`).
 */
void mq_run_accepted(struct mq_run *run);
void mq_run_doubted(struct mq_run *run, struct mq_delivery *delivery);
/* A job failed: whether it is known, since its last attempt, that the relay works. */
bool mq_run_relay_works(struct mq_run *run, const struct mq_job *job);
/* A job that the transport gave back drew the trouble itself: it goes back behind the others. */
void mq_run_drew_trouble(struct mq_run *run, struct mq_delivery *delivery);
/* Whether what this run met is to be judged before it ends. */
bool mq_run_doubts_relay(const struct mq_run *run);
/* Whether so many failed that nothing more may begin until what is under way has ended. */
bool mq_run_suspects_relay(const struct mq_run *run);
/* Looks for trouble: of the transport, or failures without an acceptance. `idle`: nothing else is
 * under way or to be claimed. What it recalls from the transport is still to be collected. */
void mq_run_watch_relay(struct mq_run *run, bool idle);

#endif
