/* OAuth2: which token endpoints are taken, and what their answers mean for an account. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <time.h>

#include "send/oauth/internal.h"
#include "send/oauth/token_request.h"

static struct mq_strings members;

static void test_endpoints(void **state)
{
    static const char *const good[] = {"https://id.example/token", "http://127.0.0.1:8080/t?x=1",
                                       "http://127.1.2.3/", "http://[::1]:1/",
                                       "http://localhost/t"};
    static const char *const bad[] = {"http://id.example/token",  "http://127.0.0.1.example/",
                                      "http://localhost.example", "https://u:p@id.example/",
                                      "https://id.example/#x",    "ftp://127.0.0.1/",
                                      "file:///etc/passwd",       "id.example/token",
                                      "http://10.0.0.1/",         ""};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_null(mq_token_endpoint_fault(good[i]));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (mq_token_endpoint_fault(bad[i]) == NULL) {
            fail_msg("taken: %s", bad[i]);
        }
    }
}

static char failure[MQ_OAUTH_FAILURE_MAX];

static enum mq_status take(int code, const char *body)
{
    struct mq_token_answer answer = {.code = code, .body = mq_str_of(body)};
    mq_oauth_forget(&members);
    assert_true(mq_oauth_set(&members, "grant", MQ_STR("refresh_token")));
    assert_true(mq_oauth_set(&members, "provider", MQ_STR("microsoft")));
    assert_true(mq_oauth_set(&members, "client_secret", MQ_STR("s3cret")));
    assert_true(mq_oauth_set(&members, "refresh_token", MQ_STR("r3fresh")));
    failure[0] = '\0';
    return mq_oauth_grant_take(&answer, "main", &members, failure);
}

static void test_tokens(void **state)
{
    int64_t now_s = time(NULL);
    (void)state;
    assert_int_equal(take(200, "{\"access_token\":\"a.b-c\",\"token_type\":\"bearer\","
                               "\"expires_in\":3600,\"refresh_token\":\"new\",\"x\":{}}"),
                     MQ_OK);
    assert_string_equal(mq_oauth_member(&members, "access_token"), "a.b-c");
    assert_string_equal(mq_oauth_member(&members, "refresh_token"), "new");
    int64_t ends = mq_oauth_number(&members, "expires_at");
    assert_in_range(ends, now_s + 3599, now_s + 3610);
    assert_int_equal(mq_oauth_number(&members, "refresh_at"), ends - 300);
    /* Without a new refresh token the old one stays; a text is a number too; a short life. */
    assert_int_equal(take(200, "{\"access_token\":\"a\",\"expires_in\":\"50\"}"), MQ_OK);
    assert_string_equal(mq_oauth_member(&members, "refresh_token"), "r3fresh");
    ends = mq_oauth_number(&members, "expires_at");
    assert_int_equal(mq_oauth_number(&members, "refresh_at"), ends - 10);
    /* Nothing makes us ask without end. */
    assert_int_equal(take(200, "{\"access_token\":\"a\",\"expires_in\":-1}"), MQ_OK);
    assert_in_range(mq_oauth_number(&members, "expires_at"), now_s + 10, now_s + 20);
    assert_int_equal(take(200, "{\"access_token\":\"a\"}"), MQ_OK);
    assert_in_range(mq_oauth_number(&members, "expires_at"), now_s + 3600, now_s + 3610);
}

static int64_t login_ends(const char *body)
{
    struct mq_token_answer answer = {.code = 200, .body = mq_str_of(body)};
    assert_int_equal(mq_oauth_grant_take(&answer, "main", &members, failure), MQ_OK);
    return mq_oauth_number(&members, "login_ends_at");
}

static void test_end_of_login(void **state)
{
    int64_t now_s = time(NULL);
    (void)state;
    assert_int_equal(take(200, "{\"access_token\":\"a\"}"), MQ_OK);
    assert_null(mq_oauth_member(&members, "login_ends_at"));
    int64_t ends = login_ends("{\"access_token\":\"b\",\"refresh_token_expires_in\":604799}");
    assert_in_range(ends, now_s + 604799, now_s + 604810);
    assert_int_equal(mq_oauth_number(&members, "login_look_at"), ends - 604799 / 4);
    /* The same refresh token, of which nothing is told; then another. */
    assert_int_equal(login_ends("{\"access_token\":\"c\"}"), ends);
    assert_int_equal(login_ends("{\"access_token\":\"d\",\"refresh_token\":\"e\"}"), 0);
    ends =
        login_ends("{\"access_token\":\"f\",\"refresh_token\":\"g\",\"refresh_expires_in\":1800}");
    assert_in_range(ends, now_s + 1800, now_s + 1810);
    /* Keycloak's word for a login without an end. */
    assert_int_equal(
        login_ends("{\"access_token\":\"h\",\"refresh_token\":\"i\",\"refresh_expires_in\":0}"), 0);
    mq_oauth_forget(&members);
}

static void test_refusals(void **state)
{
    static const struct {
        int code;
        const char *body, *said;
    } cases[] = {
        {400, "{\"error\":\"invalid_grant\",\"error_description\":\"AADSTS70008: expired\"}",
         "account main: log in again: mailqueue login microsoft --account main (the refresh token "
         "has ended, was revoked or belongs to another client: invalid_grant: AADSTS70008: "
         "expired)"},
        {400, "{\"error\":\"invalid_grant\",\"error_description\":\"r3fresh is unknown\"}",
         "account main: log in again: mailqueue login microsoft --account main (the refresh token "
         "has ended, was revoked or belongs to another client: invalid_grant)"},
        /* Google's answer to a refresh token of another client. */
        {401, "{\"error\":\"unauthorized_client\",\"error_description\":\"Unauthorized\"}",
         "account main: log in again: mailqueue login microsoft --account main (the client may not "
         "use the refresh token: unauthorized_client: Unauthorized)"},
        {401, "{\"error\":\"invalid_client\"}",
         "account main: renew the client secret or the certificate, and log in again: mailqueue "
         "login microsoft --account main (the client is refused: invalid_client)"},
        {400, "{\"error\":\"s3cret\",\"error_description\":\"a\\u001b[2Jb\"}",
         "account main: no token came (the server refuses: a?[2Jb)"},
        {400, "{\"error\":{\"code\":1}}",
         "account main: no token came: the token endpoint answers HTTP 400"},
        {503, "<html>", "account main: no token came: the token endpoint answers HTTP 503"},
        {200, "{\"access_token\":\"a b\"}",
         "account main: no token came: the token endpoint answers HTTP 200 without a token that "
         "can be used"},
        {200, "{\"access_token\":\"a\\u0001auth=Bearer b\"}",
         "account main: no token came: the token endpoint answers HTTP 200 without a token that "
         "can be used"},
        {200, "{\"access_token\":\"a\",\"token_type\":\"mac\"}",
         "account main: no token came: the token endpoint answers HTTP 200 without a token that "
         "can be used"},
        {302, "{\"access_token\":\"a\"}",
         "account main: no token came: the token endpoint answers HTTP 302"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(take(cases[i].code, cases[i].body), MQ_TRANSPORT);
        assert_string_equal(failure, cases[i].said);
        assert_string_equal(mq_oauth_member(&members, "refresh_token"), "r3fresh");
        assert_null(mq_oauth_member(&members, "access_token"));
    }
    mq_oauth_forget(&members);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_endpoints),
        cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_end_of_login),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
