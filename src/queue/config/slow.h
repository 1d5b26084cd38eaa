/* Domains of recipients that fail, for all runs (config key mailSlowDomains). Mail to some of them
 * is slowed down (policy/slowdown.h): each of these has a limit beside those of mailLimits. */
#ifndef MQ_QUEUE_CONFIG_SLOW_H
#define MQ_QUEUE_CONFIG_SLOW_H

#include <stddef.h>

#include "core/buffer.h"
#include "core/error.h"
#include "policy/slowdown.h"

struct mq_limits;
struct mq_queue;

struct mq_slow_domain {
    char domain[257]; /* "@example.org", in small letters */
    char reply[161];  /* to the last recipient that failed */
    struct mq_slowdown slow;
};
struct mq_slow_domains {
    struct mq_slow_domain items[MQ_SLOW_MAX];
    size_t count;
};
/* Reads the key's value; NULL: unset. Entries that cannot be read are left out. */
enum mq_status mq_slow_read(const char *kept, struct mq_slow_domains *out, struct mq_error *err);
/* Appends such a value, without domains that are not to be remembered; nothing if none is. */
void mq_slow_write(const struct mq_slow_domains *all, int64_t now_s, struct mq_buffer *out);
/* Writes the limits of domains that are slowed down, MQ_SLOW_MAX at most, and their texts, which
 * the limits point into. */
enum mq_status mq_slow_limits(const char *kept, int64_t now_s, struct mq_limits *limits,
                              struct mq_strings *texts, struct mq_error *err);

struct mq_domain_seen {
    const char *domain;
    struct mq_slow_seen seen;
    const char *reply; /* to the last recipient that failed; NULL: none did */
    int64_t pause_s;   /* out: as in struct mq_slowdown */
};
/* Counts what was seen, in a transaction of its own. No more than MQ_SLOW_MAX domains are kept. */
enum mq_status mq_queue_count_domains(struct mq_queue *queue, struct mq_domain_seen *domains,
                                      size_t count, struct mq_error *err);

#endif
