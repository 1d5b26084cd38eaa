/* Plain text from HTML, for readers that show no HTML. */
#ifndef MQ_MIME_TEXT_HTML_H
#define MQ_MIME_TEXT_HTML_H

#include "core/buffer.h"
#include "core/error.h"

/* Appends the text of UTF-8 HTML to `out` (initialised), lines ending in LF, wrapped at 72 columns
 * where words allow. Links become "text <url>", lists get dashes and numbers, table rows a line
 * each as far as their cells hold text only, images their alt text; scripts, styles and what is
 * hidden are left out. Never fetches anything; linear in the size, whatever the nesting.
 * MQ_MESSAGE, field "html": not UTF-8; MQ_NOMEM. */
enum mq_status mq_html_to_text(struct mq_str html, struct mq_buffer *out, struct mq_error *err);

#endif
