/* HTML as a stream for libxml2. Used by html.c. */
#ifndef MQ_MIME_TEXT_SOURCE_H
#define MQ_MIME_TEXT_SOURCE_H

#include "core/buffer.h"

struct mq_html_source {
    struct mq_str rest;
    size_t blank; /* so much of it is to be blank */
    enum {
        MQ_HTML_OUTSIDE,
        MQ_HTML_BEGUN, /* behind "<" */
        MQ_HTML_TAG,
        MQ_HTML_VALUE, /* behind "=" */
        MQ_HTML_UNQUOTED,
        MQ_HTML_QUOTED
    } state;
    char quote;          /* that ends the value */
    bool apart;          /* behind a blank of the tag */
    unsigned attributes; /* of the tag, about */
};

/* A read callback of libxml2's; `source` is the structure. Conditional marks of old mail programs
 * ("<![if !mso]>", "<![endif]>"), which libxml2 takes for text, come as blanks: so places in the
 * text stay the same. A tag with more than about 1,000 attributes ends there, for libxml2 compares
 * each with all before it. */
int mq_html_source_read(void *source, char *buffer, int size);

#endif
