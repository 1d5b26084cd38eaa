/* Sending hours: when mail of a type may be sent (config key mailHours).
 *
 *     hours  rule { ";" rule }
 *     rule   [ types ":" ] { days | times } zone       commas and spaces between the words
 *     types  a type { "," a type }, "*", or "every type but" and a list of types
 *     days   Mo, or Mo-Fr: English or German names, cut to two letters or more
 *     times  08:00-18:00; over midnight if the end is not later than the begin; up to 24:00
 *     zone   Europe/Berlin, UTC, …
 *
 * Times belong to the days before them, days without times are whole days, and times without days
 * are every day's. The zone's clocks decide at each moment, so an hour that they skip opens
 * nothing, and an hour that they show twice is open twice. */
#ifndef MQ_POLICY_HOURS_H
#define MQ_POLICY_HOURS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"
#include "policy/zone.h"

#define MQ_WEEK_MINUTES 10080

struct mq_hours_rule {
    struct mq_strings types;
    bool all_but; /* `types` are those that the rule does not hold for */
    char zone[MQ_ZONE_NAME_MAX + 1];
    unsigned char open[MQ_WEEK_MINUTES / 8]; /* a bit for each minute from Monday 00:00 on */
};

struct mq_hours {
    struct mq_hours_rule *rules;
    size_t count;
};

/* MQ_INVALID: the text says which part cannot be read, and why. `out` may be NULL. */
enum mq_status mq_hours_parse(struct mq_str text, struct mq_hours *out, struct mq_error *err);
void mq_hours_clear(struct mq_hours *hours);

/* The index of the rule that names the type, or else of the one for every type; -1: the type is
 * not held. */
int mq_hours_rule_of(const struct mq_hours *hours, const char *type);
/* The first second from at_s on at which the hours are open. If the zone's known shifts end before,
 * that end, at which a caller looks again. */
int64_t mq_hours_next(const struct mq_hours_rule *rule, const struct mq_zone *zone, int64_t at_s);

#endif
