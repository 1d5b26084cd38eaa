/* Warm-up: the grammar, and what each day allows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/warmup.h"
#include "policy/zone.h"

#define DAY_S   ((int64_t)MQ_DAY_S)
#define DEC_1ST INT64_C(1796083200) /* 2026-12-01 00:00 UTC */

static void parse(const char *text, struct mq_warmup *warmup)
{
    struct mq_error err = {0};
    if (mq_warmup_parse(mq_str_of(text), warmup, &err) != MQ_OK) {
        fail_msg("%s: %s", text, err.text);
    }
}

static int64_t amount(const struct mq_warmup *warmup, int64_t at_s)
{
    return mq_warmup_amount(&warmup->rules[0], at_s);
}

static void test_list(void **state)
{
    struct mq_warmup warmup = {0};
    (void)state;
    parse("2026-12-01: 50, 100,500 , 1000", &warmup);
    assert_int_equal(warmup.limits.count, 1);
    assert_int_equal(amount(&warmup, 0), 0);
    assert_int_equal(amount(&warmup, DEC_1ST - 1), 0);
    assert_int_equal(amount(&warmup, DEC_1ST), 50);
    assert_int_equal(amount(&warmup, DEC_1ST + DAY_S - 1), 50);
    assert_int_equal(amount(&warmup, DEC_1ST + DAY_S), 100);
    assert_int_equal(amount(&warmup, DEC_1ST + 3 * DAY_S), 1000);
    assert_int_equal(amount(&warmup, DEC_1ST + 4 * DAY_S), 0);
    mq_warmup_clear(&warmup);
}

static void test_factor(void **state)
{
    static const int64_t expected[] = {50, 75, 112, 168, 252, 378, 0};
    struct mq_warmup warmup = {0};
    (void)state;
    parse("2026-12-01: 50 x 1.5 to 400", &warmup);
    for (int i = 0; i < 7; i++) {
        assert_int_equal(amount(&warmup, DEC_1ST + i * DAY_S), expected[i]);
    }
    mq_warmup_clear(&warmup);
    parse("2026-12-01 : 1x1.001 to 3", &warmup); /* one more each day at least */
    for (int i = 0; i < 4; i++) {
        assert_int_equal(amount(&warmup, DEC_1ST + i * DAY_S), (i + 1) % 4);
    }
    mq_warmup_clear(&warmup);
    parse("2026-12-01: 1 x 10 to 1000000000", &warmup);
    assert_int_equal(amount(&warmup, DEC_1ST + 9 * DAY_S), 1000000000);
    assert_int_equal(amount(&warmup, DEC_1ST + 10 * DAY_S), 0);
    mq_warmup_clear(&warmup);
}

static void test_scopes(void **state)
{
    struct mq_warmup warmup = {0};
    struct mq_str who;
    (void)state;
    parse("2026-12-01: 50 mails per relay new.example.org; 2026-12-02: 5 x 2 to 100 per sender "
          "domain @example.org;2026-12-03: 1, 2",
          &warmup);
    const struct mq_limit *limits = warmup.limits.items;
    assert_int_equal(warmup.limits.count, 3);
    assert_int_equal(limits[0].scope, MQ_SCOPE_RELAY);
    assert_true(limits[0].mails && limits[0].length_s == DAY_S);
    assert_true(mq_limit_holds(&limits[0], "smtp://new.example.org:25", NULL, &who));
    assert_false(mq_limit_holds(&limits[0], "smtp://old.example.org:25", NULL, &who));
    assert_int_equal(limits[1].scope, MQ_SCOPE_DOMAIN);
    assert_true(mq_limit_holds(&limits[1], NULL, "a@example.org", &who));
    assert_int_equal(limits[2].scope, MQ_SCOPE_ALL);
    assert_int_equal(warmup.rules[1].first_day, DEC_1ST / DAY_S + 1);
    mq_warmup_clear(&warmup);
}

static void test_faults(void **state)
{
    static const struct {
        const char *text, *why;
    } samples[] = {
        {"", "\"\" must begin with the first day"},
        {"50, 100", "\"50, 100\" must begin with the first day"},
        {"2026-02-30: 50", "\"2026-02-30\" must begin with the first day"},
        {"2026-1-1: 50", "\"2026-1-1\" must begin with the first day"},
        {"1969-12-31: 50", "\"1969-12-31\" must begin with the first day"},
        {"2026/12/01: 50", "\"2026/12/01\" must begin with the first day"},
        {"2026-12-01 UTC: 50", "\"2026-12-01 UTC\" must begin with the first day (UTC) alone"},
        {"2026-12-01: ", "\"\" must be amounts"},
        {"2026-12-01", "\"2026-12-01\" has no colon behind the date"},
        {"2026-12-01: 0, 50", "\"0, 50\" must be amounts"},
        {"2026-12-01: 50, x", "\"50, x\" must be amounts"},
        {"2026-12-01: 1000000001", "\"1000000001\" must be amounts"},
        {"2026-12-01: 99999999999999999999", "must be amounts"},
        {"2026-12-01: 50 x 1 to 100", "\"1 to 100\" is not a factor"},
        {"2026-12-01: 50 x 11 to 100", "\"11 to 100\" is not a factor"},
        {"2026-12-01: 50, 60 x 2 to 100", "\"2 to 100\" is not a factor"},
        {"2026-12-01: 50 x 2", "\"2\" has no last amount"},
        {"2026-12-01: 50 x 2 to 40", "\"2 to 40\" has no last amount"},
        {"2026-12-01: 50 x 1.001 to 1000000", "takes more than 366 days"},
        {"2026-12-01: 50 per nobody", "\"2026-12-01: 50 per nobody\": \"per\" needs relay"},
        {"2026-12-01: 50 per relay a, 60", "has a comma behind its amounts"},
        {"2026-12-01: 50; 2027-12-01: 60",
         "\"2026-12-01: 50; 2027-12-01: 60\": another limit is for the same window"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct mq_error err = {0};
        struct mq_warmup warmup = {0};
        enum mq_status status = mq_warmup_parse(mq_str_of(samples[i].text), &warmup, &err);
        if (status != MQ_INVALID || !strstr(err.text, samples[i].why)) {
            fail_msg("%s: %s", samples[i].text, status == MQ_OK ? "taken" : err.text);
        }
    }
    char many[2000] = "2026-12-01: 1";
    for (int i = 0; i < 366; i++) {
        strcat(many, ",1");
    }
    struct mq_error err = {0};
    struct mq_warmup warmup = {0};
    assert_int_equal(mq_warmup_parse(mq_str_of(many), &warmup, &err), MQ_INVALID);
    assert_non_null(strstr(err.text, "has more than 366 amounts"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_factor),
        cmocka_unit_test(test_scopes),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
