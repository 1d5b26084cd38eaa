/* Plain text from HTML, for readers that show no HTML: by libxml2's HTML parser. */
#ifndef MQ_MIME_TEXT_HTML_H
#define MQ_MIME_TEXT_HTML_H

#include <stdbool.h>

#include "core/buffer.h"
#include "core/error.h"

/* Whether this build can. */
bool mq_html_text_available(void);

/* Appends the text of UTF-8 HTML to `out` (initialised), lines ending in LF, wrapped at 72 columns
 * where words allow. Links become "text <url>", lists get dashes and numbers, table rows a line
 * each as far as their cells hold text only, images their alt text; scripts, styles and the head
 * are left out. Never fetches anything, never follows entities; linear in the size, whatever the
 * nesting (but libxml2 before 2.14 compares all attributes of one tag with each other). MQ_MESSAGE,
 * field "html": not UTF-8; MQ_NOMEM; MQ_CONFIG where the build cannot. */
enum mq_status mq_html_to_text(struct mq_str html, struct mq_buffer *out, struct mq_error *err);

#endif
