/* Private keys, and signing and hashing with OpenSSL, which only dkim_key.c includes. */
#ifndef MQ_MIME_DKIM_DKIM_KEY_H
#define MQ_MIME_DKIM_DKIM_KEY_H

#include "core/buffer.h"
#include "core/error.h"

struct evp_pkey_st; /* OpenSSL's EVP_PKEY */

/* Reads a key file and checks its owner and mode. The errors are those of mq_dkim_add(). */
enum mq_status mq_dkim_key_open(const char *file, struct evp_pkey_st **out, struct mq_error *err);
void mq_dkim_key_free(struct evp_pkey_st *key);                   /* NULL is allowed */
const char *mq_dkim_key_algorithm(const struct evp_pkey_st *key); /* "rsa-sha256" … */
/* Appends the signature over `text` in base64 without line ends. */
enum mq_status mq_dkim_key_sign(struct evp_pkey_st *key, struct mq_str text, struct mq_buffer *out,
                                struct mq_error *err);

/* Appends the SHA-256 of a body in its relaxed form, in base64 without line ends. */
enum mq_status mq_dkim_hash_body(struct mq_str body, struct mq_buffer *out, struct mq_error *err);

#endif
