/* Links as plain text: "text <url>". Used by html.c. */
#ifndef MQ_MIME_TEXT_LINK_H
#define MQ_MIME_TEXT_LINK_H

#include "mime/text/writer.h"

struct mq_text_link {
    struct mq_buffer url;  /* of the open link; empty: none is open, or it leads nowhere */
    struct mq_buffer text; /* without its white space, as far as it is of interest */
    struct mq_buffer word; /* to be written */
};

void mq_text_link_init(struct mq_text_link *link);
void mq_text_link_clear(struct mq_text_link *link);
bool mq_text_link_failed(const struct mq_text_link *link);

void mq_text_link_open(struct mq_text_link *link, struct mq_str href);
/* Text of the open link, if one is; the caller writes it. */
void mq_text_link_add(struct mq_text_link *link, struct mq_str text);
/* Writes the URL, unless the text said it. */
void mq_text_link_close(struct mq_text_link *link, struct mq_text_writer *writer);

#endif
