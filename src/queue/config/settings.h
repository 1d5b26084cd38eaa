/* All that a claim reads from the config table, parsed. */
#ifndef MQ_QUEUE_CONFIG_SETTINGS_H
#define MQ_QUEUE_CONFIG_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"
#include "policy/bucket.h"

struct mq_limits;
struct mq_queue;

/* How a value that cannot be read is corrected; twice the key's name. */
#define MQ_CONFIG_CURE                                                                          \
    "Nothing is sent until it is corrected (`mailqueue config %s VALUE`, or `mailqueue config " \
    "--unset %s`)"

struct mq_settings {
    bool enabled;
    struct mq_bucket bucket; /* units: as stored, not yet refilled; unset = full */
    enum mq_rate_mode rate_mode;
    struct mq_limits *limits; /* NULL: none */
    /* What `limits` points into: mailLimits, today's limits of mailWarmup, and the limits of
     * domains that are slowed down (slow.h). */
    char *limits_text, *warmup_text;
    struct mq_strings slow;
    int64_t burst, reserve; /* mailBurst, 0: unset; mailReserve, -1: unset */
    char *redirect_to;      /* "a@b", "@domain" or NULL: off */
    struct mq_strings redirect_types;
    bool redirect_all_but;      /* redirect_types are the types that are not redirected */
    struct mq_strings allow_to; /* addresses and "@domain"s that are not redirected */
    int64_t history_days;
    int64_t suppressed; /* mailSuppressed; 0: no suppression was ever made */
    bool campaigns;     /* mailCampaigns */
    int64_t slowdown;   /* mailSlowdown */
    /* mailSuppressionKey, mailDomainSessions, mailSlowDomains, mailRelayPause, mailHours (which
     * config/kept_hours.h reads) and mailHoursKept; NULL when unset */
    char *suppression_key, *sessions, *slow_domains, *pauses, *hours, *hours_kept;
};

/* Whether a limit is set that the relay or a person asks for. */
static inline bool mq_settings_limit(const struct mq_settings *settings)
{
    return settings->bucket.limit > 0 || settings->limits_text || settings->warmup_text;
}
/* Whether what is claimed pays: there is such a limit, or a domain is slowed down. */
static inline bool mq_settings_pays(const struct mq_settings *settings)
{
    return settings->bucket.limit > 0 || settings->limits;
}

/* What mail of a priority below 0 leaves of a limit of N, of which `most` can go at once. */
int64_t mq_settings_reserve(const struct mq_settings *settings, int64_t n, int64_t most);
/* Whether a limit of mailLimits has this scope (enum mq_limit_scope). */
bool mq_settings_limit_by(const struct mq_settings *settings, int scope);
/* A mark of the rules that put mail back: mailHours, and today's limits; 0: there are none. */
int64_t mq_settings_mark(const struct mq_settings *settings);
/* The mark when this table's mail was put back; 0: none was, or mailHoursKept cannot be read. */
int64_t mq_settings_marked(const struct mq_settings *settings, const char *table);
/* MQ_CONFIG: a value cannot be read. *out is to be cleared then as well: it has the limits, if
 * those can be read, because what was handed over counts. */
enum mq_status mq_settings_load(struct mq_queue *queue, int64_t now_s, struct mq_settings *out,
                                struct mq_error *err);
void mq_settings_clear(struct mq_settings *settings);
/* Reads a key to change it: in its row, other transactions wait until this one ends. *value is
 * malloc'ed; NULL if the key is not set. */
enum mq_status mq_config_lock(struct mq_queue *queue, const char *key, char **value,
                              struct mq_error *err);
/* Writes a key without checking its value; the caller is in a transaction. NULL unsets the key. */
enum mq_status mq_config_put(struct mq_queue *queue, const char *key, const char *value,
                             struct mq_error *err);

#endif
