/* Campaigns: one message for many recipients. The recipients wait in a table of their own. Each
 * claim makes jobs of the next ones, so that a campaign never has many more jobs that are due than
 * MQ_CAMPAIGN_DUE, and pausing and cancelling act at once. */
#ifndef MQ_QUEUE_CAMPAIGN_CAMPAIGN_H
#define MQ_QUEUE_CAMPAIGN_CAMPAIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"

struct mq_ids;
struct mq_job;
struct mq_notify;
struct mq_queue;

#define MQ_CAMPAIGN_DUE      1000  /* jobs, about, that are due or being sent */
#define MQ_CAMPAIGN_LIVE     20000 /* jobs, about, that are not parked */
#define MQ_CAMPAIGN_NAME_MAX 100   /* octets */
#define MQ_CAMPAIGN_ADD_MAX  4000  /* recipients that one mq_campaign_add() takes */

enum mq_campaign_state {
    MQ_CAMPAIGN_DRAFT,
    MQ_CAMPAIGN_RUNNING, /* from start_at on */
    MQ_CAMPAIGN_PAUSED,
    MQ_CAMPAIGN_CANCELLED,
    MQ_CAMPAIGN_FINISHED,
    MQ_CAMPAIGN_STATES
};
const char *mq_campaign_state_name(enum mq_campaign_state state); /* as in the table */

/* A row. Strings are malloc'ed, NULL where the column is NULL; times are 0 then. */
struct mq_campaign {
    int64_t id;
    char *name;
    enum mq_campaign_state state;
    char *mail_type;
    int priority;
    int max_attempts; /* 0: as the backoff policy says */
    char *message_id; /* "<…@domain>": mails get it with ".ID" before the @; NULL: no message */
    char *envelope_from; /* "" is the null reverse-path */
    char *relay;
    char *scope;    /* for suppressions: "list:news"; without a list "campaign:NAME" */
    char *list_url; /* of links to unsubscribe; NULL: none */
    int64_t start_at, created_at, started_at, finished_at;
    char *on_finished; /* "begun" or "called" */
    int64_t last_id;   /* of a recipient */
    int64_t fed_to;    /* up to this recipient there were jobs */
    int64_t recipients, fed, sent, suppressed, uncertain;
};
void mq_campaign_clear(struct mq_campaign *campaign);

/* Finds a campaign, or creates a draft. MQ_INVALID for a name that cannot be. */
enum mq_status mq_campaign_open(struct mq_queue *queue, struct mq_str name, int64_t *id,
                                struct mq_error *err);
/* Reads a campaign, which the caller clears. MQ_INVALID: there is none. */
enum mq_status mq_campaign_read(struct mq_queue *queue, int64_t id, struct mq_campaign *out,
                                struct mq_error *err);

/* What setting a message sets; borrowed. */
struct mq_campaign_setup {
    struct mq_str message; /* of mq_campaign_message_make() */
    struct mq_str mail_type;
    int priority, max_attempts;
    const char *message_id, *envelope_from;
    struct mq_str relay;            /* data NULL: by the sender */
    struct mq_str list, list_url;   /* data NULL: mail to no list; no page to unsubscribe at */
    int64_t expires_at;             /* of its mails; 0: never */
    const struct mq_notify *notify; /* NULL: the relay's default */
};
/* Sets the message of a draft. MQ_CONFIG: it is none; MQ_INVALID: a value is out of range. */
enum mq_status mq_campaign_set(struct mq_queue *queue, int64_t id,
                               const struct mq_campaign_setup *setup, struct mq_error *err);
/* Appends the octets of the message; none if it has not been set. */
enum mq_status mq_campaign_load(struct mq_queue *queue, int64_t id, struct mq_buffer *out,
                                struct mq_error *err);
/* Reads of the setup what is stored with the message; `notify` can be NULL. */
enum mq_status mq_campaign_terms(struct mq_queue *queue, int64_t id, int64_t *expires_at,
                                 struct mq_notify *notify, struct mq_error *err);
/* MQ_CONFIG: the mails expire before `start_at`, or have expired by now. */
enum mq_status mq_campaign_check_expiry(struct mq_queue *queue, int64_t id, int64_t start_at,
                                        struct mq_error *err);

/* What a person does with a campaign. MQ_CONFIG if its state does not allow it; no change if it has
 * the state already, but a start that is still to come gets the new time. After `cancel` and
 * `pause`, no mail of it is claimed; what is being sent is finished. */
enum mq_campaign_act {
    MQ_CAMPAIGN_START, /* draft → running */
    MQ_CAMPAIGN_PAUSE,
    MQ_CAMPAIGN_RESUME,
    MQ_CAMPAIGN_CANCEL
};
enum mq_status mq_campaign_do(struct mq_queue *queue, int64_t id, enum mq_campaign_act act,
                              int64_t start_at, struct mq_error *err);

/* A recipient; borrowed. */
struct mq_recipient {
    struct mq_str address; /* plain, domain in A-labels */
    struct mq_str name;    /* empty: none */
    struct mq_str fields;  /* a JSON object; empty: none */
};
struct mq_recipients {
    const struct mq_recipient *items;
    size_t count;
    int64_t added;              /* out: how many were new */
    int64_t held_ms, locked_ms; /* out: for how long it had the lock, without and with the commit */
};
/* Adds recipients that are not there yet, in one transaction. */
enum mq_status mq_campaign_add(struct mq_queue *queue, int64_t id, struct mq_recipients *all,
                               struct mq_error *err);
/* Deletes recipients by their ids. Those that have had no job yet are not counted any more. */
enum mq_status mq_campaign_erase(struct mq_queue *queue, const struct mq_ids *ids,
                                 struct mq_error *err);
/* What a recipient is in the table. */
struct mq_recipient_row {
    int64_t id; /* 0: not found */
    char *address, *name, *fields;
};
void mq_recipient_row_clear(struct mq_recipient_row *row);
/* Finds a recipient by address; data NULL: the first one. */
enum mq_status mq_campaign_find(struct mq_queue *queue, int64_t id, struct mq_str address,
                                struct mq_recipient_row *out, struct mq_error *err);

/* ---- the worker ---- */

/* Reads names and fields of the recipients of those jobs that belong to campaigns. Their body_state
 * becomes NONE, or LOST if the recipient is gone. */
enum mq_status mq_campaign_read_jobs(struct mq_queue *queue, struct mq_job *const *jobs,
                                     size_t count, struct mq_error *err);
/* Takes a finished campaign whose onFinished has not begun, and notes that it begins; 0: none. */
enum mq_status mq_campaign_take_finished(struct mq_queue *queue, int64_t *id, struct mq_error *err);
/* Notes that onFinished has returned. */
enum mq_status mq_campaign_told(struct mq_queue *queue, int64_t id, struct mq_error *err);

#endif
