/* Composed messages with several parts: nesting, encodings, boundaries and files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "mime/compose/part.h"
#include "mime/compose/part_tree.h"
#include "mime/encode.h"
#include "mime/wire/message.h"
#include "parts_fixture.h"

static void test_alternative(void **state)
{
    struct mq_compose_fields fields = fields_with(0);
    (void)state;
    fields.html = MQ_STR("<p>HTML</p>\n");
    assert_body(&fields, "Content-Type: multipart/alternative; boundary=\"=_2_" STEM "\"\r\n"
                         "\r\n" B2 "\r\n" TEXT "Text\r\n"
                         "\r\n" B2 "\r\n" HTML "<p>HTML</p>\r\n"
                         "\r\n" B2 "--\r\n");
}

static void test_mixed(void **state)
{
    struct mq_compose_fields fields = fields_with(2);
    (void)state;
    parts[0] = attachment("a.bin", "", "hello");
    parts[1] = attachment(NULL, "text/csv; charset=utf-8", "a;b\n\xC3\xB6;c\r\n");
    assert_body(&fields, MIXED "\r\n" B1 "\r\n" TEXT "Text\r\n"
                               "\r\n" B1 "\r\n"
                               "Content-Type: application/octet-stream; name=\"a.bin\"\r\n"
                               "Content-Transfer-Encoding: base64\r\n"
                               "Content-Disposition: attachment; filename=\"a.bin\"\r\n"
                               "\r\n"
                               "aGVsbG8=\r\n" B1 "\r\n"
                               "Content-Type: text/csv; charset=utf-8\r\n"
                               "Content-Transfer-Encoding: base64\r\n"
                               "Content-Disposition: attachment\r\n"
                               "\r\n"
                               "YTtiCsO2O2MNCg==\r\n" B1 "--\r\n");
}

/* A name that is not ASCII is written twice: exactly, and in ASCII for old readers. A plain name is
 * written once. */
static void test_names(void **state)
{
    struct mq_compose_fields fields = fields_with(2);
    (void)state;
    parts[0] = attachment("Größe.pdf", "application/pdf", "");
    parts[1] = attachment("Größe.pdf", "a/b; name*=utf-8''%C3%B6", "");
    assert_body(&fields,
                MIXED "\r\n" B1 "\r\n" TEXT "Text\r\n"
                      "\r\n" B1 "\r\n"
                      "Content-Type: application/pdf;\r\n name=\"Gr_e.pdf\"\r\n"
                      "Content-Transfer-Encoding: base64\r\n"
                      "Content-Disposition: attachment; filename*=utf-8''Gr%C3%B6%C3%9Fe.pdf\r\n"
                      "\r\n"
                      "\r\n" B1 "\r\n"
                      "Content-Type: a/b; name*=utf-8''%C3%B6\r\n"
                      "Content-Transfer-Encoding: base64\r\n"
                      "Content-Disposition: attachment; filename*=utf-8''Gr%C3%B6%C3%9Fe.pdf\r\n"
                      "\r\n"
                      "\r\n" B1 "--\r\n");
}

/* All three multiparts, nested in the right order. */
static void test_related(void **state)
{
    struct mq_compose_fields fields = fields_with(3);
    (void)state;
    parts[0] = attachment("a.bin", "application/pdf; name=other", "");
    parts[1] = attachment("l.png", "image/png", "PNG");
    parts[1].cid = MQ_STR("logo");
    parts[2] = attachment(NULL, "image/gif", "GIF");
    parts[2].cid = MQ_STR("b@c");
    fields.html = MQ_STR("<img src=cid:logo>");
    assert_body(&fields, MIXED "\r\n" B1 "\r\n"
                               "Content-Type: multipart/alternative; boundary=\"=_2_" STEM "\"\r\n"
                               "\r\n" B2 "\r\n" TEXT "Text\r\n"
                               "\r\n" B2 "\r\n"
                               "Content-Type: multipart/related; type=\"text/html\";\r\n"
                               " boundary=\"=_3_" STEM "\"\r\n"
                               "\r\n" B3 "\r\n" HTML "<img src=cid:logo>\r\n"
                               "\r\n" B3 "\r\n"
                               "Content-Type: image/png; name=\"l.png\"\r\n"
                               "Content-Transfer-Encoding: base64\r\n"
                               "Content-ID: <logo>\r\n"
                               "Content-Disposition: inline; filename=\"l.png\"\r\n"
                               "\r\n"
                               "UE5H\r\n" B3 "\r\n"
                               "Content-Type: image/gif\r\n"
                               "Content-Transfer-Encoding: base64\r\n"
                               "Content-ID: <b@c>\r\n"
                               "Content-Disposition: inline\r\n"
                               "\r\n"
                               "R0lG\r\n" B3 "--\r\n" B2 "--\r\n" B1 "\r\n"
                               "Content-Type: application/pdf; name=other\r\n"
                               "Content-Transfer-Encoding: base64\r\n"
                               "Content-Disposition: attachment; filename=\"a.bin\"\r\n"
                               "\r\n"
                               "\r\n" B1 "--\r\n");
}

