/* A captured mail with what sendmail -t -i would add to it. */
#ifndef MQ_PHP_CAPTURE_AS_SENDMAIL_H
#define MQ_PHP_CAPTURE_AS_SENDMAIL_H

#include "php/capture/header_text.h"
#include "php/message/mail.h"

/* Sets the message and the sender of the envelope: -f's, else the message's, else the ini setting
 * sendmail_from, else the user that PHP runs as. A message without From gets one. Users of this
 * host get its domain. Recipients of the command line become a Bcc. MQ_MESSAGE with the field:
 * "-f", "sendmail_from". `args` is zeroed; the caller clears it, also on failure. */
enum mq_status mq_capture_arguments(const struct mq_capture *mail, struct mq_php_arguments *args,
                                    struct mq_error *err);

#endif
