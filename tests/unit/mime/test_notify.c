/* Requests for delivery status notifications: checked, written as parameters, kept in the job's
 * column. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "mime/notify.h"

static struct mq_error err;

static const char *params(const struct mq_notify *notify)
{
    static char text[2 * MQ_NOTIFY_PARAMS_ROOM];
    mq_notify_rcpt_params(notify, text);
    mq_notify_mail_params(notify, text + strlen(text));
    return text;
}

static void assert_refused(enum mq_status status, const char *why)
{
    assert_int_equal(status, MQ_INVALID);
    assert_string_equal(err.field, "dsn");
    if (strstr(err.text, why) == NULL) {
        fail_msg("\"%s\" has no \"%s\"", err.text, why);
    }
}

static void test_when(void **state)
{
    (void)state;
    struct mq_notify notify = {0};
    assert_false(mq_notify_asks(&notify));
    assert_string_equal(params(&notify), "");
    assert_refused(mq_notify_add_when(&notify, MQ_STR("sometimes"), &err), "\"never\"");
    assert_refused(mq_notify_add_when(&notify, MQ_STR(""), &err), "\"never\"");
    assert_refused(mq_notify_add_when(&notify, MQ_STR("delay\r\nDATA"), &err), "\"never\"");
    assert_int_equal(mq_notify_add_when(&notify, MQ_STR("delay"), &err), MQ_OK);
    assert_int_equal(mq_notify_add_when(&notify, MQ_STR("Success"), &err), MQ_OK);
    assert_int_equal(mq_notify_add_when(&notify, MQ_STR("delay"), &err), MQ_OK);
    assert_refused(mq_notify_add_when(&notify, MQ_STR("never"), &err), "alone");
    assert_string_equal(params(&notify), " NOTIFY=SUCCESS,DELAY");
    assert_int_equal(mq_notify_add_when(&notify, MQ_STR("FAILURE"), &err), MQ_OK);
    assert_string_equal(params(&notify), " NOTIFY=SUCCESS,FAILURE,DELAY");
    struct mq_notify never = {0};
    assert_int_equal(mq_notify_add_when(&never, MQ_STR("never"), &err), MQ_OK);
    assert_refused(mq_notify_add_when(&never, MQ_STR("delay"), &err), "alone");
    assert_string_equal(params(&never), " NOTIFY=NEVER");
    assert_true(mq_notify_asks(&never));
}

static void test_ret_and_envid(void **state)
{
    (void)state;
    struct mq_notify notify = {0};
    char longest[MQ_NOTIFY_ENVID_MAX + 2];
    memset(longest, 'x', sizeof longest);
    assert_refused(mq_notify_set_ret(&notify, MQ_STR("none"), &err), "\"full\" or \"hdrs\"");
    assert_int_equal(mq_notify_set_ret(&notify, MQ_STR("hdrs"), &err), MQ_OK);
    assert_string_equal(params(&notify), " RET=HDRS");
    assert_int_equal(mq_notify_set_ret(&notify, MQ_STR("FULL"), &err), MQ_OK);
    static const char *const bad[] = {"a b", "a\r\nb", "a\nRCPT", "\x7f", "\xC3\xB6", "a\t"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_refused(mq_notify_set_envid(&notify, mq_str_of(bad[i]), &err), "is a space");
    }
    assert_refused(mq_notify_set_envid(&notify, MQ_STR(""), &err), "1 to 100");
    assert_refused(mq_notify_set_envid(&notify, (struct mq_str){longest, 101}, &err), "not 101");
    memset(longest, '+', sizeof longest);
    assert_refused(mq_notify_set_envid(&notify, (struct mq_str){longest, 34}, &err), "not 102");
    assert_string_equal(params(&notify), " RET=FULL");
    assert_int_equal(mq_notify_set_envid(&notify, (struct mq_str){longest, 33}, &err), MQ_OK);
    assert_int_equal(strlen(params(&notify)), strlen(" RET=FULL ENVID=") + 99);
    assert_int_equal(mq_notify_set_envid(&notify, MQ_STR("q+1=~/x"), &err), MQ_OK);
    assert_string_equal(params(&notify), " RET=FULL ENVID=q+2B1+3D~/x");
}

static void test_column(void **state)
{
    (void)state;
    struct mq_notify notify = {0}, read;
    struct mq_buffer out;
    out = (struct mq_buffer){0};
    assert_int_equal(mq_notify_add_when(&notify, MQ_STR("failure"), &err), MQ_OK);
    assert_int_equal(mq_notify_add_when(&notify, MQ_STR("delay"), &err), MQ_OK);
    assert_int_equal(mq_notify_set_envid(&notify, MQ_STR("a\"\\+=b"), &err), MQ_OK);
    mq_notify_write(&notify, &out);
    assert_string_equal(out.data, "{\"dsn\":\"NOTIFY=FAILURE,DELAY ENVID=a\\\"\\\\+=b\"}");
    assert_int_equal(mq_notify_read(mq_buffer_view(&out), &read, &err), MQ_OK);
    assert_memory_equal(&read, &notify, sizeof read);
    mq_buffer_clear(&out);

    /* Text that another program wrote into the column never reaches a command unchecked. */
    static const char *const nothing[] = {
        "",
        "null",
        "[]",
        "{",
        "{}",
        "{\"x\":\"NOTIFY=NEVER\"}",
        "{\"dsn\":\"\"}",
        "{\"dsn\":\"NOTIFY=NEVER,DELAY\"}",
        "{\"dsn\":\"RET=FULL NOTIFY=x\"}",
        "{\"dsn\":\"RET=FULL\\r\\nDATA\"}",
        "{\"dsn\":\"ENVID=\"}",
        "{\"dsn\":\"ENVID=a\\u0007\"}",
        "{\"dsn\":\"BODY=8BITMIME\"}",
        "{\"dsn\":{\"notify\":\"never\"}}",
    };
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++) {
        read = notify;
        assert_int_equal(mq_notify_read(mq_str_of(nothing[i]), &read, &err), MQ_OK);
        assert_false(mq_notify_asks(&read));
    }
    read = notify;
    assert_int_equal(mq_notify_read((struct mq_str){NULL, 0}, &read, &err), MQ_OK);
    assert_false(mq_notify_asks(&read));
    assert_int_equal(
        mq_notify_read(MQ_STR("{\"name\":\"x\",\"dsn\":\"RET=HDRS NOTIFY=NEVER\"}"), &read, &err),
        MQ_OK);
    assert_string_equal(params(&read), " NOTIFY=NEVER RET=HDRS");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_when),
        cmocka_unit_test(test_ret_and_envid),
        cmocka_unit_test(test_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
