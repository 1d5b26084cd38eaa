/* Opens the messages of campaigns and renders mails of them. */
#include "campaign/mailing.h"

#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "mime/template/campaign_message.h"
#include "mime/unsubscribe.h"
#include "mime/wire/envelope.h"
#include "queue/campaign/campaign.h"
#include "queue/job.h"
#include "queue/queue.h"
#include "queue/suppress/suppress.h"

#define MAILINGS_MAX 8 /* that a run keeps: a message can have attachments of many MB */

struct mq_mailing {
    struct mq_campaign campaign;
    struct mq_campaign_message *message;
    unsigned char key[MQ_SUPPRESSION_KEY]; /* the end of it signs the links */
    struct mq_buffer link;
    size_t link_of; /* octets of the address for which the link was made */
};

void mq_mailing_free(struct mq_mailing *mailing)
{
    if (mailing) {
        mq_campaign_clear(&mailing->campaign);
        mq_campaign_message_free(mailing->message);
        mq_buffer_clear(&mailing->link);
        free(mailing);
    }
}

/* Makes the key if there is none. */
static enum mq_status read_key(struct mq_queue *queue, struct mq_mailing *mailing,
                               struct mq_error *err)
{
    const unsigned char *key = mq_queue_suppression_key(queue, err);
    if (!key) {
        return err->status;
    }
    memcpy(mailing->key, key, sizeof(mailing->key));
    return MQ_OK;
}

static enum mq_status compile(struct mq_queue *queue, struct mq_mailing *mailing,
                              struct mq_error *err)
{
    struct mq_buffer octets = {0};
    enum mq_status status = mq_campaign_load(queue, mailing->campaign.id, &octets, err);
    if (status == MQ_OK && octets.len == 0) {
        status = mailing->campaign.state == MQ_CAMPAIGN_DRAFT
                     ? mq_error_set(err, MQ_CONFIG, "message",
                                    "the campaign has no message yet: set it first")
                     : mq_error_set(err, MQ_CORRUPT, "message",
                                    "the campaign's message was deleted from the database: make "
                                    "another campaign");
    }
    if (status == MQ_OK) {
        status = mq_campaign_message_open(mq_buffer_view(&octets), &mailing->message, err);
    }
    mq_buffer_clear(&octets);
    return status;
}

enum mq_status mq_mailing_open(struct mq_queue *queue, int64_t campaign_id, struct mq_mailing **out,
                               struct mq_error *err)
{
    struct mq_mailing *mailing = calloc(1, sizeof(*mailing));
    if (!mailing) {
        return mq_error_nomem(err);
    }
    enum mq_status status = mq_campaign_read(queue, campaign_id, &mailing->campaign, err);
    status = status == MQ_OK ? compile(queue, mailing, err) : status;
    status = status == MQ_OK ? read_key(queue, mailing, err) : status;
    if (status != MQ_OK) {
        mq_mailing_free(mailing);
        mailing = NULL;
    }
    *out = mailing;
    return status;
}

static void make_link(struct mq_mailing *mailing, const struct mq_addressee *to)
{
    const struct mq_unsubscribe who = {mq_str_of(mailing->campaign.scope), to->address, to->date_s};
    mq_buffer_reset(&mailing->link);
    mq_unsubscribe_url(mailing->key + MQ_SUPPRESSION_KEY - MQ_UNSUBSCRIBE_KEY,
                       mq_str_of(mailing->campaign.list_url), &who, &mailing->link);
    mailing->link_of = to->address.len;
}

/* Who gets the mail, with the link to unsubscribe in mailing->link; `uri` is room for its view. */
static struct mq_campaign_recipient recipient_of(struct mq_mailing *mailing,
                                                 const struct mq_addressee *to, struct mq_str *uri)
{
    struct mq_campaign_recipient out = {.address = to->address,
                                        .name = to->name,
                                        .fields = to->fields,
                                        .message_id = to->message_id,
                                        .date_s = to->date_s};
    if (mailing->campaign.list_url) {
        *uri = mq_buffer_view(&mailing->link);
        out.unsubscribe = uri;
        out.unsubscribe_count = 1;
    }
    return out;
}

