/* Reads all that a claim needs from the config table, and writes a key. */
#include "queue/config/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/hash.h"
#include "core/json.h"
#include "policy/job_state.h"
#include "policy/limits.h"
#include "policy/types.h"
#include "policy/warmup.h"
#include "queue/config/keys.h"
#include "queue/config/slow.h"
#include "queue/handle.h"

/* A value as it was read. */
struct raw {
    char *text;    /* NULL: unset */
    int64_t value; /* of an unset key its default, or 0 if that is computed or nothing */
};

/* Stores and parses the value of one key. An empty value counts as unset, because a form with an
 * empty field writes one. The key's case is ignored, because the query ignores it if the
 * application's column does. */
static enum mq_status take(struct raw *raw, struct mq_str name, struct mq_str text,
                           struct mq_error *err)
{
    int i = 0;
    text = mq_str_trim(text);
    while (i < MQ_KEY_COUNT && !mq_str_equal_nocase(name, mq_str_of(mq_config_keys[i].name))) {
        i++;
    }
    if (i == MQ_KEY_COUNT || text.len == 0 || raw[i].text) {
        return MQ_OK;
    }
    raw[i].text = mq_str_dup(text);
    if (!raw[i].text) {
        return mq_error_nomem(err);
    }
    const struct mq_config_key *key = &mq_config_keys[i];
    if (mq_config_parse(key->kind, text, &raw[i].value)) {
        return MQ_OK;
    }
    struct mq_error why;
    mq_config_why(key, text, &why);
    free(raw[i].text);
    raw[i].text = NULL;
    return mq_error_set(err, MQ_CONFIG, key->name,
                        "config key %s cannot be read: \"%.*s\"; %s. " MQ_CONFIG_CURE, key->name,
                        (int)mq_utf8_cut(text, 100), text.data, why.text, key->name, key->name);
}

/* MQ_CONFIG: a value cannot be read; the others are. */
static enum mq_status read_raw(struct mq_queue *queue, struct raw *raw, struct mq_error *err)
{
    enum mq_status bad = MQ_OK;
    for (int i = 0; i < MQ_KEY_COUNT; i++) {
        const struct mq_config_key *key = &mq_config_keys[i];
        if (key->standard[0] && !key->computed) {
            mq_config_parse(key->kind, mq_str_of(key->standard), &raw[i].value);
        }
    }
    enum mq_status status = mq_sql_query(queue, MQ_SQL_CONFIG_ALL, MQ_NO_ARGS, err);
    while (mq_sql_next(queue, &status, err)) {
        status = take(raw, mq_sql_column_str(queue, 0), mq_sql_column_str(queue, 1),
                      bad == MQ_OK ? err : NULL);
        bad = status == MQ_CONFIG ? status : bad;
        status = status == MQ_CONFIG ? MQ_OK : status;
    }
    return status == MQ_OK ? bad : status;
}

static int64_t value_or(const struct raw *raw, int64_t computed)
{
    return raw->text ? raw->value : computed;
}

static void read_bucket(const struct raw *raw, int64_t now_s, struct mq_bucket *bucket)
{
    bucket->limit = raw[MQ_KEY_MAX_PER_HOUR].value;
    bucket->cap = value_or(&raw[MQ_KEY_BURST], mq_bucket_default_cap(bucket->limit));
    bucket->units = value_or(&raw[MQ_KEY_TOKENS], bucket->cap * MQ_BUCKET_UNITS);
    bucket->last_refill_s = value_or(&raw[MQ_KEY_LAST_REFILL], now_s);
}

/* Keeps the text, which the limits point into. False without memory. */
static bool read_limits(struct raw *raw, struct mq_settings *out)
{
    out->burst = value_or(&raw[MQ_KEY_BURST], 0);
    out->reserve = value_or(&raw[MQ_KEY_RESERVE], -1);
    out->rate_mode = (enum mq_rate_mode)raw[MQ_KEY_RATE_MODE].value;
    if (!raw[MQ_KEY_LIMITS].text) {
        return true;
    }
    out->limits = malloc(sizeof(*out->limits));
    out->limits_text = raw[MQ_KEY_LIMITS].text;
    raw[MQ_KEY_LIMITS].text = NULL;
    return out->limits && mq_limits_parse(mq_str_of(out->limits_text), out->limits, NULL) == MQ_OK;
}

