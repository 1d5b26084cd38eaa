/* The mails of a campaign: its message, compiled once, rendered for each recipient. */
#ifndef MQ_CAMPAIGN_MAILING_H
#define MQ_CAMPAIGN_MAILING_H

#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"

struct mq_job;
struct mq_mailing;
struct mq_queue;

/* Who gets a mail; borrowed. */
struct mq_addressee {
    struct mq_str address;  /* plain, domain in A-labels */
    struct mq_str name;     /* UTF-8; empty: none */
    struct mq_str fields;   /* a JSON object; empty: none */
    const char *message_id; /* render() only: "<…@…>" */
    int64_t date_s;         /* render() only: UTC */
};

/* Reads and compiles a campaign's message, outside a transaction. MQ_CONFIG: it has none
 * yet; MQ_CORRUPT: it was deleted, or is damaged; MQ_INVALID: the campaign does not exist. */
enum mq_status mq_mailing_open(struct mq_queue *queue, int64_t campaign_id, struct mq_mailing **out,
                               struct mq_error *err);
void mq_mailing_free(struct mq_mailing *mailing); /* NULL is allowed */
/* MQ_MESSAGE with the field: the mail for this recipient could not be rendered. */
enum mq_status mq_mailing_check(struct mq_mailing *mailing, const struct mq_addressee *to,
                                struct mq_error *err);
/* What the index of recipients has for an address, unless the key was changed since. */
int64_t mq_mailing_hash(const struct mq_mailing *mailing, struct mq_str address);
/* Appends the mail, in wire form, to `out` (initialised, empty). */
enum mq_status mq_mailing_render(struct mq_mailing *mailing, const struct mq_addressee *to,
                                 struct mq_buffer *out, struct mq_error *err);

/* The mailings that a run has opened. All zero: none. */
struct mq_mailings {
    struct mq_mailing **items;
    size_t count;
};
void mq_mailings_clear(struct mq_mailings *all);
void mq_mailings_free(struct mq_mailings *all); /* malloc'ed ones; NULL is allowed */
/* Renders the mail of a claimed job, whose message was looked up (queue/body.h). MQ_MESSAGE or
 * MQ_INVALID: it cannot be sent as it is. */
enum mq_status mq_mailings_render(struct mq_mailings *all, struct mq_queue *queue,
                                  const struct mq_job *job, struct mq_buffer *out,
                                  struct mq_error *err);

#endif
