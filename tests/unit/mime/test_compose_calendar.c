/* Composed invitations: their place among the parts, their octets, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mime/wire/message.h"
#include "parts_fixture.h"

static void assert_bad(const struct mq_compose_fields *fields, const char *expected)
{
    assert_int_equal(mq_compose(fields, &out, &envelope, &err), MQ_MESSAGE);
    assert_string_equal(err.field, "calendar");
    if (strstr(err.text, expected) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", expected, err.text);
    }
    assert_int_equal(out.len, 0);
}

#define ICS      "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nEND:VCALENDAR\r\n"
#define CALENDAR "Content-Type: text/calendar; method=REQUEST; charset=utf-8\r\n"

/* The calendar is the last alternative, which mail programs prefer. */
static void test_calendar(void **state)
{
    struct mq_compose_fields fields = fields_with(0);
    (void)state;
    fields.calendar = MQ_STR("BEGIN:VCALENDAR\nMETHOD:request\nEND:VCALENDAR");
    assert_body(&fields, "Content-Type: multipart/alternative; boundary=\"=_2_" STEM "\"\r\n"
                         "\r\n" B2 "\r\n" TEXT "Text\r\n"
                         "\r\n" B2 "\r\n" CALENDAR "Content-Transfer-Encoding: 7bit\r\n\r\n"
                         "BEGIN:VCALENDAR\r\nMETHOD:request\r\nEND:VCALENDAR\r\n"
                         "\r\n" B2 "--\r\n");
}

static void test_calendar_with_all(void **state)
{
    struct mq_compose_fields fields = fields_with(2);
    (void)state;
    fields.html = MQ_STR("<p>HTML</p>\n");
    fields.calendar = MQ_STR(ICS);
    parts[0] = attachment("", "image/png", "PNG");
    parts[0].cid = MQ_STR("logo");
    parts[1] = attachment("", "application/pdf", "PDF");
    assert_body(&fields,
                MIXED "\r\n" B1 "\r\n"
                      "Content-Type: multipart/alternative; boundary=\"=_2_" STEM "\"\r\n"
                      "\r\n" B2 "\r\n" TEXT "Text\r\n"
                      "\r\n" B2 "\r\n"
                      "Content-Type: multipart/related; type=\"text/html\";\r\n"
                      " boundary=\"=_3_" STEM "\"\r\n"
                      "\r\n" B3 "\r\n" HTML "<p>HTML</p>\r\n"
                      "\r\n" B3 "\r\n"
                      "Content-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n"
                      "Content-ID: <logo>\r\nContent-Disposition: inline\r\n\r\n"
                      "UE5H\r\n" B3 "--\r\n" B2 "\r\n" CALENDAR
                      "Content-Transfer-Encoding: 7bit\r\n\r\n" ICS "\r\n" B2 "--\r\n" B1 "\r\n"
                      "Content-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n"
                      "Content-Disposition: attachment\r\n\r\n"
                      "UERG\r\n" B1 "--\r\n");
}

/* Its folded lines stay as they are, whichever encoding they need. */
static void test_calendar_folds(void **state)
{
    struct mq_compose_fields fields = fields_with(0);
    (void)state;
    fields.calendar = MQ_STR("BEGIN:VCALENDAR\r\nMETHOD;X-A=b:CAN\r\n CEL\r\nSUMMARY:a\r\n\t b\r\n"
                             "END:VCALENDAR\r\n\r\n");
    assert_composes(&fields);
    assert_non_null(strstr(out.data, "Content-Type: text/calendar; method=CANCEL; charset=utf-8\r\n"
                                     "Content-Transfer-Encoding: 7bit\r\n\r\n"));
    assert_non_null(strstr(out.data, "CAN\r\n CEL\r\nSUMMARY:a\r\n\t b\r\nEND"));
    fields.calendar = MQ_STR("BEGIN:VCALENDAR\r\nMETHOD:PUBLISH\r\nSUMMARY:Gr\xC3\xB6\r\n \xC3\x9F"
                             "e\r\nEND:VCALENDAR\r\n");
    assert_composes(&fields);
    assert_non_null(strstr(out.data, "quoted-printable\r\n\r\nBEGIN:VCALENDAR\r\nMETHOD:PUBLISH\r\n"
                                     "SUMMARY:Gr=C3=B6\r\n =C3=9Fe\r\nEND:VCALENDAR\r\n"));
    assert_int_equal(mq_message_flags(mq_buffer_view(&out)), 0);
}

static void test_refused(void **state)
{
    static const struct {
        const char *ics, *expected;
    } cases[] = {
        {"", "it is empty"},
        {"\r\n\r\n", "it is empty"},
        {"/srv/invitation.ics", "does not begin with BEGIN:VCALENDAR; give the contents"},
        {"\xEF\xBB\xBF"
         "BEGIN:VCALENDAR\r\n",
         "does not begin with BEGIN:VCALENDAR"},
        {"BEGIN:VEVENT\r\nMETHOD:REQUEST\r\nEND:VEVENT", "does not begin with BEGIN:VCALENDAR"},
        {"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR",
         "no METHOD, so nobody would be invited; "
         "add METHOD:REQUEST"},
        {"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nMETHOD:REQUEST\r\nEND:VEVENT\r\nEND:VCALENDAR",
         "no METHOD"},
        {"BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\n", "END:VCALENDAR is missing"},
        {"BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nEND:VCALENDAR",
         "END:VCALENDAR is missing"},
        {"BEGIN:VCALENDAR\r\nMETHOD:REQEST\r\nEND:VCALENDAR",
         "METHOD \"REQEST\" is none of RFC 5546"},
        {"BEGIN:VCALENDAR\r\nMETHOD:\r\nEND:VCALENDAR", "METHOD \"\" is none of RFC 5546"},
        {"BEGIN:VCALENDAR\r\nMETHOD:ADD\r\nMETHOD:ADD\r\nEND:VCALENDAR", "two METHODs; keep one"},
        {"BEGIN:VCALENDAR\nMETHOD:ADD\nEND:VCALENDAR\nBEGIN:VCALENDAR\nMETHOD:REPLY\nEND:VCALENDAR",
         "different METHODs; make a mail of each"},
        {"BEGIN:VCALENDAR\nMETHOD:ADD\nEND:VCALENDAR\nx", "text follows END:VCALENDAR"},
        {"BEGIN:VCALENDAR\nMETHOD:ADD\nSUMMARY:\xE4\nEND:VCALENDAR", "not valid UTF-8"},
    };
    struct mq_compose_fields fields = fields_with(0);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fields.calendar = mq_str_of(cases[i].ics);
        assert_bad(&fields, cases[i].expected);
    }
    fields.calendar = (struct mq_str){"BEGIN:VCALENDAR\nMETHOD:ADD\n\0\nEND:VCALENDAR", 41};
    assert_bad(&fields, "NUL at byte 28");
    fields.calendar = MQ_STR("begin:vcalendar\nMethod:add\nend:vcalendar\n"
                             "BEGIN:VCALENDAR\nMETHOD:ADD\nEND:VCALENDAR\n");
    assert_composes(&fields);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_calendar, reset),
        cmocka_unit_test_teardown(test_calendar_with_all, reset),
        cmocka_unit_test_teardown(test_calendar_folds, reset),
        cmocka_unit_test_teardown(test_refused, reset),
    };
    return cmocka_run_group_tests_name("compose_calendar", tests, NULL, NULL);
}
