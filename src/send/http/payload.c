/* Reads a request's body. A small one is made one text; of a larger one, base64 is made while it
 * leaves, so that it needs no second copy. */
#include "send/http/payload.h"

#include <string.h>

#ifdef MQ_HAVE_OPENSSL
#include <openssl/evp.h>
#endif

#define PARTS(body) (sizeof(body)->mail / sizeof *(body)->mail)
#define KEPT_MAX    32768
#define JOINED_MAX  16384 /* most mails; a larger one costs more to encode than a second write */

static size_t mail_size(const struct mq_http_body *body)
{
    size_t size = 0;
    for (size_t i = 0; i < PARTS(body); i++) {
        size += body->mail[i].len;
    }
    return size;
}

static size_t middle_size(const struct mq_http_body *body)
{
    size_t size = mail_size(body);
    return body->base64 ? (size + 2) / 3 * 4 : size;
}

size_t mq_http_body_size(const struct mq_http_body *body)
{
    return body->head.len + middle_size(body) + body->tail.len;
}

/* Copies bytes of the mail from `at` on; returns how many there were. */
static size_t copy_mail(const struct mq_http_body *body, size_t at, char *out, size_t size)
{
    size_t done = 0;
    for (size_t i = 0; i < PARTS(body) && done < size; i++) {
        const struct mq_str *part = &body->mail[i];
        if (at >= part->len) {
            at -= part->len;
            continue;
        }
        size_t n = part->len - at < size - done ? part->len - at : size - done;
        memcpy(out + done, part->data + at, n);
        done += n;
        at = 0;
    }
    return done;
}

/* Encodes bytes of the mail: `size` characters of its base64 from `at` on. */
static size_t copy_base64(const struct mq_http_body *body, size_t at, char *out, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char in[768];
    size_t done = 0;
    while (done < size) {
        size_t group = (at + done) / 4;
        size_t n = copy_mail(body, group * 3, (char *)in, sizeof in);
        size_t from = (at + done) % 4;
        memset(in + n, 0, n < sizeof in ? sizeof in - n : 0);
        for (size_t i = 0; i < n && done < size; i += 3, from = 0) {
            unsigned bits = (unsigned)in[i] << 16 | (unsigned)in[i + 1] << 8 | in[i + 2];
            char four[4] = {digits[bits >> 18], digits[bits >> 12 & 63],
                            i + 1 < n ? digits[bits >> 6 & 63] : '=',
                            i + 2 < n ? digits[bits & 63] : '='};
            size_t length = 4 - from < size - done ? 4 - from : size - done;
            memcpy(out + done, four + from, length);
            done += length;
        }
        if (n < sizeof in) {
            break;
        }
    }
    return done;
}

static size_t copy_text(const struct mq_buffer *text, size_t at, char *out, size_t size)
{
    size_t n = text->len - at < size ? text->len - at : size;
    if (n > 0) {
        memcpy(out, text->data + at, n);
    }
    return n;
}

size_t mq_http_body_read(struct mq_http_body *body, char *out, size_t size)
{
    size_t middle = middle_size(body), done = 0;
    while (done < size) {
        size_t at = body->pos, n = 0;
        if (at < body->head.len) {
            n = copy_text(&body->head, at, out + done, size - done);
        } else if ((at -= body->head.len) < middle) {
            n = body->base64 ? copy_base64(body, at, out + done, size - done)
                             : copy_mail(body, at, out + done, size - done);
        } else if ((at -= middle) < body->tail.len) {
            n = copy_text(&body->tail, at, out + done, size - done);
        } else {
            break;
        }
        done += n;
        body->pos += n;
    }
    return done;
}

static void forget(struct mq_http_body *body)
{
    mq_buffer_reset(&body->tail);
    memset(body->mail, 0, sizeof body->mail);
    body->pos = 0;
}

const char *mq_http_body_join(struct mq_http_body *body)
{
    size_t size = mq_http_body_size(body);
    if (size > JOINED_MAX) {
        return NULL;
    }
    struct mq_buffer whole = body->spare;
    mq_buffer_reset(&whole);
    mq_buffer_reserve(&whole, size + 1);
    if (whole.failed) {
        return NULL;
    }
    whole.len = mq_http_body_read(body, whole.data, size);
    whole.data[whole.len] = '\0';
    body->spare = body->head;
    body->head = whole;
    forget(body);
    return body->head.data;
}

#ifdef MQ_HAVE_OPENSSL

bool mq_http_body_hash(const struct mq_http_body *body, struct mq_buffer *out)
{
    static const char digits[] = "0123456789abcdef";
    struct mq_http_body copy = *body;
    unsigned char hash[EVP_MAX_MD_SIZE];
    char piece[8192];
    size_t n;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool ok = context != NULL && EVP_DigestInit_ex(context, EVP_sha256(), NULL);
    copy.pos = 0;
    while (ok && (n = mq_http_body_read(&copy, piece, sizeof piece)) > 0) {
        ok = EVP_DigestUpdate(context, piece, n);
    }
    ok = ok && EVP_DigestFinal_ex(context, hash, NULL);
    EVP_MD_CTX_free(context);
    for (size_t i = 0; ok && i < 32; i++) {
        mq_buffer_append(out, &digits[hash[i] >> 4], 1);
        mq_buffer_append(out, &digits[hash[i] & 15], 1);
    }
    return ok;
}

#else

bool mq_http_body_hash(const struct mq_http_body *body, struct mq_buffer *out)
{
    (void)body;
    (void)out;
    return false;
}

#endif

void mq_http_body_reset(struct mq_http_body *body)
{
    if (body->head.capacity > KEPT_MAX || body->tail.capacity > KEPT_MAX) {
        mq_http_body_clear(body);
        return;
    }
    struct mq_buffer head = body->head;
    forget(body);
    if (head.capacity > body->spare.capacity) { /* the larger one is for the whole body */
        body->head = body->spare;
        body->spare = head;
    }
    mq_buffer_reset(&body->head);
}

void mq_http_body_clear(struct mq_http_body *body)
{
    mq_buffer_clear(&body->head);
    mq_buffer_clear(&body->tail);
    mq_buffer_clear(&body->spare);
    *body = (struct mq_http_body){0};
}
