/* A message with parts, composed, and what its body must be: for tests of the parts. */
#ifndef MQ_TEST_PARTS_FIXTURE_H
#define MQ_TEST_PARTS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mime/compose/composer.h"
#include "mime/wire/envelope.h"

static struct mq_buffer out;
static struct mq_envelope envelope;
static struct mq_error err;
static struct mq_compose_part parts[8];

static const struct mq_compose_address from = {.address = MQ_STR("ann@example.org"),
                                               .field = "from"};
static const struct mq_compose_address to = {.address = MQ_STR("bob@example.net"), .field = "to"};

static struct mq_compose_fields fields_with(size_t count)
{
    return (struct mq_compose_fields){.from = {&from, 1},
                                      .to = {&to, 1},
                                      .text = MQ_STR("Text"),
                                      .parts = parts,
                                      .part_count = count,
                                      .message_id = "<1@q.example>",
                                      .date_s = 1795253700};
}

static struct mq_compose_part attachment(const char *name, const char *type, const char *data)
{
    return (struct mq_compose_part){.name = mq_str_of(name),
                                    .type = mq_str_of(type),
                                    .data = mq_str_of(data),
                                    .fd = -1,
                                    .field = "attachments[0]"};
}

static int reset(void **state)
{
    (void)state;
    mq_buffer_clear(&out);
    mq_envelope_clear(&envelope);
    return 0;
}

static void assert_composes(const struct mq_compose_fields *fields)
{
    reset(NULL);
    if (mq_compose(fields, &out, &envelope, &err) != MQ_OK) {
        fail_msg("%s", err.text);
    }
}

/* The message after "MIME-Version: 1.0". */
static void assert_body(const struct mq_compose_fields *fields, const char *expected)
{
    assert_composes(fields);
    assert_string_equal(strstr(out.data, "MIME-Version: 1.0\r\n") + 19, expected);
}

#define STEM  "f128d4777dc301d2"
#define TEXT  "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 7bit\r\n\r\n"
#define HTML  "Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: 7bit\r\n\r\n"
#define MIXED "Content-Type: multipart/mixed; boundary=\"=_1_" STEM "\"\r\n"
#define B1    "--=_1_" STEM
#define B2    "--=_2_" STEM
#define B3    "--=_3_" STEM

#endif
