/* The command of sendmail://, and the argument vector that it makes for a transfer; used by
 * sendmail.c only. */
#ifndef MQ_SEND_SENDMAIL_COMMAND_H
#define MQ_SEND_SENDMAIL_COMMAND_H

#include "core/buffer.h"
#include "core/error.h"
#include "send/transfer.h"

/* In the environment of what we start. Our own drop-in must refuse to queue where it is set: it
 * would be the mail that we are sending, and come back for ever. */
#define MQ_SENDMAIL_DEPTH "MAILQUEUE_TRANSPORT_DEPTH=1"

/* Makes program and options, at least one word, ready to be followed by sender and recipients:
 * options that name either are removed, for the queue's are given. MQ_CONFIG, field "transport": a
 * relative program, a mode that takes no mail on standard input (-bs …), recipients in the command,
 * an unknown --read…: it may be msmtp's for recipients; several short options in one word of which
 * the last has a value (-toi). Looks at no file. */
enum mq_status mq_sendmail_command_parse(struct mq_strings *words, struct mq_error *err);

/* Whether the program can be what hands mail over. MQ_CONFIG: it is not a file that we may execute,
 * or it is ours (`own`: its path; NULL: not known), which would put the mail into the queue again.
 * A missing program is not an error here: it may be back after an upgrade. */
enum mq_status mq_sendmail_command_check(const struct mq_strings *words, const char *own,
                                         struct mq_error *err);

/* Whether the program is known to take -N, -R and -V for delivery status notifications: Postfix's
 * sendmail, with postconf beside it. No other is asked: Exim's -N means "do not deliver". */
bool mq_sendmail_command_takes_status(const struct mq_strings *words);

/* malloc'ed, in one piece; its strings are its own, or borrowed from words and transfer. With
 * `status` what the transfer asks for of notifications. NULL without memory. */
char **mq_sendmail_command_argv(const struct mq_strings *words, const struct mq_transfer *transfer,
                                bool status);

#endif
