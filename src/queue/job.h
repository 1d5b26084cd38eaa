/* A job: one row of the queue in memory. */
#ifndef MQ_QUEUE_JOB_H
#define MQ_QUEUE_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "mime/notify.h"
#include "policy/job_state.h"

/* parked_for of a waiting row: it was put back until its hours begin (mailHours). */
#define MQ_FOR_HOURS "hours"
#define MQ_FOR_PAUSE "pause"

/* Where the message of a claimed job is (body.c). */
enum mq_body_state {
    MQ_BODY_UNKNOWN, /* not looked up yet */
    MQ_BODY_NONE,    /* it is composed when sent */
    MQ_BODY_STORED,  /* in the database only; body_len says how large it is */
    MQ_BODY_LOADED,
    MQ_BODY_LOST /* the row is gone or belongs to another claim: it must not be sent */
};

/* All strings are malloc'ed and owned by the job; NULL where the column is NULL. Times are UTC
 * seconds, 0 where the column is NULL. */
struct mq_job {
    int64_t id;
    char *reference;
    char *mail_type;
    enum mq_state state;
    bool unreadable; /* another program wrote unusable recipients, sender or claim token */
    int priority;
    int attempts;     /* in a claimed job they include the current one */
    int max_attempts; /* 0: as the backoff policy says */
    int uncertain;
    int paid;       /* tokens paid in this claim; 0 without a limit */
    char *paid_to;  /* the relay whose limits they count for; NULL: no relay has limits */
    bool from_paid; /* they count for the limits of its sender as well */
    bool to_paid;   /* they count for those of its recipients as well */
    char *put_back; /* the limit that put it back since its last claim, or MQ_FOR_PAUSE, or, by
                       mq_queue_expect(), the limit that it waits for; NULL: none */
    int64_t next_attempt_at;
    int64_t expires_at;
    int64_t locked_until;
    char locked_by[MQ_TOKEN_HEX + 1];
    int64_t last_attempt_at;
    int64_t created_at;
    int64_t expected_at;   /* when it will go (mq_queue_expect()); 0: not known */
    const char *waits_for; /* why not before: MQ_FOR_HOURS, MQ_FOR_PAUSE, or NULL; not malloc'ed */
    char *last_error;
    char *parked_for; /* why it is parked: "refused", "exhausted", "uncertain", "hold",
                         "unreadable" (no addresses, or no message in wire form); of a waiting
                         job MQ_FOR_HOURS: it was put back until its hours begin */
    char *message_id;
    char *envelope_from;          /* "" is the null reverse-path; NULL: set when composed */
    struct mq_strings recipients; /* still to be tried; none: set when composed */
    char *subject;                /* decoded, for people; NULL: composed when sent */
    int64_t resent_of;            /* id of the job that this one replaces; 0: none */
    char *refused;                /* JSON object address → reply, or NULL */
    char *uncertain_to;           /* JSON array: which of the recipients may have it; NULL: none */
    char *relay;                  /* the name of its relay in the map; NULL: by its sender */
    char *scope;                  /* the list that it is mail to, as "list:news"; NULL: none */
    int64_t cleared;              /* the newest suppression when its recipients were looked up and
                                     none was suppressed; 0: not looked up */
    char **suppressed;            /* of a due job: why recipients[i] gets no mail, NULL if it does;
                                     NULL: all do (mq_suppress_find()) */
    int64_t campaign_id;          /* 0: it is of no campaign */
    int64_t recipient_id;         /* of the campaign's table of recipients; 0: of no campaign */
    /* From that table, read with the message; NULL: none, or not read. */
    char *recipient_name;    /* display name */
    char *recipient_fields;  /* a JSON object */
    struct mq_notify notify; /* from the column `fields` */
    char *body;              /* wire form; NULL: to be composed (or not loaded) */
    size_t body_len;
    enum mq_body_state body_state;

    /* For a claimed job: the addresses that this attempt sends to, after the test redirect, as many
     * as the tokens allow. recipients[i] goes to targets[target_of[i]]; target_of[i] is -1 if this
     * attempt leaves it out (over MQ_RECIPIENTS_MAX, or not paid). Empty until composed. */
    struct mq_strings targets;
    int *target_of;    /* recipients.count entries */
    char *original_to; /* when redirected: the original recipients, ", " between them */
    bool whole;        /* its relay sends to all of them at once, or not at all */
};

void mq_job_clear(struct mq_job *job);
/* MQ_EXPIRED_BY is the same rule for statements. */
static inline bool mq_job_expired(const struct mq_job *job, int64_t now_s)
{
    return job->expires_at > 0 && job->expires_at <= now_s;
}
struct mq_job_list {
    struct mq_job *jobs;
    size_t count;
    size_t room;
};
/* Appends a job, which is not initialised. NULL without memory. */
struct mq_job *mq_job_list_add(struct mq_job_list *list);
void mq_job_list_clear(struct mq_job_list *list);

#endif
