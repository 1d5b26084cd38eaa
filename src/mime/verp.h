/* Envelope senders that name the mail's recipient (VERP), so that a bounce says whom it is about:
 * "bounces+*@example.org", whose * a token takes the place of. cli/Bounce/Token.php reads it. */
#ifndef MQ_MIME_VERP_H
#define MQ_MIME_VERP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"

#define MQ_VERP_KEY 32 /* octets */
#define MQ_VERP_TOKEN                                                          \
    32 /* octets in the local part, which has at most 64 (RFC 5321, 4.5.3.1.1) \
        */

/* Whom a mail goes to. */
struct mq_verp {
    uint64_t hash; /* of the recipient's address, as suppressions have it */
    int64_t at_s;  /* when it is sent */
};

/* Whether the sender ends with a * before its @, and there is room for a token. */
bool mq_verp_asks(struct mq_str sender);
/* MQ_MESSAGE with `field`: it asks for a token, and there is no room for one. */
enum mq_status mq_verp_check(struct mq_str sender, const char *field, struct mq_error *err);
/* Appends a sender that asks, with the token for `to`. NULL: the mail has several recipients, so
 * "many" is there instead. */
void mq_verp_write(const unsigned char key[MQ_VERP_KEY], struct mq_str sender,
                   const struct mq_verp *to, struct mq_buffer *out);

#endif
