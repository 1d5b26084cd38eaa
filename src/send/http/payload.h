/* The body of a request, read in pieces: a text, the mail (as it is, or in base64), a text. The
 * mail is not copied. */
#ifndef MQ_SEND_HTTP_PAYLOAD_H
#define MQ_SEND_HTTP_PAYLOAD_H

#include <stdbool.h>

#include "core/buffer.h"

struct mq_http_body {
    struct mq_buffer head, tail;
    struct mq_str mail[3]; /* borrowed; one after the other they are the mail */
    bool base64;
    size_t pos; /* in the whole body */
};

size_t mq_http_body_size(const struct mq_http_body *body);
/* Writes the next bytes into out, less than `size` only at the end; returns how many. */
size_t mq_http_body_read(struct mq_http_body *body, char *out, size_t size);
/* Appends the SHA-256 of the whole body in hex. False: this build has no OpenSSL. */
bool mq_http_body_hash(const struct mq_http_body *body, struct mq_buffer *out);
/* Empties the texts and forgets the mail; keeps a little memory for the next one. */
void mq_http_body_reset(struct mq_http_body *body);
void mq_http_body_clear(struct mq_http_body *body);

#endif
