/* Plain text from HTML, for readers that show no HTML. Uses libxml2's HTML parser. */
#ifndef MQ_MIME_TEXT_HTML_H
#define MQ_MIME_TEXT_HTML_H

#include <stdbool.h>

#include "core/buffer.h"

/* Whether this build has libxml2. */
bool mq_html_text_available(void);

/* Appends the text of UTF-8 HTML to `out` (initialised), in lines that end with LF, wrapped at 72
 * columns between words. Links become "text <url>", lists get dashes and numbers, images become
 * their alt text. A table row becomes one line if its cells have only text. Scripts, styles and
 * hidden elements are omitted. Never fetches anything. Appends nothing if libxml2 is missing, or
 * does not read the whole HTML because it is nested too deeply (256 levels; more from 2.14 on) or a
 * tag has thousands of attributes (1,000 are always read). Without memory, sets out->failed. */
void mq_html_to_text(struct mq_str html, struct mq_buffer *out);

#endif
