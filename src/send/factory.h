/* Makes the transport for a DSN; declares the kinds of transport. */
#ifndef MQ_SEND_FACTORY_H
#define MQ_SEND_FACTORY_H

#include "send/transport.h"

struct mq_dsn;

/* Options for all kinds; each uses those that it needs. */
struct mq_transport_options {
    struct mq_clock clock;
    int connections;           /* the most SMTP sessions or sendmail processes; 1 or more */
    const char *sendmail_path; /* from php.ini, for sendmail:// without a command; NULL: none */
    const struct mq_rules *verdicts; /* borrowed until the transport is freed; NULL: none */
    const char *own_program;         /* bin/mailqueue as installed; NULL: not known */
    const char *accounts;            /* the directory of OAuth2 accounts; NULL: none */
    struct mq_buffer *trace; /* gets what is said over SMTP (mq_smtp_probe()); NULL: nothing does */
    bool no_command;         /* sendmail:// may start sendmail_path only */
};

/* Takes over the contents of *dsn, which is empty afterwards. Does not connect yet. MQ_CONFIG if
 * the DSN cannot be used. */
enum mq_status mq_transport_open(struct mq_dsn *dsn, const struct mq_transport_options *options,
                                 struct mq_transport **out, struct mq_error *err);

/* ---- the kinds: each may take over contents of *dsn ---- */

/* SMTP over libcurl's connections: many sessions, our own pipelined transactions (RFC 5321, 2920,
 * 6152, 6531, 1870). */
enum mq_status mq_smtp_new(struct mq_dsn *dsn, const struct mq_transport_options *options,
                           struct mq_transport **out, struct mq_error *err);

/* Connects and logs in as for mail, then quits. `accounts` is as in the options. Appends to `trace`
 * what is said and seen, each as a letter, the length, ":" and a text. The letters: C we, S the
 * relay, * libcurl's own words, T a field of the relay's certificate, E why it failed. The texts
 * have passwords and logins in them.
 */
enum mq_status mq_smtp_probe(const struct mq_dsn *dsn, const char *accounts,
                             struct mq_buffer *trace, struct mq_error *err);

/* Hands mail to a local program that has sendmail's options. Passes an argument vector, never uses
 * a shell. The exit code says what became of the mail (sendmail/exit_code.h).
 *
 * The program gets the whole message or does not run, so a worker that dies leaves no half mail
 * behind. From the program's start on, the mail is like one whose dot is out: its recipients are
 * uncertain until the program has ended.
 *
 * MQ_CONFIG: no command, a relative path, a file that is not a program, or our own program (see
 * sendmail/command.h). A missing program is not an error here, because it may be back after an
 * upgrade; it is the relay's trouble when mail is sent. From the first program's start until the
 * last such transport is freed, SIGCHLD is not ignored. */
enum mq_status mq_sendmail_new(struct mq_dsn *dsn, const struct mq_transport_options *options,
                               struct mq_transport **out, struct mq_error *err);

/* Writes mail into a Maildir (tmp, new, cur): one file per transfer, with LF line ends, Return-Path
 * and an X-Envelope-To per recipient. (Not Delivered-To: Postfix and others would see a loop when
 * such a file is sent again.) Creates missing directories, mode 0700. MQ_CONFIG: a relative path,
 * not a directory, not writable. If the disk is full or the directory is gone later, that is the
 * relay's trouble. A file over the process's size limit is that mail's failure only. */
enum mq_status mq_maildir_new(struct mq_dsn *dsn, const struct mq_transport_options *options,
                              struct mq_transport **out, struct mq_error *err);

/* Accepts everything and sends nothing. */
enum mq_status mq_null_new(struct mq_dsn *dsn, const struct mq_transport_options *options,
                           struct mq_transport **out, struct mq_error *err);

/* A mail API over HTTPS: many requests at once, each with a complete message. MQ_CONFIG: parts of
 * the DSN that the API needs are missing. */
enum mq_status mq_http_new(struct mq_dsn *dsn, const struct mq_transport_options *options,
                           struct mq_transport **out, struct mq_error *err);

/* Connects to an API and, if it has a call that changes nothing, makes that with the key. Appends
 * to `trace` as mq_smtp_probe() does; S is the answer, E why the API cannot be used. */
enum mq_status mq_http_probe(const struct mq_dsn *dsn, struct mq_buffer *trace,
                             struct mq_error *err);

const char *mq_curl_version(void); /* the version of the libcurl in use */

#endif
