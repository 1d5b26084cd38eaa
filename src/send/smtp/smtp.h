/* SMTP over libcurl's connections: many sessions, our own pipelined transactions (RFC 5321, 2920,
 * 6152, 6531, 1870). */
#ifndef MQ_SEND_SMTP_SMTP_H
#define MQ_SEND_SMTP_SMTP_H

#include "core/clock.h"
#include "send/dsn.h"
#include "send/transport.h"

struct mq_smtp_options {
    int connections; /* sessions at most */
    struct mq_clock clock;
};

/* Takes what *dsn has: it is empty afterwards. Opens no connection yet. */
enum mq_status mq_smtp_new(struct mq_dsn *dsn, const struct mq_smtp_options *options,
                           struct mq_transport **out, struct mq_error *err);

const char *mq_curl_version(void); /* of the library in use */

#endif
