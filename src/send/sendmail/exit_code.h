/* What the end of a sendmail program means for the mail: the one table in which that is decided. */
#ifndef MQ_SEND_SENDMAIL_EXIT_CODE_H
#define MQ_SEND_SENDMAIL_EXIT_CODE_H

#include "core/buffer.h"
#include "send/transfer.h"

/* Returns one outcome for all recipients: a program does not report on each. RELEASED: no mail can
 * go this way; that is the relay's trouble. `status` is that of waitpid(), or -1: unknown. */
enum mq_outcome mq_sendmail_judge(int status);
/* Writes how the program ended, then what it printed (only the end if that is long). */
void mq_sendmail_describe(int status, struct mq_str printed, char out[MQ_TARGET_REPLY_MAX]);

#endif
