/* Reads all that a claim needs from the config table. */
#include "queue/config/settings.h"

#include <stdlib.h>
#include <string.h>

#include "queue/config/keys.h"
#include "queue/config/move_record.h"
#include "queue/handle.h"

/* A value as it was read. */
struct raw {
    char *text; /* NULL: unset */
};

enum {
    ENABLED,
    MAX,
    BURST,
    MODE,
    REDIRECT,
    SCHUMBI,
    TYPES,
    FROM,
    UNTIL,
    TOKENS,
    REFILL,
    PAUSE,
    MOVED_TO,
    MOVED_FROM
};
#define RAW_COUNT (MOVED_FROM + 1)

/* In the order above. */
static const char *const names[RAW_COUNT] = {
    "mailQueueEnabled",  "mailMaxPerHour",    "mailBurst",
    "mailRateMode",      "mailRedirectTo",    "mailRedirectToSchumbi",
    "mailRedirectTypes", "mailLiveFrom",      "mailLiveUntil",
    "mailTokens",        "mailLastRefill",    "mailRelayPause",
    "mailQueueMovedTo",  "mailQueueMovedFrom"};

/* Keeps a value of one of the keys above. An empty value counts as unset: that is what a form with
 * an empty field writes. The query compares keys as the application's column does, so that what it
 * finds counts, in whatever case. */
static bool keep(struct raw *raw, struct mq_str name, struct mq_str value)
{
    value = mq_str_trim(value);
    for (int i = 0; i < RAW_COUNT && value.len > 0; i++) {
        if (mq_str_equal_nocase(name, mq_str_of(names[i])) && !raw[i].text) {
            raw[i].text = mq_str_dup(value);
            return raw[i].text != NULL;
        }
    }
    return true;
}

static enum mq_status read_raw(struct mq_queue *queue, struct raw *raw, struct mq_error *err)
{
    bool row = true;
    enum mq_status status = mq_sql_query(queue, MQ_SQL_CONFIG_ALL, MQ_NO_ARGS, err);
    while (status == MQ_OK) {
        status = mq_sql_next(queue, &row, err);
        if (status != MQ_OK || !row) {
            break;
        }
        if (!keep(raw, mq_sql_column_str(queue, 0), mq_sql_column_str(queue, 1))) {
            mq_sql_finish(queue);
            return mq_error_nomem(err);
        }
    }
    return status;
}

static enum mq_status check(const struct raw *raw, const char *name, struct mq_error *err)
{
    if (!raw->text) {
        return MQ_OK;
    }
    size_t count;
    const struct mq_config_key *key = mq_config_keys(&count);
    for (size_t i = 0; i < count; i++) {
        struct mq_str value = mq_str_of(raw->text);
        if (strcmp(key[i].name, name) == 0 && !mq_config_value_ok(&key[i], value)) {
            return mq_error_set(err, MQ_CONFIG, name,
                                "config key %s cannot be read: \"%.*s\"; allowed is %s. Nothing "
                                "is sent until it is corrected (`mailqueue config %s VALUE`, or "
                                "`mailqueue config --unset %s`)",
                                name, (int)mq_utf8_cut(value, 100), raw->text, key[i].range, name,
                                name);
        }
    }
    return MQ_OK;
}

/* The values below have passed check(). */

static int64_t number(const struct raw *raw, int64_t unset)
{
    int64_t value = unset;
    if (raw->text) {
        mq_config_parse_int(mq_str_of(raw->text), &value);
    }
    return value;
}

static int64_t moment(const struct raw *raw, int64_t unset)
{
    int64_t value = unset;
    if (raw->text) {
        mq_config_parse_time(mq_str_of(raw->text), &value);
    }
    return value;
}

static bool flag(const struct raw *raw, bool unset)
{
    bool value = unset;
    if (raw->text) {
        mq_config_parse_bool(mq_str_of(raw->text), &value);
    }
    return value;
}

static void read_bucket(const struct raw *raw, int64_t now_s, struct mq_bucket *bucket)
{
    bucket->limit = number(&raw[MAX], 0);
    bucket->cap = number(&raw[BURST], mq_bucket_default_cap(bucket->limit));
    bucket->units = bucket->cap * MQ_BUCKET_UNITS;
    bucket->last_refill_s = moment(&raw[REFILL], now_s);
    if (raw[TOKENS].text) {
        mq_bucket_parse(mq_str_of(raw[TOKENS].text), &bucket->units);
    }
}

static bool live(const struct raw *raw, int64_t now_s)
{
    if (!raw[FROM].text && !raw[UNTIL].text) {
        return false;
    }
    return moment(&raw[FROM], INT64_MIN) <= now_s && now_s < moment(&raw[UNTIL], INT64_MAX);
}

static bool read_redirect(const struct raw *raw, int64_t now_s, struct mq_settings *out)
{
    if (live(raw, now_s)) {
        return true;
    }
    if (raw[REDIRECT].text) {
        out->redirect_to = strdup(raw[REDIRECT].text);
    } else if (flag(&raw[SCHUMBI], false)) {
        out->redirect_to = strdup("@schumbi.de");
    } else {
        return true;
    }
    out->redirect_types_set = raw[TYPES].text != NULL;
    return out->redirect_to &&
           mq_config_parse_types(mq_str_of(raw[TYPES].text), &out->redirect_types);
}

enum mq_status mq_settings_load(struct mq_queue *queue, int64_t now_s, struct mq_settings *out,
                                char **pauses, struct mq_error *err)
{
    struct raw raw[RAW_COUNT] = {0};
    struct mq_settings settings = {0};
    mq_strings_init(&settings.redirect_types);
    enum mq_status status = read_raw(queue, raw, err);
    for (int i = 0; i < RAW_COUNT && status == MQ_OK; i++) {
        status = check(&raw[i], names[i], err);
    }
    if (status == MQ_OK && !read_redirect(raw, now_s, &settings)) {
        status = mq_error_nomem(err);
    }
    if (status == MQ_OK) {
        const char *table = queue->names.table;
        settings.enabled = flag(&raw[ENABLED], true) &&
                           !mq_move_blocks(raw[MOVED_TO].text, MQ_MOVED_TO, table) &&
                           !mq_move_blocks(raw[MOVED_FROM].text, MQ_MOVED_FROM, table);
        settings.rate_mode = raw[MODE].text && strcmp(raw[MODE].text, "strict") == 0
                                 ? MQ_RATE_STRICT
                                 : MQ_RATE_AVERAGE;
        read_bucket(raw, now_s, &settings.bucket);
        *out = settings;
        *pauses = raw[PAUSE].text;
        raw[PAUSE].text = NULL;
    } else {
        mq_settings_clear(&settings);
    }
    for (int i = 0; i < RAW_COUNT; i++) {
        free(raw[i].text);
    }
    return status;
}

void mq_settings_clear(struct mq_settings *settings)
{
    free(settings->redirect_to);
    settings->redirect_to = NULL;
    mq_strings_clear(&settings->redirect_types);
}
