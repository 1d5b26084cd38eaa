/* Checks recipients and stores them, as many in a transaction as take up to CHUNK_MS.
 *
 * The index of hashes is what costs: a recipient goes to a page of it by chance, and each
 * transaction writes every page that it changes. So recipients are collected in batches, and each
 * batch is stored in the order of its hashes: a transaction changes only the pages of its part of
 * the index. While one batch is stored, part by part, the next is collected, and other programs
 * write in between. Once one does, the parts are short and leave the file free for most of the
 * time: SQLite lets a program that waits try again after longer and longer breaks. */
#include "campaign/adding.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/clock.h"
#include "mime/idn.h"
#include "queue/campaign/campaign.h"
#include "queue/news.h"

#define CHUNK_MS     16           /* without the commit, which takes its time also for few */
#define SHARED_MS    4            /* the same while other programs write */
#define SHARED_GAP   2            /* times as long they have the file then */
#define SHARED_MAX   1000         /* ms of that, however slow the disk is */
#define SHARED_FOR   10000        /* ms after the last of their transactions */
#define CHUNK_LEAST  500          /* the first ones are stored in the order in which they came */
#define BATCH_MAX    32768        /* recipients */
#define BATCH_OCTETS (4032 << 10) /* just below a power of two, by which the memory grows */
#define BATCH_MS     2000         /* a slow source's recipients do not wait longer than that */
#define GAP_NS       2000000 /* for other writers, between transactions with nothing else to do */

/* A recipient's texts follow each other from `at` on. */
struct kept {
    int64_t hash; /* as the index has it */
    size_t at;    /* an offset: the text moves while it grows */
    size_t address, name, fields;
};

struct batch {
    struct mq_buffer text;
    struct kept kept[BATCH_MAX];
    size_t count, stored;
    int64_t begun_ms;
};

struct mq_adding {
    int64_t id;
    struct mq_mailing *mailing;
    struct mq_clock clock;
    struct batch batches[2];
    int filling; /* the other one is being stored */
    bool sorts;  /* the first ones are stored */
    size_t chunk, taken;
    int64_t shared_until_ms; /* other programs write */
    int64_t added;
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
    adding->chunk = CHUNK_LEAST;
    bool before = false; /* who wrote before does not count */
    enum mq_status status = mq_mailing_open(queue, campaign_id, &adding->mailing, err);
    status = status == MQ_OK ? mq_campaign_check_expiry(queue, campaign_id, 0, err) : status;
    status = status == MQ_OK ? mq_queue_wait(queue, 0, &before, err) : status;
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
        mq_buffer_clear(&adding->batches[0].text);
        mq_buffer_clear(&adding->batches[1].text);
        free(adding);
    }
}

int64_t mq_adding_added(const struct mq_adding *adding)
{
    return adding->added;
}

static int64_t now_ms(const struct mq_adding *adding)
{
    return adding->clock.boot_ms(adding->clock.context);
}

/* ---- storing ---- */

static bool is_shared(const struct mq_adding *adding)
{
    return now_ms(adding) < adding->shared_until_ms;
}

/* Lets the next transaction have more or fewer recipients, after this one took `ms`. */
static void adapt(struct mq_adding *adding, int64_t ms)
{
    int64_t most_ms = is_shared(adding) ? SHARED_MS : CHUNK_MS;
    if (ms > most_ms && adding->chunk > CHUNK_LEAST) {
        adding->chunk /= 2;
    } else if (ms < most_ms / 2 && 2 * adding->chunk <= MQ_CAMPAIGN_ADD_MAX) {
        adding->chunk *= 2;
    }
}

/* Leaves the file to other programs after a transaction of `ms`, if they write. If that cannot be
 * asked, the next transaction says why. */
static enum mq_status share(struct mq_adding *adding, int64_t ms, struct mq_queue *queue,
                            struct mq_error *err)
{
    bool others_write = false;
    int64_t gap_ms = SHARED_GAP * (ms + 1) < SHARED_MAX ? SHARED_GAP * (ms + 1) : SHARED_MAX;
    enum mq_status status =
        mq_queue_wait(queue, is_shared(adding) ? gap_ms : 0, &others_write, err);
    if (others_write) {
        adding->shared_until_ms = now_ms(adding) + SHARED_FOR;
    }
    return status == MQ_THROWN || status == MQ_BAILOUT ? status : MQ_OK;
}

static bool has_rest(const struct batch *batch)
{
    return batch->stored < batch->count;
}

