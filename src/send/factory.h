/* A transport for a DSN. */
#ifndef MQ_SEND_FACTORY_H
#define MQ_SEND_FACTORY_H

#include "send/smtp/smtp.h"

/* For every transport; each takes what it needs. */
struct mq_transport_options {
    struct mq_smtp_options smtp; /* .connections: sendmail's processes too; .clock: everybody's */
    const char *sendmail_path;   /* php.ini's: for sendmail:// without a command; NULL: none */
    const char *own_program;     /* bin/mailqueue as installed; NULL: not known */
    bool no_command;             /* sendmail:// may start sendmail_path only */
};

/* MQ_CONFIG on a DSN that cannot be used. *final_timeout_ms is the longest wait for what says that
 * the mail is taken (the reply to the dot, a program's end), 0 when the transport has none: a lease
 * must be longer. */
enum mq_status mq_transport_open(struct mq_str dsn, const struct mq_transport_options *options,
                                 struct mq_transport **out, int64_t *final_timeout_ms,
                                 struct mq_error *err);

/* The directory, or the program, that the DSN names, malloc'ed; NULL: none. */
enum mq_status mq_transport_place(struct mq_str dsn, char **out, struct mq_error *err);

#endif
