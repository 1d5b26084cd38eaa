/* Addresses that get no mail, or none of a list or a campaign: how they are found, and what becomes
 * of mail to them.
 *
 * A suppression is found by a keyed hash of its address, so that `forget` can delete the address
 * and mail to it stays suppressed. It has a number, which counts up. A mail whose recipients were
 * looked up when it was stored has the number of the newest suppression then (`cleared`), so that a
 * claim need only look for newer ones. */
#ifndef MQ_QUEUE_SUPPRESS_SUPPRESS_H
#define MQ_QUEUE_SUPPRESS_SUPPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"

struct mq_dropped;
struct mq_job;
struct mq_job_list;
struct mq_new_job;
struct mq_queue;
struct mq_reader;
struct mq_tx;

#define MQ_SUPPRESSION_KEY   48 /* octets of mailSuppressionKey: 16 of SipHash, 32 of HMAC-SHA256 */
#define MQ_SCOPE_MAX         190 /* octets of a scope, such as "list:news" */
#define MQ_SCOPE_OF_LIST     "list:"
#define MQ_SCOPE_OF_CAMPAIGN "campaign:"

/* ---- mail ---- */

/* Looks up the recipients of new jobs, and sets `cleared` of those that none is suppressed of. */
enum mq_status mq_suppress_new(struct mq_tx *tx, struct mq_new_job *jobs, size_t count,
                               struct mq_error *err);
/* A recipient of a campaign. */
struct mq_suppress_check {
    struct mq_str address; /* plain, domain in A-labels */
    uint64_t hash;         /* out */
    bool found;            /* out: it is suppressed */
};
struct mq_suppress_checks {
    struct mq_str scope; /* of their mail */
    int64_t campaign_id;
    struct mq_suppress_check *items;
    size_t count;
    int64_t newest; /* out: the newest suppression */
};
/* Hashes the recipients, and looks them up. */
enum mq_status mq_suppress_check(struct mq_tx *tx, struct mq_suppress_checks *checks,
                                 struct mq_error *err);
/* Looks up the recipients of due jobs; says in job->suppressed why they get no mail. */
enum mq_status mq_suppress_find(struct mq_tx *tx, struct mq_job_list *due, struct mq_error *err);
/* Takes the suppressed recipients off a due job. If none is left, it is parked or, if it is mail to
 * a list, deleted; then *done is true. */
enum mq_status mq_suppress_apply(struct mq_tx *tx, struct mq_job *job, struct mq_dropped *sum,
                                 bool *done, struct mq_error *err);
/* What a job had before recipients were taken off; zeroed: none were. */
struct mq_unshortened {
    struct mq_strings recipients;
    char *refused;
};
/* Takes suppressed recipients off the list of a job that was just composed, and writes to its row
 * why; not the list. If none would be left, the list stays, and so does job->suppressed. If the
 * transaction is undone, mq_suppress_restore() is to follow before it runs again, or else
 * mq_unshortened_clear(). */
enum mq_status mq_suppress_composed(struct mq_tx *tx, struct mq_job *job,
                                    struct mq_unshortened *before, struct mq_error *err);
void mq_suppress_restore(struct mq_job *job, struct mq_unshortened *before);
void mq_unshortened_clear(struct mq_unshortened *before);

/* ---- suppressions ---- */

enum mq_suppress_reason { MQ_UNSUBSCRIBE, MQ_HARD_BOUNCE, MQ_COMPLAINT, MQ_MANUAL };
#define MQ_SUPPRESS_REASONS "unsubscribe hard_bounce complaint manual" /* in this order */

/* All texts are borrowed. */
struct mq_suppression {
    struct mq_str address;
    struct mq_str scope;  /* data NULL or empty: all mail */
    struct mq_str reason; /* a word of MQ_SUPPRESS_REASONS */
    struct mq_str source; /* who or what added it; data NULL: not known */
    int64_t created_at;   /* 0: now */
    uint64_t hash;        /* of the address, if only that is known: `address` has data NULL then */
};
/* Adds those that are not there yet; *added says how many. MQ_MESSAGE or MQ_INVALID for an address,
 * a scope or a reason that cannot be; then nothing is added. */
enum mq_status mq_queue_suppress(struct mq_queue *queue, const struct mq_suppression *items,
                                 size_t count, int64_t *added, struct mq_error *err);
/* Says the same, and adds none. */
enum mq_status mq_queue_would_suppress(struct mq_queue *queue, const struct mq_suppression *items,
                                       size_t count, int64_t *added, struct mq_error *err);

/* Which suppressions are meant. */
struct mq_suppressed {
    struct mq_str address; /* data NULL: any */
    struct mq_str scope;   /* data NULL: any; empty: of all mail */
    struct mq_str reason;  /* data NULL: any */
    int64_t after;         /* only with larger numbers */
    int limit;             /* of a list */
};
/* Deletes them; `which` has an address. *removed says how many. */
enum mq_status mq_queue_unsuppress(struct mq_queue *queue, const struct mq_suppressed *which,
                                   int64_t *removed, struct mq_error *err);
/* Deletes bounces, and only the address of suppressions: they go on being found by their hash. */
enum mq_status mq_queue_forget_suppressed(struct mq_queue *queue, struct mq_str address,
                                          int64_t *forgotten, struct mq_error *err);
#define MQ_SUPPRESSED_COLUMNS 6 /* number, address or NULL, scope, reason, source, created_at */
enum mq_status mq_queue_suppressions(struct mq_queue *queue, const struct mq_suppressed *which,
                                     const struct mq_reader *reader, struct mq_error *err);
/* The hash of an address. MQ_MESSAGE: it cannot be one. */
enum mq_status mq_suppress_hash_of(struct mq_queue *queue, struct mq_str address, uint64_t *hash,
                                   struct mq_error *err);
/* Returns the key, of which the last 32 octets sign links to unsubscribe, outside a transaction;
 * makes it if there is none. NULL on a failure. */
const unsigned char *mq_queue_suppression_key(struct mq_queue *queue, struct mq_error *err);
/* The hash of an address whose domain is in A-labels. Case does not matter. */
uint64_t mq_suppress_hash(const unsigned char key[MQ_SUPPRESSION_KEY], struct mq_str address);
void mq_suppress_free(struct mq_queue *queue);

#endif
