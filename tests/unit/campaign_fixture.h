/* Makes, opens and renders a campaign's message: for tests of it. */
#ifndef MQ_TEST_CAMPAIGN_FIXTURE_H
#define MQ_TEST_CAMPAIGN_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/ascii.h"
#include "mime/compose/composer.h"
#include "mime/template/campaign_message.h"
#include "mime/wire/envelope.h"

static struct mq_error err;
static struct mq_buffer octets, made;
static struct mq_envelope envelope;
static struct mq_campaign_message *message;

static const struct mq_compose_address from = {.address = MQ_STR("Jörg <joerg@example.org>"),
                                               .field = "from"};
static const struct mq_compose_address reply_to = {
    .address = MQ_STR("reply@example.org"), .name = MQ_STR("Reply, to"), .field = "reply_to"};

static int teardown(void **state)
{
    (void)state;
    mq_campaign_message_free(message);
    message = NULL;
    mq_buffer_clear(&octets);
    mq_buffer_clear(&made);
    mq_envelope_clear(&envelope);
    return 0;
}

static struct mq_compose_fields fields_of(const char *subject, const char *text, const char *html)
{
    return (struct mq_compose_fields){.from = {&from, 1},
                                      .reply_to = {&reply_to, 1},
                                      .subject = mq_str_of(subject),
                                      .text = mq_str_of(text),
                                      .html = mq_str_of(html)};
}

static struct mq_campaign_recipient recipient_of(const char *json)
{
    return (struct mq_campaign_recipient){.address = MQ_STR("ann@example.net"),
                                          .name = MQ_STR("Ann"),
                                          .fields = mq_str_of(json),
                                          .message_id = "<1@q.example>",
                                          .date_s = 1795253700};
}

static enum mq_status try_open(const struct mq_compose_fields *fields)
{
    teardown(NULL);
    MQ_TRY(mq_campaign_message_make(fields, &octets, &err));
    return mq_campaign_message_open(mq_buffer_view(&octets), &message, &err);
}

static void open_message(const struct mq_compose_fields *fields)
{
    if (try_open(fields) != MQ_OK) {
        fail_msg("%s", err.text);
    }
}

static enum mq_status try_render(const struct mq_campaign_recipient *recipient)
{
    mq_buffer_reset(&made);
    return mq_campaign_message_render(message, recipient, &made, &envelope, &err);
}

#endif
