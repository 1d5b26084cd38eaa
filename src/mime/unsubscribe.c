/* A token is, in base64 for URLs: the version (1), a MAC of 16 octets, and a text that is XORed
 * with a stream made from the MAC, so that it is its own nonce: day of the mail (2 octets, since
 * 1970), scope, NUL, address. Both are made with HMAC-SHA256; the first octet of what goes in tells
 * which. The same mail always gets the same token. */
#include "mime/unsubscribe.h"

#include <string.h>

#include "core/ascii.h"
#include "core/clock.h"
#include "core/hmac.h"
#include "mime/encode.h"

#define VERSION    1
#define MAC_OCTETS 16

enum purpose { FOR_MAC = 'm', FOR_STREAM = 's' };

static void mac_of(struct mq_str key, struct mq_str text, unsigned char out[MQ_HMAC_OCTETS])
{
    struct mq_buffer all = {0};
    mq_buffer_char(&all, FOR_MAC);
    mq_buffer_str(&all, text);
    mq_hmac_sha256(key, mq_buffer_view(&all), out);
    mq_buffer_clear(&all);
}

/* XORs the text with the stream; done twice, it is the text again. */
static void hide(struct mq_str key, const unsigned char *mac, char *text, size_t len)
{
    unsigned char from[1 + MAC_OCTETS + 1] = {FOR_STREAM}, block[MQ_HMAC_OCTETS];
    memcpy(from + 1, mac, MAC_OCTETS);
    for (size_t i = 0; i < len; i++) {
        if (i % MQ_HMAC_OCTETS == 0) {
            from[sizeof from - 1] = (unsigned char)(i / MQ_HMAC_OCTETS);
            mq_hmac_sha256(key, (struct mq_str){(char *)from, sizeof from}, block);
        }
        text[i] = (char)(text[i] ^ block[i % MQ_HMAC_OCTETS]);
    }
}

/* Appends base64 with - and _, without padding (RFC 4648, 5). */
static void write_base64url(struct mq_str octets, struct mq_buffer *out)
{
    size_t begin = out->len;
    mq_encode_base64_raw(out, octets);
    for (size_t i = begin; i < out->len; i++) {
        char c = out->data[i];
        out->data[i] = c == '+' ? '-' : c == '/' ? '_' : c;
    }
    while (out->len > begin && out->data[out->len - 1] == '=') {
        out->data[--out->len] = '\0';
    }
}

enum mq_status mq_unsubscribe_check(struct mq_str url, const char *field, struct mq_error *err)
{
    bool ok = mq_str_begins_nocase(url, "https://") && memchr(url.data, '#', url.len) == NULL;
    return ok ? MQ_OK
              : mq_error_set(err, MQ_MESSAGE, field, "%s: it must be an https: URI without \"#\"",
                             field);
}

void mq_unsubscribe_url(const unsigned char key[MQ_UNSUBSCRIBE_KEY], struct mq_str url,
                        const struct mq_unsubscribe *who, struct mq_buffer *out)
{
    struct mq_str secret = {(const char *)key, MQ_UNSUBSCRIBE_KEY};
    struct mq_buffer text = {0}, token = {0};
    unsigned char mac[MQ_HMAC_OCTETS];
    int64_t day = who->at_s / MQ_DAY_S;
    mq_buffer_char(&text, (char)(day >> 8));
    mq_buffer_char(&text, (char)day);
    mq_buffer_str(&text, who->scope);
    mq_buffer_char(&text, '\0');
    mq_buffer_str(&text, who->address);
    out->failed = out->failed || text.failed;
    if (!text.failed) {
        mac_of(secret, mq_buffer_view(&text), mac);
        hide(secret, mac, text.data, text.len);
        mq_buffer_char(&token, VERSION);
        mq_buffer_append(&token, mac, MAC_OCTETS);
        mq_buffer_str(&token, mq_buffer_view(&text));
        out->failed = out->failed || token.failed;
        mq_buffer_str(out, url);
        mq_buffer_cstr(out, memchr(url.data, '?', url.len) ? "&t=" : "?t=");
        write_base64url(mq_buffer_view(&token), out);
    }
    mq_buffer_clear(&text);
    mq_buffer_clear(&token);
}
