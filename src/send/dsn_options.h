/* The options of a transport's DSN; used by dsn.c only. */
#ifndef MQ_SEND_DSN_OPTIONS_H
#define MQ_SEND_DSN_OPTIONS_H

#include "send/dsn.h"

/* "name=value&name=value" into dsn. */
enum mq_status mq_dsn_parse_options(struct mq_str text, struct mq_dsn *dsn, struct mq_error *err);

#endif
