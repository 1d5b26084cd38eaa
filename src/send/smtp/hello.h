/* The name that this host says to a relay, and the URL that has it. */
#ifndef MQ_SEND_SMTP_HELLO_H
#define MQ_SEND_SMTP_HELLO_H

#include "send/dsn.h"

/* This host's name with its domain: relays refuse a short name in EHLO. */
void mq_smtp_host_name(char *out, size_t size);
/* Writes the name for EHLO: the option ehlo or else this host's, if it can with its domain. */
void mq_hello_name(const struct mq_dsn *dsn, char *out, size_t size);
/* The URL for libcurl, which takes the name for EHLO from its path. malloc'ed; NULL without memory.
 * libcurl does not know LMTP, and says nothing over a connection that it only opens for HTTP. */
char *mq_hello_url(const struct mq_dsn *dsn);

#endif
