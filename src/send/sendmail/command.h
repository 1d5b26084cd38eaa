/* Parses the command of sendmail:// and makes the argument vector for a transfer. Used by
 * sendmail.c only. */
#ifndef MQ_SEND_SENDMAIL_COMMAND_H
#define MQ_SEND_SENDMAIL_COMMAND_H

#include "core/buffer.h"
#include "core/error.h"
#include "send/transfer.h"

/* Set in the environment of the programs that we start. Then mail() is not captured and `mailqueue
 * sendmail` refuses: they would queue the mail that we are sending, again and again. */
#define MQ_SENDMAIL_DEPTH "MAILQUEUE_TRANSPORT_DEPTH=1"

/* Prepares program and options (at least one word) so that sender and recipients can follow:
 * removes options that name either, because the queue gives its own. MQ_CONFIG, field "transport":
 * a relative path; a mode that takes no mail on standard input (-bs …); recipients in the command;
 * an unknown --read…, which may read recipients, as msmtp's does; several short options in one
 * word, the last with a value (-toi). Looks at no file. */
enum mq_status mq_sendmail_command_parse(struct mq_strings *words, struct mq_error *err);

/* Checks that the program can hand mail over. MQ_CONFIG: it is not a file that this user may
 * execute, or it is our own (`own`: its path; NULL: not known), which would put the mail into the
 * queue again. A missing program is not an error here: it may be back after an upgrade. */
enum mq_status mq_sendmail_command_check(const struct mq_strings *words, const char *own,
                                         struct mq_error *err);

/* Whether the program takes -N, -R and -V for delivery status notifications. True only for
 * Postfix's sendmail, which has postconf beside it: Exim's -N means "do not deliver". */
bool mq_sendmail_command_takes_status(const struct mq_strings *words);

/* Returns the argument vector, malloc'ed in one piece, or NULL without memory. Its strings are
 * within it or borrowed. `status`: with the options for the notifications that the transfer
 * wants. */
char **mq_sendmail_command_argv(const struct mq_strings *words, const struct mq_transfer *transfer,
                                bool status);

#endif
