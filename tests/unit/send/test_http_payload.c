/* The body of a request: the same bytes in whatever pieces it is read, and their hash; the words of
 * an API's answer; and what becomes of a mail if memory runs out. */
/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "failing_malloc.h"
#include "mime/encode.h"
#include "send/http/api.h"
#include "send/transfer.h"

#define MAIL_MAX 2000

static char mail[MAIL_MAX];

static void fill(struct mq_http_body *body, size_t size, bool base64)
{
    *body = (struct mq_http_body){.base64 = base64};
    mq_buffer_cstr(&body->head, "{\"Data\":\"");
    mq_buffer_cstr(&body->tail, "\"}");
    body->mail[0] = (struct mq_str){mail, size / 3};
    body->mail[1] = (struct mq_str){mail + size / 3, size / 2};
    body->mail[2] = (struct mq_str){mail + size / 3 + size / 2, size - size / 3 - size / 2};
}

/* What must come out, made in one go. */
static void expect(struct mq_buffer *out, size_t size, bool base64)
{
    mq_buffer_cstr(out, "{\"Data\":\"");
    if (base64) {
        mq_encode_base64_raw(out, (struct mq_str){mail, size});
    } else {
        mq_buffer_append(out, mail, size);
    }
    mq_buffer_cstr(out, "\"}");
}

static void check(size_t size, bool base64, size_t piece)
{
    struct mq_http_body body;
    struct mq_buffer expected = {0}, got = {0};
    char *out = malloc(piece); /* of its own size, for the sanitizer */
    size_t n = 0;
    fill(&body, size, base64);
    expect(&expected, size, base64);
    assert_int_equal(mq_http_body_size(&body), expected.len);
    while ((n = mq_http_body_read(&body, out, piece)) > 0) {
        assert_true(n == piece || got.len + n == expected.len);
        mq_buffer_append(&got, out, n);
    }
    assert_int_equal(got.len, expected.len);
    assert_memory_equal(got.data, expected.data, got.len);
    free(out);
    mq_http_body_clear(&body);
    mq_buffer_clear(&expected);
    mq_buffer_clear(&got);
}

static void test_pieces(void **state)
{
    static const size_t sizes[] = {0, 1, 2, 3, 4, 5, 767, 768, 769, 1535, 1536, 1537, MAIL_MAX};
    (void)state;
    for (size_t i = 0; i < MAIL_MAX; i++) {
        mail[i] = (char)(i * 7 + i / 256);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (size_t piece = 1; piece < 3000; piece += piece < 20 ? 1 : 97) {
            check(sizes[i], true, piece);
            check(sizes[i], false, piece);
        }
    }
}

/* A small body becomes one text, time after time with the same memory; a large one does not. */
static void test_join(void **state)
{
    static const size_t sizes[] = {0, 1, 2, 3, 1535, MAIL_MAX, 7};
    struct mq_buffer large = {0};
    struct mq_http_body body = {0};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct mq_buffer expected = {0};
        struct mq_http_body next;
        fill(&next, sizes[i], true);
        next.spare = body.spare;
        mq_buffer_clear(&body.head);
        mq_buffer_clear(&body.tail);
        body = next;
        expect(&expected, sizes[i], true);
        const char *whole = mq_http_body_join(&body);
        assert_ptr_equal(whole, body.head.data);
        assert_int_equal(mq_http_body_size(&body), expected.len);
        assert_memory_equal(body.head.data, expected.data, expected.len);
        mq_buffer_clear(&expected);
    }
    mq_buffer_reserve(&large, 16384);
    memset(large.data, 'x', 16384);
    body.mail[0] = (struct mq_str){large.data, 16384};
    size_t size = mq_http_body_size(&body);
    assert_null(mq_http_body_join(&body));
    assert_int_equal(mq_http_body_size(&body), size);
    mq_buffer_clear(&large);
    mq_http_body_clear(&body);
}

static void assert_hash(struct mq_http_body *body, const char *expected)
{
    struct mq_buffer hash = {0};
    bool can = mq_http_body_hash(body, &hash);
#ifdef MQ_HAVE_OPENSSL
    assert_true(can);
    assert_string_equal(hash.data, expected);
#else
    assert_false(can);
    (void)expected;
#endif
    mq_buffer_clear(&hash);
}

/* The payload hashes of AWS's examples for Signature Version 4: no body, and that of
 * post-x-www-form-urlencoded; and FIPS 180-2, B.1. */
static void test_hash(void **state)
{
    struct mq_http_body body = {0};
    (void)state;
    assert_hash(&body, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    mq_buffer_cstr(&body.head, "Param1=value1");
    assert_hash(&body, "9095672bbd1f56dfc5b65f3e153adc8731a4a654192329106275f4c7b24d0b6e");
    assert_int_equal(body.pos, 0);
    mq_http_body_reset(&body);
    body.mail[0] = MQ_STR("ab");
    body.mail[2] = MQ_STR("c");
    assert_hash(&body, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    mq_http_body_clear(&body);
}

static void assert_text(const char *json, const char *name, const char *expected)
{
    char out[32];
    char *copy = malloc(strlen(json) + 1); /* without a NUL behind it, for the sanitizer */
    memcpy(copy, json, strlen(json));
    char *exact = realloc(copy, strlen(json) ? strlen(json) : 1);
    mq_http_json_text((struct mq_str){exact, strlen(json)}, name, out, sizeof out);
    assert_string_equal(out, expected);
    free(exact);
}

static void test_json(void **state)
{
    (void)state;
    assert_text("{\"message\":\"Hello\"}", "message", "Hello");
    assert_text(" { \"a\" : 1, \"error\" : { \"message\" : \"x\\\"y\\u00e4\" } }", "message",
                "x\"y\xC3\xA4");
    assert_text("{\"a\":\"message\",\"message\":\"b\"}", "message", "b");
    assert_text("{\"a\":\"\\\"message\\\":\\\"no\\\"\"}", "message", "");
    assert_text("{\"message\":null,\"x\":{\"message\":\"y\"}}", "message", "y");
    assert_text("{\"message\":\"line\\nend\"}", "message", "line?end");
    assert_text("{\"message\":\"0123456789012345678901234567890123456789\"}", "message",
                "0123456789012345678901234567890");
    static const char *const without[] = {"",
                                          "\"",
                                          "\"message\"",
                                          "\"message\":",
                                          "{\"message\":\"",
                                          "{\"message\":\"x",
                                          "{\"message\":\"x\\",
                                          "\"\\",
                                          "{\"message\":\"\\q\"}",
                                          "<html>\"</html>"};
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
        assert_text(without[i], "message", "");
    }
}

/* Without memory a mail is not refused: no text says why. */
static void test_no_memory(void **state)
{
    struct mq_target target = {.address = "a@example.org"};
    const struct mq_transfer transfer = {
        .targets = &target,
        .target_count = 1,
        .message = MQ_STR("To: A <a@example.org>\r\nCc: a@example.org\r\n\r\nx\r\n"),
    };
    const struct mq_http_mail one = {&transfer, 0, 1};
    struct mq_http_request request = {0};
    char why[MQ_HTTP_REASON_MAX] = "";
    int failures = 0;
    (void)state;
    for (bool written = false; !written; failures++) {
        left = failures;
        written = mq_http_gmail.write(&one, &request, why);
        left = -1;
        assert_string_equal(why, "");
    }
    assert_in_range(failures, 3, 100);
    mq_buffer_clear(&request.bcc);
    mq_http_body_clear(&request.body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),    cmocka_unit_test(test_join),
        cmocka_unit_test(test_hash),      cmocka_unit_test(test_json),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
