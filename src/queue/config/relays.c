/* What the queue stores about relays: config keys whose value is a JSON object from a relay's name
 * to a text. In mailRelayPause it is "until count @since reason", or without "@since". An
 * unreadable value counts as empty. */
#include "queue/config/relays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "queue/config/keys.h"
#include "queue/sql/transaction.h"

#define PAUSE_FIRST_S     60
#define PAUSE_MAX_S       3600
#define PAUSE_ASKED_MAX_S 86400 /* a relay may ask for a day */
#define CLOCKS_DIFFER_S   60    /* by less: the clocks of hosts, or one that is set right */

/* Parses the JSON object into `out` (initialised, empty): each relay, then its text. */
static enum mq_status parse_texts(const char *value, struct mq_strings *out, struct mq_error *err)
{
    return mq_json_read(mq_str_of(value), '{', out) == MQ_NOMEM ? mq_error_nomem(err) : MQ_OK;
}

static const char *find_text(const struct mq_strings *texts, const char *relay)
{
    for (size_t i = 0; i < texts->count; i += 2) {
        if (strcmp(texts->items[i], relay) == 0) {
            return texts->items[i + 1];
        }
    }
    return NULL;
}

static enum mq_status read_all(struct mq_queue *queue, enum mq_config_id key,
                               struct mq_strings *out, struct mq_error *err)
{
    char *value = NULL;
    MQ_TRY(mq_queue_config(queue, mq_config_keys[key].name, &value, err));
    enum mq_status status = parse_texts(value, out, err);
    free(value);
    return status;
}

enum mq_status mq_relay_text(struct mq_queue *queue, enum mq_config_id key, const char *relay,
                             char **out, struct mq_error *err)
{
    struct mq_strings all = {0};
    MQ_TRY(read_all(queue, key, &all, err));
    const char *text = find_text(&all, relay);
    *out = text ? mq_str_dup(mq_str_of(text)) : NULL;
    bool copied = !text || *out;
    mq_strings_clear(&all);
    return copied ? MQ_OK : mq_error_nomem(err);
}

static void append(struct mq_buffer *out, const char *relay, const char *text)
{
    mq_buffer_char(out, out->len ? ',' : '{');
    mq_json_string(out, mq_str_of(relay));
    mq_buffer_char(out, ':');
    mq_json_string(out, mq_str_of(text));
}

/* A key and what it has, to be written again. */
struct texts {
    enum mq_config_id key;
    struct mq_strings all; /* each relay, then its text */
};

static enum mq_status lock_all(struct mq_queue *queue, struct texts *texts, struct mq_error *err)
{
    char *value = NULL;
    MQ_TRY(mq_config_lock(queue, mq_config_keys[texts->key].name, &value, err));
    enum mq_status status = parse_texts(value, &texts->all, err);
    free(value);
    return status;
}

/* Writes them with this text for the relay; NULL: without one. */
static enum mq_status write_all(struct mq_queue *queue, const struct texts *texts,
                                const char *relay, const char *text, struct mq_error *err)
{
    const struct mq_strings *all = &texts->all;
    struct mq_buffer out = {0};
    for (size_t i = 0; i < all->count; i += 2) {
        if (strcmp(all->items[i], relay) != 0) {
            append(&out, all->items[i], all->items[i + 1]);
        }
    }
    if (text) {
        append(&out, relay, text);
    }
    if (out.len) {
        mq_buffer_char(&out, '}');
    }
    const char *key = mq_config_keys[texts->key].name;
    enum mq_status status =
        out.failed ? mq_error_nomem(err) : mq_config_put(queue, key, out.data, err);
    mq_buffer_clear(&out);
    return status;
}

static enum mq_status text_put(struct mq_queue *queue, enum mq_config_id key, const char *relay,
                               const char *text, struct mq_error *err)
{
    struct texts texts = {.key = key};
    MQ_TRY(lock_all(queue, &texts, err));
    enum mq_status status = write_all(queue, &texts, relay, text, err);
    mq_strings_clear(&texts.all);
    return status;
}

enum mq_status mq_relay_text_store(struct mq_queue *queue, enum mq_config_id key, const char *relay,
                                   const char *text, struct mq_error *err)
{
    struct mq_tx tx = {.queue = queue};
    enum mq_status status = MQ_OK;
    while (mq_tx_next(&tx, &status, err)) {
        status = text_put(queue, key, relay, text, err);
    }
    return status;
}

/* ---- pauses ---- */

/* Parses a pause. False, with *out zeroed, if there is none (text NULL) or it cannot be read. */
static bool parse(const char *text, struct mq_pause *out)
{
    long long until = 0;
    long long count = 0;
    long long since = 0;
    int used = 0;
    *out = (struct mq_pause){0};
    if (!text ||
        sscanf(text, "%18lld %9lld %n@%18lld %n", &until, &count, &used, &since, &used) < 2) {
        return false;
    }
    out->since_s = since;
    out->until_s = until;
    out->count = count;
    mq_str_printable(out->reason, sizeof(out->reason), 0, mq_str_of(text + used));
    return true;
}

