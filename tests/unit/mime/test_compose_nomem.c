/* The n-th request for memory fails while a message is composed, for every n: a clean error, no
 * partial result, no leak (ASan finds those). */
/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "failing_malloc.h"
#include "mime/compose/composer.h"
#include "mime/wire/envelope.h"

static void test_every_request(void **state)
{
    static char html[20000];
    struct mq_compose_address from = {.address = MQ_STR("J\xC3\xB6rg <j@example.org>"),
                                      .field = "from"};
    struct mq_compose_address to[] = {
        {.address = MQ_STR("a@example.org, b@example.org, "
                           "c@example.org, d@example.org, B "
                           "<b@example.org>"),
         .field = "to"},
        {.name = MQ_STR("C"), .address = MQ_STR("c@example.org"), .field = "to"}};
    struct mq_compose_header headers[] = {{MQ_STR("Sender"), MQ_STR("S <s@example.org>")}};
    struct mq_compose_part parts[] = {
        {.name = MQ_STR("\xC3\xB6.png"), .cid = MQ_STR("a"), .data = MQ_STR("x"), .fd = -1},
        {.type = MQ_STR("message/rfc822"), .field = "attachments[0]"},
        {.name = MQ_STR("b"), .data = {html, sizeof html}, .fd = -1}};
    struct mq_compose_fields fields = {.from = {&from, 1},
                                       .to = {to, 2},
                                       .bcc = {to, 1},
                                       .subject = MQ_STR("Gr\xC3\xBC\xC3\x9F"
                                                         "e"),
                                       .text = MQ_STR("\xC3\xB6"),
                                       .html = {html, sizeof html},
                                       .headers = headers,
                                       .header_count = 1,
                                       .parts = parts,
                                       .part_count = 3,
                                       .message_id = "<1@q.example>"};
    int ends[2];
    enum mq_status status = MQ_NOMEM;
    int turns = 0;
    (void)state;
    memset(html, 'x', sizeof html);
    for (; status != MQ_OK && turns < 1000; turns++) {
        struct mq_buffer out;
        struct mq_envelope envelope = {0};
        struct mq_error err;
        out = (struct mq_buffer){0};
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(write(ends[1], "a: b\n\n", 6), 6);
        close(ends[1]);
        parts[1].fd = ends[0];
        parts[1].data.len = 6;
        left = turns;
        status = mq_compose(&fields, &out, &envelope, &err);
        left = -1;
        close(ends[0]);
        if (status != MQ_OK) {
            assert_int_equal(status, MQ_NOMEM);
            assert_non_null(strstr(err.text, "memory"));
            assert_int_equal(out.len, 0);
            assert_null(envelope.from);
            assert_int_equal(envelope.recipients.count, 0);
        } else {
            assert_string_equal(envelope.from, "j@example.org");
            assert_int_equal(envelope.recipients.count, 4);
        }
        mq_envelope_clear(&envelope);
        mq_buffer_clear(&out);
    }
    assert_int_equal(status, MQ_OK);
    assert_true(turns > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_request)};
    return cmocka_run_group_tests_name("compose_nomem", tests, NULL, NULL);
}
