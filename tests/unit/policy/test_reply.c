/* Reading SMTP replies: a stream cut anywhere, invalid replies, and bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/reply.h"

static struct mq_reply_reader reader;

/* Reads `text` in pieces of at most `step` bytes, each in a block of its own size, up to the first
 * complete reply; *used says how many bytes that took. */
static enum mq_status read_stepwise(struct mq_str text, size_t step, struct mq_reply *reply,
                                    size_t *used, bool *complete)
{
    enum mq_status status = MQ_OK;
    size_t at = 0;
    *complete = false;
    memset(&reader, 0, sizeof reader);
    while (at < text.len && !*complete && status == MQ_OK) {
        size_t n = text.len - at < step ? text.len - at : step;
        char *piece = malloc(n);
        memcpy(piece, text.data + at, n);
        struct mq_str data = {piece, n};
        status = mq_reply_read(&reader, &data, complete, reply, NULL);
        at += n - data.len;
        free(piece);
    }
    *used = at;
    return status;
}

static struct mq_reply parse(const char *text)
{
    struct mq_reply reply = {0};
    size_t used = 0;
    bool complete = false;
    assert_int_equal(read_stepwise(mq_str_of(text), 100000, &reply, &used, &complete), MQ_OK);
    assert_true(complete);
    assert_int_equal(used, strlen(text));
    return reply;
}

static void test_single(void **state)
{
    struct mq_reply r = parse("250 2.1.0 Ok\r\n");
    (void)state;
    assert_int_equal(r.code, 250);
    assert_int_equal(r.lines, 1);
    assert_int_equal(r.enhanced[0], 2);
    assert_int_equal(r.enhanced[1], 1);
    assert_int_equal(r.enhanced[2], 0);
    assert_string_equal(r.text, "Ok");
    r = parse("250\r\n"); /* RFC 5321, 4.2: receivers must take it */
    assert_int_equal(r.code, 250);
    assert_string_equal(r.text, "");
    r = parse("250 \r\n");
    assert_string_equal(r.text, "");
    r = parse("354 go\n"); /* a bare LF ends a line too */
    assert_int_equal(r.code, 354);
    r = parse("550 5.1.1\r\n");
    assert_int_equal(r.enhanced[2], 1);
    assert_string_equal(r.text, "");
}

static void test_multiline(void **state)
{
    struct mq_reply r = parse("250-mail.example\r\n250-SIZE 1000\r\n250-\r\n250 8BITMIME\r\n");
    (void)state;
    assert_int_equal(r.lines, 4);
    assert_string_equal(r.text, "mail.example SIZE 1000 8BITMIME");
    r = parse("550-5.1.1 The account\r\n550-5.1.1 does not\r\n550 5.1.1  exist \xC3\xA4.\r\n");
    assert_int_equal(r.enhanced[0], 5);
    assert_string_equal(r.text, "The account does not exist ä.");
    r = parse("550-no code here\r\n550 5.7.1 but here\r\n");
    assert_int_equal(r.enhanced[1], 7);
    assert_string_equal(r.text, "no code here but here");
    r = parse("550-5.1.1 one\r\n550 5.7.1 two\r\n"); /* the first; nothing is lost */
    assert_int_equal(r.enhanced[1], 1);
    assert_string_equal(r.text, "one 5.7.1 two");
    r = parse("250-a\r\n250\r\n");
    assert_int_equal(r.lines, 2);
}

static void test_enhanced(void **state)
{
    static const char *const none[] = {
        "450 5.1.1 other class",   "550 4.2.1 other class", "250 5.1.1 other class",
        "354 3.1.1 no such class", "550 5.1 two parts",     "550 5.1.1.1 four parts",
        "550 5.1.1x letters",      "550 5..1 empty",        "550 5.1. empty",
        "550 51.1.1 long class",   "550 5.1234.1 long",     "550 5.1.1234 long",
        "550 x5.1.1 letters",      "550 #5.1.1 hash",       "550"};
    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        char line[80];
        snprintf(line, sizeof line, "%s\r\n", none[i]);
        struct mq_reply r = parse(line);
        assert_int_equal(r.enhanced[0], 0);
        assert_int_equal(r.enhanced[1], 0);
        assert_int_equal(r.enhanced[2], 0);
        assert_string_equal(r.text, strlen(none[i]) > 4 ? none[i] + 4 : "");
    }
    struct mq_reply r = parse("554 5.123.999 long\r\n");
    assert_int_equal(r.enhanced[1], 123);
    assert_int_equal(r.enhanced[2], 999);
}

