/* The n-th request for memory fails, for every n: local transports give a clean error or the mail
 * back, and leak nothing (ASan finds that). */
/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "failing_malloc.h"
#include "program_bench.h"

static char dsn[300];

/* Opens, sends a mail, closes; false: memory ran out, and that was reported. */
static bool send_one(void)
{
    struct mq_transport_options options = {.connections = 2, .clock = mq_clock_system()};
    struct mq_transport *transport = NULL;
    struct mq_transfer *transfer = NULL;
    struct fake_mail mail;
    struct mq_error err;
    int64_t final_ms = -1;
    enum mq_status status = fake_open(dsn, &options, &transport, &final_ms, &err);
    assert_int_equal(transport != NULL, status == MQ_OK);
    if (status != MQ_OK) {
        assert_int_equal(status, MQ_NOMEM);
        return false;
    }
    fake_mail_init(&mail, "Subject: x\r\n\r\nhello\r\n", 2);
    mq_transport_submit(transport, &mail.transfer);
    while (transfer == NULL) {
        transport->ops->step(transport, 100, &err);
        transfer = mq_transport_take_done(transport);
    }
    bool sent = transfer->end == MQ_TRANSFER_DONE;
    assert_string_equal(fake_results(&mail), sent ? "AA" : "UU");
    assert_int_equal(program_trouble(transport)[0] != '\0', !sent);
    mq_transport_free(transport);
    return sent;
}

static void every_request(void)
{
    int n = 0;
    for (left = n; !send_one(); left = ++n) {
        assert_int_equal(left, -1); /* it did fail */
        assert_true(n < 200);
    }
    assert_true(n > 5);
    left = -1;
}

static void test_sendmail(void **state)
{
    (void)state;
    program_write("sendmail", "cat > /dev/null");
    snprintf(dsn, sizeof dsn, "sendmail://default?command=%s%%20-C%%20x%%20-t",
             program_path("sendmail"));
    every_request();
}

static void test_file(void **state)
{
    (void)state;
    snprintf(dsn, sizeof dsn, "file://%s", program_path("box"));
    every_request();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_sendmail, program_setup, program_teardown),
        cmocka_unit_test_setup_teardown(test_file, program_setup, program_teardown),
    };
    return cmocka_run_group_tests_name("sendmail_nomem", tests, NULL, NULL);
}
