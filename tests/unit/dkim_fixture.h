/* For the tests of DKIM: two key files, and a signer that is new for each test. */
#ifndef TESTS_DKIM_FIXTURE_H
#define TESTS_DKIM_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <unistd.h>

#include "mime/dkim/sign.h"

/* RFC 8463, A.1 */
static const char ed25519_key[] =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n"
    "-----END PRIVATE KEY-----\n";

/* RFC 8463, A.2: 1,024 bits, PKCS #1 */
static const char rsa_key[] = "-----BEGIN RSA PRIVATE KEY-----\n"
                              "MIICXQIBAAKBgQDkHlOQoBTzWRiGs5V6NpP3idY6Wk08a5qhdR6wy5bdOKb2jLQi\n"
                              "Y/J16JYi0Qvx/byYzCNb3W91y3FutACDfzwQ/BC/e/8uBsCR+yz1Lxj+PL6lHvqM\n"
                              "KrM3rG4hstT5QjvHO9PzoxZyVYLzBfO2EeC3Ip3G+2kryOTIKT+l/K4w3QIDAQAB\n"
                              "AoGAH0cxOhFZDgzXWhDhnAJDw5s4roOXN4OhjiXa8W7Y3rhX3FJqmJSPuC8N9vQm\n"
                              "6SVbaLAE4SG5mLMueHlh4KXffEpuLEiNp9Ss3O4YfLiQpbRqE7Tm5SxKjvvQoZZe\n"
                              "zHorimOaChRL2it47iuWxzxSiRMv4c+j70GiWdxXnxe4UoECQQDzJB/0U58W7RZy\n"
                              "6enGVj2kWF732CoWFZWzi1FicudrBFoy63QwcowpoCazKtvZGMNlPWnC7x/6o8Gc\n"
                              "uSe0ga2xAkEA8C7PipPm1/1fTRQvj1o/dDmZp243044ZNyxjg+/OPN0oWCbXIGxy\n"
                              "WvmZbXriOWoSALJTjExEgraHEgnXssuk7QJBALl5ICsYMu6hMxO73gnfNayNgPxd\n"
                              "WFV6Z7ULnKyV7HSVYF0hgYOHjeYe9gaMtiJYoo0zGN+L3AAtNP9huqkWlzECQE1a\n"
                              "licIeVlo1e+qJ6Mgqr0Q7Aa7falZ448ccbSFYEPD6oFxiOl9Y9se9iYHZKKfIcst\n"
                              "o7DUw1/hz2Ck4N5JrgUCQQCyKveNvjzkkd8HjYs0SwM0fPjK16//5qDZ2UiDGnOe\n"
                              "uEzxBDAr518Z8VFbR41in3W4Y3yCDgQlLlcETrS+zYcL\n"
                              "-----END RSA PRIVATE KEY-----\n";

static char directory[] = "/tmp/mq-dkim-XXXXXX";
static char rsa_file[64], ed25519_file[64], other_file[64];
static struct mq_dkim *dkim;
static struct mq_buffer out;
static struct mq_error err;

static void write_file(const char *path, const char *text, mode_t mode)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fputs(text, file) < 0, 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static int group_setup(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(directory));
    snprintf(rsa_file, sizeof rsa_file, "%s/rsa.pem", directory);
    snprintf(ed25519_file, sizeof ed25519_file, "%s/ed25519.pem", directory);
    snprintf(other_file, sizeof other_file, "%s/other.pem", directory);
    write_file(rsa_file, rsa_key, 0600);
    write_file(ed25519_file, ed25519_key, 0640);
    return 0;
}

static int group_teardown(void **state)
{
    (void)state;
    unlink(rsa_file);
    unlink(ed25519_file);
    return rmdir(directory);
}

static int setup(void **state)
{
    (void)state;
    out = (struct mq_buffer){0};
    return mq_dkim_new(&dkim, NULL, &err);
}

static int teardown(void **state)
{
    (void)state;
    mq_dkim_free(dkim);
    mq_buffer_clear(&out);
    return 0;
}

static void add(const char *list)
{
    char text[512];
    const char *file = strstr(list, "ed25519") ? ed25519_file : rsa_file;
    snprintf(text, sizeof text, "%s:%s", list, file);
    if (mq_dkim_add_list(dkim, mq_str_of(text), &err) != MQ_OK) {
        fail_msg("%s: %s", text, err.text);
    }
}

static enum mq_status sign(const char *prefix, const char *message)
{
    struct mq_dkim_mail mail = {mq_str_of(prefix), mq_str_of(message), 1528637909};
    mq_buffer_reset(&out);
    mq_buffer_cstr(&out, "<");
    enum mq_status status = mq_dkim_sign(dkim, &mail, &out, &err);
    assert_int_equal(out.data[0], '<');
    assert_int_equal(out.len, strlen(out.data));
    return status;
}

/* Signs and returns the header fields. */
static const char *signature_of(const char *message)
{
    if (sign("", message) != MQ_OK) {
        fail_msg("%s: %s", message, err.text);
    }
    return out.data + 1;
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *p = text; (p = strstr(p, what)); p++) {
        n++;
    }
    return n;
}

#endif