/* Every cut gives the same reply, and the rest is left unread. */
static void test_any_cut(void **state)
{
    static const char text[] = "250-2.0.0 one\r\n250-2.0.0 two\n250 2.0.0 three\r\n354 next\r\n";
    size_t first = strlen(text) - strlen("354 next\r\n");
    (void)state;
    for (size_t step = 1; step <= sizeof text; step++) {
        struct mq_reply reply = {0};
        size_t used = 0;
        bool complete = false;
        assert_int_equal(read_stepwise(mq_str_of(text), step, &reply, &used, &complete), MQ_OK);
        assert_true(complete);
        assert_int_equal(used, first);
        assert_string_equal(reply.text, "one two three");
        assert_int_equal(reply.lines, 3);
    }
    struct mq_str data = mq_str_of(text);
    struct mq_reply reply = {0};
    bool complete = false;
    memset(&reader, 0, sizeof reader);
    assert_int_equal(mq_reply_read(&reader, &data, &complete, &reply, NULL), MQ_OK);
    assert_int_equal(mq_reply_read(&reader, &data, &complete, &reply, NULL), MQ_OK);
    assert_int_equal(reply.code, 354);
    assert_int_equal(reply.enhanced[0], 0);
    assert_int_equal(data.len, 0);
}

static void test_incomplete(void **state)
{
    static const char text[] = "250-one\r\n250 two\r\n";
    (void)state;
    for (size_t len = 0; len < sizeof text - 1; len++) {
        struct mq_reply reply = {.code = 7};
        size_t used = 0;
        bool complete = true;
        assert_int_equal(read_stepwise((struct mq_str){text, len}, 3, &reply, &used, &complete),
                         MQ_OK);
        assert_false(complete);
        assert_int_equal(used, len);
        assert_int_equal(reply.code, 7);
    }
}

static enum mq_status status_of(struct mq_str text, size_t step)
{
    struct mq_reply reply;
    size_t used;
    bool complete;
    return read_stepwise(text, step, &reply, &used, &complete);
}

static void test_no_replies(void **state)
{
    static const char *const bad[] = {"\r\n",           "\n",
                                      "25\r\n",         "abc\r\n",
                                      " 250 ok\r\n",    "150 early\r\n",
                                      "050 x\r\n",      "600 x\r\n",
                                      "999 x\r\n",      "2500 x\r\n",
                                      "250x\r\n",       "250_x\r\n",
                                      "2 50\r\n",       "-50 x\r\n",
                                      "250\tx\r\n",     "250-a\r\n251 b\r\n",
                                      "250-a\r\nb\r\n", "250-a\r\n\r\n",
                                      "SSH-2.0-x\r\n",  "HTTP/1.1 400 Bad Request\r\n"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(status_of(mq_str_of(bad[i]), 1), MQ_TRANSPORT);
        assert_int_equal(status_of(mq_str_of(bad[i]), 1000), MQ_TRANSPORT);
    }
    assert_int_equal(status_of((struct mq_str){"250 a\0b\r\n", 9}, 1), MQ_TRANSPORT);
    assert_int_equal(status_of((struct mq_str){"250 ab\0", 7}, 7), MQ_TRANSPORT);
    assert_int_equal(status_of((struct mq_str){"\0", 1}, 7), MQ_TRANSPORT);
}

/* A line of 64 KiB, and continuation lines without an end: an error, in bounded memory. */
static void test_bounds(void **state)
{
    struct mq_buffer text;
    struct mq_reply reply;
    (void)state;
    text = (struct mq_buffer){0};
    mq_buffer_cstr(&text, "250 ");
    while (text.len < MQ_REPLY_LINE_MAX - 1) {
        mq_buffer_char(&text, 'x');
    }
    mq_buffer_cstr(&text, "\r\n");
    assert_int_equal(status_of(mq_buffer_view(&text), 1000), MQ_OK);
    text.data[text.len - 2] = 'x';
    text.data[text.len - 1] = 'x';
    mq_buffer_cstr(&text, "\r\n");
    assert_int_equal(status_of(mq_buffer_view(&text), 1000), MQ_TRANSPORT);
    assert_int_equal(status_of(mq_buffer_view(&text), 1), MQ_TRANSPORT);
    mq_buffer_reset(&text);
    while (text.len < 65536) {
        mq_buffer_char(&text, '2');
    }
    assert_int_equal(status_of(mq_buffer_view(&text), 4096), MQ_TRANSPORT);

    mq_buffer_reset(&text);
    for (int i = 0; i < MQ_REPLY_LINES_MAX - 1; i++) {
        mq_buffer_cstr(&text, "250-0123456789\r\n");
    }
    mq_buffer_cstr(&text, "250 end\r\n");
    reply = parse(text.data);
    assert_int_equal(reply.lines, MQ_REPLY_LINES_MAX);
    assert_int_equal(strlen(reply.text), MQ_REPLY_TEXT_MAX - 1);
    text.data[text.len - 6] = '-';
    mq_buffer_cstr(&text, "250 end\r\n");
    assert_int_equal(status_of(mq_buffer_view(&text), 100), MQ_TRANSPORT);
    mq_buffer_clear(&text);
}

