/* The body of a request, read in pieces: a text, the mail (as it is, or in base64), a text. A
 * large mail is not copied. */
#ifndef MQ_SEND_HTTP_PAYLOAD_H
#define MQ_SEND_HTTP_PAYLOAD_H

#include <stdbool.h>

#include "core/buffer.h"

struct mq_http_body {
    struct mq_buffer head, tail;
    struct mq_buffer spare; /* memory for the next mq_http_body_join() */
    struct mq_str mail[3];  /* borrowed; one after the other they are the mail */
    bool base64;
    size_t pos; /* in the whole body */
};

size_t mq_http_body_size(const struct mq_http_body *body);
/* Writes the next bytes into out, less than `size` only at the end; returns how many. */
size_t mq_http_body_read(struct mq_http_body *body, char *out, size_t size);
/* Makes one text of a body of at most 16 KB, which then mostly leaves in one write with the
 * request's head. Returns it, valid until the body is reset; NULL: it is larger and is read in
 * pieces. */
const char *mq_http_body_join(struct mq_http_body *body);
/* Appends the SHA-256 of the whole body in hex. False: this build has no OpenSSL. */
bool mq_http_body_hash(const struct mq_http_body *body, struct mq_buffer *out);
/* Empties the texts and forgets the mail; keeps a little memory for the next one. */
void mq_http_body_reset(struct mq_http_body *body);
void mq_http_body_clear(struct mq_http_body *body);

#endif