/* Stores the next ones of a batch in one transaction. */
static enum mq_status store_some(struct mq_adding *adding, struct batch *batch,
                                 struct mq_queue *queue, struct mq_error *err)
{
    size_t rest = batch->count - batch->stored;
    size_t count = rest < adding->chunk ? rest : adding->chunk;
    for (size_t i = 0; i < count; i++) {
        const struct kept *kept = &batch->kept[batch->stored + i];
        const char *text = batch->text.data + kept->at;
        adding->items[i] = (struct mq_recipient){{text, kept->address},
                                                 {text + kept->address, kept->name},
                                                 {text + kept->address + kept->name, kept->fields}};
    }
    struct mq_recipients all = {.items = adding->items, .count = count};
    enum mq_status status = mq_campaign_add(queue, adding->id, &all, err);
    batch->stored += count;
    MQ_TRY(status);
    adding->added += all.added;
    adapt(adding, all.held_ms);
    return share(adding, all.locked_ms, queue, err);
}

/* Stores what is left of a batch, and empties it. */
static enum mq_status store_rest(struct mq_adding *adding, struct batch *batch,
                                 struct mq_queue *queue, struct mq_error *err)
{
    const struct timespec gap = {.tv_nsec = GAP_NS};
    while (has_rest(batch)) {
        MQ_TRY(store_some(adding, batch, queue, err));
        if (has_rest(batch)) {
            nanosleep(&gap, NULL);
        }
    }
    batch->count = batch->stored = 0;
    mq_buffer_reset(&batch->text);
    return MQ_OK;
}

/* By hash; of two with the same address the first one stays first. */
static int compare(const void *a, const void *b)
{
    const struct kept *x = a, *y = b;
    return x->hash != y->hash ? (x->hash > y->hash) - (x->hash < y->hash)
                              : (x->at > y->at) - (x->at < y->at);
}

/* Stores what is left of one batch, so that the collected one is stored next. */
static enum mq_status swap_batches(struct mq_adding *adding, struct mq_queue *queue,
                                   struct mq_error *err)
{
    struct batch *full = &adding->batches[adding->filling];
    MQ_TRY(store_rest(adding, &adding->batches[!adding->filling], queue, err));
    if (adding->sorts) {
        qsort(full->kept, full->count, sizeof(*full->kept), compare);
    }
    adding->sorts = true;
    adding->filling = !adding->filling;
    adding->taken = 0;
    return MQ_OK;
}

enum mq_status mq_adding_store(struct mq_adding *adding, struct mq_queue *queue,
                               struct mq_error *err)
{
    MQ_TRY(swap_batches(adding, queue, err));
    return store_rest(adding, &adding->batches[!adding->filling], queue, err);
}

/* ---- checking ---- */

static enum mq_status check(struct mq_adding *adding, const struct mq_addressee *to,
                            struct mq_error *err)
{
    struct batch *batch = &adding->batches[adding->filling];
    MQ_TRY(mq_mailing_check(adding->mailing, to, err));
    const struct kept kept = {.hash = mq_mailing_hash(adding->mailing, to->address),
                              .at = batch->text.len,
                              .address = to->address.len,
                              .name = to->name.len,
                              .fields = to->fields.len};
    mq_buffer_str(&batch->text, to->address);
    mq_buffer_str(&batch->text, to->name);
    mq_buffer_str(&batch->text, to->fields);
    if (batch->text.failed) {
        return mq_error_nomem(err);
    }
    batch->begun_ms = batch->count ? batch->begun_ms : now_ms(adding);
    batch->kept[batch->count++] = kept;
    adding->taken++;
    return MQ_OK;
}

/* Stores some of the batch that is being stored, or begins with the one that is collected. */
static enum mq_status go_on(struct mq_adding *adding, struct mq_queue *queue, struct mq_error *err)
{
    struct batch *filling = &adding->batches[adding->filling];
    struct batch *storing = &adding->batches[!adding->filling];
    if ((!adding->sorts && filling->count == CHUNK_LEAST) ||
        now_ms(adding) - filling->begun_ms >= BATCH_MS) {
        return mq_adding_store(adding, queue, err);
    }
    if (filling->count == BATCH_MAX || filling->text.len >= BATCH_OCTETS) {
        return swap_batches(adding, queue, err);
    }
    if (adding->taken < adding->chunk || !has_rest(storing)) {
        return MQ_OK;
    }
    adding->taken = 0;
    return store_some(adding, storing, queue, err);
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
    return go_on(adding, queue, err);
}
