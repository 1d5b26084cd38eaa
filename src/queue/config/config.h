/* The keys in the application's key/value table that steer the queue. Read in each claim's
 * transaction, so that an admin page acts at once. */
#ifndef MQ_QUEUE_CONFIG_CONFIG_H
#define MQ_QUEUE_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"
#include "policy/bucket.h"

struct mq_queue;

/* Everything that a claim needs, parsed. */
struct mq_settings {
    bool enabled;
    struct mq_bucket bucket; /* units: as stored, not yet refilled; unset = full */
    enum mq_rate_mode rate_mode;
    char *redirect_to; /* "a@b", "@domain" or NULL: off */
    struct mq_strings redirect_types;
    bool redirect_types_set; /* unset: every type but "organizer" */
};

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

/* The raw value: *value malloc'ed, NULL when unset. */
enum mq_status mq_queue_config(struct mq_queue *queue, const char *key, char **value,
                               struct mq_error *err);
/* value NULL unsets. A known key's value is checked (MQ_INVALID names key, value and what is
 * allowed); other keys are the application's and are taken as they are. */
enum mq_status mq_queue_set_config(struct mq_queue *queue, const char *key, const char *value,
                                   struct mq_error *err);

#endif