/* Adds today's limits of mailWarmup. False without memory. */
static bool add_warmup(const char *text, int64_t now_s, struct mq_settings *out)
{
    struct mq_warmup warmup = {0};
    struct mq_limits today;
    struct mq_buffer limits = {0};
    if (!text) {
        return true;
    }
    if (mq_warmup_parse(mq_str_of(text), &warmup, NULL) != MQ_OK) {
        return false;
    }
    mq_warmup_today(&warmup, now_s, &limits);
    mq_warmup_clear(&warmup);
    bool any = limits.len > 0;
    out->warmup_text = mq_buffer_take(&limits);
    if (!any) {
        return true;
    }
    out->limits = out->limits ? out->limits : calloc(1, sizeof(*out->limits));
    if (!out->warmup_text || !out->limits ||
        mq_limits_parse(mq_str_of(out->warmup_text), &today, NULL) != MQ_OK) {
        return false;
    }
    for (size_t i = 0; i < today.count; i++) {
        today.items[i].today = true;
    }
    mq_limits_add(out->limits, &today);
    return true;
}

/* Adds the limits of domains that are slowed down. */
static enum mq_status add_slow(const struct raw *raw, int64_t now_s, struct mq_settings *out,
                               struct mq_error *err)
{
    const char *kept = raw[MQ_KEY_SLOW_DOMAINS].text;
    out->slowdown = raw[MQ_KEY_SLOWDOWN].value;
    if (!kept || out->slowdown == 0) {
        return MQ_OK;
    }
    struct mq_limits slow = {.count = 0};
    MQ_TRY(mq_slow_limits(kept, now_s, &slow, &out->slow, err));
    if (slow.count > 0 && !out->limits) {
        out->limits = calloc(1, sizeof(*out->limits));
    }
    if (slow.count > 0 && !out->limits) {
        return mq_error_nomem(err);
    }
    if (slow.count > 0) {
        mq_limits_add(out->limits, &slow);
    }
    return MQ_OK;
}

static bool live(const struct raw *raw, int64_t now_s)
{
    return (raw[MQ_KEY_LIVE_FROM].text || raw[MQ_KEY_LIVE_UNTIL].text) &&
           value_or(&raw[MQ_KEY_LIVE_FROM], INT64_MIN) <= now_s &&
           now_s < value_or(&raw[MQ_KEY_LIVE_UNTIL], INT64_MAX);
}

static bool read_redirect(const struct raw *raw, int64_t now_s, struct mq_settings *out)
{
    const char *types = raw[MQ_KEY_REDIRECT_TYPES].text;
    const char *to = raw[MQ_KEY_REDIRECT_TO].text;
    if (!to && raw[MQ_KEY_REDIRECT_ALIAS].value) {
        to = mq_config_keys[MQ_KEY_REDIRECT_ALIAS].alias;
    }
    if (live(raw, now_s) || !to) {
        return true;
    }
    out->redirect_to = strdup(to);
    types = types ? types : mq_config_keys[MQ_KEY_REDIRECT_TYPES].standard;
    return out->redirect_to &&
           mq_types_parse(mq_str_of(types), &out->redirect_types, &out->redirect_all_but);
}

/* This machine's redirect holds whatever the table says, so that the copy of a database cannot
 * write to the recipients. */
static enum mq_status read_own_redirect(const struct mq_queue *queue, struct mq_settings *out,
                                        struct mq_error *err)
{
    const struct mq_config_kind *kind = mq_config_keys[MQ_KEY_REDIRECT_TO].kind;
    const char *to = queue->redirect_to;
    int64_t unused;
    if (!to || !mq_config_parse(kind, mq_str_of(to), &unused) ||
        !mq_config_parse_redirects(mq_str_of(queue->allow_to), &out->allow_to)) {
        return mq_error_set(err, MQ_CONFIG, "redirectTo",
                            "this machine's test mode cannot be read: MAILQUEUE_REDIRECT_TO (ini "
                            "mailqueue.redirect_to) must be an address or @domain, and "
                            "MAILQUEUE_ALLOW_TO (mailqueue.allow_to), if set, addresses and "
                            "@domains beside it, separated by commas. Nothing is sent until they "
                            "are corrected");
    }
    out->redirect_to = strdup(to);
    out->redirect_all_but = true;
    return out->redirect_to ? MQ_OK : mq_error_nomem(err);
}

/* ---- moved queues ---- */

/* While `mailqueue migrate-store` (cli/Move/) moves mail to another database, only one of the two
 * databases sends. The move records are JSON objects from a job table's name to
 * "ID.RUN moving|moved|copying|copied CURSOR BASE NAME"; cli/Move/Record.php writes them. */
enum mq_move_side { MQ_MOVED_TO, MQ_MOVED_FROM }; /* the source's record, the target's record */

