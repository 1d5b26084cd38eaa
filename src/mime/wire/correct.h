/* A stored message made into a new one: with another address in its headers, a new Message-ID and
 * Date. */
#ifndef MQ_MIME_WIRE_CORRECT_H
#define MQ_MIME_WIRE_CORRECT_H

#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"

struct mq_correction {
    struct mq_str wrong; /* addr-spec to be replaced, in any case; data NULL: none */
    struct mq_str right;
    const char *message_id; /* "<…@…>" */
    int64_t date_s;
};

/* Whether the message has a signature that covers its headers: then it must not be corrected. */
bool mq_message_is_signed(struct mq_str wire);
/* Whether its link to unsubscribe has the parameter t (mime/unsubscribe.h), which names the
 * recipient if the mail is to one of our lists. */
bool mq_message_has_token(struct mq_str wire);
/* Appends the corrected form of a message in wire form to `out` (initialised, empty): `right` in
 * place of `wrong` in To, Cc, Resent-To and Resent-Cc, where names and all else stay. A field that
 * cannot be read stays as it is. */
enum mq_status mq_message_correct(struct mq_str wire, const struct mq_correction *correction,
                                  struct mq_buffer *out, struct mq_error *err);
/* Makes "<32 hex digits@domain>" (RFC 5322, section 3.6.4) with the domain of the address, which
 * may be NULL. malloc'ed; NULL without memory. */
char *mq_message_new_id(const char *address);

#endif
