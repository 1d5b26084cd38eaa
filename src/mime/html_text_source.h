/* HTML as a stream for libxml2. Used by html_text.c. */
#ifndef MQ_MIME_HTML_TEXT_SOURCE_H
#define MQ_MIME_HTML_TEXT_SOURCE_H

#include "core/buffer.h"

struct mq_html_source {
    struct mq_str rest;
    size_t blank; /* so much of it is to be blank */
};

/* A read callback of libxml2's; `source` is the structure. Conditional marks of old mail programs
 * ("<![if !mso]>", "<![endif]>"), which libxml2 takes for text, come as blanks: so places in the
 * text stay the same. */
int mq_html_source_read(void *source, char *buffer, int size);

#endif
