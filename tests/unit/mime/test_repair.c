/* Headers of complete messages: after repair they are ASCII, and their lines are short enough. */
#include "repair_fixture.h"

#include "mime/idn.h"

static void test_unstructured(void **state)
{
    static const struct sample samples[] = {
        {"Subject: plain =?x\r\n", "Subject: plain =?x\r\n"},
        {"Subject: Größe\r\n", "Subject: =?utf-8?B?R3LDtsOfZQ==?=\r\n"},
        {"Subject:ö\r\n", "Subject: =?utf-8?B?w7Y=?=\r\n"},
        /* too short for an encoded word, so the space before the next word stays outside of it */
        {"Subject: x =???"
         "?= ö\r\n",
         "Subject: x =???"
         "?= =?utf-8?B?w7Y=?=\r\n"},
        {"X-City: in Köln (am Rhein)\r\n", "X-City: in =?utf-8?B?S8O2bG4=?= (am Rhein)\r\n"},
        {"Subject: a  größerer größter  b\r\n",
         "Subject: a  =?utf-8?B?Z3LDtsOfZXJlciBncsO2w590ZXI=?=  b\r\n"},
        /* Folds are undone, and tabs become spaces. */
        {"Subject: a\r\n\tö\r\n b\r\n", "Subject: a =?utf-8?B?w7Y=?= b\r\n"},
        /* Readers drop the space between two encoded words. */
        {"Subject: =?utf-8?Q?x?= ö =?utf-8?Q?y?=\r\n",
         "Subject: =?utf-8?Q?x?= =?utf-8?Q?_=C3=B6_?= =?utf-8?Q?y?=\r\n"},
        {"Subject: =?utf-8?Q?x?=  ö y\r\n", "Subject: =?utf-8?Q?x?= =?utf-8?Q?__=C3=B6?= y\r\n"},
        {"List-Id: Köln <l.example>\r\n", "List-Id: =?utf-8?B?S8O2bG4=?= <l.example>\r\n"},
        /* Split between characters, folded at 76. */
        {"Subject: ööööööööööööööööööööööööö\r\n",
         "Subject: =?utf-8?B?w7bDtsO2w7bDtsO2w7bDtsO2w7bDtsO2w7bDtsO2w7bDtsO2w7Y=?=\r\n"
         " =?utf-8?B?w7bDtsO2w7bDtsO2?=\r\n"},
        {"Subject: a日日日日日日日日日日日日日日日日日日日日\r\n",
         "Subject: =?utf-8?B?YeaXpeaXpeaXpeaXpeaXpeaXpeaXpeaXpeaXpeaXpeaXpeaXpQ==?=\r\n "
         "=?utf-8?B?5pel5pel5pel5pel5pel5pel5pel5pel?=\r\n"},
    };
    (void)state;
    assert_samples(samples, COUNT(samples));
}

