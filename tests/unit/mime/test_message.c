/* Complete messages as they are stored: line ends, added fields, flags and refused input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mime/wire/message.h"

#define ADDED "Date: Sat, 21 Nov 2026 09:35:00 +0000\r\nMessage-ID: <id@q.example>\r\n"
#define HAVE  "Date: x\r\nMessage-ID: <a@b>\r\n"

#define NEEDS (unsigned)(MQ_MESSAGE_8BIT | MQ_MESSAGE_UTF8_HEADERS)
#define RAW   (MQ_MESSAGE_UTF8_HEADERS | MQ_MESSAGE_RAW_HEADERS)

static const struct mq_message_options options = {.message_id = "<id@q.example>",
                                                  .date_s = 1795253700};
static struct mq_buffer out;
static struct mq_message_info info;
static struct mq_error err;

static enum mq_status normalize(struct mq_str raw)
{
    mq_buffer_clear(&out);
    info = (struct mq_message_info){0};
    /* In a block of its own size, so that the sanitizer sees a byte read past the end. */
    char *copy = malloc(raw.len ? raw.len : 1);
    memcpy(copy, raw.data, raw.len);
    enum mq_status status =
        mq_message_normalize((struct mq_str){copy, raw.len}, &options, &out, &info, &err);
    free(copy);
    return status;
}

static void assert_normal(const char *raw, const char *expected)
{
    if (normalize(mq_str_of(raw)) != MQ_OK) {
        fail_msg("%s: %s", raw, err.text);
    }
    assert_string_equal(out.data, expected);
    assert_int_equal(out.len, strlen(expected));
    assert_int_equal(info.flags & NEEDS, mq_message_flags(mq_buffer_view(&out)));
}

static void assert_id(const char *expected)
{
    assert_true(mq_str_equal(info.message_id, mq_str_of(expected)));
    assert_true(info.message_id.data > out.data && info.message_id.data < out.data + out.len);
}

static int teardown(void **state)
{
    (void)state;
    mq_buffer_clear(&out);
    return 0;
}

static void test_line_ends(void **state)
{
    (void)state;
    assert_normal("A: b\r\n" HAVE "\r\ntext\r\n", "A: b\r\n" HAVE "\r\ntext\r\n");
    assert_normal("A: b\nDate: x\nMessage-ID: <a@b>\n\ntext\n", "A: b\r\n" HAVE "\r\ntext\r\n");
    assert_normal(HAVE "\r\na\nb\rc\r\nd", HAVE "\r\na\r\nb\r\nc\r\nd\r\n");
    assert_normal(HAVE "\r\na\r", HAVE "\r\na\r\n");
    assert_normal(HAVE "\r\n\r\r\r", HAVE "\r\n\r\n\r\n\r\n");
    assert_normal(HAVE "\r\na\r\r\nb", HAVE "\r\na\r\n\r\nb\r\n");
    assert_normal(HAVE "\r\n\n\r", HAVE "\r\n\r\n\r\n");
    /* No body, with and without the empty line. */
    assert_normal(HAVE, HAVE "\r\n");
    assert_normal(HAVE "\r\n", HAVE "\r\n");
    assert_normal("Date: x\nMessage-ID: <a@b>", HAVE "\r\n");
}

/* CR alone ends lines if the whole message uses it; one LF anywhere and a CR in the headers is an
 * error (test_bad). */
