/* Transport DSNs: scheme://user:password@host:port?option=value (RFC 3986 syntax, percent-encoded;
 * the spelling of Symfony Mailer), smtp:///socket and lmtp:///socket, sendmail://default?command=…
 * and file:///directory. */
#ifndef MQ_SEND_DSN_H
#define MQ_SEND_DSN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"

enum mq_tls_mode {
    MQ_TLS_AUTO,     /* STARTTLS is required, but not used to a loopback address */
    MQ_TLS_NONE,     /* tls=none */
    MQ_TLS_REQUIRED, /* tls=required: STARTTLS, also to loopback */
    MQ_TLS_IMPLICIT  /* smtps:// */
};

/* How a session logs in if there is a user. */
enum mq_login {
    MQ_LOGIN_PASSWORD,
    MQ_LOGIN_OAUTH2,  /* auth=oauth2: XOAUTH2 or OAUTHBEARER, as the relay offers */
    MQ_LOGIN_XOAUTH2, /* auth=xoauth2, auth=oauthbearer: that one only */
    MQ_LOGIN_OAUTHBEARER
};

/* Which commands go out before the replies to earlier ones, if the relay offers PIPELINING. */
enum mq_pipelining {
    MQ_PIPELINING_LEARN, /* like GROUP until the relay has shown that it can do DOT */
    MQ_PIPELINING_NONE,  /* pipelining=0: command by command */
    MQ_PIPELINING_GROUP, /* pipelining=1: the commands of one mail */
    MQ_PIPELINING_DOT    /* pipelining=dot: also those of the next mail, behind a mail's dot */
};

enum mq_family { MQ_FAMILY_ANY, MQ_FAMILY_4, MQ_FAMILY_6 };

struct mq_dsn {
    const char *scheme; /* "smtp", "smtps", "lmtp", "null", "sendmail", "file"; an API's:
                           "ses+https", "mailgun+https", "microsoftgraph+https", "gmail+https" */
    char *user;         /* NULL when none; Mailgun's is a key that is never printed */
    char *password;     /* NULL when none; never printed */
    char *
        host; /* without brackets; "default" and "null" are ordinary names; "" if there is a path */
    int port; /* 0: not given */
    char *path; /* absolute, of file://'s directory or the Unix socket of a relay; else NULL */
    struct mq_strings command; /* sendmail://: program and options; empty: not given */
    enum mq_login login;
    char *account; /* of OAuth2 (oauth/account.h); NULL: login with the password */
    enum mq_tls_mode tls;
    char *cafile;          /* PEM file; NULL: the system's */
    bool verify_peer;      /* default true */
    char *ehlo;            /* name for EHLO; NULL: this host's */
    char *source_ip;       /* NULL: the system chooses */
    enum mq_family family; /* of the addresses to connect to: the option, or that of source_ip */
    char *proxy;           /* NULL: none, whatever the environment says */
    char *region;          /* of an API; NULL: not given */
    char *session_token;   /* SES: of temporary keys; NULL: none; never printed */
    char *name;            /* SES: a part of the relay's name; NULL: none */
    enum mq_pipelining pipelining;
    int64_t connect_timeout_ms;   /* connect … AUTH; default 30,000 */
    int64_t command_timeout_ms;   /* MAIL, RCPT, RSET: RFC 5321's 300 s */
    int64_t data_timeout_ms;      /* DATA: 120 s */
    int64_t block_timeout_ms;     /* data block, write progress: 180 s */
    int64_t final_timeout_ms;     /* reply to the dot, or end of sendmail's program: 600 s; an API's
                                     answer: 120 s; 0 for file:// and null://, which have none */
    int64_t idle_ms;              /* QUIT after this long idle: 10,000 */
    int64_t mails_per_connection; /* QUIT after this many mails: 100 */
    int64_t connections;          /* the most sessions or programs at once; 0: as the worker says */
};

/* MQ_CONFIG with field "transport" on unknown schemes or options, options that do not apply to the
 * scheme, bad percent-encoding, control characters, ports out of range. The text never repeats the
 * password. The options are those of dsn_options.c. */
enum mq_status mq_dsn_parse(struct mq_str text, struct mq_dsn *out, struct mq_error *err);
void mq_dsn_clear(struct mq_dsn *dsn);
/* Without secrets, malloc'ed: "smtp://user:***@host", "sendmail://default?command=/bin/x%20***". It
 * is the relay's name: limits count by it, and a pause is stored under it. */
char *mq_dsn_redacted(const struct mq_dsn *dsn);
/* Whether the text of a DSN has a password, a key or a token in it. If it cannot be parsed, whether
 * there is a ":" before an "@". */
bool mq_dsn_has_secret(struct mq_str text);
bool mq_dsn_is(const struct mq_dsn *dsn, const char *scheme);
bool mq_dsn_is_http(const struct mq_dsn *dsn);     /* a mail API */
bool mq_dsn_is_loopback(const struct mq_dsn *dsn); /* 127.0.0.0/8, ::1, localhost, a socket */
/* Returns the directory, socket or program that the DSN names, borrowed; NULL: none. */
const char *mq_dsn_local_path(const struct mq_dsn *dsn);

/* Splits a command line into words, with quotes and backslashes as in a shell. But no shell is
 * used: what only a shell could do (pipes, redirections, variables) is MQ_CONFIG, field
 * "transport", and so are an open quote and an empty command. *words is initialised; its old
 * contents are freed. */
enum mq_status mq_dsn_split_command(struct mq_str command, struct mq_strings *words,
                                    struct mq_error *err);

#endif
