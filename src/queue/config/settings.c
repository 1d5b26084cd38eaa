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

/* Keeps a value of one of the keys above. An empty value counts as unset: that is what a form with
 * an empty field writes. The query compares keys as the application's column does, so that what it
 * finds counts, in whatever case. */
static bool keep(struct raw *raw, struct mq_str name, struct mq_str value)
{
    value = mq_str_trim(value);
    for (int i = 0; i < MQ_KEY_COUNT && value.len > 0; i++) {
        if (mq_str_equal_nocase(name, mq_str_of(mq_config_keys[i].name)) && !raw[i].text) {
            raw[i].text = mq_str_dup(value);
            return raw[i].text != NULL;
        }
    }
    return true;
}

static enum mq_status read_raw(struct mq_queue *queue, struct raw *raw, struct mq_error *err)
{
    enum mq_status status = mq_sql_query(queue, MQ_SQL_CONFIG_ALL, MQ_NO_ARGS, err);
    while (mq_sql_next(queue, &status, err)) {
        if (!keep(raw, mq_sql_column_str(queue, 0), mq_sql_column_str(queue, 1))) {
            status = mq_error_nomem(err);
        }
    }
    return status;
}

static enum mq_status check(const struct raw *raw, const struct mq_config_key *key,
                            struct mq_error *err)
{
    struct mq_str value = mq_str_of(raw->text);
    if (!raw->text || key->kind->accepts(value)) {
        return MQ_OK;
    }
    return mq_error_set(err, MQ_CONFIG, key->name,
                        "config key %s cannot be read: \"%.*s\"; allowed is %s. Nothing is sent "
                        "until it is corrected (`mailqueue config %s VALUE`, or `mailqueue config "
                        "--unset %s`)",
                        key->name, (int)mq_utf8_cut(value, 100), raw->text, key->kind->range,
                        key->name, key->name);
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
    bucket->limit = number(&raw[MQ_KEY_MAX_PER_HOUR], 0);
    bucket->cap = number(&raw[MQ_KEY_BURST], mq_bucket_default_cap(bucket->limit));
    bucket->units = bucket->cap * MQ_BUCKET_UNITS;
    bucket->last_refill_s = moment(&raw[MQ_KEY_LAST_REFILL], now_s);
    if (raw[MQ_KEY_TOKENS].text) {
        mq_bucket_parse(mq_str_of(raw[MQ_KEY_TOKENS].text), &bucket->units);
    }
}

static bool live(const struct raw *raw, int64_t now_s)
{
    if (!raw[MQ_KEY_LIVE_FROM].text && !raw[MQ_KEY_LIVE_UNTIL].text) {
        return false;
    }
    return moment(&raw[MQ_KEY_LIVE_FROM], INT64_MIN) <= now_s &&
           now_s < moment(&raw[MQ_KEY_LIVE_UNTIL], INT64_MAX);
}

/* Gives the key before an alias its value, where only the alias is set. */
static bool read_aliases(struct raw *raw)
{
    for (int i = 1; i < MQ_KEY_COUNT; i++) {
        const char *value = mq_config_keys[i].alias;
        if (value && flag(&raw[i], false) && !raw[i - 1].text) {
            raw[i - 1].text = strdup(value);
            if (!raw[i - 1].text) {
                return false;
            }
        }
    }
    return true;
}

static bool read_redirect(const struct raw *raw, int64_t now_s, struct mq_settings *out)
{
    const char *types = raw[MQ_KEY_REDIRECT_TYPES].text;
    if (live(raw, now_s) || !raw[MQ_KEY_REDIRECT_TO].text) {
        return true;
    }
    out->redirect_to = strdup(raw[MQ_KEY_REDIRECT_TO].text);
    types = types ? types : mq_config_keys[MQ_KEY_REDIRECT_TYPES].standard;
    return out->redirect_to &&
           mq_config_parse_types(mq_str_of(types), &out->redirect_types, &out->redirect_all_but);
}

enum mq_status mq_settings_load(struct mq_queue *queue, int64_t now_s, struct mq_settings *out,
                                char **pauses, struct mq_error *err)
{
    struct raw raw[MQ_KEY_COUNT] = {0};
    struct mq_settings settings = {0};
    mq_strings_init(&settings.redirect_types);
    enum mq_status status = read_raw(queue, raw, err);
    for (int i = 0; i < MQ_KEY_COUNT && status == MQ_OK; i++) {
        status = check(&raw[i], &mq_config_keys[i], err);
    }
    if (status == MQ_OK && (!read_aliases(raw) || !read_redirect(raw, now_s, &settings))) {
        status = mq_error_nomem(err);
    }
    if (status == MQ_OK) {
        const char *table = queue->names.table;
        settings.enabled = flag(&raw[MQ_KEY_ENABLED], true) &&
                           !mq_move_blocks(raw[MQ_KEY_MOVED_TO].text, MQ_MOVED_TO, table) &&
                           !mq_move_blocks(raw[MQ_KEY_MOVED_FROM].text, MQ_MOVED_FROM, table);
        settings.rate_mode =
            raw[MQ_KEY_RATE_MODE].text && strcmp(raw[MQ_KEY_RATE_MODE].text, "strict") == 0
                ? MQ_RATE_STRICT
                : MQ_RATE_AVERAGE;
        read_bucket(raw, now_s, &settings.bucket);
        *out = settings;
        *pauses = raw[MQ_KEY_RELAY_PAUSE].text;
        raw[MQ_KEY_RELAY_PAUSE].text = NULL;
    } else {
        mq_settings_clear(&settings);
    }
    for (int i = 0; i < MQ_KEY_COUNT; i++) {
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
