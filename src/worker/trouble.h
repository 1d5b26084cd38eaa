/* Takes mails back from the transport and judges the relay by their failures. */
#ifndef MQ_WORKER_TROUBLE_H
#define MQ_WORKER_TROUBLE_H

#include "send/transfer.h"

struct mq_lane;
struct mq_run;

/* The failures since the last acceptance of this run. */
struct mq_doubts {
    int64_t mails;        /* failed mails: in `doubted`, or settled to give their tokens back */
    int64_t drew_trouble; /* times that a mail drew a 421 or the relay's trouble */
    bool denied;          /* one of their recipients was MQ_OUTCOME_DENIED */
    char domain[256];     /* of the last recipient that failed, from the "@" on */
    bool domains;         /* these mails have recipients in different domains */
    int below;            /* the lowest priority of these mails */
    bool lower;     /* claims only lower priorities than `below`, to see if the relay takes them */
    int64_t pauses; /* mq_queue_count_pauses(); -1: not asked yet */
};

/* What is known of the relay. */
struct mq_trouble {
    int64_t accepted;   /* jobs with an accepted recipient; 0 again if the relay is doubted later */
    int64_t accepted_s; /* UTC of the last acceptance in this run; 0: none */
    char reason[MQ_TARGET_REPLY_MAX]; /* of the last trouble */
    int64_t untouched;                /* mails in a row that came back untouched */
    bool pause_settled;               /* the first acceptance has cleared the relay's pause */
    bool found;                       /* the relay is paused, and its lane is closed */
    int64_t until_s, closed_ms;       /* the end of that, in UTC and in CLOCK_BOOTTIME */
    int64_t retry_ms; /* CLOCK_BOOTTIME; a stored pause is not cleared before then, as the database
                         was busy */
};

/* What the relay was found to be able to do (finding.c). */
struct mq_finding {
    const char *kept; /* what the queue has stored */
    int64_t until_s;  /* UTC; the finding is believed until then */
};

/* Moves finished mails to `done`, or to `doubted` if the failure may be the relay's. */
void mq_run_collect(struct mq_run *run);
/* Whether failures of this run must still be judged before it ends. */
bool mq_run_doubts_relays(const struct mq_run *run);
/* Looks for trouble of each relay: what the transport reports, or failures without an acceptance.
 * `idle`: nothing else is under way or to be claimed. The caller then collects the mails that this
 * recalls. */
void mq_run_watch_relays(struct mq_run *run, bool idle);

/* Closes the lane until then (UTC): mail waits, or goes to other lanes of its route. Ends the run
 * if no lane is open any more, unless the application chooses the relays; `reason` is then the
 * report's. */
void mq_lane_close(struct mq_lane *lane, int64_t until_s, const char *reason);
/* The same if the queue says that its relay is paused, for a lane that a claim did not know. */
void mq_lane_close_if_paused(struct mq_lane *lane);
/* Has the transports of relays that are not paused get ready for mail. False: one is still awaited,
 * and no other is ready; call this again soon. */
bool mq_run_prepare_lanes(const struct mq_run *run);
/* Opens a closed lane again when its time is over, as if it were a new run's. */
void mq_lane_reopen(struct mq_lane *lane);

/* Tells the transport what earlier runs have found out about the relay. */
void mq_lane_remember(struct mq_lane *lane);
/* Stores what this run has found out about the relay. */
void mq_lane_keep_finding(struct mq_lane *lane);
/* Tells the transport\'s news. */
void mq_lane_tell_note(struct mq_lane *lane);

#endif
