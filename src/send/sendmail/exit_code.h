/* What the end of a sendmail program means for the mail: the one table in which that is decided. */
#ifndef MQ_SEND_SENDMAIL_EXIT_CODE_H
#define MQ_SEND_SENDMAIL_EXIT_CODE_H

#include "core/buffer.h"
#include "send/transfer.h"

/* The outcome of all recipients: the program does not say which. RELEASED: no mail can go this way,
 * which is the relay's trouble. `status` as waitpid() gives it, -1: unknown. */
enum mq_outcome mq_sendmail_judge(int status);
/* The reason in words: how it ended, then what it printed, the end of it where it is long. */
void mq_sendmail_describe(int status, struct mq_str printed, char out[MQ_TARGET_REPLY_MAX]);

#endif
