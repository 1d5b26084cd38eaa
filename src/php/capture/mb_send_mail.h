/* What mb_send_mail() makes of its arguments before it goes on as mail() does. */
#ifndef MQ_PHP_CAPTURE_MB_SEND_MAIL_H
#define MQ_PHP_CAPTURE_MB_SEND_MAIL_H

#include "php/capture/header_text.h"

#include "core/error.h"

/* Encodes the subject, converts the text and adds the MIME fields that the headers do not have, by
 * mb_language() and the internal encoding. MQ_CONFIG where one of mbstring's functions is missing
 * or refuses. */
enum mq_status mq_capture_mb_convert(struct mq_capture *mail, struct mq_error *err);

#endif
