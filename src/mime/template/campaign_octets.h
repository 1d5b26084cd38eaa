/* The stored form of a campaign's message: the fields of compose, one after the other. */
#ifndef MQ_MIME_TEMPLATE_CAMPAIGN_OCTETS_H
#define MQ_MIME_TEMPLATE_CAMPAIGN_OCTETS_H

#include "mime/compose/composer.h"

/* Fields whose arrays are their own and whose texts are borrowed. All zero: none. */
struct mq_campaign_fields {
    struct mq_compose_fields compose;
    struct mq_compose_address *from, *reply_to;
    struct mq_compose_header *headers;
    struct mq_compose_part *parts;
    struct mq_str *unsubscribe;
};

/* Appends the fields, except to, cc, bcc, message_id and date. The parts must be ready. */
void mq_campaign_octets_write(const struct mq_compose_fields *fields, struct mq_buffer *out);
/* Reads them again; the texts point into `octets`. The caller clears `out` (zeroed before) in any
 * case. MQ_CORRUPT: they are not what mq_campaign_octets_write() wrote. */
enum mq_status mq_campaign_octets_read(struct mq_str octets, struct mq_campaign_fields *out,
                                       struct mq_error *err);
void mq_campaign_fields_clear(struct mq_campaign_fields *fields);

#endif
