/* The config keys: their names, their values, and how they are read and set. */
#ifndef MQ_QUEUE_CONFIG_KEYS_H
#define MQ_QUEUE_CONFIG_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"

struct mq_queue;

/* A type of config value. */
struct mq_config_kind {
    const char *type;  /* "bool", "int", "enum", "text", "time", "number", "object", "secret" */
    const char *range; /* "0 … 1000000000", "average | strict", … */
    /* Whether `text` is such a value; *value is its number, or stays 0. NULL: any text is. */
    bool (*parse)(struct mq_str text, int64_t *value);
    int64_t min, max;
};
/* Parses a value without white space around it, and checks its range. */
bool mq_config_parse(const struct mq_config_kind *kind, struct mq_str text, int64_t *value);

/* Indexes of the rows in the table. */
enum mq_config_id {
    MQ_KEY_ENABLED,
    MQ_KEY_MAX_PER_HOUR,
    MQ_KEY_BURST,
    MQ_KEY_RESERVE,
    MQ_KEY_LIMITS,
    MQ_KEY_DOMAIN_SESSIONS,
    MQ_KEY_RATE_MODE,
    MQ_KEY_REDIRECT_TO,
    MQ_KEY_REDIRECT_ALIAS,
    MQ_KEY_REDIRECT_TYPES,
    MQ_KEY_LIVE_FROM,
    MQ_KEY_LIVE_UNTIL,
    MQ_KEY_WARMUP,
    MQ_KEY_HOURS,
    MQ_KEY_SLOWDOWN,
    MQ_KEY_HISTORY_DAYS,
    MQ_KEY_STALE_AFTER,
    MQ_KEY_MAX_WORKERS,
    MQ_KEY_TOKENS,
    MQ_KEY_LAST_REFILL,
    MQ_KEY_RELAY_PAUSE,
    MQ_KEY_RELAY_PIPELINING,
    MQ_KEY_RELAY_ROUTES,
    MQ_KEY_SLOW_DOMAINS,
    MQ_KEY_HOURS_KEPT,
    MQ_KEY_LAST_RUN,
    MQ_KEY_SUPPRESSED,
    MQ_KEY_SUPPRESSION_KEY,
    MQ_KEY_CAMPAIGNS,
    MQ_KEY_MOVED_TO,
    MQ_KEY_MOVED_FROM,
    MQ_KEY_SCHEMA_VERSION,
    MQ_KEY_ADOPTED,
    MQ_KEY_COUNT
};

/* A row of the table in keys.c, the only list of keys: the statements, the checks, configKeys(),
 * `mailqueue config` and the documentation's test use it. */
struct mq_config_key {
    const char *name;
    const struct mq_config_kind *kind;
    const char *standard; /* what an unset key means; "": nothing */
    const char *meaning;  /* one sentence */
    /* Says what is wrong with a text that is not a value of this kind. NULL: the range says it. */
    void (*why)(struct mq_str text, struct mq_error *why);
    bool computed;     /* `standard` only tells people how it is computed */
    bool internal;     /* the queue's own state, not a setting */
    bool in_claims;    /* each claim reads it */
    const char *alias; /* alias_of's value, if that is unset and this key is true; NULL: none */
    enum mq_config_id alias_of;
};
extern const struct mq_config_key mq_config_keys[MQ_KEY_COUNT];

/* Finds a key by its name. NULL: the key is the application's. */
const struct mq_config_key *mq_config_key(const char *name);
/* Sets the text of `why`: what is wrong with this value, if that is known, and what is allowed. */
void mq_config_why(const struct mq_config_key *key, struct mq_str text, struct mq_error *why);
bool mq_config_parse_int(struct mq_str text, int64_t *value);
/* Parses addresses and "@domain"s, separated by commas, and appends them to `out`. */
bool mq_config_parse_redirects(struct mq_str list, struct mq_strings *out);
/* Reads a raw value; *value is malloc'ed, NULL if the key is unset. */
enum mq_status mq_queue_config(struct mq_queue *queue, const char *key, char **value,
                               struct mq_error *err);
/* Sets a key; value NULL unsets it. Checks the value of a known key (MQ_INVALID names key, value
 * and allowed values). Other keys belong to the application and are not checked. */
enum mq_status mq_queue_set_config(struct mq_queue *queue, const char *key, const char *value,
                                   struct mq_error *err);

#endif
