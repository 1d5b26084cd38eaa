/* What the queue keeps of relays, one text each, and their findings. */
#include "queue/config/relay_texts.h"

#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "queue/config/config.h"
#include "queue/relay.h"
#include "queue/sql/transaction.h"

void mq_relay_texts_clear(struct mq_relay_texts *texts)
{
    mq_strings_clear(&texts->relays);
    mq_strings_clear(&texts->texts);
}

enum mq_status mq_relay_texts_parse(const char *value, struct mq_relay_texts *out,
                                    struct mq_error *err)
{
    struct mq_str text = mq_str_of(value);
    mq_strings_init(&out->relays);
    mq_strings_init(&out->texts);
    enum mq_status status =
        text.len ? mq_json_read_object(text, &out->relays, &out->texts, NULL) : MQ_OK;
    if (status != MQ_OK) {
        mq_relay_texts_clear(out);
    }
    return status == MQ_NOMEM ? mq_error_nomem(err) : MQ_OK;
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

static enum mq_status read_all(struct mq_queue *queue, enum mq_config_id key,
                               struct mq_relay_texts *out, struct mq_error *err)
{
    char *value = NULL;
    MQ_TRY(mq_queue_config(queue, mq_config_keys[key].name, &value, err));
    enum mq_status status = mq_relay_texts_parse(value, out, err);
    free(value);
    return status;
}

enum mq_status mq_relay_text_get(struct mq_queue *queue, enum mq_config_id key, const char *relay,
                                 char **out, struct mq_error *err)
{
    struct mq_relay_texts all;
    MQ_TRY(read_all(queue, key, &all, err));
    const char *text = mq_relay_texts_find(&all, relay);
    *out = text ? mq_str_dup(mq_str_of(text)) : NULL;
    bool copied = !text || *out;
    mq_relay_texts_clear(&all);
    return copied ? MQ_OK : mq_error_nomem(err);
}

static void append(struct mq_buffer *out, const char *relay, const char *text)
{
    mq_buffer_char(out, out->len ? ',' : '{');
    mq_json_string(out, mq_str_of(relay));
    mq_buffer_char(out, ':');
    mq_json_string(out, mq_str_of(text));
}

enum mq_status mq_relay_text_put(struct mq_queue *queue, enum mq_config_id key, const char *relay,
                                 const char *text, struct mq_error *err)
{
    struct mq_relay_texts all;
    struct mq_buffer out;
    MQ_TRY(read_all(queue, key, &all, err));
    mq_buffer_init(&out);
    for (size_t i = 0; i < all.relays.count; i++) {
        if (strcmp(all.relays.items[i], relay) != 0) {
            append(&out, all.relays.items[i], all.texts.items[i]);
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
                                : mq_config_put(queue, mq_config_keys[key].name, out.data, err);
    mq_buffer_clear(&out);
    mq_relay_texts_clear(&all);
    return status;
}

enum mq_status mq_relay_text_store(struct mq_queue *queue, enum mq_config_id key, const char *relay,
                                   const char *text, struct mq_error *err)
{
    struct mq_tx tx = {.queue = queue};
    enum mq_status status = MQ_OK;
    while (mq_tx_next(&tx, &status, err)) {
        status = mq_relay_text_put(queue, key, relay, text, err);
    }
    return status;
}

enum mq_status mq_queue_finding(struct mq_queue *queue, const char *relay, char **out,
                                struct mq_error *err)
{
    return mq_relay_text_get(queue, MQ_KEY_RELAY_PIPELINING, relay, out, err);
}

enum mq_status mq_queue_keep_finding(struct mq_queue *queue, const char *relay, const char *finding,
                                     struct mq_error *err)
{
    return mq_relay_text_store(queue, MQ_KEY_RELAY_PIPELINING, relay, finding, err);
}
