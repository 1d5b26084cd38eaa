/* The pauses of relays in trouble: config key mailRelayPause, a JSON object from the relay's name
 * to "until count reason". */
#include "queue/config/pause.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue/config/config.h"
#include "queue/config/keys.h"
#include "queue/config/relay_texts.h"
#include "queue/relay.h"
#include "queue/sql/transaction.h"

#define KEY           mq_config_keys[MQ_KEY_RELAY_PAUSE].name
#define PAUSE_FIRST_S 60
#define PAUSE_MAX_S   3600

static bool parse(const char *text, struct mq_pause *out)
{
    long long until = 0;
    long long count = 0;
    int used = 0;
    if (sscanf(text, "%18lld %9lld %n", &until, &count, &used) < 2) {
        return false;
    }
    out->until_s = until;
    out->count = count;
    struct mq_str reason = mq_str_of(text + used);
    size_t n = mq_utf8_cut(reason, sizeof(out->reason) - 1);
    if (n) {
        memcpy(out->reason, reason.data, n);
    }
    out->reason[n] = '\0';
    return true;
}

static bool find(const struct mq_relay_texts *pauses, const char *relay, struct mq_pause *out)
{
    const char *text = mq_relay_texts_find(pauses, relay);
    return text && parse(text, out);
}

enum mq_status mq_pause_find(const char *pauses, const char *relay, struct mq_pause *out,
                             bool *found, struct mq_error *err)
{
    struct mq_relay_texts all;
    enum mq_status status = mq_relay_texts_parse(KEY, pauses, &all, err);
    if (status == MQ_OK) {
        *found = find(&all, relay, out);
        mq_relay_texts_clear(&all);
    }
    return status;
}

struct mq_pause mq_pause_latest(const char *pauses, char **relay)
{
    struct mq_relay_texts all;
    struct mq_error why;
    struct mq_pause latest = {0};
    *relay = NULL;
    if (mq_relay_texts_parse(KEY, pauses, &all, &why) != MQ_OK) {
        return latest;
    }
    for (size_t i = 0; i < all.relays.count; i++) {
        struct mq_pause one;
        if (parse(all.texts.items[i], &one) && one.until_s > latest.until_s) {
            latest = one;
            free(*relay);
            *relay = mq_str_dup(mq_str_of(all.relays.items[i]));
        }
    }
    mq_relay_texts_clear(&all);
    return latest;
}

/* The next pause after `old`. A relay that is paused already, as when two workers meet the same
 * trouble, is not paused longer for it unless it asks. */
static void lengthen(struct mq_pause *old, const struct mq_relay_pause *pause, int64_t now_s)
{
    int64_t delay = PAUSE_MAX_S;
    if (pause->only_noted) {
        old->until_s = old->until_s > now_s ? old->until_s : now_s;
    } else if (old->until_s <= now_s) {
        old->count++;
        if (old->count < 1) {
            old->count = 1;
        }
        delay = old->count > 6 ? PAUSE_MAX_S : PAUSE_FIRST_S << (old->count - 1);
        old->until_s = now_s + (delay > PAUSE_MAX_S ? PAUSE_MAX_S : delay);
        if (pause->retry_after_s > 0) {
            old->until_s = now_s + pause->retry_after_s;
        }
    } else if (pause->retry_after_s > 0 && now_s + pause->retry_after_s > old->until_s) {
        old->until_s = now_s + pause->retry_after_s;
    }
}

struct pausing {
    const struct mq_relay_pause *pause;
    int64_t until_s; /* what it came to */
};

static enum mq_status pause_locked(struct mq_tx *tx, void *context, struct mq_error *err)
{
    struct pausing *pausing = context;
    const struct mq_relay_pause *pause = pausing->pause;
    struct mq_relay_texts all;
    enum mq_status status = mq_relay_texts_read(tx->queue, KEY, true, &all, err);
    if (status != MQ_OK) {
        return status;
    }
    struct mq_pause now = {0};
    struct mq_buffer text;
    mq_buffer_init(&text);
    if (!find(&all, pause->relay, &now)) {
        now = (struct mq_pause){0};
    }
    lengthen(&now, pause, tx->now_s);
    mq_buffer_printf(&text, "%lld %lld ", (long long)now.until_s, (long long)now.count);
    struct mq_str reason = mq_str_of(pause->reason);
    reason.len = mq_utf8_cut(reason, sizeof(now.reason) - 1);
    mq_buffer_printable(&text, reason);
    status = text.failed ? mq_error_nomem(err)
                         : mq_relay_texts_store(tx->queue, &all, pause->relay, text.data, err);
    if (status == MQ_OK) {
        pausing->until_s = now.until_s;
    }
    mq_buffer_clear(&text);
    mq_relay_texts_clear(&all);
    return status;
}

enum mq_status mq_queue_pause_relay(struct mq_queue *queue, struct mq_relay_pause *pause,
                                    struct mq_error *err)
{
    struct pausing pausing = {.pause = pause};
    struct mq_tx_work work = {.body = pause_locked, .context = &pausing};
    enum mq_status status = mq_tx_run(queue, &work, err);
    if (status == MQ_OK) {
        pause->until_s = pausing.until_s;
    }
    return status;
}

static enum mq_status has_pause(struct mq_queue *queue, const char *relay, struct mq_pause *pause,
                                bool *found, struct mq_error *err)
{
    char *text = NULL;
    enum mq_status status = mq_queue_config(queue, KEY, &text, err);
    if (status == MQ_OK) {
        status = mq_pause_find(text, relay, pause, found, err);
    }
    free(text);
    return status;
}

enum mq_status mq_queue_count_pauses(struct mq_queue *queue, const char *relay, int64_t *count,
                                     struct mq_error *err)
{
    struct mq_pause pause;
    bool found = false;
    enum mq_status status = has_pause(queue, relay, &pause, &found, err);
    if (status == MQ_OK) {
        *count = found ? pause.count + 1 : 0;
    }
    return status;
}

static enum mq_status clear_locked(struct mq_tx *tx, void *context, struct mq_error *err)
{
    const char *relay = context;
    struct mq_relay_texts all;
    enum mq_status status = mq_relay_texts_read(tx->queue, KEY, false, &all, err);
    if (status == MQ_OK) {
        status = mq_relay_texts_store(tx->queue, &all, relay, NULL, err);
        mq_relay_texts_clear(&all);
    }
    return status;
}

enum mq_status mq_queue_clear_pause(struct mq_queue *queue, const char *relay, struct mq_error *err)
{
    /* Asked at every run's first acceptance: usually there is nothing, and no lock is needed. */
    bool found = false;
    struct mq_pause pause;
    struct mq_tx_work work = {.body = clear_locked, .context = (char *)relay};
    enum mq_status status = has_pause(queue, relay, &pause, &found, err);
    if (status != MQ_OK || !found) {
        return status;
    }
    return mq_tx_run(queue, &work, err);
}
