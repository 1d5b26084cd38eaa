/* What mb_send_mail() makes of its arguments before it goes on as mail() does. */
#ifndef MQ_PHP_CAPTURE_MB_SEND_MAIL_H
#define MQ_PHP_CAPTURE_MB_SEND_MAIL_H

#include "php/capture/header_text.h"

#include "core/error.h"

/* Encodes the subject, converts the message and adds the MIME headers, by mb_language() and the
 * internal encoding; `mail` has them as they were given. Uses mbstring's public functions, for its
 * own one sends at once. MQ_CONFIG where one of them is missing or refuses. */
enum mq_status mq_capture_mb_convert(struct mq_capture *mail, struct mq_error *err);

#endif
