/* Header fields that the caller adds, and those for unsubscribing. */
#ifndef MQ_MIME_COMPOSE_OWN_HEADER_H
#define MQ_MIME_COMPOSE_OWN_HEADER_H

#include "mime/compose/composer.h"

/* Appends fields->headers. Addresses (Sender …) are checked and written as such, ids (References …)
 * must be ASCII, all else is text. MQ_MESSAGE, field "headers" or "headers[X-Name]". */
enum mq_status mq_own_headers_write(const struct mq_compose_fields *fields, struct mq_buffer *out,
                                    struct mq_error *err);
/* Appends List-Unsubscribe (RFC 2369), and List-Unsubscribe-Post (RFC 8058) if a URI is https.
 * MQ_MESSAGE, field "unsubscribe" or "unsubscribe[1]". */
enum mq_status mq_unsubscribe_write(const struct mq_compose_fields *fields, struct mq_buffer *out,
                                    struct mq_error *err);

#endif