static void test_not_utf8(void **state)
{
    static const struct sample samples[] = {
        {"Subject: Gr\xFC\xDF e\r\n", "Subject: =?windows-1252?Q?Gr=FC=DF?= e\r\n"},
        {"Subject: \xA4\r\nContent-Type: text/plain; charset=\"ISO-8859-15\"\r\n",
         "Subject: =?ISO-8859-15?Q?=A4?=\r\nContent-Type: text/plain; charset=\"ISO-8859-15\"\r\n"},
        /* A charset that cannot be right, or not the name of one. */
        {"Subject: \xA4\r\nContent-Type: text/plain; charset=utf-8\r\n",
         "Subject: =?windows-1252?Q?=A4?=\r\nContent-Type: text/plain; charset=utf-8\r\n"},
        {"Subject: \xA4\r\nContent-Type: text/plain; charset=\"a?Q?x?= b\"\r\n",
         "Subject: =?windows-1252?Q?=A4?=\r\n"
         "Content-Type: text/plain; charset=\"a?Q?x?= b\"\r\n"},
        /* Each field is judged by itself. */
        {"Subject: \xFC\r\nX: \xC3\xBC\r\n",
         "Subject: =?windows-1252?Q?=FC?=\r\nX: =?utf-8?B?w7w=?=\r\n"},
        {"From: J\xF6rg <a@b.example>\r\n", "From: =?windows-1252?Q?J=F6rg?= <a@b.example>\r\n"},
        {"From: J\xF6rg <gr\xC3\xB6@b.example>\r\n",
         "From: =?windows-1252?Q?J=F6rg?= <gr\xC3\xB6@b.example>\r\n"},
        /* An invalid address is encoded as text. */
        {"To: \xFC@b.example\r\n", "To: =?windows-1252?B?/EBiLmV4YW1wbGU=?=\r\n"},
        /* Positions where encoded words are not allowed. */
        {"References: <\xE4@b> <c@d>\r\n", "References: <=E4@b> <c@d>\r\n"},
        {"List-Unsubscribe: <https://a.example/?n=J\xF6rg>\r\n",
         "List-Unsubscribe: <https://a.example/?n=J%F6rg>\r\n"},
        {"Received: from \xE4\r\n\tby b\r\n", "Received: from =E4\r\n\tby b\r\n"},
        /* Characters of two bytes: cut before a space or between two characters. */
        {"Subject: "
         "\xB0\xA1\xB0\xA1\xB0\xA1\xB0\xA1\xB0\xA1\xB0\xA1\xB0\xA1\xB0\xA1\xB0\xA1\xB0\xA1 "
         "\xB0\xA1\xB0\xA1\xB0\xA1\xB0\xA1\xB0\xA1\xB0\xA1\xB0\xA1\xB0\xA1\xB0\xA1\xB0\xA1\r\n"
         "Content-Type: text/plain; charset=euc-kr\r\n",
         "Subject: =?euc-kr?B?sKGwobChsKGwobChsKGwobChsKE=?=\r\n"
         " =?euc-kr?B?ILChsKGwobChsKGwobChsKGwobCh?=\r\n"
         "Content-Type: text/plain; charset=euc-kr\r\n"},
    };
    (void)state;
    assert_samples(samples, COUNT(samples));
    assert_int_equal(repair(MQ_STR("Date: x\r\nMessage-ID: <\xE4@b>\r\n\r\n")), MQ_OK);
    assert_true(mq_str_equal(info.message_id, MQ_STR("<=E4@b>")));
}

