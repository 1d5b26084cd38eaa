/* A transport for a DSN, and the kinds that there are. */
#ifndef MQ_SEND_FACTORY_H
#define MQ_SEND_FACTORY_H

#include "send/dsn.h"
#include "send/transport.h"

/* For every transport; each takes what it needs. */
struct mq_transport_options {
    struct mq_clock clock;
    int connections;           /* SMTP sessions, or sendmail's processes, at most; 1 or more */
    const char *sendmail_path; /* php.ini's: for sendmail:// without a command; NULL: none */
    const char *own_program;   /* bin/mailqueue as installed; NULL: not known */
    bool no_command;           /* sendmail:// may start sendmail_path only */
};

/* Takes what *dsn has: it is empty afterwards. Connects to nothing yet. MQ_CONFIG on a DSN that
 * cannot be used. */
enum mq_status mq_transport_open(struct mq_dsn *dsn, const struct mq_transport_options *options,
                                 struct mq_transport **out, struct mq_error *err);

/* ---- the kinds: each may take what *dsn has ---- */

/* SMTP over libcurl's connections: many sessions, our own pipelined transactions (RFC 5321, 2920,
 * 6152, 6531, 1870). */
enum mq_status mq_smtp_new(struct mq_dsn *dsn, const struct mq_transport_options *options,
                           struct mq_transport **out, struct mq_error *err);

/* Hands mail to a local program that speaks sendmail's options: an argument vector, never a shell.
 * Its exit code says what became of the mail (sendmail/exit_code.h).
 *
 * The program gets the whole message or does not run: a worker that dies leaves no half mail behind
 * (sendmail/process.h). So from its start on the mail is as one whose dot is out: recipients are
 * uncertain until it has ended.
 *
 * MQ_CONFIG: no command, a relative one, a program that is none, or ours, see sendmail/command.h. A
 * missing program is the relay's trouble when mail comes: it may be back after an upgrade. SIGCHLD
 * is not ignored from a program's start until the transport is freed. */
enum mq_status mq_sendmail_new(struct mq_dsn *dsn, const struct mq_transport_options *options,
                               struct mq_transport **out, struct mq_error *err);

/* Mail into a directory in Maildir's form (tmp, new, cur): one file a transfer, with LF,
 * Return-Path and one X-Envelope-To a recipient. (Not Delivered-To: by it Postfix and others see a
 * loop when such a file is sent again.) Creates the directory and its three when missing, mode
 * 0700. MQ_CONFIG: a relative path, no directory, not writable. A disk that is full or a directory
 * that went away later is the relay's trouble; a file larger than the process may write its mail's.
 */
enum mq_status mq_maildir_new(struct mq_dsn *dsn, const struct mq_transport_options *options,
                              struct mq_transport **out, struct mq_error *err);

/* Accepts everything and sends nothing. */
enum mq_status mq_null_new(struct mq_dsn *dsn, const struct mq_transport_options *options,
                           struct mq_transport **out, struct mq_error *err);

const char *mq_curl_version(void); /* of the library in use */

#endif
