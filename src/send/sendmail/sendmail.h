/* Handing mail to a local program that speaks sendmail's options: an argument vector, never a
 * shell. Its exit code says what became of the mail (exit_code.h).
 *
 * The program gets the whole message or does not run: a worker that dies leaves no half mail behind
 * (process.h). So from its start on the mail is as one whose dot is out: recipients are uncertain
 * until it has ended. */
#ifndef MQ_SEND_SENDMAIL_SENDMAIL_H
#define MQ_SEND_SENDMAIL_SENDMAIL_H

#include "core/clock.h"
#include "send/dsn.h"
#include "send/transport.h"

struct mq_sendmail_options {
    struct mq_clock clock;
    int processes;               /* at the same time, at most */
    const char *default_command; /* php.ini's sendmail_path; used when the DSN has no command */
    const char *own_program;     /* bin/mailqueue as installed: would only queue again; or NULL */
};

/* For sendmail://default?command=/usr/sbin/sendmail%20-t%20-i . MQ_CONFIG: no command, a relative
 * one, a quote that is not closed, a program that is none, or ours, see command.h. One
 * that is missing is the relay's trouble when mail comes: it may be back after an upgrade. Where
 * SIGCHLD is ignored, it is not while the transport works. */
enum mq_status mq_sendmail_new(const struct mq_dsn *dsn, const struct mq_sendmail_options *options,
                               struct mq_transport **out, struct mq_error *err);

#endif