/* Each text gets its shortest encoding. */
static void test_encodings(void **state)
{
    struct mq_compose_fields fields = fields_with(0);
    (void)state;
    fields.text = MQ_STR("日本");
    fields.html = MQ_STR("<p>Größe der Jacke");
    assert_composes(&fields);
    assert_non_null(strstr(out.data, "Content-Transfer-Encoding: base64\r\n\r\n"
                                     "5pel5pysDQo=\r\n" B2 "\r\n"));
    assert_non_null(strstr(out.data, "Content-Transfer-Encoding: quoted-printable\r\n\r\n"
                                     "<p>Gr=C3=B6=C3=9Fe der Jacke\r\n\r\n" B2 "--\r\n"));
    assert_int_equal(mq_message_flags(mq_buffer_view(&out)), 0);
}

static const char *part_begin(const char *type)
{
    const char *at = strstr(out.data, type);
    assert_non_null(at);
    return strstr(at, "\r\n\r\n") + 4;
}

/* A message must not be encoded (RFC 2046, 5.2.1). */
static void test_message(void **state)
{
    struct mq_compose_fields fields = fields_with(1);
    (void)state;
    parts[0] = attachment("m.eml", "Message/RFC822", "Subject: a\n\r\nb\n.");
    assert_composes(&fields);
    assert_non_null(strstr(out.data, "Content-Type: Message/RFC822; name=\"m.eml\"\r\n"
                                     "Content-Transfer-Encoding: 7bit\r\n"));
    assert_string_equal(part_begin("Message/"), "Subject: a\r\n\r\nb\r\n.\r\n" B1 "--\r\n");
    /* A message with 8-bit bytes is 8bit, and so are the parts around it. */
    parts[0].data = MQ_STR("Subject: a\r\n\r\n\xC3\xB6\r\n");
    assert_composes(&fields);
    assert_non_null(strstr(out.data, MIXED "Content-Transfer-Encoding: 8bit\r\n\r\n"));
    assert_non_null(strstr(out.data, "name=\"m.eml\"\r\nContent-Transfer-Encoding: 8bit\r\n"));
    assert_string_equal(part_begin("Message/"), "Subject: a\r\n\r\n\xC3\xB6\r\n\r\n" B1 "--\r\n");
    assert_int_equal(mq_message_flags(mq_buffer_view(&out)), MQ_MESSAGE_8BIT);
    /* An image in the HTML makes the inner parts 8bit too. */
    parts[0].cid = MQ_STR("m");
    fields.html = MQ_STR("<p>");
    assert_composes(&fields);
    const char *at = out.data;
    for (int i = 0; i < 3; i++) {
        at = strstr(at + 1, "Content-Transfer-Encoding: 8bit\r\n");
        assert_non_null(at);
    }
}

/* A message that cannot be attached as such is attached as a file. */
static void test_message_as_file(void **state)
{
    struct mq_compose_fields fields = fields_with(1);
    static char line[1010];
    static const struct mq_str contents[] = {
        {"Subject: a\r\rb", 13}, {"a\0b", 3}, {"a\r", 2}, {line, 999}};
    (void)state;
    memset(line, 'x', sizeof line);
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
        parts[0] = attachment("m.eml", "message/rfc822", "");
        parts[0].data = contents[i];
        assert_composes(&fields);
        assert_non_null(strstr(out.data, "Content-Type: application/octet-stream; "
                                         "name=\"m.eml\"\r\n"
                                         "Content-Transfer-Encoding: base64\r\n"));
    }
    parts[0].data.len = 998;
    assert_composes(&fields);
    assert_non_null(strstr(out.data, "Content-Type: message/rfc822"));
    /* Other 8-bit data does not make the message 8bit, because it may be encoded. */
    parts[0] = attachment(NULL, "message/partial; id=1; number=1", "\xC3\xB6");
    assert_composes(&fields);
    assert_non_null(strstr(out.data, "Content-Type: application/octet-stream\r\n"));
    parts[0] = attachment(NULL, "message/global", "Subject: \xC3\xB6\n\n");
    assert_composes(&fields);
    assert_non_null(strstr(out.data, "Content-Type: message/global\r\n"
                                     "Content-Transfer-Encoding: base64\r\n"));
}

