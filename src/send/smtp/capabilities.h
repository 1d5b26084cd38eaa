/* Reads the relay's lines while a connection is opened: its extensions, whether it accepted the
 * login, its last refusal. */
#ifndef MQ_SEND_SMTP_CAPABILITIES_H
#define MQ_SEND_SMTP_CAPABILITIES_H

#include "core/buffer.h"
#include "send/smtp/channel.h"
#include "send/transfer.h"

struct mq_greeting {
    struct mq_smtp_caps caps;
    bool in_ehlo;         /* the reply being read may be EHLO's; false after a HELO */
    bool first;           /* the next line is the reply's first: the relay's name, no keyword */
    bool logged_in;       /* a 235 came */
    bool challenged;      /* a 334 came: a login was under way */
    char mechanisms[128]; /* login mechanisms that EHLO offers; "" none */
    bool refusing;        /* the refusal has more lines */
    char refusal[MQ_TARGET_REPLY_MAX]; /* the last 4xx or 5xx reply in one line, "" none */
};

/* Reads one line of the relay, with or without its line end. */
void mq_greeting_line(struct mq_greeting *greeting, struct mq_str line);

/* The login mechanisms that we support, for libcurl and for messages. */
#define MQ_LOGIN_OPTIONS "AUTH=PLAIN;AUTH=LOGIN;AUTH=CRAM-MD5"
#define MQ_LOGIN_NAMES   "PLAIN, LOGIN and CRAM-MD5"
#define MQ_TOKEN_NAMES   "XOAUTH2 and OAUTHBEARER"

#endif
