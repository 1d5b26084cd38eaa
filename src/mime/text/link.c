/* Links as text. The URL is left out where the link's text says it already. */
#include "mime/text/link.h"

#include <string.h>

#include "core/ascii.h"

#define TEXT_MAX 2048 /* a longer text is no URL */

void mq_text_link_init(struct mq_text_link *link)
{
    mq_buffer_init(&link->url);
    mq_buffer_init(&link->text);
    mq_buffer_init(&link->word);
}

void mq_text_link_clear(struct mq_text_link *link)
{
    mq_buffer_clear(&link->url);
    mq_buffer_clear(&link->text);
    mq_buffer_clear(&link->word);
}

bool mq_text_link_failed(const struct mq_text_link *link)
{
    return link->url.failed || link->text.failed || link->word.failed;
}

/* Takes a prefix off, whatever its case. */
static bool cut(struct mq_str *text, const char *prefix)
{
    bool begins = mq_str_begins_nocase(*text, prefix);
    *text = mq_str_skip(*text, begins ? strlen(prefix) : 0);
    return begins;
}

/* The address of a mailto: URI, decoded; other fields of it are left out. */
static void put_address(struct mq_buffer *out, struct mq_str text)
{
    for (size_t i = 0; i < text.len && text.data[i] != '?'; i++) {
        int high = i + 2 < text.len ? mq_hex_value(text.data[i + 1]) : -1;
        int low = i + 2 < text.len ? mq_hex_value(text.data[i + 2]) : -1;
        int c = high * 16 + low;
        if (text.data[i] == '%' && high >= 0 && low >= 0 && c > ' ' && c < 0x7f) {
            mq_buffer_char(out, (char)c);
            i += 2;
        } else {
            mq_buffer_char(out, text.data[i]);
        }
    }
}

/* Without what browsers leave out, and nothing in it that ends "<url>". */
static void put_url(struct mq_buffer *out, struct mq_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        if (c == ' ' || c == '<' || c == '>' || c == '"') {
            mq_buffer_printf(out, "%%%02X", (unsigned)c);
        } else if ((unsigned char)c > ' ' && c != 0x7f) {
            mq_buffer_char(out, c);
        }
    }
}

void mq_text_link_open(struct mq_text_link *link, struct mq_str href)
{
    static const char *const nowhere[] = {
        "#", "javascript:", "vbscript:", "data:", "cid:", "about:"};
    struct mq_str text = mq_str_trim(href);
    link->url.len = link->text.len = 0;
    if (cut(&text, "mailto:")) {
        put_address(&link->url, text);
        return;
    }
    put_url(&link->url, text);
    struct mq_str url = mq_buffer_view(&link->url);
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
        if (cut(&url, nowhere[i])) {
            link->url.len = 0;
        }
    }
}

void mq_text_link_add(struct mq_text_link *link, struct mq_str text)
{
    for (size_t i = 0; i < text.len && link->url.len > 0 && link->text.len < TEXT_MAX; i++) {
        if ((unsigned char)text.data[i] > ' ') {
            mq_buffer_char(&link->text, text.data[i]);
        }
    }
}

/* Without what is not said of a URL. */
static struct mq_str spoken(struct mq_str url)
{
    if (!cut(&url, "https://")) {
        cut(&url, "http://");
    }
    cut(&url, "mailto:");
    while (url.len > 0 && url.data[url.len - 1] == '/') {
        url.len--;
    }
    return url;
}

void mq_text_link_close(struct mq_text_link *link, struct mq_text_writer *writer)
{
    struct mq_str url = mq_buffer_view(&link->url);
    struct mq_str text = mq_buffer_view(&link->text);
    link->url.len = 0;
    if (url.len == 0 || mq_text_link_failed(link) ||
        mq_str_equal_nocase(spoken(url), spoken(text))) {
        return;
    }
    link->word.len = 0;
    mq_buffer_char(&link->word, '<');
    mq_buffer_str(&link->word, url);
    mq_buffer_char(&link->word, '>');
    if (text.len > 0) {
        mq_text_put_behind(writer, mq_buffer_view(&link->word));
    } else {
        mq_text_put(writer, MQ_STR(" "));
        mq_text_put(writer, mq_buffer_view(&link->word));
    }
}
