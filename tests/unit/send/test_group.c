/* Several relays in one DSN. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "send/group.h"

static char relay[64];

static const char *name(const struct mq_group *group)
{
    snprintf(relay, sizeof(relay), "%.*s", (int)group->dsn.len, group->dsn.data);
    return relay;
}

static void assert_group(const char *text, const char *expected, size_t relays)
{
    struct mq_error err;
    struct mq_group group;
    struct mq_buffer out = {0};
    if (mq_group_parse(mq_str_of(text), &group, &err) != MQ_OK) {
        fail_msg("%s: %s", text, err.text);
    }
    mq_group_write(&group, &out, name);
    assert_string_equal(out.data, expected);
    assert_int_equal(group.relays, relays);
    mq_buffer_clear(&out);
    mq_group_clear(&group);
}

static void test_groups(void **state)
{
    (void)state;
    static const char *const same[] = {
        "failover(smtp://a smtp://b)",
        "roundrobin(smtp://a)?retry_period=15",
        "failover(roundrobin(smtp://a smtp://b)?retry_period=5 smtp://c)",
    };
    static const size_t relays[] = {2, 1, 3};
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        assert_group(same[i], same[i], relays[i]);
    }
    assert_group("smtp://u:p(a)s s@a", "smtp://u:p(a)s s@a", 1); /* one DSN, which is not checked */
    assert_group("failover( smtp://a?tls=none\n smtp://b )?retry_period=60 ",
                 "failover(smtp://a?tls=none smtp://b)", 2);
    assert_group("roundrobin(smtp://a smtp://a smtp://b)", "roundrobin(smtp://a smtp://a smtp://b)",
                 3);
}

static void test_redact(void **state)
{
    (void)state;
    struct mq_buffer out = {0};
    struct mq_error err;
    struct mq_str group =
        MQ_STR("failover(roundrobin(smtp://u:secret@a smtp://b?tls=none) null://null)");
    assert_int_equal(mq_group_redact(MQ_STR("smtp://u:secret@a"), &out, &err), MQ_OK);
    assert_string_equal(out.data, "smtp://u:***@a");
    mq_buffer_reset(&out);
    assert_int_equal(mq_group_redact(group, &out, &err), MQ_OK);
    assert_string_equal(out.data, "failover(roundrobin(smtp://u:***@a smtp://b) null://null)");
    mq_buffer_reset(&out);
    assert_int_equal(mq_group_redact(MQ_STR("failover(smtp://a smtq://u:secret@b)"), &out, &err),
                     MQ_CONFIG);
    assert_int_equal(out.len, 0);
    assert_null(strstr(err.text, "secret"));
    mq_buffer_clear(&out);
}

static void test_bad(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "failover(",
        "failover()",
        "failover(smtp://a",
        "failover(smtp://a) smtp://b",
        "failover(smtp://a)x",
        "Failover(smtp://a)",
        "random(smtp://a)",
        "failover(smtp://secret(x)@a smtp://b)",
        "failover(smtp://a)?retry_period=0",
        "failover(smtp://a)?retry_period=1m",
        "failover(smtp://a)?retry_period=86401",
        "failover(smtp://a)?tls=none",
        "failover(failover(failover(failover(failover(failover(failover(failover(failover(smtp://a"
        ")))))))))",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct mq_error err = {0};
        struct mq_group group;
        if (mq_group_parse(mq_str_of(bad[i]), &group, &err) != MQ_CONFIG) {
            fail_msg("%s was taken", bad[i]);
        }
        assert_string_equal(err.field, "transport");
        assert_null(strstr(err.text, "secret"));
    }
}

static void test_too_many(void **state)
{
    (void)state;
    struct mq_buffer text = {0};
    struct mq_error err;
    struct mq_group group;
    mq_buffer_cstr(&text, "roundrobin(");
    for (int i = 0; i <= MQ_GROUP_RELAYS_MAX; i++) {
        mq_buffer_cstr(&text, "smtp://a ");
    }
    mq_buffer_char(&text, ')');
    assert_int_equal(mq_group_parse(mq_buffer_view(&text), &group, &err), MQ_CONFIG);
    mq_buffer_clear(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_redact),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
