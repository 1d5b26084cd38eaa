/* The n-th request for memory fails while a campaign's message is made, opened and rendered, for
 * every n: a clean error, no partial result, no leak (ASan finds those). */
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
#include "mime/compose/composer.h"
#include "mime/template/campaign_message.h"
#include "mime/wire/envelope.h"

static struct mq_compose_fields fields;
static struct mq_campaign_recipient recipient;

static enum mq_status make_and_render(struct mq_buffer *mail, struct mq_envelope *envelope,
                                      struct mq_error *err)
{
    struct mq_buffer octets = {0};
    struct mq_campaign_message *message = NULL;
    enum mq_status status = mq_campaign_message_make(&fields, &octets, err);
    if (status == MQ_OK) {
        status = mq_campaign_message_open(mq_buffer_view(&octets), &message, err);
    } else {
        assert_int_equal(octets.len, 0);
    }
    mq_buffer_clear(&octets);
    if (status == MQ_OK) {
        status = mq_campaign_message_check(message, &recipient, err);
    }
    if (status == MQ_OK) {
        status = mq_campaign_message_render(message, &recipient, mail, envelope, err);
    }
    mq_campaign_message_free(message);
    return status;
}

static void set_up(void)
{
    static const struct mq_compose_address from = {.address = MQ_STR("a@example.org"),
                                                   .field = "from"};
    static const struct mq_compose_part part = {
        .name = MQ_STR("a.txt"), .data = MQ_STR("attached"), .fd = -1, .field = "attachments[0]"};
    static const struct mq_compose_header header = {MQ_STR("X-A"), MQ_STR("{{a}}")};
    static const struct mq_str uri = MQ_STR("https://example.org/{{a}}");
    fields = (struct mq_compose_fields){
        .from = {&from, 1},
        .subject = MQ_STR("{{a}} {{name}}"),
        .text = MQ_STR("{{#each l}}{{x}}{{#if a.b}}{{../a}}{{else}}-{{/if}}{{/each}}"),
        .html = MQ_STR("{{a}}{{unsubscribe}}"),
        .headers = &header,
        .header_count = 1,
        .parts = &part,
        .part_count = 1,
        .unsubscribe = &uri,
        .unsubscribe_count = 1};
    recipient = (struct mq_campaign_recipient){
        .address = MQ_STR("b@example.org"),
        .name = MQ_STR("B\tb"),
        .fields = MQ_STR("{\"a\":\"x\\ty\",\"l\":[{\"x\":1},{\"x\":\"\\u00e4\"}]}"),
        .message_id = "<1@q.example>"};
}

static void test_every_request(void **state)
{
    enum mq_status status = MQ_NOMEM;
    int turns = 0;
    (void)state;
    set_up();
    for (; status != MQ_OK && turns < 1000; turns++) {
        struct mq_buffer mail = {0};
        struct mq_envelope envelope = {0};
        struct mq_error err;
        left = turns;
        status = make_and_render(&mail, &envelope, &err);
        left = -1;
        if (status != MQ_OK) {
            assert_int_equal(status, MQ_NOMEM);
            assert_non_null(strstr(err.text, "memory"));
            assert_int_equal(mail.len, 0);
            assert_int_equal(envelope.recipients.count, 0);
        } else {
            assert_non_null(strstr(mail.data, "Subject: x y B b\r\n"));
        }
        mq_envelope_clear(&envelope);
        mq_buffer_clear(&mail);
    }
    assert_int_equal(status, MQ_OK);
    assert_true(turns > 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_request)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
