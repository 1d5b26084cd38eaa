/* Address fields (RFC 5322, 3.4). */
#ifndef MQ_MIME_COMPOSE_ADDRESS_HEADER_H
#define MQ_MIME_COMPOSE_ADDRESS_HEADER_H

#include "mime/mailbox.h"

/* "Name: mailbox, mailbox", folded; at least one mailbox. */
void mq_header_mailboxes(struct mq_buffer *out, const char *name, const struct mq_mailboxes *list);

#endif