static void test_cr_throughout(void **state)
{
    (void)state;
    assert_normal("A: b\rDate: x\rMessage-ID: <a@b>\r\rtext\r", "A: b\r\n" HAVE "\r\ntext\r\n");
    assert_normal("A: b\r c\rBcc: s\r t\rDate: x\rMessage-ID: <a@b>\r\ra\r\r.\rb",
                  "A: b\r\n c\r\n" HAVE "\r\na\r\n\r\n.\r\nb\r\n");
    assert_normal("To: a\rBcc: s\rTo: b\rBcc: t\rDate: x\rMessage-ID: <a@b>\r\rTo: c\r",
                  "To: a,\r\n b\r\n" HAVE "\r\nTo: c\r\n");
    assert_normal("To: ,\rTo: a, ,\rTo: ,\rTo: b,\rDate: x\rMessage-ID: <a@b>\r\r",
                  "To: a,\r\n b\r\n" HAVE "\r\n");
    assert_normal("A: b\r", "A: b\r\n" ADDED "\r\n");
    assert_normal("A: b\r\r", "A: b\r\n" ADDED "\r\n");
    assert_normal("DKIM-Signature: v=1\rDate: x\rMessage-ID: <a@b>\r\ra\rb",
                  "DKIM-Signature: v=1\r\n" HAVE "\r\na\r\nb\r\n");
    assert_normal("A: \xC3\xA4\r\r\xC3\xA4\r", "A: \xC3\xA4\r\n" ADDED "\r\n\xC3\xA4\r\n");
    assert_int_equal(info.flags, RAW | MQ_MESSAGE_8BIT);
}

/* A line that a server could take for the end of the data stays a line of the text: on the wire
 * each of these dots begins a line that ends with CRLF, and is stuffed. */
static void test_dots(void **state)
{
    static const char *const ends[] = {"\n", "\r", "\r\n"};
    (void)state;
    for (size_t a = 0; a < 3; a++) {
        for (size_t b = 0; b < 3; b++) {
            char raw[200];
            snprintf(raw, sizeof raw, HAVE "\r\nx%s.%sMAIL FROM:<e@vil>%s", ends[a], ends[b],
                     ends[a]);
            assert_normal(raw, HAVE "\r\nx\r\n.\r\nMAIL FROM:<e@vil>\r\n");
        }
    }
    assert_normal(HAVE "\r\n.", HAVE "\r\n.\r\n");
    assert_normal(HAVE "\r\n..\n.", HAVE "\r\n..\r\n.\r\n");
}

static void test_added(void **state)
{
    (void)state;
    assert_normal("A: b\n\nx", "A: b\r\n" ADDED "\r\nx\r\n");
    assert_id("<id@q.example>");
    assert_normal("A: b", "A: b\r\n" ADDED "\r\n");
    assert_normal("DATE: x\nA: b\n\n", "DATE: x\r\nA: b\r\nMessage-ID: <id@q.example>\r\n\r\n");
    assert_normal(
        "A: b\nmessage-id:\n <z@y>\t\n\n",
        "A: b\r\nmessage-id:\r\n <z@y>\t\r\nDate: Sat, 21 Nov 2026 09:35:00 +0000\r\n\r\n");
    assert_id("<z@y>");
    assert_normal("Message-ID:<a@b>\nDate:x", "Message-ID:<a@b>\r\nDate:x\r\n\r\n");
    assert_id("<a@b>");
    /* An empty field counts as missing. */
    assert_normal("Message-ID: \nDate:\n \nA: b\n\n", "A: b\r\n" ADDED "\r\n");
    /* Of several fields the first stays as it is. */
    assert_normal("Message-ID: <1@a>\nDate: 1\nMessage-Id: <2@a>\nDate: 2\n more\nA: b\n\n",
                  "Message-ID: <1@a>\r\nDate: 1\r\nA: b\r\n\r\n");
    assert_id("<1@a>");
    /* Fields with similar names do not count. */
    assert_normal("Resent-Date: r\nX-Date: q\nDates: d\n\nDate: body\n",
                  "Resent-Date: r\r\nX-Date: q\r\nDates: d\r\n" ADDED "\r\nDate: body\r\n");
}

