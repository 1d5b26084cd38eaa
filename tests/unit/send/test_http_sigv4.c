/* AWS's published examples of Signature Version 4, as far as requests like ours go: what leaves
 * for a server has the examples' signatures. The server is a socket that only listens. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <sys/socket.h>
#include <unistd.h>

#include "send/dsn.h"
#include "send/http/exchange.h"

#define KEY    "AKIDEXAMPLE"
#define SECRET "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
#define AUTHORIZATION                                                             \
    "Authorization: AWS4-HMAC-SHA256 Credential=" KEY                             \
    "/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date%s, " \
    "Signature=%s\r\n"
#define TOKEN                                                                                  \
    "X-Amz-Security-Token: AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQ" \
    "WLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp" \
    "2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38" \
    "xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/o" \
    "LxBA=="

static int listen_on_loopback(int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

static void on_connected(void *owner)
{
    (void)owner;
}

static bool on_last(void *owner)
{
    (void)owner;
    return true;
}

/* Reads the head of the request that the client sends to the listening socket. */
static void read_head(struct mq_http_client *client, int listening, char *out, size_t size)
{
    size_t len = 0;
    int fd = -1;
    out[0] = '\0';
    for (int i = 0; i < 1000 && strstr(out, "\r\n\r\n") == NULL; i++) {
        mq_http_wait(client, 10);
        fd = fd >= 0 ? fd : accept(listening, NULL, NULL);
        ssize_t n = fd >= 0 ? recv(fd, out + len, size - 1 - len, MSG_DONTWAIT) : 0;
        len += n > 0 ? (size_t)n : 0;
        out[len] = '\0';
    }
    close(fd);
}

/* Sends an example's request as mail to SES is sent, but without a body; writes its head. */
static void send_example(bool is_get, const char *token, char *out, size_t size)
{
    static const struct mq_http_events events = {on_connected, on_last};
    int port = 0, listening = listen_on_loopback(&port);
    char url[64], text[160];
    struct mq_dsn dsn = {0};
    struct mq_error err = {0};
    struct mq_http_client *client = NULL;
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", port);
    snprintf(text, sizeof text, "ses+https://k:s@127.0.0.1:%d?region=us-east-1&tls=none", port);
    assert_int_equal(mq_dsn_parse(mq_str_of(text), &dsn, &err), MQ_OK);
    assert_int_equal(mq_http_client_new(&dsn, &events, NULL, &client, &err), MQ_OK);
    struct mq_http_exchange *exchange = mq_http_exchange_new(client, out);
    assert_non_null(exchange);
    struct mq_http_request request = {.url = url,
                                      .user = KEY,
                                      .secret = SECRET,
                                      .scope = "aws:amz:us-east-1:service",
                                      .auth = MQ_HTTP_SIGV4,
                                      .is_get = is_get};
    assert_true(mq_strings_add(&request.headers, MQ_STR("Host: example.amazonaws.com")));
    assert_true(mq_strings_add(&request.headers, MQ_STR("X-Amz-Date: 20150830T123600Z")));
    assert_true(token == NULL || mq_strings_add(&request.headers, mq_str_of(token)));
    assert_true(mq_http_exchange_begin(exchange, &request));
    read_head(client, listening, out, size);
    mq_http_exchange_free(exchange);
    mq_http_client_free(client);
    mq_strings_clear(&request.headers);
    mq_http_body_clear(&request.body);
    mq_dsn_clear(&dsn);
    close(listening);
}

static void check(bool is_get, const char *token, const char *signature)
{
    char head[4096], expected[512];
    if (!mq_http_can_sign()) {
        skip();
    }
    send_example(is_get, token, head, sizeof head);
    snprintf(expected, sizeof expected, AUTHORIZATION, token ? ";x-amz-security-token" : "",
             signature);
    if (strstr(head, expected) == NULL) {
        fail_msg("not \"%s\" but\n%s", expected, head);
    }
    assert_true(token == NULL || strstr(head, token) != NULL);
}

static void test_get_vanilla(void **state)
{
    (void)state;
    check(true, NULL, "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
}

/* The token is signed: SES wants it so. */
static void test_post_sts_header_before(void **state)
{
    (void)state;
    check(false, TOKEN, "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead");
}

/* The token is added to the signed request, which is that of post-vanilla. */
static void test_post_sts_header_after(void **state)
{
    (void)state;
    check(false, NULL, "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_get_vanilla),
        cmocka_unit_test(test_post_sts_header_before),
        cmocka_unit_test(test_post_sts_header_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