enum mq_status mq_pause_find(const char *pauses, const char *relay, struct mq_pause *out,
                             bool *found, struct mq_error *err)
{
    struct mq_strings all = {0};
    MQ_TRY(parse_texts(pauses, &all, err));
    *found = parse(find_text(&all, relay), out);
    mq_strings_clear(&all);
    return MQ_OK;
}

bool mq_pause_lasts(const struct mq_pause *pause, int64_t now_s)
{
    return pause->until_s > now_s && pause->until_s <= now_s + PAUSE_ASKED_MAX_S &&
           pause->since_s <= now_s + CLOCKS_DIFFER_S;
}

struct mq_pause mq_pause_latest(const char *pauses, int64_t now_s, char **relay)
{
    struct mq_strings all = {0};
    struct mq_pause latest = {0};
    *relay = NULL;
    parse_texts(pauses, &all, NULL);
    for (size_t i = 0; i < all.count; i += 2) {
        struct mq_pause one;
        if (parse(all.items[i + 1], &one) && mq_pause_lasts(&one, now_s) &&
            one.until_s > latest.until_s) {
            latest = one;
            free(*relay);
            *relay = mq_str_dup(mq_str_of(all.items[i]));
        }
    }
    mq_strings_clear(&all);
    return latest;
}

/* Turns `old` into the next pause. A relay that is paused already (two workers met the same
 * trouble) is not paused for longer, unless the relay asks for more. */
static void lengthen(struct mq_pause *old, const struct mq_relay_pause *pause, int64_t now_s)
{
    int64_t wait_s =
        pause->retry_after_s < PAUSE_ASKED_MAX_S ? pause->retry_after_s : PAUSE_ASKED_MAX_S;
    int64_t asked_s = wait_s > 0 ? now_s + wait_s : 0;
    bool lasts = mq_pause_lasts(old, now_s);
    if (lasts && (pause->only_noted || asked_s <= old->until_s)) {
        return;
    }
    old->since_s = now_s;
    if (pause->only_noted) {
        old->until_s = now_s;
    } else if (!lasts) {
        old->count = old->count < 0 ? 1 : old->count + 1;
        int64_t delay_s = old->count > 6 ? PAUSE_MAX_S : PAUSE_FIRST_S << (old->count - 1);
        old->until_s = asked_s ? asked_s : now_s + delay_s;
    } else {
        old->until_s = asked_s;
    }
}

static enum mq_status pause_locked(struct mq_tx *tx, struct mq_relay_pause *pause,
                                   struct mq_error *err)
{
    struct texts texts = {.key = MQ_KEY_RELAY_PAUSE};
    struct mq_pause now;
    struct mq_buffer text = {0};
    MQ_TRY(lock_all(tx->queue, &texts, err));
    parse(find_text(&texts.all, pause->relay), &now);
    lengthen(&now, pause, tx->now_s);
    mq_str_printable(now.reason, sizeof(now.reason), 0, mq_str_of(pause->reason));
    mq_buffer_printf(&text, "%lld %lld @%lld %s", (long long)now.until_s, (long long)now.count,
                     (long long)now.since_s, now.reason);
    enum mq_status status = text.failed
                                ? mq_error_nomem(err)
                                : write_all(tx->queue, &texts, pause->relay, text.data, err);
    mq_buffer_clear(&text);
    mq_strings_clear(&texts.all);
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

/* *found: the relay has an entry. */
static enum mq_status read_pause(struct mq_queue *queue, const char *relay, struct mq_pause *out,
                                 bool *found, struct mq_error *err)
{
    char *text = NULL;
    MQ_TRY(mq_relay_text(queue, MQ_KEY_RELAY_PAUSE, relay, &text, err));
    *found = parse(text, out);
    free(text);
    return MQ_OK;
}

enum mq_status mq_queue_pause_of(struct mq_queue *queue, const char *relay, struct mq_pause *out,
                                 struct mq_error *err)
{
    bool found;
    return read_pause(queue, relay, out, &found, err);
}

enum mq_status mq_queue_count_pauses(struct mq_queue *queue, const char *relay, int64_t *count,
                                     struct mq_error *err)
{
    struct mq_pause pause;
    bool found = false;
    MQ_TRY(read_pause(queue, relay, &pause, &found, err));
    *count = found ? pause.count + 1 : 0;
    return MQ_OK;
}

enum mq_status mq_queue_clear_pause(struct mq_queue *queue, const char *relay, struct mq_error *err)
{
    /* Called at each run's first acceptance: usually no pause is stored, and no lock is needed. */
    char *text = NULL;
    MQ_TRY(mq_relay_text(queue, MQ_KEY_RELAY_PAUSE, relay, &text, err));
    bool found = text != NULL;
    free(text);
    return found ? mq_relay_text_store(queue, MQ_KEY_RELAY_PAUSE, relay, NULL, err) : MQ_OK;
}

enum mq_status mq_mark_put(struct mq_queue *queue, const char *table, int64_t mark,
                           struct mq_error *err)
{
    char text[24];
    snprintf(text, sizeof(text), "%lld", (long long)mark);
    return text_put(queue, MQ_KEY_HOURS_KEPT, table, mark ? text : NULL, err);
}