/* Whether this move record says that all mail has arrived here. */
static bool is_copied(const char *text)
{
    char id[MQ_TOKEN_HEX + 1];
    int used = 0; /* stays 0 unless all of the text matches */
    sscanf(text, "%32[0-9a-f].%*8[-0-9a-f] copied %*18[0-9] %*18[0-9] %n", id, &used);
    return used > 0 && strlen(id) == MQ_TOKEN_HEX;
}

static bool blocks(const struct mq_strings *records, enum mq_move_side side, const char *table)
{
    for (size_t i = 0; i < records->count; i += 2) {
        if (strcasecmp(records->items[i], table) == 0) {
            return side == MQ_MOVED_TO || !is_copied(records->items[i + 1]);
        }
    }
    return false;
}

static bool move_blocks(const char *text, enum mq_move_side side, const char *table)
{
    struct mq_strings records = {0};
    if (!text || !text[0]) {
        return false;
    }
    /* An unreadable record or a lack of memory blocks: not sending is safer than sending twice. */
    bool result =
        mq_json_read(mq_str_of(text), '{', &records) != MQ_OK || blocks(&records, side, table);
    mq_strings_clear(&records);
    return result;
}

/* ---- all ---- */

static char *take_text(struct raw *raw)
{
    char *text = raw->text;
    raw->text = NULL;
    return text;
}

enum mq_status mq_settings_load(struct mq_queue *queue, int64_t now_s, struct mq_settings *out,
                                struct mq_error *err)
{
    const char *table = queue->names.table;
    struct raw raw[MQ_KEY_COUNT] = {0};
    struct mq_settings settings = {0};
    enum mq_status status = read_raw(queue, raw, err);
    if (!read_limits(raw, &settings) || !add_warmup(raw[MQ_KEY_WARMUP].text, now_s, &settings)) {
        status = mq_error_nomem(err);
    }
    if (status == MQ_OK) {
        status = add_slow(raw, now_s, &settings, err);
    }
    if (status == MQ_OK && (queue->redirect_to || queue->allow_to)) {
        status = read_own_redirect(queue, &settings, err);
    } else if (status == MQ_OK && !read_redirect(raw, now_s, &settings)) {
        status = mq_error_nomem(err);
    }
    if (status == MQ_OK) {
        settings.enabled = raw[MQ_KEY_ENABLED].value &&
                           !move_blocks(raw[MQ_KEY_MOVED_TO].text, MQ_MOVED_TO, table) &&
                           !move_blocks(raw[MQ_KEY_MOVED_FROM].text, MQ_MOVED_FROM, table);
        read_bucket(raw, now_s, &settings.bucket);
        settings.suppressed = raw[MQ_KEY_SUPPRESSED].value;
        settings.campaigns = raw[MQ_KEY_CAMPAIGNS].value != 0;
        settings.history_days = raw[MQ_KEY_HISTORY_DAYS].value;
        settings.hours_kept = take_text(&raw[MQ_KEY_HOURS_KEPT]);
        settings.suppression_key = take_text(&raw[MQ_KEY_SUPPRESSION_KEY]);
        settings.pauses = take_text(&raw[MQ_KEY_RELAY_PAUSE]);
        settings.sessions = take_text(&raw[MQ_KEY_DOMAIN_SESSIONS]);
        settings.slow_domains = take_text(&raw[MQ_KEY_SLOW_DOMAINS]);
        settings.hours = take_text(&raw[MQ_KEY_HOURS]);
    }
    if (status == MQ_OK || status == MQ_CONFIG) {
        *out = settings;
    } else {
        mq_settings_clear(&settings);
    }
    for (int i = 0; i < MQ_KEY_COUNT; i++) {
        free(raw[i].text);
    }
    return status;
}

/* In strict mode the reserve stays unused in each window, so a large burst does not make it larger.
 */
int64_t mq_settings_reserve(const struct mq_settings *settings, int64_t n, int64_t most)
{
    int64_t wanted = settings->reserve;
    if (wanted < 0) {
        bool strict = settings->rate_mode == MQ_RATE_STRICT;
        wanted = (strict ? mq_bucket_default_cap(n) : most) / 2;
    }
    return mq_bucket_reserve(wanted, most);
}

bool mq_settings_limit_by(const struct mq_settings *settings, int scope)
{
    bool any = false;
    for (size_t i = 0; settings->limits && i < settings->limits->count; i++) {
        any = any || settings->limits->items[i].scope == (enum mq_limit_scope)scope;
    }
    return any;
}

/* ---- by what mail was put back ---- */

int64_t mq_settings_mark(const struct mq_settings *settings)
{
    const char *const rules[] = {settings->hours, settings->limits_text, settings->warmup_text};
    uint64_t hash = MQ_HASH_BEGIN;
    bool any = false;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        any = any || rules[i];
        hash = mq_hash(mq_hash(hash, mq_str_of(rules[i])), MQ_STR(";"));
    }
    return any ? (int64_t)(hash >> 32) + 1 : 0;
}

