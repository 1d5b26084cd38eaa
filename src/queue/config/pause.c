/* The pauses of relays in trouble: config key mailRelayPause, a JSON object from the relay's name
 * to "until count reason". */
#include "queue/config/pause.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue/config/relay_texts.h"
#include "queue/relay.h"
#include "queue/sql/transaction.h"

#define PAUSE_FIRST_S 60
#define PAUSE_MAX_S   3600

/* False, and all zero, where there is no pause or it cannot be read. */
static bool parse(const char *text, struct mq_pause *out)
{
    long long until = 0;
    long long count = 0;
    int used = 0;
    *out = (struct mq_pause){0};
    if (!text || sscanf(text, "%18lld %9lld %n", &until, &count, &used) < 2) {
        return false;
    }
    struct mq_str reason = mq_str_of(text + used);
    out->until_s = until;
    out->count = count;
    reason.len = mq_utf8_cut(reason, sizeof(out->reason) - 1);
    snprintf(out->reason, sizeof(out->reason), "%.*s", (int)reason.len, text + used);
    return true;
}

enum mq_status mq_pause_find(const char *pauses, const char *relay, struct mq_pause *out,
                             bool *found, struct mq_error *err)
{
    struct mq_relay_texts all;
    MQ_TRY(mq_relay_texts_parse(pauses, &all, err));
    *found = parse(mq_relay_texts_find(&all, relay), out);
    mq_relay_texts_clear(&all);
    return MQ_OK;
}

struct mq_pause mq_pause_latest(const char *pauses, char **relay)
{
    struct mq_relay_texts all;
    struct mq_pause latest = {0};
    *relay = NULL;
    if (mq_relay_texts_parse(pauses, &all, NULL) != MQ_OK) {
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

/* The next pause after `old`. A relay that is paused already (two workers met the same trouble) is
 * not paused for longer, unless it asks for that. */
static void lengthen(struct mq_pause *old, const struct mq_relay_pause *pause, int64_t now_s)
{
    int64_t asked_s = pause->retry_after_s > 0 ? now_s + pause->retry_after_s : 0;
    if (pause->only_noted) {
        old->until_s = old->until_s > now_s ? old->until_s : now_s;
    } else if (old->until_s <= now_s) {
        old->count = old->count < 0 ? 1 : old->count + 1;
        int64_t delay_s = old->count > 6 ? PAUSE_MAX_S : PAUSE_FIRST_S << (old->count - 1);
        old->until_s = asked_s ? asked_s : now_s + delay_s;
    } else if (asked_s > old->until_s) {
        old->until_s = asked_s;
    }
}

static enum mq_status pause_locked(struct mq_tx *tx, struct mq_relay_pause *pause,
                                   struct mq_error *err)
{
    struct mq_pause now;
    char *old = NULL;
    struct mq_buffer text;
    MQ_TRY(mq_relay_text_get(tx->queue, MQ_KEY_RELAY_PAUSE, pause->relay, &old, err));
    parse(old, &now);
    free(old);
    lengthen(&now, pause, tx->now_s);
    struct mq_str reason = mq_str_of(pause->reason);
    reason.len = mq_utf8_cut(reason, sizeof(now.reason) - 1);
    mq_buffer_init(&text);
    mq_buffer_printf(&text, "%lld %lld ", (long long)now.until_s, (long long)now.count);
    mq_buffer_printable(&text, reason);
    enum mq_status status = text.failed ? mq_error_nomem(err)
                                        : mq_relay_text_put(tx->queue, MQ_KEY_RELAY_PAUSE,
                                                            pause->relay, text.data, err);
    mq_buffer_clear(&text);
    pause->until_s = status == MQ_OK ? now.until_s : pause->until_s;
    return status;
}

enum mq_status mq_queue_pause_relay(struct mq_queue *queue, struct mq_relay_pause *pause,
                                    struct mq_error *err)
{
    struct mq_tx tx = {.queue = queue};
    enum mq_status status = MQ_OK;
    while (mq_tx_next(&tx, &status, err)) {
        status = pause_locked(&tx, pause, err);
    }
    return status;
}

enum mq_status mq_queue_count_pauses(struct mq_queue *queue, const char *relay, int64_t *count,
                                     struct mq_error *err)
{
    struct mq_pause pause;
    char *text = NULL;
    MQ_TRY(mq_relay_text_get(queue, MQ_KEY_RELAY_PAUSE, relay, &text, err));
    *count = parse(text, &pause) ? pause.count + 1 : 0;
    free(text);
    return MQ_OK;
}

enum mq_status mq_queue_clear_pause(struct mq_queue *queue, const char *relay, struct mq_error *err)
{
    /* Asked at every run's first acceptance: usually there is nothing, and no lock is needed. */
    char *text = NULL;
    MQ_TRY(mq_relay_text_get(queue, MQ_KEY_RELAY_PAUSE, relay, &text, err));
    bool found = text != NULL;
    free(text);
    return found ? mq_relay_text_store(queue, MQ_KEY_RELAY_PAUSE, relay, NULL, err) : MQ_OK;
}
