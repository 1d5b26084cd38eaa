/* The n-th request for memory fails, for every n: a clean error, no partial result, no leak (ASan
 * finds those). */
/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/json.h"
#include "failing_malloc.h"
#include "mime/address.h"
#include "mime/wire/message.h"
#include "send/dsn.h"

static enum mq_status parse_dsn(void)
{
    struct mq_dsn dsn = {0};
    enum mq_status status = mq_dsn_parse(
        MQ_STR("smtp://user:pass@host:25?cafile=/x&ehlo=me&source_ip=::1&proxy=http://p:1"), &dsn,
        NULL);
    assert_int_equal(dsn.host != NULL, status == MQ_OK);
    if (status == MQ_OK) {
        free(mq_dsn_redacted(&dsn));
    }
    mq_dsn_clear(&dsn);
    return status;
}

static enum mq_status read_json(void)
{
    struct mq_strings pairs = {0};
    enum mq_status status = mq_json_read(
        MQ_STR("{\"a\":\"1\",\"b\":\"2\",\"c\":\"3\",\"d\":\"4\",\"e\":\"5\"}"), '{', &pairs);
    assert_int_equal(pairs.count, status == MQ_OK ? 10 : 0);
    mq_strings_clear(&pairs);
    return status;
}

static enum mq_status normalize(void)
{
    struct mq_message_options options = {.message_id = "<a@b>"};
    struct mq_message_info info = {0};
    struct mq_buffer out;
    out = (struct mq_buffer){0};
    /* Many short lines: more CRs are added than the first estimate allows for. */
    enum mq_status status = mq_message_normalize(
        MQ_STR(
            "To: b\nTo: c\nBcc: "
            "d\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n"
            "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n"
            "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n"),
        &options, &out, &info, NULL);
    assert_int_equal(out.len > 0, status == MQ_OK);
    assert_int_equal(info.message_id.len > 0, status == MQ_OK);
    mq_buffer_clear(&out);
    return status;
}

static void test_every_request(void **state)
{
    static const struct {
        enum mq_status (*run)(void);
        int least; /* requests that are made at all */
    } operations[] = {{parse_dsn, 8}, {read_json, 10}, {normalize, 3}};
    (void)state;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        int n = 0;
        for (;; n++) {
            left = n;
            enum mq_status status = operations[i].run();
            bool failed = left < 0;
            left = -1;
            if (!failed) {
                assert_int_equal(status, MQ_OK);
                break;
            }
            /* A failure after the result is complete (in a shown DSN) does not count. */
            assert_true(status == MQ_NOMEM || (operations[i].run == parse_dsn && status == MQ_OK));
        }
        assert_true(n >= operations[i].least);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_request)};
    return cmocka_run_group_tests_name("core_nomem", tests, NULL, NULL);
}
