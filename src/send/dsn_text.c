/* For dsn.c and its other files: cutting, decoding, numbers, and the error of a DSN. */
#include "send/dsn_text.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"
#include "core/hex.h"

bool mq_dsn_is(const struct mq_dsn *dsn, const char *scheme)
{
    return strcmp(dsn->scheme, scheme) == 0;
}

bool mq_dsn_is_http(const struct mq_dsn *dsn)
{
    return strstr(dsn->scheme, "+https") != NULL;
}

enum mq_status mq_dsn_bad(struct mq_error *err, const char *what)
{
    return mq_error_set(err, MQ_CONFIG, "transport", "transport: %s", what);
}

void mq_dsn_wipe(char *secret)
{
    if (secret != NULL) {
        explicit_bzero(secret, strlen(secret));
    }
    free(secret);
}

enum mq_status mq_dsn_decode(struct mq_str text, char **out, struct mq_error *err)
{
    enum mq_status status = MQ_OK;
    struct mq_buffer buffer = {0};
    mq_buffer_append(&buffer, "", 0);
    for (size_t i = 0; i < text.len && status == MQ_OK; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c == '%') {
            int high = i + 1 < text.len ? mq_hex_value(text.data[i + 1]) : -1;
            int low = i + 2 < text.len ? mq_hex_value(text.data[i + 2]) : -1;
            if (high < 0 || low < 0) {
                status = mq_dsn_bad(err, "\"%\" needs two hex digits after it; write \"%\" as %25");
                break;
            }
            c = (unsigned char)(high << 4 | low);
            i += 2;
        }
        if (c < 0x20 || c == 0x7F) {
            status = mq_dsn_bad(err, "there is a control character in it; remove it");
        }
        mq_buffer_char(&buffer, (char)c);
    }
    if (status == MQ_OK && buffer.failed) {
        status = mq_error_nomem(err);
    }
    if (status == MQ_OK) {
        *out = buffer.data;
        buffer = (struct mq_buffer){0};
    }
    mq_buffer_clear(&buffer);
    return status;
}

void mq_dsn_encode(struct mq_buffer *out, struct mq_str s, const char *plain)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.data[i];
        bool is_plain = c != '\0' && (strchr("-._~", c) != NULL || strchr(plain, c) != NULL);
        if (mq_is_alnum(c) || is_plain) {
            mq_buffer_char(out, c);
        } else {
            mq_buffer_printf(out, "%%%02X", (unsigned)(unsigned char)c);
        }
    }
}

bool mq_dsn_cut(struct mq_str *text, char c, struct mq_str *head)
{
    if (mq_str_find(*text, c) == text->len) {
        return false;
    }
    *head = mq_str_cut_at(text, c);
    return true;
}

bool mq_host_is_loopback(const char *host)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (inet_pton(AF_INET, host, &v4) == 1) {
        return ntohl(v4.s_addr) >> 24 == 127;
    }
    return mq_str_equal_nocase(mq_str_of(host), MQ_STR("localhost")) ||
           strcmp(host, "[::1]") == 0 ||
           (inet_pton(AF_INET6, host, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6));
}

int64_t mq_dsn_count(struct mq_str text, int64_t max)
{
    int64_t value = 0;
    for (size_t i = 0; i < text.len; i++) {
        value = value * 10 + (text.data[i] - '0');
        if (!mq_is_digit(text.data[i]) || value > max) {
            return 0;
        }
    }
    return value;
}
