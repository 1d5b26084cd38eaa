/* The name that this host says to a relay. */
#ifndef MQ_SEND_SMTP_HELLO_H
#define MQ_SEND_SMTP_HELLO_H

#include "send/dsn.h"

/* Writes the name for EHLO: the option ehlo or else this host's, if it can with its domain. */
void mq_hello_name(const struct mq_dsn *dsn, char *out, size_t size);

#endif
