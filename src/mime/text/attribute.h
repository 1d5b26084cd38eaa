/* Attributes of an HTML element, as libxml2 gives them: names and values in turn, NULL at the end.
 * Used by html.c. */
#ifndef MQ_MIME_TEXT_ATTRIBUTE_H
#define MQ_MIME_TEXT_ATTRIBUTE_H

#include "core/buffer.h"

/* data is NULL where the element has none of that name. */
struct mq_str mq_html_attribute(const unsigned char **attributes, const char *name);
/* A decimal number, `otherwise` where there is none. */
int mq_html_number(struct mq_str value, int otherwise);
/* Whether the element is not shown: the attribute hidden, or its style says so. */
bool mq_html_hidden(const unsigned char **attributes);

#endif
