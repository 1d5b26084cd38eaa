/* Sending hours: the grammar, and openings across the changes of real zones' clocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "policy/hours.h"

/* From the IANA time zone database, as PHP 8.2 has it. */
static const struct mq_zone berlin_spring = {
    {{1772323200, 3600}, {1774746000, 7200}}, 2, 1777507200}; /* 2026-03-29 02:00 → 03:00 */
static const struct mq_zone berlin_autumn = {
    {{1790812800, 7200}, {1792890000, 3600}}, 2, 1795996800}; /* 2026-10-25 03:00 → 02:00 */
static const struct mq_zone new_york_spring = {
    {{1770000000, -18000}, {1772953200, -14400}}, 2, 1775184000}; /* 2026-03-08 02:00 → 03:00 */
static const struct mq_zone new_york_autumn = {
    {{1791000000, -14400}, {1793512800, -18000}}, 2, 1796184000}; /* 2026-11-01 02:00 → 01:00 */
static const struct mq_zone lord_howe_autumn = {
    {{1773000000, 39600}, {1775314800, 37800}}, 2, 1778184000}; /* 2026-04-05 02:00 → 01:30 */
static const struct mq_zone lord_howe_spring = {
    {{1789000000, 37800}, {1791041400, 39600}}, 2, 1794184000}; /* 2026-10-04 02:00 → 02:30 */
static const struct mq_zone apia = {
    {{1322697600, -36000}, {1325239200, 50400}}, 2, 1327881600}; /* no 2011-12-30 */

static const struct mq_zone utc = {{{0, 0}}, 1, INT64_MAX};

static int64_t at(const char *iso)
{
    struct tm tm = {0};
    int n = sscanf(iso, "%d-%d-%d %d:%d:%d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour,
                   &tm.tm_min, &tm.tm_sec);
    assert_true(n >= 5);
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    return (int64_t)timegm(&tm);
}

static void parse(const char *text, struct mq_hours *hours)
{
    struct mq_error err;
    if (mq_hours_parse(mq_str_of(text), hours, &err) != MQ_OK) {
        fail_msg("%s: %s", text, err.text);
    }
}

/* ---- the grammar ---- */

/* The hours of one rule as "Mo 08:00-18:00 …", each stretch of open minutes. */
static const char *shown(const struct mq_hours_rule *rule)
{
    static const char days[7][3] = {"Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"};
    static char text[1024];
    size_t len = 0;
    text[0] = '\0';
    for (int i = 0; i < MQ_WEEK_MINUTES; i++) {
        bool is = rule->open[i / 8] >> i % 8 & 1;
        bool was = i > 0 && rule->open[(i - 1) / 8] >> (i - 1) % 8 & 1;
        if (is && !was) {
            len += (size_t)snprintf(text + len, sizeof text - len, "%s%s %02d:%02d", len ? " " : "",
                                    days[i / 1440], i % 1440 / 60, i % 60);
        }
        if (was && !is) {
            len += (size_t)snprintf(text + len, sizeof text - len, "-%s %02d:%02d", days[i / 1440],
                                    i % 1440 / 60, i % 60);
        }
    }
    return text;
}

