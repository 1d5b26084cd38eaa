/* The key, the senders of envelopes that it signs, and the number of the newest suppression. */
#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"
#include "core/hex.h"
#include "db/db.h"
#include "mime/verp.h"
#include "queue/config/keys.h"
#include "queue/config/settings.h"
#include "queue/handle.h"
#include "queue/queue.h"
#include "queue/suppress/internal.h"
#include "queue/suppress/sender.h"

/* ---- the key ---- */

static bool read_hex(struct mq_str text, unsigned char *out, size_t size)
{
    bool ok = text.len == 2 * size;
    for (size_t i = 0; ok && i < text.len; i++) {
        int value = mq_hex_value(text.data[i]);
        ok = value >= 0;
        value = ok ? value : 0;
        out[i / 2] = (unsigned char)(i % 2 ? out[i / 2] | value : value << 4);
    }
    return ok;
}

static enum mq_status damaged(struct mq_error *err)
{
    const char *name = mq_config_keys[MQ_KEY_SUPPRESSION_KEY].name;
    return mq_error_set(err, MQ_CONFIG, name,
                        "config key %s is missing or damaged: without it no suppression can be "
                        "found, so nothing is sent. Restore it from a backup of the config table",
                        name);
}

struct mq_suppress_state *mq_suppress_state(struct mq_queue *queue, const char *text,
                                            struct mq_error *err)
{
    unsigned char key[MQ_SUPPRESSION_KEY];
    struct mq_suppress_state *state = queue->suppress;
    if (!read_hex(mq_str_trim(mq_str_of(text)), key, sizeof(key))) {
        damaged(err);
        return NULL;
    }
    if (state && memcmp(state->key, key, sizeof(key)) == 0) {
        return state;
    }
    mq_suppress_free(queue);
    queue->suppress = calloc(1, sizeof(*state));
    if (!queue->suppress) {
        mq_error_nomem(err);
        return NULL;
    }
    memcpy(queue->suppress->key, key, sizeof(key));
    return queue->suppress;
}

struct mq_suppress_state *mq_suppress_load(struct mq_queue *queue, struct mq_error *err)
{
    struct mq_args key = MQ_ARGS(mq_cstr(mq_config_keys[MQ_KEY_SUPPRESSION_KEY].name));
    char *text = NULL;
    if (mq_sql_text_of(queue, MQ_SQL_CONFIG_GET, key, &text, err) != MQ_OK) {
        return NULL;
    }
    struct mq_suppress_state *state = mq_suppress_state(queue, text, err);
    free(text);
    return state;
}

/* Whether the key is missing, and so is every suppression. */
static bool is_unmade(struct mq_queue *queue)
{
    struct mq_args key = MQ_ARGS(mq_cstr(mq_config_keys[MQ_KEY_SUPPRESSION_KEY].name));
    char *text = NULL;
    int64_t newest = 0;
    bool missing = mq_sql_text_of(queue, MQ_SQL_CONFIG_GET, key, &text, NULL) == MQ_OK && !text &&
                   mq_suppress_newest(queue, false, &newest, NULL) == MQ_OK && newest == 0;
    free(text);
    return missing;
}

const unsigned char *mq_queue_suppression_key(struct mq_queue *queue, struct mq_error *err)
{
    if (mq_queue_prepare(queue, err) != MQ_OK ||
        (is_unmade(queue) && mq_queue_migrate(queue, NULL, err) != MQ_OK)) {
        return NULL;
    }
    const struct mq_suppress_state *state = mq_suppress_load(queue, err);
    return state ? state->key : NULL;
}

void mq_suppress_free(struct mq_queue *queue)
{
    if (queue->suppress) {
        free(queue->suppress->hashes);
    }
    free(queue->suppress);
    queue->suppress = NULL;
}

enum mq_status mq_suppress_sender(struct mq_queue *queue, const char *sender, const char *recipient,
                                  struct mq_buffer *out, struct mq_error *err)
{
    const struct mq_suppress_state *state = queue->suppress;
    struct mq_str from = mq_str_of(sender);
    if (!mq_verp_asks(from)) {
        return MQ_OK;
    }
    if (!recipient) {
        mq_verp_write(NULL, from, NULL, out);
        return out->failed ? mq_error_nomem(err) : MQ_OK;
    }
    state = state ? state : mq_suppress_load(queue, err);
    if (!state) {
        return err->status;
    }
    const struct mq_verp to = {mq_suppress_hash(state->key, mq_str_of(recipient)),
                               mq_clock_now_s(mq_queue_clock(queue))};
    mq_verp_write(state->key + MQ_SUPPRESSION_KEY - MQ_VERP_KEY, from, &to, out);
    return out->failed ? mq_error_nomem(err) : MQ_OK;
}

enum mq_status mq_suppress_newest(struct mq_queue *queue, bool locks, int64_t *newest,
                                  struct mq_error *err)
{
    const char *key = mq_config_keys[MQ_KEY_SUPPRESSED].name;
    char *text = NULL;
    *newest = 0;
    if (!locks) {
        return mq_sql_int(queue, MQ_SQL_CONFIG_GET, MQ_ARGS(mq_cstr(key)), newest, err);
    }
    MQ_TRY(mq_config_lock(queue, key, &text, err));
    mq_config_parse_int(mq_str_of(text), newest);
    free(text);
    return MQ_OK;
}
