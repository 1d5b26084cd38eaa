/* null:// and the choice of a transport by its DSN. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "send/factory.h"
#include "smtp_fake.h"

static enum mq_status open_dsn(const char *dsn, struct mq_transport **out, int64_t *final_ms,
                               struct mq_error *err)
{
    struct mq_transport_options options = {.connections = 2, .clock = mq_clock_system()};
    return fake_open(dsn, &options, out, final_ms, err);
}

static void test_null_accepts_in_the_order_of_the_phases(void **state)
{
    (void)state;
    struct mq_transport *transport = NULL;
    struct mq_error err;
    int64_t final_ms = -1;
    struct fake_mail one, two, over;
    assert_int_equal(open_dsn("null://null", &transport, &final_ms, &err), MQ_OK);
    assert_int_equal(final_ms, 0);
    size_t capacity = mq_transport_capacity(transport, false);
    assert_true(capacity > 0);
    fake_mail_init(&one, "", 2);
    fake_mail_init(&two, "", 1);
    fake_mail_init(&over, "", 1);
    over.refuse = 'B';
    mq_transport_submit(transport, &one.transfer);
    mq_transport_submit(transport, &over.transfer);
    mq_transport_submit(transport, &two.transfer);
    assert_int_equal(mq_transport_capacity(transport, true), capacity - 3);
    assert_int_equal(transport->ops->step(transport, 1000, &err), MQ_OK);
    assert_ptr_equal(mq_transport_take_done(transport), &one);
    assert_ptr_equal(mq_transport_take_done(transport), &over);
    assert_ptr_equal(mq_transport_take_done(transport), &two);
    assert_null(mq_transport_take_done(transport));
    assert_string_equal(one.phases, "EBA");
    assert_string_equal(one.seen, "AA");
    assert_int_equal(one.transfer.end, MQ_TRANSFER_DONE);
    assert_true(one.transfer.at_s > 0);
    assert_string_equal(over.phases, "EB");
    assert_string_equal(fake_results(&over), "U");
    assert_int_equal(over.transfer.end, MQ_TRANSFER_LEASE_OVER);
    mq_transport_quit(transport, 100);
    mq_transport_free(transport);
}

static void test_dsn_chooses(void **state)
{
    (void)state;
    struct mq_transport *transport = NULL;
    struct mq_error err;
    int64_t final_ms = -1;
    assert_int_equal(
        open_dsn("smtp://me:geheim@127.0.0.1:1?final_timeout=77", &transport, &final_ms, &err),
        MQ_OK);
    assert_int_equal(final_ms, 77000);
    assert_string_equal(transport->name, "smtp://me:***@127.0.0.1:1");
    mq_transport_quit(transport, 100);
    mq_transport_free(transport);
    transport = NULL;
    final_ms = -1;
    assert_int_equal(open_dsn("ftp://x", &transport, &final_ms, &err), MQ_CONFIG);
    assert_null(transport);
    assert_int_equal(final_ms, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_null_accepts_in_the_order_of_the_phases),
        cmocka_unit_test(test_dsn_chooses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
