/* DKIM signatures (RFC 6376, 8301; Ed25519: 8463) by OpenSSL 3, relaxed/relaxed. */
#ifndef MQ_MIME_DKIM_SIGN_H
#define MQ_MIME_DKIM_SIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"

struct mq_dkim; /* keys by domain; for one thread at a time */

/* Whether this build can sign. */
bool mq_dkim_available(void);

/* allows(): whether open_basedir allows a key file; NULL: every file is allowed. */
enum mq_status mq_dkim_new(struct mq_dkim **out, bool (*allows)(const char *path),
                           struct mq_error *err);
void mq_dkim_free(struct mq_dkim *dkim); /* NULL is allowed */

/* Adds a private key: a PEM file (PKCS #8 or PKCS #1) with Ed25519, or RSA of at least 1,024 bits.
 * Several keys for a domain give several signatures. The file is read only here. MQ_CONFIG, field
 * "dkim", names the file and the cure. A file is refused if it cannot be read, is not a regular
 * file, belongs to a user other than root and ours, can be written by others than its owner or read
 * by all (0600 or 0640 are right), has no such key, or needs a passphrase. Also refused: a selector
 * or domain that is not a name, a selector that the domain has already, and any key if this build
 * cannot sign. */
enum mq_status mq_dkim_add(struct mq_dkim *dkim, const char *domain, const char *selector,
                           const char *key_file, struct mq_error *err);
/* Adds keys from "domain:selector:/path/key.pem", several with commas or spaces between. If one
 * fails, those before it stay. */
enum mq_status mq_dkim_add_list(struct mq_dkim *dkim, struct mq_str text, struct mq_error *err);

/* A mail in wire form: header lines that we add (CRLF-ended, or none), then the message. */
struct mq_dkim_mail {
    struct mq_str prefix;
    struct mq_str message;
    int64_t now_s; /* UTC, for the tag t= */
};

/* Appends DKIM-Signature fields over prefix and message as one text: one for each key of the domain
 * of the first From, or of its nearest parent domain that has keys; none if there is no such key.
 * Signed header fields are oversigned: nobody can add another From. The same mail and time give the
 * same bytes. MQ_MESSAGE, field "from": it cannot be read and contains the name of a domain with
 * keys, but its last address has another; MQ_CONFIG: OpenSSL cannot sign. */
enum mq_status mq_dkim_sign(const struct mq_dkim *dkim, const struct mq_dkim_mail *mail,
                            struct mq_buffer *out, struct mq_error *err);

#endif