static void test_addresses(void **state)
{
    static const struct sample samples[] = {
        {"From: Jörg <a@b.example>\r\n", "From: =?utf-8?B?SsO2cmc=?= <a@b.example>\r\n"},
        {"To: \"M, \\\"ü\\\"\" <a@b.example>, c@d.example,e@f.example\r\n",
         "To: =?utf-8?B?TSwgIsO8Ig==?= <a@b.example>, c@d.example,e@f.example\r\n"},
        {"Cc: a@b.example (ä b (ö) c), Ann (ß) Lee<c@d.example>\r\n",
         "Cc: a@b.example (=?utf-8?B?w6Q=?= b (=?utf-8?B?w7Y=?=) c), Ann\r\n"
         " (=?utf-8?B?w58=?=) Lee<c@d.example>\r\n"},
        {"Cc: a@b.example (\\)ä\\()\r\n", "Cc: a@b.example (=?utf-8?B?KcOkKA==?=)\r\n"},
        {"Reply-To: größe: a@b.example, Ü <c@d.example>;, e@f.example\r\n",
         "Reply-To: =?utf-8?B?Z3LDtsOfZQ==?=: a@b.example, =?utf-8?B?w5w=?=\r\n"
         " <c@d.example>;, e@f.example\r\n"},
        {"Sender: =?utf-8?Q?x?= ü =?utf-8?Q?y,z?= <a@b.example>\r\n",
         "Sender: =?utf-8?Q?x?= =?utf-8?Q?_=C3=BC_?= =?utf-8?Q?y,z?= <a@b.example>\r\n"},
        {"Resent-From: ü<a@b.example>\r\nReturn-Receipt-To: ü <a@b.example>\r\n",
         "Resent-From: =?utf-8?B?w7w=?= <a@b.example>\r\n"
         "Return-Receipt-To: =?utf-8?B?w7w=?= <a@b.example>\r\n"},
        /* A local part in UTF-8 needs SMTPUTF8 anyway; the rest is repaired all the same. */
        {"To: Jörg <jörg@b.example>\r\n", "To: =?utf-8?B?SsO2cmc=?= <jörg@b.example>\r\n"},
        {"To:  jörg@b.example,\r\n  a@b.example\r\n", "To:  jörg@b.example,\r\n  a@b.example\r\n"},
        /* A list that cannot be read is encoded piece by piece, so that no relay must offer
         * SMTPUTF8 for it. */
        {"To: Jörg\r\n", "To: =?utf-8?B?SsO2cmc=?=\r\n"},
        {"To: Jörg <a@b.example> c@d.example\r\n",
         "To: =?utf-8?B?SsO2cmc=?= <a@b.example> c@d.example\r\n"},
        {"To: Jörg, x <a@b.example>\r\n", "To: =?utf-8?B?SsO2cmc=?=, x <a@b.example>\r\n"},
        {"Reply-To: Müller, Zoë <q@b.example>\r\n",
         "Reply-To: =?utf-8?Q?M=C3=BCller?=, =?utf-8?Q?Zo=C3=AB?= <q@b.example>\r\n"},
        {"From: [Shöp] Foo: <a@b.example>\r\n",
         "From: =?utf-8?B?W1Now7ZwXSBGb28=?=: <a@b.example>\r\n"},
        {"From: Zoë <a@b.example\r\n", "From: =?utf-8?Q?Zo=C3=AB?= <a@b.example\r\n"},
        {"To: undisclosed recipiënts\r\n", "To: =?utf-8?Q?undisclosed_recipi=C3=ABnts?=\r\n"},
        {"Reply-To: Zoë, jörg@b.example\r\n",
         "Reply-To: =?utf-8?Q?Zo=C3=AB?=, =?utf-8?B?asO2cmdAYi5leGFtcGxl?=\r\n"},
        /* URIs have an ASCII form. */
        {"List-Unsubscribe: <mailto:ö@b.example>,\r\n <https://a.example/%20?n=Jörg>\r\n"
         "List-Archive: <https://a.example/größe>\r\n",
         "List-Unsubscribe: <mailto:%C3%B6@b.example>,\r\n"
         " <https://a.example/%20?n=J%C3%B6rg>\r\n"
         "List-Archive: <https://a.example/gr%C3%B6%C3%9Fe>\r\n"},
        /* Ids, dates and trace fields are not changed. */
        {"References: <ä@b>\r\nDate: ä\r\n", "References: <ä@b>\r\nDate: ä\r\n"},
    };
    (void)state;
    for (size_t i = 0; i + 1 < COUNT(samples); i++) {
        assert_fields(samples[i].fields, samples[i].expected);
    }
    if (mq_idn_available()) {
        assert_fields(
            "To: Jörg <a@bücher.example>, ö@bücher.example\r\nCc: a@bücher.example (x)\r\n",
            "To: =?utf-8?B?SsO2cmc=?= <a@xn--bcher-kva.example>,"
            " ö@xn--bcher-kva.example\r\nCc: a@xn--bcher-kva.example (x)\r\n");
    }
    assert_int_equal(repair(MQ_STR("References: <ä@b>\nMessage-ID: <ö@b>\nDate: ä\n\n")), MQ_OK);
    assert_int_equal(info.flags, MQ_MESSAGE_UTF8_HEADERS);
    assert_non_null(strstr(out.data, "<ä@b>"));
    assert_true(mq_str_equal(info.message_id, MQ_STR("<ö@b>")));
}

