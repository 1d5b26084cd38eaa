/* Checks recipients and stores them. A transaction has as many as are stored in about CHUNK_MS. */
#include "campaign/adding.h"

#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "mime/idn.h"
#include "queue/campaign/campaign.h"

#define CHUNK_MS    20
#define CHUNK_FIRST 500
#define CHUNK_LEAST 50

/* Offsets into the text: it moves while it grows. */
struct place {
    size_t at, len;
};
struct kept {
    struct place address, name, fields;
};

struct mq_adding {
    int64_t id;
    struct mq_mailing *mailing;
    struct mq_clock clock;
    struct mq_buffer text; /* of the recipients that are not stored yet */
    size_t count, chunk;
    int64_t added;
    struct kept kept[MQ_CAMPAIGN_ADD_MAX];
    struct mq_recipient items[MQ_CAMPAIGN_ADD_MAX];
};

enum mq_status mq_adding_begin(struct mq_queue *queue, int64_t campaign_id, struct mq_adding **out,
                               struct mq_error *err)
{
    struct mq_adding *adding = calloc(1, sizeof(*adding));
    if (!adding) {
        return mq_error_nomem(err);
    }
    adding->id = campaign_id;
    adding->clock = mq_clock_system();
    adding->chunk = CHUNK_FIRST;
    enum mq_status status = mq_mailing_open(queue, campaign_id, &adding->mailing, err);
    if (status != MQ_OK) {
        mq_adding_free(adding);
        adding = NULL;
    }
    *out = adding;
    return status;
}

void mq_adding_free(struct mq_adding *adding)
{
    if (adding) {
        mq_mailing_free(adding->mailing);
        mq_buffer_clear(&adding->text);
        free(adding);
    }
}

int64_t mq_adding_added(const struct mq_adding *adding)
{
    return adding->added;
}

/* ---- storing ---- */

static struct mq_str view(const struct mq_adding *adding, struct place place)
{
    return (struct mq_str){adding->text.data + place.at, place.len};
}

/* Lets the next transaction have more or fewer recipients, after this one took `ms`. */
static void adapt(struct mq_adding *adding, int64_t ms)
{
    if (ms > CHUNK_MS && adding->chunk > CHUNK_LEAST) {
        adding->chunk /= 2;
    } else if (ms < CHUNK_MS / 2 && 2 * adding->chunk <= MQ_CAMPAIGN_ADD_MAX) {
        adding->chunk *= 2;
    }
}

enum mq_status mq_adding_store(struct mq_adding *adding, struct mq_queue *queue,
                               struct mq_error *err)
{
    int64_t added = 0, begun_ms = adding->clock.boot_ms(adding->clock.context);
    for (size_t i = 0; i < adding->count; i++) {
        const struct kept *kept = &adding->kept[i];
        adding->items[i] = (struct mq_recipient){
            view(adding, kept->address), view(adding, kept->name), view(adding, kept->fields)};
    }
    const struct mq_recipients recipients = {adding->items, adding->count};
    enum mq_status status = mq_campaign_add(queue, adding->id, &recipients, &added, err);
    adding->added += status == MQ_OK ? added : 0;
    adding->count = 0;
    mq_buffer_reset(&adding->text);
    adapt(adding, adding->clock.boot_ms(adding->clock.context) - begun_ms);
    return status;
}

/* ---- checking ---- */

static struct place keep(struct mq_adding *adding, struct mq_str s)
{
    struct place place = {adding->text.len, s.len};
    mq_buffer_str(&adding->text, s);
    return place;
}

static enum mq_status check(struct mq_adding *adding, const struct mq_addressee *to,
                            struct mq_error *err)
{
    struct kept *kept = &adding->kept[adding->count];
    MQ_TRY(mq_mailing_check(adding->mailing, to, err));
    *kept =
        (struct kept){keep(adding, to->address), keep(adding, to->name), keep(adding, to->fields)};
    if (adding->text.failed) {
        return mq_error_nomem(err);
    }
    adding->count++;
    return MQ_OK;
}

enum mq_status mq_adding_take(struct mq_adding *adding, struct mq_queue *queue,
                              const struct mq_addressee *to, struct mq_error *err)
{
    struct mq_addressee plain = *to;
    char *address = NULL;
    MQ_TRY(mq_idn_address(to->address, "address", &address, err));
    plain.address = mq_str_of(address);
    enum mq_status status = check(adding, &plain, err);
    free(address);
    MQ_TRY(status);
    return adding->count >= adding->chunk ? mq_adding_store(adding, queue, err) : MQ_OK;
}
