/* The move records in the config table: whether this queue may send. */
#include "queue_fixture.h"

#define ID "0123456789abcdef0123456789abcdef"

static void check(const char *key, const char *text, bool sends)
{
    struct fixture fx;
    fx_open(&fx);
    fx_mail(&fx, "a@example.org");
    fx_set_raw(&fx, key, text);
    if (fx_claim(&fx) != sends) {
        fail_msg("%s %s", key, text);
    }
    /* If the key's value cannot be read, the claim fails and names the key. */
    if (!sends && text[0] == '{') {
        assert_int_equal(fx.claim.end, MQ_CLAIM_DISABLED);
    }
    fx_close(&fx);
}

static void test_source(void **state)
{
    (void)state;
    check("mailQueueMovedTo", "{\"mail_queue\":\"" ID ".- moving 0 0 there\"}", false);
    check("mailQueueMovedTo", "{\"MAIL_queue\":\"" ID ".- moved 0 0 there\"}", false);
    check("mailQueueMovedTo", "{\"mail_queue\":\"\"}", false);
    check("mailQueueMovedTo", "{\"other\":\"" ID ".- moved 0 0 there\"}", true);
    check("mailQueueMovedTo", "{}", true);
    check("mailQueueMovedTo", "", true);
}

static void test_target(void **state)
{
    (void)state;
    check("mailQueueMovedFrom", "{\"mail_queue\":\"" ID ".00ff copying 7 9 x\"}", false);
    check("mailQueueMovedFrom", "{\"Mail_Queue\":\"" ID ".00ff copied 7 9 x y\"}", true);
    check("mailQueueMovedFrom", "{\"mail_queue\":\"" ID ".- copied 7 9 \"}", true);
    check("mailQueueMovedFrom", "{\"other\":\"" ID ".00ff copying 7 9 x\"}", true);
}

/* It is better to send none than to send one twice. */
static void test_unreadable(void **state)
{
    (void)state;
    check("mailQueueMovedTo", "nonsense", false);
    check("mailQueueMovedFrom", "nonsense", false);
    check("mailQueueMovedFrom", "{\"mail_queue\":\"nonsense\"}", false);
    check("mailQueueMovedFrom", "{\"mail_queue\":\"" ID ".00ff copied 7\"}", false);
    check("mailQueueMovedFrom", "{\"mail_queue\":\"0f.00ff copied 7 9 x\"}", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_source),
        cmocka_unit_test(test_target),
        cmocka_unit_test(test_unreadable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