static void test_grammar(void **state)
{
    static const struct {
        const char *text, *open;
    } samples[] = {
        {"Mo 08:00-18:00 UTC", "Mo 08:00-Mo 18:00"},
        {"mo 8:00-18:00 utc", "Mo 08:00-Mo 18:00"},
        {"Mo\xe2\x80\x93Tu 08:00\xe2\x80\x93"
         "18:00 UTC",
         "Mo 08:00-Mo 18:00 Tu 08:00-Tu 18:00"},
        {"Di - Mi 08:00 - 09:30 UTC", "Tu 08:00-Tu 09:30 We 08:00-We 09:30"},
        {"Tuesday, Do, fr 8:00-9:00 UTC", "Tu 08:00-Tu 09:00 Th 08:00-Th 09:00 Fr 08:00-Fr 09:00"},
        {"Sa-Mo UTC", "Mo 00:00-Tu 00:00 Sa 00:00"},
        {"Samstag, So UTC", "Sa 00:00"},
        {"Mo 08:00-12:00, 13:00-17:00, We 09:00-10:00 UTC",
         "Mo 08:00-Mo 12:00 Mo 13:00-Mo 17:00 We 09:00-We 10:00"},
        {"Fr 22:00-06:00 UTC", "Fr 22:00-Sa 06:00"},
        {"Su 22:00-06:00 UTC", "Mo 00:00-Mo 06:00 Su 22:00"},
        {"Mo-Su 00:00-24:00 UTC", "Mo 00:00"},
        {"Mo-Su UTC", "Mo 00:00"},
        {"Mo Tu 08:00-09:00 We UTC", "Mo 08:00-Mo 09:00 Tu 08:00-Tu 09:00 We 00:00-Th 00:00"},
        {"Mo 12:00-12:00 UTC", "Mo 12:00-Tu 12:00"},
        {"23:00-24:00 UTC", "Mo 23:00-Tu 00:00 Tu 23:00-We 00:00 We 23:00-Th 00:00 "
                            "Th 23:00-Fr 00:00 Fr 23:00-Sa 00:00 Sa 23:00-Su 00:00 Su 23:00"},
        {"newsletter: Mo 08:00-09:00 UTC", "Mo 08:00-Mo 09:00"},
        {"v:2, a b-c:Mo 8:00-9:00 UTC;", "Mo 08:00-Mo 09:00"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct mq_hours hours = {0};
        parse(samples[i].text, &hours);
        assert_int_equal(hours.count, 1);
        assert_string_equal(shown(&hours.rules[0]), samples[i].open);
        mq_hours_clear(&hours);
    }
}

static void test_types(void **state)
{
    struct mq_hours hours = {0};
    (void)state;
    parse("news, digest: Mo UTC; every type but reset, login: Tu Europe/Berlin; reset: We "
          "America/Port-au-Prince",
          &hours);
    assert_int_equal(mq_hours_rule_of(&hours, "news"), 0);
    assert_int_equal(mq_hours_rule_of(&hours, "digest"), 0);
    assert_int_equal(mq_hours_rule_of(&hours, "mail"), 1);
    assert_int_equal(mq_hours_rule_of(&hours, "reset"), 2);
    assert_int_equal(mq_hours_rule_of(&hours, "login"), -1);
    assert_string_equal(hours.rules[2].zone, "America/Port-au-Prince");
    mq_hours_clear(&hours);
    parse("news: Mo UTC", &hours);
    assert_int_equal(mq_hours_rule_of(&hours, "mail"), -1);
    mq_hours_clear(&hours);
    parse("*: Mo UTC; news: Tu UTC", &hours);
    assert_int_equal(mq_hours_rule_of(&hours, "mail"), 0);
    assert_int_equal(mq_hours_rule_of(&hours, "news"), 1);
    mq_hours_clear(&hours);
}

static void test_faults(void **state)
{
    static const struct {
        const char *text, *why;
    } samples[] = {
        {"", "\"\" is not followed by a time zone"},
        {"Mo-Fr 08:00-18:00", "\"08:00-18:00\" is not followed by a time zone"},
        {"Mo-Fr", "\"Mo-Fr\" is not followed by a time zone"},
        {"UTC", "\"UTC\" has no days and no times"},
        {"Mo-Xx 08:00-18:00 UTC", "\"Mo-Xx\" is neither days"},
        {"Mo-Tu-We UTC", "\"Mo-Tu-We\" is neither days"},
        {"M 08:00-18:00 UTC", "\"M\" is neither days"},
        {"Mo 08-18 UTC", "\"08-18\" is neither days"},
        {"Mo 08:00-18:60 UTC", "\"08:00-18:60\" is neither days"},
        {"Mo 08:00-24:01 UTC", "\"08:00-24:01\" is neither days"},
        {"Mo 24:00-08:00 UTC", "\"24:00-08:00\" is neither days"},
        {"Mo 08:00 UTC", "\"08:00\" is neither days"},
        {"Mo 8:0-9:00 UTC", "\"8:0-9:00\" is neither days"},
        {"Mo +8:00-9:00 UTC", "\"+8:00-9:00\" is neither days"},
        {"Mo 08:00-12:00, 11:00-13:00 UTC", "\"11:00-13:00\" opens what other hours"},
        {"Mo-Fr, Fr 08:00-09:00 UTC", "\"Fr\" opens what other hours"},
        {"Mo 22:00-06:00 Tu UTC", "\"Mo 22:00-06:00 Tu UTC\" opens the same hours twice"},
        {"Mo 22:00-06:00 Tu We 08:00-09:00 Tu 05:00-07:00 UTC", "\"05:00-07:00\" opens what"},
        {"a,: Mo UTC", "\"a,\" is not a list of types"},
        {"a, *: Mo UTC", "\"a, *\" is not a list of types"},
        {": Mo UTC", "\"\" is not a list of types"},
        {"every type but: Mo UTC", "\"every type but\" is not a list of types"},
        {"a: Mo UTC; b, a: Tu UTC", "\"a\" is a type in two rules"},
        {"Mo UTC; Tu UTC", "\"*\" has two rules"},
        {"a: Mo UTC;; b: Tu UTC", "\"\" is not followed by a time zone"},
        {"Mo "
         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
         "is not followed by a time zone"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct mq_error err = {0};
        struct mq_hours hours = {0};
        enum mq_status status = mq_hours_parse(mq_str_of(samples[i].text), &hours, &err);
        if (status != MQ_INVALID || !strstr(err.text, samples[i].why)) {
            fail_msg("%s: %s", samples[i].text, status == MQ_OK ? "taken" : err.text);
        }
        assert_int_equal(hours.count, 0);
    }
}

/* ---- openings ---- */

static void test_openings(void **state)
{
    static const struct {
        const char *hours;
        const struct mq_zone *zone;
        const char *from, *open; /* UTC */
    } samples[] = {
        {"Mo-Fr 08:00-18:00", &utc, "2026-11-26 07:59:59", "2026-11-26 08:00"},
        {"Mo-Fr 08:00-18:00", &utc, "2026-11-26 17:59:59", "2026-11-26 17:59:59"},
        {"Mo-Fr 08:00-18:00", &utc, "2026-11-27 18:00:00", "2026-11-30 08:00"},
        {"Th 12:00-12:01", &utc, "2026-11-26 12:01:00", "2026-12-03 12:00"},
        {"Su 22:00-06:00", &utc, "2026-11-30 05:59:59", "2026-11-30 05:59:59"},
        {"Su 22:00-06:00", &utc, "2026-11-30 06:00:00", "2026-12-06 22:00"},
        /* 8 o'clock in Berlin is at 7 UTC in winter, at 6 in summer. */
        {"Mo-Su 08:00-18:00", &berlin_spring, "2026-03-28 00:00", "2026-03-28 07:00"},
        {"Mo-Su 08:00-18:00", &berlin_spring, "2026-03-29 00:00", "2026-03-29 06:00"},
        {"Mo-Su 08:00-18:00", &berlin_autumn, "2026-10-25 00:00", "2026-10-25 07:00"},
        /* 02:30 does not exist: the clocks show 03:00 next. */
        {"Su 02:30-04:00", &berlin_spring, "2026-03-28 23:00", "2026-03-29 01:00"},
        {"Su 02:10-02:50", &berlin_spring, "2026-03-28 23:00", "2026-04-05 00:10"},
        {"Su 02:30-04:00", &new_york_spring, "2026-03-08 05:00", "2026-03-08 07:00"},
        /* 02:30 twice: open both times, closed in between. */
        {"Su 02:30-02:45", &berlin_autumn, "2026-10-25 00:00", "2026-10-25 00:30"},
        {"Su 02:30-02:45", &berlin_autumn, "2026-10-25 00:45", "2026-10-25 01:30"},
        {"Su 02:30-02:45", &berlin_autumn, "2026-10-25 01:45", "2026-11-01 01:30"},
        {"Su 01:30-01:40", &new_york_autumn, "2026-11-01 05:40", "2026-11-01 06:30"},
        {"Su 01:45-02:15", &lord_howe_autumn, "2026-04-04 14:00", "2026-04-04 14:45"},
        {"Su 01:45-02:15", &lord_howe_autumn, "2026-04-04 15:00", "2026-04-04 15:15"},
        {"Su 02:15-02:45", &lord_howe_spring, "2026-10-03 15:00", "2026-10-03 15:30"},
        {"Su 02:15-02:30", &lord_howe_spring, "2026-10-03 15:00", "2026-10-10 15:15"},
        /* No Friday: at midnight Thursday becomes Saturday. */
        {"Fr 08:00-18:00", &apia, "2011-12-29 12:00", "2012-01-05 18:00"},
        {"Th 22:00-06:00", &apia, "2011-12-30 09:59:59", "2011-12-30 09:59:59"},
        {"Th 22:00-06:00", &apia, "2011-12-30 10:00", "2012-01-05 08:00"},
        {"Sa", &apia, "2011-12-29 12:00", "2011-12-30 10:00"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct mq_hours hours = {0};
        char text[64];
        snprintf(text, sizeof text, "%s UTC", samples[i].hours);
        parse(text, &hours);
        int64_t next = mq_hours_next(&hours.rules[0], samples[i].zone, at(samples[i].from));
        if (next != at(samples[i].open)) {
            fail_msg("%s from %s: %+lld s", samples[i].hours, samples[i].from,
                     (long long)(next - at(samples[i].open)));
        }
        mq_hours_clear(&hours);
    }
}

/* 1970 began on a Thursday. */
static bool is_open(const struct mq_hours_rule *rule, const struct mq_zone *zone, int64_t at_s)
{
    int64_t minute = (mq_zone_local(zone, at_s) / 60 + 3 * 1440) % MQ_WEEK_MINUTES;
    return rule->open[minute / 8] & 1U << minute % 8;
}

/* mq_hours_next() is the first second that is open, for each minute around a change of the
 * clocks. */
static void test_next_is_first_open(void **state)
{
    static const struct mq_zone *const zones[] = {
        &berlin_spring,    &berlin_autumn, &new_york_spring, &new_york_autumn, &lord_howe_autumn,
        &lord_howe_spring, &apia};
    static const char *const rules[] = {"Mo-Fr 08:00-18:00 UTC",
                                        "Sa Su 01:40-02:20 22:15-23:59 UTC", "00:00-00:01 UTC",
                                        "Fr UTC", "Su 02:00-03:00 UTC"};
    (void)state;
    for (size_t z = 0; z < sizeof zones / sizeof *zones; z++) {
        for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
            struct mq_hours hours = {0};
            parse(rules[r], &hours);
            const struct mq_hours_rule *rule = &hours.rules[0];
            int64_t change = zones[z]->shifts[1].from_s, next = INT64_MAX;
            for (int64_t t = change + 16 * MQ_DAY_S; t > change - 16 * MQ_DAY_S; t -= 60) {
                next = is_open(rule, zones[z], t) ? t : next;
                if (next != INT64_MAX) {
                    assert_int_equal(mq_hours_next(rule, zones[z], t), next);
                    assert_int_equal(mq_hours_next(rule, zones[z], t - 59),
                                     is_open(rule, zones[z], t - 60) ? t - 59 : next);
                }
            }
            mq_hours_clear(&hours);
        }
    }
}

/* What is not known ends the search, so that a caller asks again. */
static void test_end_of_knowledge(void **state)
{
    struct mq_hours hours = {0};
    (void)state;
    parse("Mo 00:00-00:01 UTC", &hours);
    int64_t sunday = at("2026-04-26 12:00");
    struct mq_zone zone = {{{0, 0}}, 1, sunday};
    assert_int_equal(mq_hours_next(&hours.rules[0], &zone, sunday - 60), sunday);
    assert_int_equal(mq_hours_next(&hours.rules[0], &zone, sunday + 60), sunday + 60);
    mq_hours_clear(&hours);
}

static void test_zones(void **state)
{
    struct mq_zone zone = {0};
    struct mq_error err = {0};
    (void)state;
    assert_int_equal(mq_zone_load(NULL, "utc", 100, &zone, &err), MQ_OK);
    assert_int_equal(mq_zone_local(&zone, 7), 7);
    assert_int_equal(mq_zone_load(NULL, "Mars/Phobos", 100, &zone, &err), MQ_CONFIG);
    assert_string_equal(err.text, "there is no time zone \"Mars/Phobos\"");
    assert_int_equal(mq_zone_local(&berlin_spring, 1774745999), 1774745999 + 3600);
    assert_int_equal(mq_zone_local(&berlin_spring, 1774746000), 1774746000 + 7200);
    assert_int_equal(mq_zone_local(&berlin_spring, 0), 3600); /* before the first: as then */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grammar),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_openings),
        cmocka_unit_test(test_next_is_first_open),
        cmocka_unit_test(test_end_of_knowledge),
        cmocka_unit_test(test_zones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
