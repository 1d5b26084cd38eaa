/* What the queue keeps of relays in a config key: a JSON object from a relay's name to a text. */
#include "queue/config/relay_texts.h"

#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "queue/config/config.h"
#include "queue/config/keys.h"
#include "queue/config/store.h"
#include "queue/relay.h"
#include "queue/sql/transaction.h"

#define PIPELINING mq_config_keys[MQ_KEY_RELAY_PIPELINING].name

void mq_relay_texts_clear(struct mq_relay_texts *texts)
{
    mq_strings_clear(&texts->relays);
    mq_strings_clear(&texts->texts);
}

enum mq_status mq_relay_texts_parse(const char *key, const char *text, struct mq_relay_texts *out,
                                    struct mq_error *err)
{
    struct mq_error why;
    out->key = key;
    mq_strings_init(&out->relays);
    mq_strings_init(&out->texts);
    if (!text || !text[0]) {
        return MQ_OK;
    }
    enum mq_status status = mq_json_read_object(mq_str_of(text), &out->relays, &out->texts, &why);
    if (status == MQ_OK) {
        return MQ_OK;
    }
    mq_relay_texts_clear(out);
    if (status == MQ_NOMEM) {
        return mq_error_nomem(err);
    }
    return mq_error_set(err, MQ_CONFIG, key, "config key %s cannot be read: unset it", key);
}

enum mq_status mq_relay_texts_read(struct mq_queue *queue, const char *key, bool heal,
                                   struct mq_relay_texts *out, struct mq_error *err)
{
    char *text = NULL;
    enum mq_status status = mq_queue_config(queue, key, &text, err);
    if (status == MQ_OK) {
        status = mq_relay_texts_parse(key, text, out, err);
        if (status == MQ_CONFIG && heal) {
            status = MQ_OK;
        }
    }
    free(text);
    return status;
}

const char *mq_relay_texts_find(const struct mq_relay_texts *texts, const char *relay)
{
    for (size_t i = 0; i < texts->relays.count; i++) {
        if (strcmp(texts->relays.items[i], relay) == 0) {
            return texts->texts.items[i];
        }
    }
    return NULL;
}

static void append(struct mq_buffer *out, const char *relay, const char *text)
{
    mq_buffer_char(out, out->len ? ',' : '{');
    mq_json_string(out, mq_str_of(relay));
    mq_buffer_char(out, ':');
    mq_json_string(out, mq_str_of(text));
}

enum mq_status mq_relay_texts_store(struct mq_queue *queue, const struct mq_relay_texts *texts,
                                    const char *relay, const char *text, struct mq_error *err)
{
    struct mq_buffer out;
    mq_buffer_init(&out);
    for (size_t i = 0; i < texts->relays.count; i++) {
        if (strcmp(texts->relays.items[i], relay) != 0) {
            append(&out, texts->relays.items[i], texts->texts.items[i]);
        }
    }
    if (text) {
        append(&out, relay, text);
    }
    if (out.len) {
        mq_buffer_char(&out, '}');
    }
    enum mq_status status = out.failed
                                ? mq_error_nomem(err)
                                : mq_config_put(queue, texts->key, out.len ? out.data : NULL, err);
    mq_buffer_clear(&out);
    return status;
}

/* ---- what a relay was found to be able to do ---- */

enum mq_status mq_queue_finding(struct mq_queue *queue, const char *relay, char **out,
                                struct mq_error *err)
{
    struct mq_relay_texts all;
    enum mq_status status = mq_relay_texts_read(queue, PIPELINING, true, &all, err);
    if (status != MQ_OK) {
        return status;
    }
    const char *text = mq_relay_texts_find(&all, relay);
    char *copy = text ? mq_str_dup(mq_str_of(text)) : NULL;
    mq_relay_texts_clear(&all);
    if (text && !copy) {
        return mq_error_nomem(err);
    }
    *out = copy;
    return MQ_OK;
}

struct keeping {
    const char *relay;
    const char *finding;
};

static enum mq_status keep(struct mq_tx *tx, void *context, struct mq_error *err)
{
    const struct keeping *keeping = context;
    struct mq_relay_texts all;
    enum mq_status status = mq_relay_texts_read(tx->queue, PIPELINING, true, &all, err);
    if (status == MQ_OK) {
        status = mq_relay_texts_store(tx->queue, &all, keeping->relay, keeping->finding, err);
        mq_relay_texts_clear(&all);
    }
    return status;
}

enum mq_status mq_queue_keep_finding(struct mq_queue *queue, const char *relay, const char *finding,
                                     struct mq_error *err)
{
    struct keeping keeping = {relay, finding};
    struct mq_tx_work work = {.body = keep, .context = &keeping};
    return mq_tx_run(queue, &work, err);
}
