/* The config keys: what there is, and what a value may be. */
#ifndef MQ_QUEUE_CONFIG_KEYS_H
#define MQ_QUEUE_CONFIG_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"

/* One key: for checks, `config`, the documentation and its test. */
struct mq_config_key {
    const char *name;
    const char *type;     /* "bool", "int", "enum", "text", "time", "number" */
    const char *range;    /* "0 … 1000000000", "average | strict", … */
    const char *standard; /* default, as shown to people */
    const char *meaning;  /* one sentence */
    bool internal;        /* the queue's own state, not a setting */
};
const struct mq_config_key *mq_config_keys(size_t *count);

bool mq_config_value_ok(const struct mq_config_key *key, struct mq_str value);
bool mq_config_parse_bool(struct mq_str text, bool *value);
bool mq_config_parse_int(struct mq_str text, int64_t *value);
bool mq_config_parse_types(struct mq_str text, struct mq_strings *out);
/* Seconds since 1970, or ISO 8601 with "T" or a space, without an offset as UTC. */
bool mq_config_parse_time(struct mq_str text, int64_t *at_s);

#endif