/* Gmail refuses a message that has one of these fields twice. */
static void test_repeated(void **state)
{
    static const struct sample samples[] = {
        {"To: a@b\r\nCc:  x@y \r\nX: 1\r\n 2\r\nto:\tc@d\r\nTO:e@f\r\n",
         "To: a@b,\r\n c@d,\r\n e@f\r\nCc:  x@y \r\nX: 1\r\n 2\r\n"},
        {"Reply-To: a@b,\r\n c@d \r\nCC:\r\n e@f\r\nReply-To:\r\n\tg@h,\r\n i@j\r\n"
         "Bcc: s@ecret\r\nCc: k@l (m)\r\n",
         "Reply-To: a@b,\r\n c@d,\r\n g@h,\r\n i@j\r\nCC:\r\n e@f,\r\n k@l (m)\r\n"},
        {"Subject: \r\nSubject: 1\r\n 2\r\nSUBJECT: 3\r\n", "Subject: 1\r\n 2\r\n"},
        {"To: a@b.example\r\nTo: Jörg <c@d.example>\r\n",
         "To: a@b.example, =?utf-8?B?SsO2cmc=?= <c@d.example>\r\n"},
        /* Empty fields count as missing. */
        {"To:\r\nTo: a@b\r\nTo: \r\nCc:\r\nCc:\r\n \r\n", "To: a@b\r\n"},
    };
    static const char *const kept[] = {
        "To:  a@b \r\nCC: c@d\r\nReply-To: e@f\r\nSubject: 1\r\n",
        "From: a@b\r\nFrom: c@d\r\nResent-To: a@b\r\nResent-To: c@d\r\nX-To: 1\r\nX-To: 2\r\n",
        "DKIM-Signature: v=1; h=From\r\nTo: a@b\r\nTo: c@d\r\nSubject: 1\r\nSubject: 2\r\n",
        "Cc: a@b\r\nSubject: 1\r\nCc: c@d\r\nSubject: 2\r\nDKIM-Signature: v=1\r\n",
    };
    (void)state;
    assert_samples(samples, COUNT(samples));
    for (size_t i = 0; i < COUNT(kept); i++) {
        assert_fields(kept[i], kept[i]);
    }
}

static void test_params(void **state)
{
    static const struct sample samples[] = {
        {"Content-Type: text/plain; format=flowed; name=\"Größe.txt\"; charset=utf-8\r\n",
         "Content-Type: text/plain; format=flowed; name*=utf-8''Gr%C3%B6%C3%9Fe.txt;\r\n"
         " charset=utf-8\r\n"},
        {"Content-Disposition: attachment;\r\n\tfilename=gro\xDF.txt\r\n",
         "Content-Disposition: attachment; filename*=windows-1252''gro%DF.txt\r\n"},
        {"Content-Disposition: attachment; filename=ö; filename*=utf-8''o\r\n",
         "Content-Disposition: attachment;\r\n filename=\"_\"; filename*=utf-8''o\r\n"},
        {"Content-Type: a/b; name*0*=utf-8''%C3%B6; name=\"x\xF6\"\r\n",
         "Content-Type: a/b; name*0*=utf-8''%C3%B6;\r\n name=\"x_\"\r\n"},
        {"Content-Disposition: attachment; filename*=utf-8''ö a\r\n",
         "Content-Disposition: attachment; filename*=utf-8''%C3%B6 a\r\n"},
        {"Content-Disposition: attachment; x=\"\xC3\xB6\xC3\xB6\xC3\xB6\xC3\xB6\xC3\xB6\xC3\xB6"
         "\xC3\xB6\xC3\xB6\xC3\xB6\xC3\xB6\xC3\xB6\xC3\xB6\"\r\n",
         "Content-Disposition: attachment;\r\n"
         " x*0*=utf-8''%C3%B6%C3%B6%C3%B6%C3%B6%C3%B6%C3%B6%C3%B6%C3%B6%C3%B6%C3%B6;\r\n"
         " x*1*=%C3%B6%C3%B6\r\n"},
        /* A parameter that cannot be read. */
        {"Content-Type: ä/b; c=d\r\n", "Content-Type: ä/b; c=d\r\n"},
        {"Content-Type: a/b; ä=d\r\n", "Content-Type: a/b; ä=d\r\n"},
        {"Content-Type: a/b; \xE4=d\r\n", "Content-Type: a/b; =E4=d\r\n"},
        /* A parameter already in sections. */
        {"Content-Type: a/b; name*0=\"ü1\"; name*1=\"ö2\"\r\n",
         "Content-Type: a/b; name*0=\"ü1\"; name*1=\"ö2\"\r\n"},
        {"Content-Disposition: a; filename*0*=utf-8''%C3%BC; filename*1=\"\xF6\"\r\n",
         "Content-Disposition: a; filename*0*=utf-8''%C3%BC; filename*1=\"=F6\"\r\n"},
        {"Content-Disposition: a; filename*0*=utf-8''ü; filename*1=b\r\n",
         "Content-Disposition: a; filename*0*=utf-8''%C3%BC; filename*1=b\r\n"},
    };
    (void)state;
    assert_samples(samples, COUNT(samples));
}

