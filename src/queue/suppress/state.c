/* The key, the hash of an address, and the hashes of new suppressions in memory. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"
#include "core/siphash.h"
#include "db/db.h"
#include "mime/idn.h"
#include "queue/config/keys.h"
#include "queue/config/settings.h"
#include "queue/handle.h"
#include "queue/queue.h"
#include "queue/suppress/internal.h"

#define ADDRESS_MAX 254

/* ---- the key ---- */

static bool read_hex(struct mq_str text, unsigned char *out, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    bool ok = text.len == 2 * size;
    for (size_t i = 0; ok && i < text.len; i++) {
        const char *digit = strchr(digits, mq_ascii_lower(text.data[i]));
        ok = digit && *digit;
        int value = ok ? (int)(digit - digits) : 0;
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
    free(queue->suppress);
    queue->suppress = NULL;
}

/* ---- addresses ---- */

uint64_t mq_suppress_hash(const struct mq_suppress_state *state, struct mq_str address)
{
    char lower[ADDRESS_MAX];
    size_t len = address.len < ADDRESS_MAX ? address.len : ADDRESS_MAX;
    for (size_t i = 0; i < len; i++) {
        lower[i] = mq_ascii_lower(address.data[i]);
    }
    return mq_siphash(state->key, (struct mq_str){lower, len});
}

enum mq_status mq_suppress_canonical(struct mq_str address, struct mq_buffer *out,
                                     struct mq_error *err)
{
    char *plain = NULL;
    MQ_TRY(mq_idn_address(mq_str_trim(address), "address", &plain, err));
    for (const char *c = plain; *c; c++) {
        mq_buffer_char(out, mq_ascii_lower(*c));
    }
    free(plain);
    return out->failed ? mq_error_nomem(err) : MQ_OK;
}

/* ---- statements ---- */

enum mq_status mq_suppress_query(struct mq_queue *queue, const char *text, struct mq_args args,
                                 struct mq_error *err)
{
    char *sql = mq_sql_expand(queue->dialect, &queue->names, text);
    enum mq_status status = sql ? mq_sql_query_text(queue, sql, args, err) : mq_error_nomem(err);
    free(sql);
    return status;
}

enum mq_status mq_suppress_newest(struct mq_queue *queue, bool locks, int64_t *newest,
                                  struct mq_error *err)
{
    struct mq_args key = MQ_ARGS(mq_cstr(mq_config_keys[MQ_KEY_SUPPRESSED].name));
    *newest = 0;
    if (!locks) {
        return mq_sql_int(queue, MQ_SQL_CONFIG_GET, key, newest, err);
    }
    enum mq_status status =
        mq_suppress_query(queue, "SELECT {V} FROM {c} WHERE {q}key{q} = ?1{u}", key, err);
    while (mq_sql_next(queue, &status, err)) {
        *newest = mq_sql_column_int(queue, 0);
    }
    return status;
}

/* ---- new suppressions ---- */

static int compare_hashes(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

bool mq_suppress_is_recent(const struct mq_suppress_state *state, uint64_t hash)
{
    return bsearch(&hash, state->hashes, state->count, sizeof(hash), compare_hashes) != NULL;
}

/* Appends the hashes after `after`; *full: there are more than memory is for. */
static enum mq_status read_hashes(struct mq_queue *queue, int64_t after, bool *full,
                                  struct mq_error *err)
{
    struct mq_suppress_state *state = queue->suppress;
    struct mq_args args = MQ_ARGS(mq_int(after));
    enum mq_status status =
        mq_suppress_query(queue, "SELECT hash FROM {Z} WHERE seq > ?1", args, err);
    while (mq_sql_next(queue, &status, err)) {
        *full = state->count == MQ_RECENT_MAX;
        if (*full) {
            mq_sql_finish(queue);
            break;
        }
        state->hashes[state->count++] = (uint64_t)mq_sql_column_int(queue, 0);
    }
    qsort(state->hashes, state->count, sizeof(*state->hashes), compare_hashes);
    return status;
}

enum mq_status mq_suppress_recent(struct mq_queue *queue, int64_t from, int64_t newest, bool *known,
                                  struct mq_error *err)
{
    struct mq_suppress_state *state = queue->suppress;
    bool full = newest - from > MQ_RECENT_MAX;
    *known = !full;
    if (full || (state->to == newest && state->from <= from)) {
        return MQ_OK;
    }
    if (state->to == 0 || state->from > from || newest - state->from > MQ_RECENT_MAX) {
        state->from = state->to = from;
        state->count = 0;
    }
    enum mq_status status = read_hashes(queue, state->to, &full, err);
    *known = status == MQ_OK && !full;
    state->to = *known ? newest : 0;
    return status;
}
