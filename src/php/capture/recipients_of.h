/* The envelope of a captured mail, as sendmail -t -i finds it. */
#ifndef MQ_PHP_CAPTURE_RECIPIENTS_OF_H
#define MQ_PHP_CAPTURE_RECIPIENTS_OF_H

#include "core/buffer.h"
#include "core/error.h"
#include "mime/wire/envelope.h"
#include "php/capture/command_line.h"

#define MQ_CAPTURE_ADDRESS_MAX 320
#define MQ_CAPTURE_FROM_MAX    2048

/* The sender that -f names. */
struct mq_capture_sender {
    bool given;
    char address[MQ_CAPTURE_ADDRESS_MAX]; /* "": the null reverse-path */
};

/* MQ_MESSAGE with the field "-f". Addresses without a domain get this host's. */
enum mq_status mq_capture_sender_read(const struct mq_capture_command *command,
                                      struct mq_capture_sender *out, struct mq_error *err);

/* The field ("From: …", with its line end) for a message that has no From: with the sender that -f
 * names, else the ini setting sendmail_from, else the user at this host. */
enum mq_status mq_capture_from(const struct mq_capture_command *command,
                               const struct mq_capture_sender *sender,
                               char out[MQ_CAPTURE_FROM_MAX], struct mq_error *err);

/* Recipients: those of the message (which has its Bcc) and of the command. Sender: -f's, else the
 * message's, else as above. `out` is initialised; no request memory is asked for. MQ_MESSAGE with
 * the field. */
enum mq_status mq_capture_envelope(struct mq_str message, const struct mq_capture_command *command,
                                   const struct mq_capture_sender *sender, struct mq_envelope *out,
                                   struct mq_error *err);

#endif