int64_t mq_settings_marked(const struct mq_settings *settings, const char *table)
{
    struct mq_strings marks = {0};
    int64_t mark = 0;
    if (settings->hours_kept) {
        mq_json_read(mq_str_of(settings->hours_kept), '{', &marks);
    }
    for (size_t i = 0; i < marks.count; i += 2) {
        if (strcmp(marks.items[i], table) == 0) {
            mq_config_parse_int(mq_str_of(marks.items[i + 1]), &mark);
        }
    }
    mq_strings_clear(&marks);
    return mark;
}

void mq_settings_clear(struct mq_settings *settings)
{
    free(settings->redirect_to);
    free(settings->pauses);
    free(settings->slow_domains);
    free(settings->sessions);
    settings->slow_domains = settings->sessions = NULL;
    free(settings->hours);
    free(settings->hours_kept);
    free(settings->suppression_key);
    settings->suppression_key = NULL;
    settings->redirect_to = settings->pauses = settings->hours = settings->hours_kept = NULL;
    free(settings->limits);
    free(settings->limits_text);
    free(settings->warmup_text);
    settings->warmup_text = NULL;
    settings->limits_text = NULL;
    settings->limits = NULL;
    mq_strings_clear(&settings->slow);
    mq_strings_clear(&settings->redirect_types);
    mq_strings_clear(&settings->allow_to);
}

/* ---- writing ---- */

#define NUMBER_OCTETS 32 /* values up to this length fit into a column of any type */

/* Checks that a value was stored whole: depending on the connection's settings, some databases
 * silently cut what a column cannot hold. */
static enum mq_status check_whole(struct mq_queue *queue, struct mq_args both, struct mq_error *err)
{
    int64_t same = 0;
    if (both.values[1].s.len <= NUMBER_OCTETS || !mq_sql_has(queue, MQ_SQL_CONFIG_SAME)) {
        return MQ_OK;
    }
    MQ_TRY(mq_sql_int(queue, MQ_SQL_CONFIG_SAME, both, &same, err));
    return same ? MQ_OK
                : mq_error_set(err, MQ_SCHEMA, queue->names.config,
                               "the column `value` of table %s cannot hold the %zu octets of %s: "
                               "make it a TEXT in utf8mb4",
                               queue->names.config, both.values[1].s.len, both.values[0].s.data);
}

static enum mq_status read_locked(struct mq_queue *queue, struct mq_args key, char **value,
                                  struct mq_error *err)
{
    *value = NULL;
    enum mq_status status =
        mq_sql_query_template(queue, "SELECT {V} FROM {c} WHERE {q}key{q} = ?1{u}", key, err);
    while (mq_sql_next(queue, &status, err)) {
        struct mq_str text = mq_sql_column_str(queue, 0);
        free(*value);
        *value = text.data ? mq_str_dup(text) : NULL;
        status = text.data && !*value ? mq_error_nomem(err) : MQ_OK;
    }
    if (status != MQ_OK) {
        free(*value);
        *value = NULL;
    }
    return status;
}

/* A server locks no row that does not exist, so it is made. */
enum mq_status mq_config_lock(struct mq_queue *queue, const char *key, char **value,
                              struct mq_error *err)
{
    struct mq_args args = MQ_ARGS(mq_cstr(key));
    MQ_TRY(read_locked(queue, args, value, err));
    if (*value || !queue->dialect->shared) {
        return MQ_OK;
    }
    MQ_TRY(
        mq_sql_exec_text(queue, "INSERT INTO {c}({q}key{q}, value) VALUES (?1, ''){&}", args, err));
    return read_locked(queue, args, value, err);
}

enum mq_status mq_config_put(struct mq_queue *queue, const char *key, const char *value,
                             struct mq_error *err)
{
    struct mq_args both = MQ_ARGS(mq_cstr(key), mq_cstr(value));
    if (!value) {
        return mq_sql_exec(queue, MQ_SQL_CONFIG_DELETE, MQ_ARGS(mq_cstr(key)), err);
    }
    MQ_TRY(mq_sql_exec(queue, MQ_SQL_CONFIG_UPDATE, both, err));
    if (mq_sql_changes(queue) == 0) {
        MQ_TRY(mq_sql_exec(queue, MQ_SQL_CONFIG_INSERT, both, err));
        if (mq_sql_changes(queue) == 0) {
            MQ_TRY(mq_sql_exec(queue, MQ_SQL_CONFIG_UPDATE, both, err));
        }
    }
    return check_whole(queue, both, err);
}