static void test_blind(void **state)
{
    (void)state;
    assert_normal("To: a\nBcc: s@ecret,\n  t@ecret,\n\tu@ecret\n" HAVE "\nBcc: body\n",
                  "To: a\r\n" HAVE "\r\nBcc: body\r\n");
    assert_normal("bCC: s@ecret\n" HAVE, HAVE "\r\n");
    assert_normal(HAVE "RESENT-BCC:\n s@ecret", HAVE "\r\n");
    assert_normal("Bcc: 1\nBcc: 2\nA: b\n c\n" HAVE, "A: b\r\n c\r\n" HAVE "\r\n");
    assert_normal("X-Bcc: kept\nBccs: kept\n" HAVE, "X-Bcc: kept\r\nBccs: kept\r\n" HAVE "\r\n");
}

/* A comment after the id stays in the header. */
static void test_id(void **state)
{
    static const struct {
        const char *value, *id;
    } samples[] = {
        {"<x@y> (added by\r\n postmaster)", "<x@y>"},
        {"<x@y>\r\n\t(added by postmaster)", "<x@y>"},
        {"<x@y>\t(a > b)", "<x@y>"},
        {"\r\n <x@y>", "<x@y>"},
        {"<x y>", "<x y>"},
        {"<x@y", "<x@y"},
        {"x@y (z)", "x@y (z)"},
        {"x <y@z>", "x <y@z>"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        char message[128];
        snprintf(message, sizeof message, "Message-ID: %s\r\nDate: x\r\n\r\n", samples[i].value);
        assert_normal(message, message);
        assert_id(samples[i].id);
    }
    /* A field that is removed is not checked. */
    assert_normal("Message-ID: <a@b>\nMessage-ID: c\n d\nDate: x\n\n",
                  "Message-ID: <a@b>\r\nDate: x\r\n\r\n");
}

static void assert_bad(struct mq_str raw, const char *expected)
{
    if (normalize(raw) != MQ_MESSAGE) {
        fail_msg("%.*s was taken", (int)raw.len, raw.data);
    }
    assert_string_equal(err.field, "message");
    if (strstr(err.text, expected) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", expected, err.text);
    }
    assert_int_equal(out.len, 0);
    assert_null(info.message_id.data);
}

static void test_bad(void **state)
{
    static const struct {
        const char *raw, *expected;
    } samples[] = {
        {"", "line 1: the message has no headers"},
        {"\n", "line 1: the message has no headers"},
        {"\r\n\r\nA: b\r\n", "line 1: the message has no headers"},
        {"just text\n", "line 1: the message does not begin"},
        {"text", "line 1: the message does not begin"},
        {"From me Sat Nov 21\nA: b\n\n", "line 1: the message does not begin"},
        {" A: b\n", "line 1: the message begins with a space"},
        {": b\n", "line 1"},
        {"A : b\n", "line 1"},
        {"A\t: b\n", "line 1"},
        {"A\x7f: b\n", "line 1"},
        {"\xC3\xA4: b\n", "line 1"},
        {"A: b\nno colon\n\n", "line 2: no header"},
        {"A: b\n:\n\n", "line 2: no header"},
        {"A: b\rBcc: c\n\n", "line 1: a CR in the headers"},
        {"A: b\r\nC: d\r\r\n\r\n", "line 2: a CR in the headers"},
        {"A: b\r\n\r", "line 2: a CR in the headers"},
        {"A: b\rBcc: c\r\rtext\n", "line 1: a CR in the headers"},
        {"\r", "line 1: the message has no headers"},
        {"\r\rA: b\r", "line 1: the message has no headers"},
        {"A: b\rno colon\r\r", "line 2: no header"},
        {"A: b\nMessage-ID: <x\n @y>\nDate: x\n\n", "line 2: the Message-ID is broken"},
        {"Message-ID: <x\n @y>\n\n", "line 1: the Message-ID is broken"},
        {"Message-ID: <x@\x7fy>", "line 1: the Message-ID is broken"},
        {"Message-ID: x@y (added\n by)", "line 1: the Message-ID is broken"},
        {"Message-ID: <x\t@y>\nB: c\n\n", "line 1: the Message-ID is broken"},
        {"A: b\r\n \xFF\r\nDKIM-Signature: c\r\n" HAVE, "line 2: a header has bytes that are not"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        assert_bad(mq_str_of(samples[i].raw), samples[i].expected);
    }
    assert_bad((struct mq_str){"A: \0b\n\n", 8}, "line 1: it has a NUL");
    assert_bad((struct mq_str){"A: b\n\nx\n\0", 9}, "line 4: it has a NUL");
    assert_bad((struct mq_str){"A: b\n\nx\ry\r\0\n", 12}, "line 5: it has a NUL");
    assert_bad((struct mq_str){"\0", 1}, "line 1");
    assert_bad((struct mq_str){"A: b\r\rx\r\0\r", 10}, "line 4: it has a NUL");
}

static void add_times(struct mq_buffer *buffer, char c, int times)
{
    while (times-- > 0) {
        mq_buffer_char(buffer, c);
    }
}

/* Lines over 998 octets stay, and the flags report them; a signed message must not have any. */
static void test_long_lines(void **state)
{
    static const char *const begins[] = {"", "DKIM-Signature: a\nDate: x\nMessage-ID: <a@b>\n"};
    struct mq_buffer raw;
    (void)state;
    raw = (struct mq_buffer){0};
    for (int is_signed = 0; is_signed < 2; is_signed++) {
        char line[80];
        mq_buffer_reset(&raw);
        mq_buffer_printf(&raw, "A: b\n%s\n1\n2\n", begins[is_signed]);
        add_times(&raw, 'x', 998);
        assert_int_equal(normalize(mq_buffer_view(&raw)), MQ_OK);
        assert_int_equal(info.flags, 0);
        mq_buffer_cstr(&raw, "\n");
        assert_int_equal(normalize(mq_buffer_view(&raw)), MQ_OK);
        assert_int_equal(info.flags, 0);
        raw.len--;
        mq_buffer_cstr(&raw, "x\n\nB");
        snprintf(line, sizeof line, "line %d: it has more than 998", is_signed ? 8 : 5);
        if (is_signed) {
            assert_bad(mq_buffer_view(&raw), line);
            continue;
        }
        assert_int_equal(normalize(mq_buffer_view(&raw)), MQ_OK);
        assert_int_equal(info.flags, MQ_MESSAGE_LONG_LINES);
        assert_int_equal(out.len, strlen("A: b\r\n" ADDED "\r\n1\r\n2\r\n") + 999 + 7);
    }
    mq_buffer_reset(&raw);
    mq_buffer_cstr(&raw, "A:");
    add_times(&raw, 'x', 996);
    assert_int_equal(normalize(mq_buffer_view(&raw)), MQ_OK);
    assert_int_equal(info.flags, 0);
    mq_buffer_char(&raw, 'x');
    assert_int_equal(normalize(mq_buffer_view(&raw)), MQ_OK);
    assert_int_equal(info.flags, MQ_MESSAGE_LONG_LINES);
    mq_buffer_clear(&raw);
}

/* A signed message must not be repaired. */
static void test_signed_flags(void **state)
{
    (void)state;
    assert_normal("A: ä\r\nDKIM-Signature: b\r\n" HAVE "\r\nä\r\n",
                  "A: ä\r\nDKIM-Signature: b\r\n" HAVE "\r\nä\r\n");
    assert_int_equal(info.flags, MQ_MESSAGE_UTF8_HEADERS | MQ_MESSAGE_8BIT);
    assert_normal("A: \xFF\r\n" HAVE "\r\n", "A: \xFF\r\n" HAVE "\r\n");
    assert_int_equal(info.flags, RAW);
}

static void test_size(void **state)
{
    struct mq_message_options limited = options;
    struct mq_str raw = MQ_STR(HAVE "\nx\n");
    (void)state;
    mq_buffer_clear(&out);
    limited.max_size = strlen(HAVE) + 5;
    assert_int_equal(mq_message_normalize(raw, &limited, &out, &info, &err), MQ_OK);
    assert_int_equal(out.len, limited.max_size);
    mq_buffer_reset(&out);
    limited.max_size--;
    assert_int_equal(mq_message_normalize(raw, &limited, &out, &info, &err), MQ_MESSAGE);
    assert_non_null(strstr(err.text, "33 bytes, at most 32 are allowed"));
    assert_int_equal(out.len, 0);
}

static void test_signed(void **state)
{
    static const char *const changed[] = {
        "DKIM-Signature: v=1\r\nDate: x\r\n\r\n",
        "DKIM-Signature: v=1\r\nMessage-ID: <a@b>\r\n\r\n",
        "dkim-signature: v=1\r\nBcc: s\r\n" HAVE "\r\n",
        HAVE "Date: y\r\nDKIM-Signature: v=1\r\n\r\n",
        "DKIM-Signature: v=1; h=From:Bcc; b=x\r\nBcc: s\r\n" HAVE "\r\n",
        "DKIM-Signature: v=1;\r\n\tH = From :\r\n\tbCC\r\nBcc: s\r\n" HAVE "\r\n",
        "DKIM-Signature: v=1; h=From:Resent-Bcc\r\nResent-Bcc: s\r\n" HAVE "\r\n",
        "DKIM-Signature: h=From:Date;v=1\r\nMessage-ID: <a@b>\r\n\r\n",
        "DKIM-Signature: v=1; h=From:Date\r\n" HAVE "Date: y\r\n\r\n",
        "DKIM-Signature: v=1; h=From:Message-ID:\r\nDate: x\r\n\r\n",
        "DKIM-Signature: v=1; h=\r\nBcc: s\r\n" HAVE "\r\n",
        "DKIM-Signature: v=1; bh=From; x=h\r\nBcc: s\r\n" HAVE "\r\n",
        /* The second signature covers it. */
        "DKIM-Signature: v=1; h=From\r\nDKIM-Signature: v=1; h=From:Bcc\r\nBcc: s\r\n" HAVE "\r\n",
        "Bcc: s\r\n" HAVE "DKIM-Signature: v=1; h=From:Bcc\r\nDKIM-Signature: v=1; h=From\r\n\r\n",
    };
    static const char *const mixed[] = {
        "DKIM-Signature: v=1\r\n" HAVE "\r\na\nb\r\n",
        "DKIM-Signature: v=1\n" HAVE "\r\na\r\n",
        "DKIM-Signature: v=1\r\n" HAVE "\r\na\rb\r\n",
        "DKIM-Signature: v=1\nDate: x\nMessage-ID: <a@b>\n\na\rb\n",
    };
    (void)state;
    assert_normal("DKIM-Signature: v=1\r\n" HAVE
                  "\r\ntext", /* adding the last line end does not count */
                  "DKIM-Signature: v=1\r\n" HAVE "\r\ntext\r\n");
    assert_normal("DKIM-Signature: v=1\nDate: x\nMessage-ID: <a@b>\n\na\nb\n",
                  "DKIM-Signature: v=1\r\n" HAVE "\r\na\r\nb\r\n");
    for (size_t i = 0; i < sizeof changed / sizeof *changed; i++) {
        assert_bad(mq_str_of(changed[i]), "needs a Message-ID and a Date");
    }
    for (size_t i = 0; i < sizeof mixed / sizeof *mixed; i++) {
        assert_bad(mq_str_of(mixed[i]), "line ends are mixed");
    }
    /* Fields that no signature covers may be added and removed. */
    assert_normal("DKIM-Signature: v=1; h=From:To:Date:Message-ID;\r\nBcc: s\r\n" HAVE "\r\n",
                  "DKIM-Signature: v=1; h=From:To:Date:Message-ID;\r\n" HAVE "\r\n");
    assert_normal("Bcc: s\r\nDKIM-Signature: v=1;\r\n\th=From :\r\n\tTo; b=\r\nX: y\r\n\r\n",
                  "DKIM-Signature: v=1;\r\n\th=From :\r\n\tTo; b=\r\nX: y\r\n" ADDED "\r\n");
    assert_normal("DKIM-Signature: v=1; h=From:Date\r\nDKIM-Signature: h=To\r\nDate: x\r\n\r\n",
                  "DKIM-Signature: v=1; h=From:Date\r\nDKIM-Signature: h=To\r\nDate: x\r\n"
                  "Message-ID: <id@q.example>\r\n\r\n");
    /* Only the field DKIM-Signature itself is a signature. */
    assert_normal("X: DKIM-Signature: v=1\n\nDKIM-Signature: v=1\r",
                  "X: DKIM-Signature: v=1\r\n" ADDED "\r\nDKIM-Signature: v=1\r\n");
}

static void test_flags(void **state)
{
    (void)state;
    assert_normal(HAVE "\r\nplain\r\n", HAVE "\r\nplain\r\n");
    assert_int_equal(info.flags, 0);
    assert_normal(HAVE "\r\n\xFFx\r\n", HAVE "\r\n\xFFx\r\n");
    assert_int_equal(info.flags, MQ_MESSAGE_8BIT);
    assert_normal("A: ä\r\n" HAVE "\r\nx\r\n", "A: ä\r\n" HAVE "\r\nx\r\n");
    assert_int_equal(info.flags, RAW);
    assert_normal("A: b\r\n ä\r\n" HAVE "\r\nx\rä", "A: b\r\n ä\r\n" HAVE "\r\nx\r\nä\r\n");
    assert_int_equal(info.flags, RAW | MQ_MESSAGE_8BIT);
    /* Removed fields need no capability of the relay. */
    assert_normal("Bcc: a,\r\n \xC3\xA4@b\r\nA: b\r\n" HAVE "\r\n", "A: b\r\n" HAVE "\r\n");
    assert_int_equal(info.flags, 0);
    assert_normal("Subject: a\r\nSubject: ä\r\n" HAVE "\r\n", "Subject: a\r\n" HAVE "\r\n");
    assert_int_equal(info.flags, 0);
    assert_int_equal(mq_message_flags(MQ_STR("")), 0);
    assert_int_equal(mq_message_flags(MQ_STR("\r\nä")), MQ_MESSAGE_8BIT);
}

static void test_header(void **state)
{
    struct mq_str message = MQ_STR("Subject: one\r\n  two\r\nX-Subject: no\r\nsubject: three\r\n"
                                   "Empty:\r\nTo:a\r\n\r\nFrom: body\r\n");
    struct mq_str value;
    (void)state;
    assert_true(mq_message_header(message, "SUBJECT", &value));
    assert_true(mq_str_equal(value, MQ_STR("one\r\n  two")));
    assert_true(mq_message_header(message, "to", &value));
    assert_true(mq_str_equal(value, MQ_STR("a")));
    assert_true(mq_message_header(message, "empty", &value));
    assert_int_equal(value.len, 0);
    assert_false(mq_message_header(message, "From", &value));
    assert_false(mq_message_header(message, "Subj", &value));
    assert_false(mq_message_header(MQ_STR(""), "To", &value));
    assert_true(mq_message_header(MQ_STR("To: b"), "To", &value));
    assert_true(mq_str_equal(value, MQ_STR("b")));
}

static void assert_field(struct mq_message_fields *fields, const char *name, const char *value)
{
    assert_true(mq_message_fields_next(fields));
    assert_true(mq_str_equal(fields->name, mq_str_of(name)));
    assert_true(mq_str_equal(fields->value, mq_str_of(value)));
}

static void test_fields(void **state)
{
    static const char *const messages[] = {
        "A: b\r\nTo:\r\n x\r\n\ty\r\nno colon\r\nB :c\r\nLast:\r\n\r\nBody: c\r\n",
        "A: b\nTo:\n x\n\ty\nno colon\nB :c\nLast:\n\nBody: c\n",
        "A: b\rTo:\r x\r\ty\rno colon\rB :c\rLast:\r\rBody: c\r",
        "A: b\nTo:\r\n x\n\ty\r\nno colon\nB :c\r\nLast:",
    };
    static const char *const values[] = {"x\r\n\ty", "x\n\ty", "x\r\ty", "x\n\ty"};
    (void)state;
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
        struct mq_message_fields fields;
        mq_message_fields_init(&fields, mq_str_of(messages[i]));
        assert_field(&fields, "A", "b");
        assert_int_equal(fields.line, 1);
        assert_field(&fields, "To", values[i]);
        assert_int_equal(fields.line, 2);
        assert_field(&fields, "", "no colon");
        assert_int_equal(fields.line, 5);
        assert_field(&fields, "", "B :c");
        assert_field(&fields, "Last", "");
        assert_int_equal(fields.line, 7);
        assert_false(mq_message_fields_next(&fields));
        assert_false(mq_message_fields_next(&fields));
    }
}

/* A normalized message stays as it is. */
static void test_idempotent(void **state)
{
    struct mq_buffer once;
    (void)state;
    once = (struct mq_buffer){0};
    assert_int_equal(normalize(MQ_STR("A: b\n c\nBcc: d\n\n.\r\n..\rä\n\n")), MQ_OK);
    mq_buffer_str(&once, mq_buffer_view(&out));
    assert_normal(once.data, once.data);
    mq_buffer_clear(&once);
}

/* A fault at each position, in messages of each length around the size of the blocks that are
 * checked together. */
static void test_check_wire(void **state)
{
    static const struct {
        const char *bytes, *error;
    } faults[] = {{"\n", "a LF without CR"}, {"\r", "a CR without LF"}, {"", "a NUL"}};
    (void)state;
    for (size_t len = 2; len < 200; len += len < 70 ? 1 : 13) {
        char text[200];
        memset(text, 'a', sizeof text);
        memcpy(text + len - 2, "\r\n", 2);
        assert_int_equal(mq_message_check_wire((struct mq_str){text, len}, &err), MQ_OK);
        for (size_t at = 0; at < len - 2; at++) {
            for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
                char expected[64];
                text[at] = faults[i].bytes[0];
                assert_int_equal(mq_message_check_wire((struct mq_str){text, len}, &err),
                                 MQ_MESSAGE);
                snprintf(expected, sizeof expected, "byte %zu: %s;", at + 1, faults[i].error);
                assert_non_null(strstr(err.text, expected));
                text[at] = 'a';
            }
            if (at + 2 < len - 2) {
                memcpy(text + at, "\r\n", 2);
                assert_int_equal(mq_message_check_wire((struct mq_str){text, len}, &err), MQ_OK);
                memcpy(text + at, "aa", 2);
            }
        }
        assert_int_equal(mq_message_check_wire((struct mq_str){text, len - 1}, &err), MQ_MESSAGE);
        assert_int_equal(mq_message_check_wire((struct mq_str){text, len - 2}, &err), MQ_MESSAGE);
    }
    assert_int_equal(mq_message_check_wire((struct mq_str){NULL, 0}, &err), MQ_MESSAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_line_ends, teardown),
        cmocka_unit_test_teardown(test_cr_throughout, teardown),
        cmocka_unit_test_teardown(test_dots, teardown),
        cmocka_unit_test_teardown(test_added, teardown),
        cmocka_unit_test_teardown(test_id, teardown),
        cmocka_unit_test_teardown(test_blind, teardown),
        cmocka_unit_test_teardown(test_bad, teardown),
        cmocka_unit_test_teardown(test_long_lines, teardown),
        cmocka_unit_test_teardown(test_signed_flags, teardown),
        cmocka_unit_test_teardown(test_size, teardown),
        cmocka_unit_test_teardown(test_signed, teardown),
        cmocka_unit_test_teardown(test_check_wire, teardown),
        cmocka_unit_test_teardown(test_flags, teardown),
        cmocka_unit_test_teardown(test_header, teardown),
        cmocka_unit_test(test_fields),
        cmocka_unit_test_teardown(test_idempotent, teardown),
    };
    return cmocka_run_group_tests_name("message", tests, NULL, NULL);
}