/* ---- long lines ---- */

static struct mq_buffer field;

/* "text" `times` times. */
static void repeat(const char *text, size_t times)
{
    while (times-- > 0) {
        mq_buffer_cstr(&field, text);
    }
}

/* Repairs `field` and copies the resulting lines into `lines`; returns their number. */
static size_t fold(struct mq_str lines[16])
{
    size_t count = 0;
    repeat("\r\nDate: x\r\nMessage-ID: <a@b>\r\n\r\n", 1);
    if (repair(mq_buffer_view(&field)) != MQ_OK) {
        fail_msg("%s", err.text);
    }
    assert_lines(mq_buffer_view(&out));
    struct mq_buffer once = {0};
    mq_buffer_str(&once, mq_buffer_view(&out));
    assert_int_equal(repair(mq_buffer_view(&once)), MQ_OK);
    assert_string_equal(out.data, once.data);
    mq_buffer_clear(&once);
    mq_buffer_clear(&field);
    for (char *at = out.data; strncmp(at, "Date", 4) != 0; count++) {
        char *end = strstr(at, "\r\n");
        assert_true(count < 16);
        lines[count] = (struct mq_str){at, (size_t)(end - at)};
        assert_true(mq_str_trim(lines[count]).len > 0);
        assert_true(count == 0 || at[0] == ' ' || at[0] == '\t');
        at = end + 2;
    }
    return count;
}

static void assert_lengths(size_t count, const size_t *lengths)
{
    struct mq_str lines[16];
    assert_int_equal(fold(lines), count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(lines[i].len, lengths[i]);
    }
}

#define LENGTHS(...) \
    assert_lengths(COUNT(((const size_t[]){__VA_ARGS__})), (const size_t[]){__VA_ARGS__})

