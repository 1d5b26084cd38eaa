/* The sender of a mail's envelope, which can name the recipient: mime/verp.h. */
#ifndef MQ_QUEUE_SUPPRESS_SENDER_H
#define MQ_QUEUE_SUPPRESS_SENDER_H

#include "core/buffer.h"
#include "core/error.h"

struct mq_queue;

/* Appends the sender with a token for `recipient`, if it asks for one; else nothing. recipient
 * NULL: there are several. Reads the key once. MQ_CONFIG: it is missing or damaged. */
enum mq_status mq_suppress_sender(struct mq_queue *queue, const char *sender, const char *recipient,
                                  struct mq_buffer *out, struct mq_error *err);

#endif
