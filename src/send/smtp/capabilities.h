/* What the lines of the connection's phase say: the relay's extensions, whether it took the login,
 * its last refusal. */
#ifndef MQ_SEND_SMTP_CAPABILITIES_H
#define MQ_SEND_SMTP_CAPABILITIES_H

#include "core/buffer.h"
#include "send/smtp/channel.h"
#include "send/transfer.h"

struct mq_greeting {
    struct mq_smtp_caps caps;
    bool in_ehlo;         /* the reply being read may be EHLO's; false after a HELO */
    bool first;           /* the next line is its first: the relay's name, no keyword */
    bool logged_in;       /* a 235 came */
    char mechanisms[128]; /* that EHLO offers for a login, as they came; "" none */
    char refusal[MQ_TARGET_REPLY_MAX]; /* the last 4xx or 5xx line, "" none */
};

/* One line as it came from the relay, with or without its line end. */
void mq_greeting_line(struct mq_greeting *greeting, struct mq_str line);

/* The logins that are spoken here, for libcurl and for people. */
#define MQ_LOGIN_OPTIONS "AUTH=PLAIN;AUTH=LOGIN;AUTH=CRAM-MD5"
#define MQ_LOGIN_NAMES   "PLAIN, LOGIN and CRAM-MD5"

#endif
