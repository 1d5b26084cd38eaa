/* The config keys: what there is, and what a value may be. */
#ifndef MQ_QUEUE_CONFIG_KEYS_H
#define MQ_QUEUE_CONFIG_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"

/* What a value may be. */
struct mq_config_kind {
    const char *type;  /* "bool", "int", "enum", "text", "time", "number", "object" */
    const char *range; /* "0 … 1000000000", "average | strict", … */
    /* Whether it is one; *value is its number, and stays 0 of a text. */
    bool (*parse)(struct mq_str text, int64_t *value);
    int64_t min, max;
};
/* Parses a value without white space around it, and checks its range. */
bool mq_config_parse(const struct mq_config_kind *kind, struct mq_str text, int64_t *value);

/* A row of the table in keys.c, the only list of keys: the statements, the checks, configKeys(),
 * `mailqueue config` and the documentation's test go by it. */
struct mq_config_key {
    const char *name;
    const struct mq_config_kind *kind;
    const char *standard; /* default, as shown to people */
    const char *meaning;  /* one sentence */
    bool internal;        /* the queue's own state, not a setting */
    bool in_claims;       /* each claim reads it */
    const char *alias;    /* of the key before it: the value that a true one gives it where it is
                             unset; NULL: no alias */
};

/* The rows, by their place in the table. */
enum mq_config_id {
    MQ_KEY_ENABLED,
    MQ_KEY_MAX_PER_HOUR,
    MQ_KEY_BURST,
    MQ_KEY_RATE_MODE,
    MQ_KEY_REDIRECT_TO,
    MQ_KEY_REDIRECT_ALIAS,
    MQ_KEY_REDIRECT_TYPES,
    MQ_KEY_LIVE_FROM,
    MQ_KEY_LIVE_UNTIL,
    MQ_KEY_TOKENS,
    MQ_KEY_LAST_REFILL,
    MQ_KEY_RELAY_PAUSE,
    MQ_KEY_RELAY_PIPELINING,
    MQ_KEY_LAST_RUN,
    MQ_KEY_MOVED_TO,
    MQ_KEY_MOVED_FROM,
    MQ_KEY_SCHEMA_VERSION,
    MQ_KEY_COUNT
};
extern const struct mq_config_key mq_config_keys[MQ_KEY_COUNT];

/* NULL: a key of the application's. */
const struct mq_config_key *mq_config_key(const char *name);
bool mq_config_parse_int(struct mq_str text, int64_t *value);
/* A list of mail types; *but: the list names the types that are left out ("every type but a,
 * b"). */
bool mq_config_parse_types(struct mq_str text, struct mq_strings *out, bool *but);

#endif
