/* The message of a campaign: composed once with placeholders, rendered for each recipient.
 *
 *   mq_campaign_message_make()    the fields of compose → octets, which are stored once
 *   mq_campaign_message_open()    these octets → a message, once a run
 *   mq_campaign_message_check()   for each recipient before it is stored
 *   mq_campaign_message_render()  for each mail: the same octets as mq_compose() with the values in
 *                                 the place of the placeholders
 *
 * Attachments are encoded by make(), and only copied for each mail. */
#ifndef MQ_MIME_TEMPLATE_CAMPAIGN_MESSAGE_H
#define MQ_MIME_TEMPLATE_CAMPAIGN_MESSAGE_H

#include "core/buffer.h"
#include "core/error.h"

struct mq_compose_fields;
struct mq_envelope;
struct mq_campaign_message; /* for one thread at a time: it keeps its memory from mail to mail */

/* Who gets a mail, and what makes it that mail; borrowed. Templates see the name as {{name}}, the
 * address as {{address}} and the first URI as {{unsubscribe}}, unless the fields have that name. */
struct mq_campaign_recipient {
    struct mq_str address;            /* a plain addr-spec */
    struct mq_str name;               /* display name, UTF-8; may be empty */
    struct mq_str fields;             /* a JSON object; empty: none */
    const struct mq_str *unsubscribe; /* URIs in the place of the message's; count 0: those */
    size_t unsubscribe_count;
    const char *message_id; /* render() only: "<…@…>" */
    int64_t date_s;         /* render() only: UTC */
};

/* Checks the fields as mq_compose() does, and appends the message to `out` (initialised, empty).
 * subject, text, html, the values of headers, and unsubscribe are templates; in unsubscribe each
 * value is percent-encoded. Not used: message_id and date_s. MQ_MESSAGE, MQ_IO with the field: what
 * mq_compose() refuses, a bad template (template.h), and anything in to, cc or bcc. */
enum mq_status mq_campaign_message_make(const struct mq_compose_fields *fields,
                                        struct mq_buffer *out, struct mq_error *err);
/* Copies `octets` and compiles the templates. MQ_CORRUPT, or MQ_MESSAGE from a template: make() of
 * this version did not write them. */
enum mq_status mq_campaign_message_open(struct mq_str octets, struct mq_campaign_message **out,
                                        struct mq_error *err);
void mq_campaign_message_free(struct mq_campaign_message *message); /* NULL is allowed */

/* Renders the templates, and tries the headers: MQ_MESSAGE if render() would refuse the fields, the
 * name or the URIs, with the field ("subject", "fields"). Not checked: the address (mime/idn.h),
 * and the size. */
enum mq_status mq_campaign_message_check(struct mq_campaign_message *message,
                                         const struct mq_campaign_recipient *recipient,
                                         struct mq_error *err);
/* Appends the mail in wire form to `out` (initialised, empty) and fills the envelope (initialised).
 * MQ_MESSAGE with the field: as check(), a bad address or URI, text and html that are both blank,
 * more than the max_size that make() was given. */
enum mq_status mq_campaign_message_render(struct mq_campaign_message *message,
                                          const struct mq_campaign_recipient *recipient,
                                          struct mq_buffer *out, struct mq_envelope *envelope,
                                          struct mq_error *err);

#endif