static void test_long_fields(void **state)
{
    (void)state;
    /* Folds at the last white space that fits: only a line end is added. */
    repeat("A:", 1);
    repeat(" 23456789", 300);
    LENGTHS(2 + 110 * 9, 110 * 9, 80 * 9);
    repeat("A: b\r\n ", 1); /* a continuation */
    repeat("x\t", 700);
    LENGTHS(4, 998, 1 + 1400 - 998 - 1);
    /* Without white space: folds between characters, with an added space. */
    repeat("A: ", 1);
    repeat("x", 2000);
    LENGTHS(998, 998, 2003 - 998 - 997 + 1);
    repeat("References: <", 1);
    repeat("ö", 600);
    LENGTHS(997, 1 + 13 + 1200 - 997);
    repeat("To: a@b.example,", 1);
    repeat("c@d.example,", 100);
    LENGTHS(16 + 81 * 12, 1 + 19 * 12);
    /* A word that fits in a line of its own goes there. */
    repeat("Subject: ", 1);
    repeat("x", 997);
    LENGTHS(8, 998);
    /* No line is blank. */
    repeat("A: b", 1);
    repeat(" ", 3000);
    repeat("c", 1);
    LENGTHS(4, 2);
    repeat("A: b", 1);
    repeat(" ", 3000);
    LENGTHS(4);
    repeat("A: b\r\n", 1);
    repeat(" ", 3000);
    LENGTHS(4);
    repeat("A:", 1);
    repeat(" ", 3000);
    repeat("b\r\n c", 1);
    LENGTHS(2, 2, 2);
    /* Encodes first, then folds: encoded words are short, other words may be long. */
    repeat("Subject: ö ", 1);
    repeat("x", 1500);
    LENGTHS(25, 998, 504);
}

/* A parameter's long name is not repeated in thousands of sections. */
static void test_long_param(void **state)
{
    (void)state;
    for (size_t name = 60; name <= 61; name++) {
        repeat("Content-Type: a/b; ", 1);
        repeat("a", name);
        repeat("=ö\r\n" HAVE "\r\n", 1);
        assert_int_equal(repair(mq_buffer_view(&field)), MQ_OK);
        assert_int_equal(info.flags, name == 60 ? 0 : MQ_MESSAGE_UTF8_HEADERS);
        mq_buffer_clear(&field);
    }
    repeat("Content-Type: a/b; ", 1);
    repeat("a", 6000);
    repeat("=", 1);
    repeat("ö", 3000);
    repeat("\r\n" HAVE "\r\n", 1);
    assert_int_equal(repair(mq_buffer_view(&field)), MQ_OK);
    assert_true(out.len < 2 * field.len);
    mq_buffer_clear(&field);
}

/* A list without white space is broken between its entries. */
static void test_long_lists(void **state)
{
    struct mq_str lines[16];
    (void)state;
    repeat("To: ", 1);
    repeat("=?utf-8?Q?a,b?=<u@b.example>,", 100); /* 29 each */
    LENGTHS(4 + 34 * 29, 1 + 34 * 29, 1 + 32 * 29);
    repeat("References: ", 1);
    repeat("<a,b;c@d.example>", 100); /* 17 each */
    LENGTHS(12 + 58 * 17, 1 + 42 * 17);
    repeat("To: ", 1);
    repeat("x", 993);
    repeat(">,", 1);
    repeat("y", 10);
    LENGTHS(998, 1 + 1 + 10);
    /* The comma between two fields that are joined makes the line too long. */
    repeat("To:", 1);
    repeat("x@b.example,", 82);
    repeat("y@d.example\r\nTo: z", 1);
    LENGTHS(3 + 82 * 12, 1 + 12, 2);
    repeat("X: ", 1);
    repeat("x", 900);
    repeat(",", 1);
    repeat("y", 500);
    assert_int_equal(fold(lines), 2);
    assert_int_equal(lines[0].len, 904);
}