/* Content that contains the boundary gets another boundary, the same one each time. */
static void test_boundary(void **state)
{
    struct mq_compose_fields fields = fields_with(1);
    struct mq_buffer first;
    (void)state;
    first = (struct mq_buffer){0};
    parts[0] = attachment(NULL, "message/rfc822", "a\n--=_1_" STEM "--\n");
    assert_composes(&fields);
    assert_null(strstr(out.data, "boundary=\"=_1_" STEM));
    mq_buffer_str(&first, mq_buffer_view(&out));
    assert_composes(&fields);
    assert_string_equal(out.data, first.data);
    mq_buffer_clear(&first);
    parts[0] = attachment(NULL, NULL, "x");
    fields.text = MQ_STR(B1 "\n");
    assert_composes(&fields);
    assert_null(strstr(out.data, "boundary=\"=_1_" STEM));
    fields.text = MQ_STR("Text");
    fields.html = MQ_STR("<p>\n" B1 "\n");
    assert_composes(&fields);
    assert_null(strstr(out.data, "boundary=\"=_1_" STEM));
    fields.html = MQ_STR("<p>");
    assert_composes(&fields);
    assert_non_null(strstr(out.data, "boundary=\"=_1_" STEM));
    fields.message_id = "<2@q.example>";
    assert_composes(&fields);
    assert_null(strstr(out.data, STEM));
}

/* ---- files ---- */

static char content[200000];

static int open_content(size_t len)
{
    char path[] = "/tmp/mq-compose-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    unlink(path);
    for (size_t i = 0; i < sizeof content; i++) {
        content[i] = (char)(i * 31 + i / 251);
    }
    assert_int_equal(write(fd, content, len), len);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

/* The same bytes as from memory, at sizes around those of lines and pieces. */
static void test_fd(void **state)
{
    static const size_t sizes[] = {0, 1, 56, 57, 58, 29183, 29184, 29185, 58368, 200000};
    struct mq_compose_fields fields = fields_with(1);
    struct mq_buffer expected;
    (void)state;
    expected = (struct mq_buffer){0};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int fd = open_content(sizes[i]);
        mq_buffer_reset(&expected);
        mq_encode_base64(&expected, (struct mq_str){content, sizes[i]});
        mq_buffer_cstr(&expected, sizes[i] == 0 ? "\r\n" : "");
        mq_buffer_cstr(&expected, B1 "--\r\n");
        parts[0] = attachment(NULL, NULL, NULL);
        parts[0].fd = fd;
        parts[0].data.len = sizes[i];
        assert_composes(&fields);
        assert_string_equal(part_begin("application/octet-stream"), expected.data);
        close(fd);
    }
    mq_buffer_clear(&expected);
}

static void assert_io(const struct mq_compose_fields *fields, const char *expected)
{
    reset(NULL);
    assert_int_equal(mq_compose(fields, &out, &envelope, &err), MQ_IO);
    assert_string_equal(err.field, "attachments[0]");
    assert_non_null(strstr(err.text, expected));
    assert_int_equal(out.len, 0);
    assert_null(envelope.from);
}

static void test_fd_errors(void **state)
{
    static const char *const types[] = {"image/png", "message/rfc822"};
    struct mq_compose_fields fields = fields_with(1);
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        int fd = open_content(1000);
        parts[0] = attachment("a", types[i], NULL);
        parts[0].fd = fd;
        parts[0].data.len = 1001;
        assert_io(&fields, "its size is not the 1001 bytes");
        lseek(fd, 0, SEEK_SET);
        parts[0].data.len = 999;
        assert_io(&fields, "its size is not the 999 bytes");
        lseek(fd, 1, SEEK_SET); /* from its current position */
        assert_composes(&fields);
        close(fd);
        assert_io(&fields, "cannot be read: Bad file descriptor");
    }
}

