/* Who gets a message from whom; and what a complete message's own headers say of it, as sendmail -t
 * deduces it. */
#ifndef MQ_MIME_WIRE_ENVELOPE_H
#define MQ_MIME_WIRE_ENVELOPE_H

#include "core/buffer.h"
#include "core/error.h"

/* Plain addr-specs with domains as A-labels. All zero: nobody. */
struct mq_envelope {
    char *from;                   /* malloc'ed; NULL: the message does not say */
    struct mq_strings recipients; /* each once */
};

void mq_envelope_clear(struct mq_envelope *envelope);

/* Read the header section of a message with any line ends (CRLF, LF, CR), with its Bcc still in it.
 * Fields that do not count are not looked at. Of several blocks of Resent- fields the topmost
 * counts (RFC 5322, 3.6.6). MQ_MESSAGE names the field at fault ("Bcc") or "message". */

/* *from (malloc'ed; NULL: the message does not say): the first of Resent-Sender, Resent-From,
 * Sender and From that has an address; of a list, the first one. */
enum mq_status mq_envelope_sender(struct mq_str raw, char **from, struct mq_error *err);
/* Those of Resent-To, Resent-Cc and Resent-Bcc where the message has one of these fields, else of
 * To, Cc and Bcc; each once. They replace what the list had. */
enum mq_status mq_envelope_recipients(struct mq_str raw, struct mq_strings *recipients,
                                      struct mq_error *err);

#endif
