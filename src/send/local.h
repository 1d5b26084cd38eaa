/* The transports that need no relay: null://, and file://. */
#ifndef MQ_SEND_LOCAL_H
#define MQ_SEND_LOCAL_H

#include "core/clock.h"
#include "send/dsn.h"
#include "send/transport.h"

/* Accepts everything and sends nothing. */
enum mq_status mq_null_new(struct mq_clock clock, struct mq_transport **out, struct mq_error *err);

/* Mail into a directory in Maildir's form (tmp, new, cur): one file a transfer, with LF,
 * Return-Path and one X-Envelope-To a recipient. (Not Delivered-To: by it Postfix and others see a
 * loop when such a file is sent again.) Creates the directory and its three when missing, mode
 * 0700. MQ_CONFIG: a relative path, no directory, not writable. A disk that is full or a directory
 * that went away later is the relay's trouble; a file larger than the process may write its mail's.
 */
enum mq_status mq_maildir_new(const struct mq_dsn *dsn, struct mq_clock clock,
                              struct mq_transport **out, struct mq_error *err);

#endif
