/* The config keys: what there is, what a value may be, reading and writing one. */
#include "queue/internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/address.h"
#include "core/json.h"

#define NUMBER_MAX    1000000000LL
#define NUMBER_OCTETS 32             /* which a column of whatever kind can hold */
#define SECONDS_MAX   253402300799LL /* the last second of the year 9999 */

static const struct mq_config_key keys[] = {
    {"mailQueueEnabled", "bool", "0 | 1", "1",
     "0 stops claims: mail is still accepted into the queue, none is sent.", false},
    {"mailMaxPerHour", "int", "0 … 1000000000", "0",
     "Recipients that may be handed to the relay in an hour; 0 sets no limit.", false},
    {"mailBurst", "int", "1 … 1000000000", "max(min(N, 5), ceil(N / 60))",
     "Recipients that may be sent at once after a quiet time.", false},
    {"mailRateMode", "enum", "average | strict", "average",
     "average: a token bucket; strict: no rolling hour on the relay's clock exceeds the limit.",
     false},
    {"mailRedirectTo", "text", "address | @domain", "",
     "Test mode: replaces every envelope recipient; @domain keeps the local part.", false},
    {"mailRedirectToSchumbi", "bool", "0 | 1", "0",
     "1 counts as @schumbi.de where mailRedirectTo is unset.", false},
    {"mailRedirectTypes", "text", "types, separated by commas", "every type but organizer",
     "The mail types that the test mode redirects.", false},
    {"mailLiveFrom", "time", "UTC seconds | ISO 8601", "",
     "From this time on the test mode is off.", false},
    {"mailLiveUntil", "time", "UTC seconds | ISO 8601", "",
     "From this time on the test mode is on again.", false},
    {"mailTokens", "number", "0 … 1000000000", "full", "Tokens in the bucket at mailLastRefill.",
     true},
    {"mailLastRefill", "time", "UTC seconds | ISO 8601", "now",
     "When the bucket was last filled up.", true},
    {"mailRelayPause", "object", "JSON object", "",
     "Relays in trouble: until when, how often, why.", true},
    {"mailRelayPipelining", "object", "JSON object", "",
     "What relays were seen to take: the next mail's commands behind a dot, or a group of one "
     "mail's.",
     true},
    {"mailLastRun", "time", "UTC seconds | ISO 8601", "", "When the last worker run ended.", true},
    {"mailQueueMovedTo", "object", "JSON object", "",
     "Job tables whose mail is moved to another database, which alone sends it.", true},
    {"mailQueueMovedFrom", "object", "JSON object", "",
     "Job tables whose mail comes from another database; none is sent before all is there.", true},
    {"mailSchemaVersion", "int", "1 …", "", "The version of the queue's tables.", true},
};
#define KEY_COUNT (sizeof(keys) / sizeof(keys[0]))

const struct mq_config_key *mq_config_keys(size_t *count)
{
    *count = KEY_COUNT;
    return keys;
}

bool mq_config_parse_bool(struct mq_str text, bool *value)
{
    static const char *const words[][2] = {
        {"0", "1"}, {"false", "true"}, {"no", "yes"}, {"off", "on"}};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        for (int b = 0; b < 2; b++) {
            if (mq_str_equal_nocase(text, mq_str_of(words[i][b]))) {
                *value = b;
                return true;
            }
        }
    }
    return false;
}

bool mq_config_parse_int(struct mq_str text, int64_t *value)
{
    int64_t sum = 0;
    text = mq_str_trim(text);
    if (text.len == 0 || text.len > 18) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') {
            return false;
        }
        sum = sum * 10 + (text.data[i] - '0');
    }
    *value = sum;
    return true;
}

static bool parse_redirect(struct mq_str text)
{
    char address[256] = "x";
    size_t skip = text.len > 0 && text.data[0] == '@'; /* a domain alone gets a local part */
    if (text.len == 0 || text.len + skip >= sizeof(address)) {
        return false;
    }
    memcpy(address + skip, text.data, text.len);
    bool utf8 = false;
    struct mq_error why;
    struct mq_str whole = {address, text.len + skip};
    return mq_address_check(whole, "mailRedirectTo", &utf8, &why) == MQ_OK;
}

static bool type_ok(struct mq_str type)
{
    if (type.len == 0 || type.len > MQ_TYPE_MAX || !mq_utf8_valid(type)) {
        return false;
    }
    for (size_t i = 0; i < type.len; i++) {
        unsigned char c = (unsigned char)type.data[i];
        if (c < 0x20 || c == 0x7f) {
            return false;
        }
    }
    return true;
}

/* Without memory false as well: the claim stops, and nothing goes to the wrong place. */
bool mq_config_parse_types(struct mq_str text, struct mq_strings *out)
{
    while (text.data) {
        const char *comma = memchr(text.data, ',', text.len);
        size_t n = comma ? (size_t)(comma - text.data) : text.len;
        struct mq_str type = mq_str_trim((struct mq_str){text.data, n});
        if (!type_ok(type) || (out && !mq_strings_add(out, type))) {
            return false;
        }
        text = comma ? (struct mq_str){comma + 1, text.len - n - 1} : (struct mq_str){NULL, 0};
    }
    return true;
}

static bool object_ok(struct mq_str text)
{
    struct mq_strings names;
    struct mq_strings values;
    struct mq_error why;
    mq_strings_init(&names);
    mq_strings_init(&values);
    bool ok = mq_json_read_object(text, &names, &values, &why) == MQ_OK;
    mq_strings_clear(&names);
    mq_strings_clear(&values);
    return ok;
}