/* A pipe delivers its data in small pieces. */
static void test_pipe(void **state)
{
    struct mq_compose_fields fields = fields_with(1);
    int ends[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    close(open_content(1));
    pid_t pid = fork();
    if (pid == 0) {
        for (size_t i = 0; i < 50000; i += 500) {
            if (write(ends[1], content + i, 500) != 500) {
                _exit(1);
            }
        }
        _exit(0);
    }
    close(ends[1]);
    parts[0] = attachment(NULL, NULL, NULL);
    parts[0].fd = ends[0];
    parts[0].data.len = 50000;
    assert_composes(&fields);
    close(ends[0]);
    parts[0].fd = -1;
    parts[0].data = (struct mq_str){content, 50000};
    struct mq_buffer piped = out;
    out = (struct mq_buffer){0};
    assert_composes(&fields);
    assert_string_equal(piped.data, out.data);
    mq_buffer_clear(&piped);
}

/* ---- sizes ---- */

static void test_size(void **state)
{
    struct mq_compose_fields fields = fields_with(2);
    (void)state;
    parts[0] = attachment("a", NULL, "small");
    parts[1] = attachment("b", NULL, NULL);
    parts[1].data = (struct mq_str){content, 1000};
    parts[1].field = "attachments[1]";
    assert_composes(&fields);
    fields.max_size = out.len;
    assert_composes(&fields);
    fields.max_size--;
    reset(NULL);
    assert_int_equal(mq_compose(&fields, &out, &envelope, &err), MQ_MESSAGE);
    assert_string_equal(err.field, "attachments[1]");
    /* A file that is too large is not read: this one could not be. */
    parts[1].fd = 1000000;
    parts[1].data.len = fields.max_size + 1;
    assert_int_equal(mq_compose(&fields, &out, &envelope, &err), MQ_MESSAGE);
    assert_string_equal(err.field, "attachments[1]");
    parts[1].data.len = SIZE_MAX;
    assert_int_equal(mq_compose(&fields, &out, &envelope, &err), MQ_NOMEM);
    fields.max_size = 0;
    assert_int_equal(mq_compose(&fields, &out, &envelope, &err), MQ_NOMEM);
}

/* Memory is reserved in one step, and not much more than needed. */
static void test_reserve(void **state)
{
    static const char *const names[] = {"a", "\xF0\x9F\x98\x80\xF0\x9F\x98\x80", "\x01"};
    struct mq_compose_fields fields = fields_with(3);
    static char name[4000];
    (void)state;
    for (size_t i = 0; i < sizeof name; i++) {
        name[i] = names[1][i % 4];
    }
    parts[0] = attachment("a", NULL, NULL);
    parts[0].data = (struct mq_str){content, sizeof content};
    parts[1] = attachment("b", NULL, "x");
    parts[1].name = (struct mq_str){name, sizeof name};
    parts[2] = attachment(NULL, "message/rfc822", "\n\n\n\n\n\n\n\n\n\n");
    assert_composes(&fields);
    struct mq_part_tree tree = {.count = 0};
    assert_int_equal(mq_part_tree_prepare(&fields, fields.text, &tree, &err), MQ_OK);
    const char *body = strstr(out.data, "MIME-Version: 1.0\r\n") + 19;
    assert_true(tree.size >= out.len - (size_t)(body - out.data));
    mq_part_tree_clear(&tree);
    fields.part_count = 1;
    assert_composes(&fields);
    assert_true(out.capacity < out.len + 4096);
}

/* Parts that were encoded once give the octets that they would give otherwise. */
static void test_ready(void **state)
{
    static const char *const types[] = {"image/png", "message/rfc822", "message/rfc822", ""};
    static const char *const data[] = {"P", "Subject: x\n\nx", "Subject: x\n\n\xC3\xB6\n", ""};
    struct mq_compose_fields fields = fields_with(4);
    struct mq_buffer octets[4] = {{0}};
    struct mq_buffer whole = {0};
    (void)state;
    for (int i = 0; i < 4; i++) {
        parts[i] = attachment("\xC3\xB6.a", types[i], data[i]);
    }
    parts[0].cid = MQ_STR("p");
    fields.html = MQ_STR("<img src=\"cid:p\">");
    assert_composes(&fields);
    mq_buffer_str(&whole, mq_buffer_view(&out));
    for (int i = 0; i < 4; i++) {
        struct mq_compose_part given = parts[i];
        assert_int_equal(mq_part_ready(&given, &octets[i], &parts[i], &err), MQ_OK);
    }
    assert_composes(&fields);
    assert_string_equal(out.data, whole.data);
    for (int i = 0; i < 4; i++) {
        mq_buffer_clear(&octets[i]);
    }
    mq_buffer_clear(&whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_alternative, reset),
        cmocka_unit_test_teardown(test_mixed, reset),
        cmocka_unit_test_teardown(test_names, reset),
        cmocka_unit_test_teardown(test_related, reset),
        cmocka_unit_test_teardown(test_encodings, reset),
        cmocka_unit_test_teardown(test_message, reset),
        cmocka_unit_test_teardown(test_message_as_file, reset),
        cmocka_unit_test_teardown(test_boundary, reset),
        cmocka_unit_test_teardown(test_fd, reset),
        cmocka_unit_test_teardown(test_fd_errors, reset),
        cmocka_unit_test_teardown(test_pipe, reset),
        cmocka_unit_test_teardown(test_size, reset),
        cmocka_unit_test_teardown(test_reserve, reset),
        cmocka_unit_test_teardown(test_ready, reset),
    };
    return cmocka_run_group_tests_name("compose_parts", tests, NULL, NULL);
}
