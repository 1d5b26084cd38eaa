/* A job: one row of the queue in memory. */
#ifndef MQ_QUEUE_JOB_H
#define MQ_QUEUE_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "mime/notify.h"
#include "policy/states.h"

/* Where the message of a claimed job is (body.c). */
enum mq_body_place {
    MQ_BODY_UNKNOWN, /* nobody has looked yet */
    MQ_BODY_NONE,    /* it is composed when sent */
    MQ_BODY_STORED,  /* in the database only; body_len says how large it is */
    MQ_BODY_LOADED,
    MQ_BODY_LOST /* the row is gone, or another claim's: it must not be sent */
};

/* All strings are malloc'ed and owned by the job; NULL where the column is NULL. Times are UTC
 * seconds, 0 where the column is NULL. */
struct mq_job {
    int64_t id;
    char *reference;
    char *mail_type;
    enum mq_state state;
    bool unreadable; /* another program wrote recipients, sender or claim token that cannot be used
                      */
    int priority;
    int attempts;     /* counts the one under way when the job is claimed */
    int max_attempts; /* 0: the policy's */
    int uncertain;
    int paid; /* tokens paid in this claim; 0 without a limit */
    int64_t next_attempt_at;
    int64_t expires_at;
    int64_t locked_until;
    char locked_by[MQ_TOKEN_HEX + 1];
    int64_t last_attempt_at;
    int64_t created_at;
    char *last_error;
    char *parked_for; /* why it is parked: "refused", "exhausted", "uncertain", "hold",
                         "unreadable" (its recipients or sender are no addresses, or
                         its message is not in wire form) */
    char *message_id;
    char *envelope_from;          /* "" is the null reverse-path; NULL: compose says */
    struct mq_strings recipients; /* still to be tried; none: compose says */
    char *subject;                /* decoded, for people; NULL: composed when sent */
    char *refused;                /* JSON object address → reply, or NULL */
    struct mq_notify notify;      /* of the column `fields` */
    char *body;                   /* wire form; NULL: to be composed (or not loaded) */
    size_t body_len;
    enum mq_body_place body_place;

    /* For a claimed job: who is on the wire this time, after the test redirect and as far as the
     * tokens reach. target_of[i] is the target of recipients[i], or -1 when it is not among them
     * this time (more than MQ_RECIPIENTS_MAX, or not paid). Empty until composed. */
    struct mq_strings targets;
    int *target_of;    /* recipients.count entries */
    char *original_to; /* when redirected: the original recipients, ", " between them */
};

void mq_job_clear(struct mq_job *job);

struct mq_job_list {
    struct mq_job *jobs;
    size_t count;
    size_t room;
};
/* A new one at the end, not initialised; NULL without memory. */
struct mq_job *mq_job_list_add(struct mq_job_list *list);
void mq_job_list_clear(struct mq_job_list *list);

#endif