static bool text_ok(const char *name, struct mq_str value)
{
    return strcmp(name, "mailRedirectTypes") == 0 ? mq_config_parse_types(value, NULL)
                                                  : parse_redirect(value);
}

bool mq_config_value_ok(const struct mq_config_key *key, struct mq_str value)
{
    int64_t i;
    bool b;
    switch (key->type[0]) {
    case 'b':
        return mq_config_parse_bool(value, &b);
    case 'e':
        return mq_str_equal(value, MQ_STR("average")) || mq_str_equal(value, MQ_STR("strict"));
    case 'i':
        return mq_config_parse_int(value, &i) && i <= NUMBER_MAX &&
               i >= (key->range[0] == '1' ? 1 : 0);
    case 'n':
        return mq_bucket_parse(value, &i) && i <= NUMBER_MAX * MQ_BUCKET_UNITS;
    case 'o':
        return object_ok(value);
    case 't':
        return key->type[1] == 'i' ? mq_config_parse_time(value, &i) && i <= SECONDS_MAX
                                   : text_ok(key->name, value);
    default:
        return false;
    }
}

/* A database that cuts what a column cannot hold without a word, if the connection is set so. */
static enum mq_status check_whole(struct mq_queue *queue, struct mq_args both, struct mq_error *err)
{
    int64_t same = 0;
    if (both.values[1].s.len <= NUMBER_OCTETS || !mq_sql_has(queue, MQ_SQL_CONFIG_SAME)) {
        return MQ_OK;
    }
    enum mq_status status = mq_sql_int(queue, MQ_SQL_CONFIG_SAME, both, &same, err);
    return status != MQ_OK || same
               ? status
               : mq_error_set(err, MQ_SCHEMA, queue->names.config,
                              "the column `value` of table %s cannot hold the %zu octets of %s: "
                              "make it a TEXT in utf8mb4",
                              queue->names.config, both.values[1].s.len, both.values[0].s.data);
}

enum mq_status mq_config_put(struct mq_queue *queue, const char *key, const char *value,
                             struct mq_error *err)
{
    struct mq_args both = MQ_ARGS(mq_cstr(key), mq_cstr(value));
    if (!value) {
        return mq_sql_exec(queue, MQ_SQL_CONFIG_DELETE, MQ_ARGS(mq_cstr(key)), err);
    }
    enum mq_status status = mq_sql_exec(queue, MQ_SQL_CONFIG_UPDATE, both, err);
    if (status == MQ_OK && mq_sql_changes(queue) == 0) {
        status = mq_sql_exec(queue, MQ_SQL_CONFIG_INSERT, both, err);
        if (status == MQ_OK && mq_sql_changes(queue) == 0) {
            status = mq_sql_exec(queue, MQ_SQL_CONFIG_UPDATE, both, err);
        }
    }
    return status == MQ_OK ? check_whole(queue, both, err) : status;
}

enum mq_status mq_queue_config(struct mq_queue *queue, const char *key, char **value,
                               struct mq_error *err)
{
    bool row = false;
    char *copy = NULL;
    enum mq_status status = mq_schema_ready(queue, err);
    if (status == MQ_OK) {
        status = mq_sql_query(queue, MQ_SQL_CONFIG_GET, MQ_ARGS(mq_cstr(key)), err);
    }
    if (status == MQ_OK) {
        status = mq_sql_next(queue, &row, err);
    }
    if (status != MQ_OK) {
        return status;
    }
    if (row) {
        struct mq_str text = mq_sql_column_str(queue, 0);
        copy = text.data ? mq_str_dup(text) : NULL;
        mq_sql_finish(queue);
        if (text.data && !copy) {
            return mq_error_nomem(err);
        }
    }
    *value = copy;
    return MQ_OK;
}

static const struct mq_config_key *find_key(const char *name)
{
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (strcmp(keys[i].name, name) == 0) {
            return &keys[i];
        }
    }
    return NULL;
}

static enum mq_status check_set(struct mq_queue *queue, const char *name, const char *value,
                                struct mq_error *err)
{
    if (!name[0]) {
        return mq_error_set(err, MQ_INVALID, "key", "a config key cannot be empty");
    }
    if (strcmp(name, queue->names.version_key) == 0) {
        return mq_error_set(err, MQ_INVALID, name,
                            "%s is set by migrations alone: run `mailqueue migrate`", name);
    }
    const struct mq_config_key *key = find_key(name);
    struct mq_str text = mq_str_trim(mq_str_of(value));
    if (!key || text.len == 0 || mq_config_value_ok(key, text)) {
        return MQ_OK;
    }
    return mq_error_set(err, MQ_INVALID, name, "%s cannot be \"%.*s\": allowed is %s", name,
                        (int)mq_utf8_cut(text, 100), text.data, key->range);
}

struct setting {
    const char *key;
    const char *value;
};

static enum mq_status put(struct mq_tx *tx, void *context, struct mq_error *err)
{
    const struct setting *setting = context;
    return mq_config_put(tx->queue, setting->key, setting->value, err);
}

enum mq_status mq_queue_set_config(struct mq_queue *queue, const char *key, const char *value,
                                   struct mq_error *err)
{
    struct setting setting = {key, value};
    struct mq_tx_work work = {.body = put, .context = &setting};
    enum mq_status status = check_set(queue, key, value, err);
    return status == MQ_OK ? mq_tx_run(queue, &work, err) : status;
}
