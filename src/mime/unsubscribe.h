/* Links by which a recipient leaves a list. Their token names list and address, but not in clear:
 * they get into logs of proxies and web servers. web/Unsubscribe.php reads it. */
#ifndef MQ_MIME_UNSUBSCRIBE_H
#define MQ_MIME_UNSUBSCRIBE_H

#include "core/buffer.h"
#include "core/error.h"

#define MQ_UNSUBSCRIBE_KEY 32 /* octets */

/* Who leaves what. */
struct mq_unsubscribe {
    struct mq_str scope;   /* such as "list:news", without NUL */
    struct mq_str address; /* plain, domain in A-labels */
    int64_t at_s;          /* the date of the mail */
};

/* Whether a token can be appended to the URL. MQ_MESSAGE with `field`. */
enum mq_status mq_unsubscribe_check(struct mq_str url, const char *field, struct mq_error *err);
/* Appends the URL with the token as its parameter t. */
void mq_unsubscribe_url(const unsigned char key[MQ_UNSUBSCRIBE_KEY], struct mq_str url,
                        const struct mq_unsubscribe *who, struct mq_buffer *out);

#endif
