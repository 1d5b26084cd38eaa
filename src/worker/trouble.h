/* What the transport gives back, and what it tells of the relay. */
#ifndef MQ_WORKER_TROUBLE_H
#define MQ_WORKER_TROUBLE_H

#include "send/transfer.h"

struct mq_run;

/* The failures since the last acceptance of this run. */
struct mq_doubts {
    int64_t mails;        /* that failed: in `doubted`, or settled to give back their tokens */
    int64_t drew_trouble; /* times that a mail drew a session's or the relay's trouble */
    bool denied;          /* one of them, or a denial by policy, is among them */
    char domain[256];     /* of the last recipient, from the "@" on */
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
    bool found;                       /* the relay is paused */
    int64_t retry_ms;                 /* CLOCK_BOOTTIME; nothing is written of it before */
};

/* What the relay was found to be able to do (finding.c). */
struct mq_finding {
    const char *kept; /* as the queue has it */
    int64_t until_s;  /* UTC; believed so long */
};

/* Takes finished mails back: into `done`, or into `doubted` where it may be the relay's failure. */
void mq_run_collect(struct mq_run *run);
/* Whether what this run met is to be judged before it ends. */
bool mq_run_doubts_relay(const struct mq_run *run);
/* Whether so many failed that nothing more may begin until what is under way has ended. */
bool mq_run_suspects_relay(const struct mq_run *run);
/* Looks for trouble: of the transport, or failures without an acceptance. `idle`: nothing else is
 * under way or to be claimed. What it recalls from the transport is still to be collected. */
void mq_run_watch_relay(struct mq_run *run, bool idle);

/* Tells the transport what earlier runs have found. */
void mq_run_remember(struct mq_run *run);
/* Keeps what this one has found. */
void mq_run_keep_finding(struct mq_run *run);

#endif
