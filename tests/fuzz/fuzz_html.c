/* HTML to text: from any HTML, the text is UTF-8 that a mail may contain, the same each time. */
#include "fuzz.h"

#include <string.h>

#include "mime/text/html.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mq_str html = {(const char *)data, size};
    struct mq_buffer text = {0};
    struct mq_buffer again = {0};
    if (!mq_html_text_available() || !mq_utf8_valid(html)) {
        return 0;
    }
    mq_html_to_text(html, &text);
    REQUIRE(!text.failed && mq_utf8_valid(mq_buffer_view(&text)));
    REQUIRE(text.len == 0 || memchr(text.data, '\0', text.len) == NULL);
    REQUIRE(text.len == 0 || memchr(text.data, '\r', text.len) == NULL);
    mq_html_to_text(html, &again);
    REQUIRE(mq_str_equal(mq_buffer_view(&text), mq_buffer_view(&again)));
    mq_buffer_clear(&text);
    mq_buffer_clear(&again);
    return 0;
}
