/* Warm-up: limits that grow from day to day, for a new relay or sender.
 *
 *     warm-up  rule { ";" rule }
 *     rule     date ":" amounts [ "mails" | "recipients" ] [ "per" whom ]
 *     date     2026-12-01, the day of the first amount; days are those of UTC
 *     amounts  50, 100, 500, … for one day each; or 50 x 1.5 to 5000, each day's 1.5 times that of
 *              the day before, until it would exceed 5000
 *
 * What follows the amounts is as in policy/limits.h. Before the date, and after the last amount,
 * the rule sets no limit. */
#ifndef MQ_POLICY_WARMUP_H
#define MQ_POLICY_WARMUP_H

#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"
#include "policy/limits.h"

enum { MQ_WARMUP_DAYS_MAX = 366 };

struct mq_warmup_rule {
    int64_t first_day;                   /* since 1970-01-01 */
    int64_t amounts[MQ_WARMUP_DAYS_MAX]; /* of each day */
    size_t days;
};

struct mq_warmup {
    struct mq_warmup_rule *rules;
    struct mq_limits limits; /* one for each rule, in a window of a day; n is that of no day */
    char *limits_text;       /* which they point into */
};

/* MQ_INVALID: the text says which part cannot be read, and why. `out` may be NULL. */
enum mq_status mq_warmup_parse(struct mq_str text, struct mq_warmup *out, struct mq_error *err);
void mq_warmup_clear(struct mq_warmup *warmup);
/* The amount of that day; 0: the rule sets no limit then. */
int64_t mq_warmup_amount(const struct mq_warmup_rule *rule, int64_t at_s);
/* Writes the limits of that day, as mailLimits would have them. */
void mq_warmup_today(const struct mq_warmup *warmup, int64_t at_s, struct mq_buffer *out);

#endif
