/* Sending hours: no text is read out of bounds, and each opening is open and the next one. */
#include "fuzz.h"

#include <string.h>

#include "policy/hours.h"

/* Around a change of Berlin's clocks, whose hour from 02:00 to 03:00 does not exist. */
static const struct mq_zone zone = {
    {{1772323200, 3600}, {1774746000, 7200}}, 2, INT64_C(1777507200)};

/* 1970 began on a Thursday. */
static bool is_open(const struct mq_hours_rule *rule, int64_t at_s)
{
    int64_t minute = (mq_zone_local(&zone, at_s) / 60 + 3 * 1440) % MQ_WEEK_MINUTES;
    return rule->open[minute / 8] & 1U << minute % 8;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mq_str text = {(const char *)data, size};
    struct mq_hours hours = {0};
    struct mq_error err = {0};
    if (mq_hours_parse(text, &hours, &err) != MQ_OK) {
        REQUIRE(err.status == MQ_INVALID && err.text[0]);
        return 0;
    }
    REQUIRE(hours.count > 0);
    mq_hours_rule_of(&hours, "news");
    for (size_t i = 0; i < hours.count; i++) {
        const struct mq_hours_rule *rule = &hours.rules[i];
        REQUIRE(strlen(rule->zone) > 0);
        for (int64_t at_s = zone.shifts[1].from_s - 7201; at_s < zone.until_s;
             at_s += 5 * MQ_DAY_S + 3601) {
            int64_t next_s = mq_hours_next(rule, &zone, at_s);
            bool known = next_s < zone.until_s;
            REQUIRE(next_s >= at_s && (!known || is_open(rule, next_s)));
            REQUIRE(next_s == at_s || !is_open(rule, next_s - 1));
        }
    }
    mq_hours_clear(&hours);
    return 0;
}