/* An id is never folded, because that would change it. */
static void test_long_id(void **state)
{
    static const char *const begins[] = {"Message-ID: ", "Message-ID:\r\n\t", "Message-ID:"};
    (void)state;
    for (size_t i = 0; i < COUNT(begins); i++) {
        for (int blanks = 0; blanks <= 1000; blanks += 500) {
            repeat(begins[i], 1);
            repeat(i < 2 ? " " : "", (size_t)blanks);
            repeat("<a b", 1);
            repeat("x", 940);
            repeat(" c@d>(", 1);
            repeat("x", 100); /* the only white space is within the id */
            repeat(" ", 1);
            repeat("comment ", 200);
            repeat(")\r\nDate: x\r\n\r\n", 1);
            assert_int_equal(repair(mq_buffer_view(&field)), MQ_OK);
            assert_lines(mq_buffer_view(&out));
            assert_int_equal(info.message_id.len, 949);
            struct mq_buffer once = {0};
            mq_buffer_str(&once, mq_buffer_view(&out));
            assert_int_equal(repair(mq_buffer_view(&once)), MQ_OK);
            assert_string_equal(out.data, once.data);
            mq_buffer_clear(&once);
            mq_buffer_clear(&field);
        }
    }
    repeat("Message-ID: <", 1);
    repeat("x", 1000);
    repeat("@b>\r\n\r\n", 1);
    assert_int_equal(repair(mq_buffer_view(&field)), MQ_MESSAGE);
    assert_string_equal(err.text, "message: line 1: the Message-ID fits in no line; write "
                                  "\"Message-ID: <unique@example.org>\", or leave it out");
    mq_buffer_clear(&field);
    repeat("x", 998);
    repeat(": b\r\n\r\n", 1);
    assert_int_equal(repair(mq_buffer_view(&field)), MQ_MESSAGE);
    assert_non_null(strstr(err.text, "the name of the header has more than 997 octets"));
    mq_buffer_clear(&field);
}

/* A signed message stays as it is, or is refused. */
static void test_signed(void **state)
{
    (void)state;
    assert_fields("DKIM-Signature: v=1\r\nSubject: ö\r\n", "DKIM-Signature: v=1\r\nSubject: ö\r\n");
    assert_int_equal(info.flags, MQ_MESSAGE_UTF8_HEADERS);
    assert_int_equal(
        repair(MQ_STR(HAVE "Subject: x\r\n \xF6\r\nDKIM-Signature: v=1\r\n\r\n\xF6\r\n")),
        MQ_MESSAGE);
    assert_string_equal(err.field, "message");
    assert_string_equal(err.text,
                        "message: line 4: a header has bytes that are not UTF-8, and its "
                        "DKIM-Signature forbids changing it; encode it (RFC 2047) before signing");
    repeat("DKIM-Signature: v=1\r\n" HAVE "\r\n", 1);
    repeat("x", 999);
    assert_int_equal(repair(mq_buffer_view(&field)), MQ_MESSAGE);
    assert_string_equal(err.text,
                        "message: line 5: it has more than 998 octets, and its DKIM-Signature "
                        "forbids changing it; break it or encode it (quoted-printable or base64) "
                        "before signing");
    assert_int_equal(out.len, 0);
    mq_buffer_clear(&field);
}

static void test_size(void **state)
{
    struct mq_message_options limited = options;
    struct mq_str raw = MQ_STR(HAVE "Subject: ö\r\n\r\n");
    (void)state;
    mq_buffer_clear(&out);
    limited.max_size = raw.len + 14;
    assert_int_equal(mq_repair_accept(raw, &limited, &out, &info, &err), MQ_OK);
    assert_int_equal(out.len, limited.max_size);
    mq_buffer_reset(&out);
    limited.max_size--;
    assert_int_equal(mq_repair_accept(raw, &limited, &out, &info, &err), MQ_MESSAGE);
    assert_non_null(strstr(err.text, "bytes, at most"));
    assert_int_equal(out.len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_unstructured, teardown),
        cmocka_unit_test_teardown(test_not_utf8, teardown),
        cmocka_unit_test_teardown(test_addresses, teardown),
        cmocka_unit_test_teardown(test_repeated, teardown),
        cmocka_unit_test_teardown(test_params, teardown),
        cmocka_unit_test_teardown(test_long_fields, teardown),
        cmocka_unit_test_teardown(test_long_param, teardown),
        cmocka_unit_test_teardown(test_long_lists, teardown),
        cmocka_unit_test_teardown(test_long_id, teardown),
        cmocka_unit_test_teardown(test_signed, teardown),
        cmocka_unit_test_teardown(test_size, teardown),
    };
    return cmocka_run_group_tests_name("repair", tests, NULL, NULL);
}
