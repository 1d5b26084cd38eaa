/* The envelope of a message, and its search in the header fields of a complete message, as sendmail
 * -t does it. */
#ifndef MQ_MIME_WIRE_ENVELOPE_H
#define MQ_MIME_WIRE_ENVELOPE_H

#include "core/buffer.h"
#include "core/error.h"

/* Plain addr-specs with domains as A-labels. All zero: no sender, no recipients. */
struct mq_envelope {
    char *from;                   /* malloc'ed; NULL: the message names none */
    struct mq_strings recipients; /* without duplicates */
};

void mq_envelope_clear(struct mq_envelope *envelope);

/* Both functions read the header section of a message with any line ends (CRLF, LF, CR) that still
 * has its Bcc. They parse only the fields that they use. Of several blocks of Resent- fields the
 * topmost counts (RFC 5322, 3.6.6). MQ_MESSAGE names the field at fault ("Bcc") or "message". */

/* Sets *from (malloc'ed) to the first address of Resent-Sender; if it has none, of Resent-From,
 * then of Sender, then of From. NULL: none of them has one. */
enum mq_status mq_envelope_sender(struct mq_str raw, char **from, struct mq_error *err);
/* Replaces the contents of `recipients` by the addresses of Resent-To, Resent-Cc and Resent-Bcc if
 * the message has one of these fields, or else of To, Cc and Bcc; each once. */
enum mq_status mq_envelope_recipients(struct mq_str raw, struct mq_strings *recipients,
                                      struct mq_error *err);

#endif