static void test_printable(void **state)
{
    struct mq_reply r = parse("550 a\x1b[31m\x07\tb\rc \xFF\xE2\x82 \xC2\x9B <b>\r\n");
    char line[2000];
    (void)state;
    assert_string_equal(r.text, "a?[31m??b?c \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD ? <b>");
    for (size_t shift = 0; shift < 4; shift++) {
        memcpy(line, "550 xxx", 8);
        size_t n = 4 + shift;
        while (n < 1200) {
            memcpy(line + n, "\xF0\x9F\x98\x80", 4);
            n += 4;
        }
        memcpy(line + n, "\r\n", 3);
        r = parse(line);
        assert_true(mq_utf8_valid(mq_str_of(r.text)));
        assert_true(strlen(r.text) > MQ_REPLY_TEXT_MAX - 5);
        assert_null(strstr(r.text, "\xEF\xBF\xBD"));
    }
}

static void test_retry_after(void **state)
{
    static const struct {
        const char *text;
        int seconds;
    } samples[] = {
        {"Greylisted, please try again in 300 seconds", 300},
        {"retry after 5 minutes", 300},
        {"Try Again In 5 min.", 300},
        {"try again in 1 hour", 3600},
        {"come back in 00:05:00", 300},
        {"Greylisting in action, please come back in 01:00:30", 3630},
        {"greylisted for 600 seconds", 600},
        {"Retry-After: 120", 120},
        {"please wait at least 30s", 30},
        {"please wait 2m", 120},
        {"wait 2h before", 7200},
        {"try again in about 90", 90},
        {"retry in 1.5 minutes", 120},
        {"try again in 30: thanks", 30},
        {"try again in 1:30", 90},
        {"try again in 3 days", 86400},
        {"try again in 99999999999999999999 seconds", 86400},
        {"try again in 999999999:59:59", 86400},
        {"wait a moment, then try again in 10 seconds", 10},
        {"deferred for 300 secs", 300},
        {"try again later", 0},
        {"try again after 3 attempts", 0},
        {"try again in", 0},
        {"wait", 0},
        {"wait ", 0},
        {"try again in 0 seconds", 0},
        {"300 seconds", 0},
        {"too many messages from 192.0.2.1", 0},
        {"", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct mq_reply reply = {.code = 450};
        snprintf(reply.text, sizeof reply.text, "%s", samples[i].text);
        if (mq_reply_retry_after_s(&reply) != samples[i].seconds) {
            fail_msg("%s: %d", samples[i].text, mq_reply_retry_after_s(&reply));
        }
    }
}

static void test_format(void **state)
{
    struct mq_reply r = parse("550-5.1.1 User €\r\n550 5.1.1 unknown\r\n");
    char out[64];
    (void)state;
    mq_reply_format(&r, out, sizeof out);
    assert_string_equal(out, "550 5.1.1 User € unknown");
    mq_reply_format(&r, out, 18); /* the character does not fit */
    assert_string_equal(out, "550 5.1.1 User ");
    mq_reply_format(&r, out, 19);
    assert_string_equal(out, "550 5.1.1 User €");
    mq_reply_format(&r, out, 1);
    assert_string_equal(out, "");
    r = parse("354 go ahead\r\n");
    mq_reply_format(&r, out, sizeof out);
    assert_string_equal(out, "354 go ahead");
    r = parse("250\r\n");
    mq_reply_format(&r, out, sizeof out);
    assert_string_equal(out, "250");
    r = (struct mq_reply){0};
    mq_reply_format(&r, out, sizeof out);
    assert_string_equal(out, "");
}

static void test_hide_addresses(void **state)
{
    (void)state;
    char reply[] = "554 5.7.1 <ann.b+c@example.org>: denied for x@example.net, \"q\"@d";
    mq_reply_hide_addresses(reply);
    assert_string_equal(reply, "554 5.7.1 <*@example.org>: denied for *@example.net, \"q\"@d");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single),         cmocka_unit_test(test_multiline),
        cmocka_unit_test(test_enhanced),       cmocka_unit_test(test_any_cut),
        cmocka_unit_test(test_incomplete),     cmocka_unit_test(test_no_replies),
        cmocka_unit_test(test_bounds),         cmocka_unit_test(test_printable),
        cmocka_unit_test(test_retry_after),    cmocka_unit_test(test_format),
        cmocka_unit_test(test_hide_addresses),
    };
    return cmocka_run_group_tests_name("reply", tests, NULL, NULL);
}
