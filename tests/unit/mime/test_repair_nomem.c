/* The n-th request for memory fails, for every n, while a message is repaired: a clean error, no
 * partial result, no leak (ASan finds those). */
/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "failing_malloc.h"
#include "mime/wire/repair.h"

#define HEAD                                                                                    \
    "From: J\xC3\xB6rg <a@b\xC3\xBC"                                                            \
    "cher.example>\nTo: \"\xC3\xB6\" (\xC3\xB6\\)) <a@b.example>\n"                             \
    "Subject: \xF6\nContent-Type: multipart/mixed; boundary=b; charset=big5\n"                  \
    "Cc: \"\xA5\\\" <a@b>\nReply-To: \"\xA5\\\" (\\\xA5) <a\nKeywords: \xA5, \xA5@\n"           \
    "Content-Disposition: x; filename=\xC3\xB6; y=\xC3\xB6; z*=\xC3\xB6\n\n--b\n"               \
    "Content-Type: multipart/mixed; boundary=\"a boundary that is longer than the first block " \
    "of a buffer\"\n\n--a boundary that is longer than the first block of a buffer\n\n"

static void test_every_request(void **state)
{
    const struct mq_message_options options = {.message_id = "<a@b>"};
    struct mq_message_info info = {0};
    struct mq_buffer raw;
    struct mq_buffer whole;
    struct mq_buffer out;
    struct mq_error err;
    int requests = 0;
    (void)state;
    raw = (struct mq_buffer){0};
    whole = (struct mq_buffer){0};
    out = (struct mq_buffer){0};
    mq_buffer_cstr(&raw, HEAD);
    for (int i = 0; i < 2000; i++) {
        mq_buffer_char(&raw, 'x');
    }
    assert_int_equal(mq_repair_accept(mq_buffer_view(&raw), &options, &whole, &info, &err), MQ_OK);
    for (enum mq_status status = MQ_NOMEM; status != MQ_OK; requests++) {
        assert_true(requests < 1000);
        mq_buffer_clear(&out);
        info = (struct mq_message_info){0};
        left = requests;
        status = mq_repair_accept(mq_buffer_view(&raw), &options, &out, &info, &err);
        left = -1;
        assert_true(status == MQ_OK || status == MQ_NOMEM);
        assert_int_equal(out.len, status == MQ_OK ? whole.len : 0);
        assert_int_equal(info.message_id.len > 0, status == MQ_OK);
    }
    assert_string_equal(out.data, whole.data);
    assert_true(requests > 20);
    mq_buffer_clear(&raw);
    mq_buffer_clear(&whole);
    mq_buffer_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_request)};
    return cmocka_run_group_tests_name("repair_nomem", tests, NULL, NULL);
}