int64_t mq_mailing_hash(const struct mq_mailing *mailing, struct mq_str address)
{
    return (int64_t)mq_suppress_hash(mailing->key, address);
}

enum mq_status mq_mailing_check(struct mq_mailing *mailing, const struct mq_addressee *to,
                                struct mq_error *err)
{
    struct mq_str uri;
    /* Only the length of the link matters here, and its hashes would take longer than all else. */
    if (mailing->campaign.list_url && to->address.len > mailing->link_of) {
        make_link(mailing, to);
    }
    struct mq_campaign_recipient recipient = recipient_of(mailing, to, &uri);
    return mailing->link.failed ? mq_error_nomem(err)
                                : mq_campaign_message_check(mailing->message, &recipient, err);
}

enum mq_status mq_mailing_render(struct mq_mailing *mailing, const struct mq_addressee *to,
                                 struct mq_buffer *out, struct mq_error *err)
{
    struct mq_str uri;
    struct mq_envelope envelope = {0};
    if (mailing->campaign.list_url) {
        make_link(mailing, to);
    }
    struct mq_campaign_recipient recipient = recipient_of(mailing, to, &uri);
    enum mq_status status =
        mailing->link.failed
            ? mq_error_nomem(err)
            : mq_campaign_message_render(mailing->message, &recipient, out, &envelope, err);
    mq_envelope_clear(&envelope);
    return status;
}

/* ---- the mailings of a run ---- */

void mq_mailings_clear(struct mq_mailings *all)
{
    for (size_t i = 0; i < all->count; i++) {
        mq_mailing_free(all->items[i]);
    }
    free(all->items);
    *all = (struct mq_mailings){0};
}

void mq_mailings_free(struct mq_mailings *all)
{
    if (all) {
        mq_mailings_clear(all);
        free(all);
    }
}

/* Moves the one that was used last to the end, where the search begins. */
static void move_to_end(struct mq_mailings *all, size_t i)
{
    struct mq_mailing *found = all->items[i];
    memmove(&all->items[i], &all->items[i + 1], (all->count - i - 1) * sizeof(*all->items));
    all->items[all->count - 1] = found;
}

static enum mq_status find(struct mq_mailings *all, struct mq_queue *queue, int64_t id,
                           struct mq_mailing **out, struct mq_error *err)
{
    for (size_t i = all->count; i > 0; i--) {
        if (all->items[i - 1]->campaign.id == id) {
            move_to_end(all, i - 1);
            *out = all->items[all->count - 1];
            return MQ_OK;
        }
    }
    if (all->count == MAILINGS_MAX) {
        mq_mailing_free(all->items[0]);
        memmove(&all->items[0], &all->items[1], --all->count * sizeof(struct mq_mailing *));
    }
    struct mq_mailing **items = realloc(all->items, (all->count + 1) * sizeof(struct mq_mailing *));
    if (!items) {
        return mq_error_nomem(err);
    }
    all->items = items;
    MQ_TRY(mq_mailing_open(queue, id, out, err));
    items[all->count++] = *out;
    return MQ_OK;
}

enum mq_status mq_mailings_render(struct mq_mailings *all, struct mq_queue *queue,
                                  const struct mq_job *job, struct mq_buffer *out,
                                  struct mq_error *err)
{
    struct mq_mailing *mailing = NULL;
    if (job->recipients.count == 0) {
        return mq_error_set(err, MQ_INVALID, "recipients", "the campaign's mail has no recipient");
    }
    MQ_TRY(find(all, queue, job->campaign_id, &mailing, err));
    const struct mq_addressee to = {.address = mq_str_of(job->recipients.items[0]),
                                    .name = mq_str_of(job->recipient_name),
                                    .fields = mq_str_of(job->recipient_fields),
                                    .message_id = job->message_id,
                                    .date_s = mq_clock_now_s(mq_queue_clock(queue))};
    return mq_mailing_render(mailing, &to, out, err);
}
