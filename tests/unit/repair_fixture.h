/* Messages given to mq_repair_accept(), and the header fields that it must produce. */
#ifndef TESTS_MEND_FIXTURE_H
#define TESTS_MEND_FIXTURE_H

#include "repair_common.h"

static enum mq_status repair(struct mq_str raw)
{
    mq_buffer_clear(&out);
    info = (struct mq_message_info){0};
    /* In a block of its own size, so that the sanitizer sees a byte read past the end. */
    char *copy = malloc(raw.len ? raw.len : 1);
    memcpy(copy, raw.data, raw.len);
    enum mq_status status =
        mq_repair_accept((struct mq_str){copy, raw.len}, &options, &out, &info, &err);
    free(copy);
    return status;
}

/* Repairs fields, repairs the result again, and compares. */
static void assert_fields(const char *fields, const char *expected)
{
    struct mq_buffer raw = {0};
    struct mq_buffer wanted = {0};
    mq_buffer_printf(&raw, "%s" HAVE "\r\ntext\r\n", fields);
    mq_buffer_printf(&wanted, "%s" HAVE "\r\ntext\r\n", expected);
    for (int i = 0; i < 2; i++) {
        if (repair(mq_buffer_view(i == 0 ? &raw : &wanted)) != MQ_OK) {
            fail_msg("%s: %s", fields, err.text);
        }
        assert_string_equal(out.data, wanted.data);
        assert_int_equal(out.len, wanted.len);
        assert_lines(mq_buffer_view(&out));
        assert_int_equal(info.flags, mq_message_flags(mq_buffer_view(&out)));
        assert_true(mq_str_equal(info.message_id, MQ_STR("<a@b>")));
        assert_true(info.message_id.data > out.data && info.message_id.data < out.data + out.len);
    }
    mq_buffer_clear(&raw);
    mq_buffer_clear(&wanted);
}

struct sample {
    const char *fields, *expected;
};

static void assert_samples(const struct sample *samples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_fields(samples[i].fields, samples[i].expected);
    }
}

static int teardown(void **state)
{
    (void)state;
    mq_buffer_clear(&out);
    return 0;
}

#endif
