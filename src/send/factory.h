/* A transport for a DSN. */
#ifndef MQ_SEND_FACTORY_H
#define MQ_SEND_FACTORY_H

#include "send/smtp.h"

/* MQ_CONFIG on a DSN that cannot be used. *final_timeout_ms is the longest wait for the reply to
 * the dot, 0 when the transport has none: a lease must be longer. */
enum mq_status mq_transport_open(struct mq_str dsn, const struct mq_smtp_options *options,
                                 struct mq_transport **out, int64_t *final_timeout_ms,
                                 struct mq_error *err);

#endif
