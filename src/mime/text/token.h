/* HTML as tags and text, in the order in which they stand. Used by html.c. */
#ifndef MQ_MIME_TEXT_TOKEN_H
#define MQ_MIME_TEXT_TOKEN_H

#include "core/buffer.h"

struct mq_html_token {
    enum { MQ_HTML_TEXT, MQ_HTML_OPEN, MQ_HTML_CLOSE } kind;
    struct mq_str name; /* of a tag, in any case */
    struct mq_str body; /* the text, or the tag's attributes as they stand */
};

/* Takes the next tag or piece of text off *html; false at the end. Comments, declarations and a tag
 * that never ends are left out. Linear time. */
bool mq_html_take(struct mq_str *html, struct mq_html_token *token);
/* Leaves out what is before the end tag of that name, or all if there is none: scripts and styles
 * have no tags in them. */
void mq_html_skip_raw(struct mq_str *html, struct mq_str name);

/* Whether a tag has an attribute; `value` (initialised) is its value then, decoded. */
bool mq_html_attribute(const struct mq_html_token *tag, const char *name, struct mq_buffer *value);
/* Appends text with its character references replaced. Unknown ones stay as they are. */
void mq_html_decode(struct mq_buffer *out, struct mq_str text);

#endif
