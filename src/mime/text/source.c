/* Hands HTML to libxml2 and keeps from it what it would misread or be slow at. */
#include "mime/text/source.h"

#include <string.h>

#include "core/ascii.h"

#define MARK_MAX       256
#define ATTRIBUTES_MAX 1000

/* Length of the mark that text begins with; 0: it begins with none. */
static size_t mark_length(struct mq_str text)
{
    const char *end = memchr(text.data, '>', text.len < MARK_MAX ? text.len : MARK_MAX);
    size_t len = end ? (size_t)(end - text.data) + 1 : 0;
    bool mark = (len > 6 && memcmp(text.data, "<![if", 5) == 0) ||
                (len > 9 && memcmp(text.data, "<![endif", 8) == 0);
    return mark && end[-1] == ']' ? len : 0;
}

/* How much of at most `len` can be read as it stands; sets blank where a mark begins. */
static size_t plain_length(struct mq_html_source *source, size_t len)
{
    struct mq_str rest = source->rest;
    const char *mark = memmem(rest.data, len, "<![", 3);
    if (mark && mark > rest.data) {
        return (size_t)(mark - rest.data);
    }
    if (mark) {
        source->blank = mark_length(rest);
        return 3;
    }
    return len < rest.len && len > 2 ? len - 2 : len; /* one may begin there */
}

static bool is_white(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Within a tag: c, or what ends it there. */
static char limit_tag(struct mq_html_source *source, char c)
{
    bool blank = is_white(c);
    if (source->attributes >= ATTRIBUTES_MAX && (blank || c == '=')) {
        c = '>';
    }
    source->attributes += blank && !source->apart;
    source->apart = blank;
    source->state = c == '>'   ? MQ_HTML_OUTSIDE
                    : c == '=' ? MQ_HTML_VALUE
                    : blank    ? MQ_HTML_TAG
                               : source->state;
    return c;
}

/* Behind "=". */
static void begin_value(struct mq_html_source *source, char c)
{
    if (c == '"' || c == '\'') {
        source->state = MQ_HTML_QUOTED;
        source->quote = c;
    } else if (c == '>') {
        source->state = MQ_HTML_OUTSIDE;
    } else if (!is_white(c)) {
        source->state = MQ_HTML_UNQUOTED;
        source->apart = false;
    }
}

/* The next character, as it is to be read. */
static char limit(struct mq_html_source *source, char c)
{
    switch (source->state) {
    case MQ_HTML_OUTSIDE:
        source->state = c == '<' ? MQ_HTML_BEGUN : MQ_HTML_OUTSIDE;
        return c;
    case MQ_HTML_BEGUN:
        source->state = mq_is_alpha(c) ? MQ_HTML_TAG : c == '<' ? MQ_HTML_BEGUN : MQ_HTML_OUTSIDE;
        source->attributes = 0;
        source->apart = false;
        return c;
    case MQ_HTML_VALUE:
        begin_value(source, c);
        return c;
    case MQ_HTML_QUOTED:
        if (c == source->quote) {
            source->state = MQ_HTML_TAG;
            source->attributes++;
            source->apart = true; /* no blank is needed */
        }
        return c;
    case MQ_HTML_UNQUOTED:
        return c == '=' ? c : limit_tag(source, c);
    case MQ_HTML_TAG:
        break;
    }
    return limit_tag(source, c);
}

int mq_html_source_read(void *context, char *buffer, int size)
{
    struct mq_html_source *source = context;
    struct mq_str *rest = &source->rest;
    size_t len = rest->len < (size_t)size ? rest->len : (size_t)size;
    if (len == 0) {
        return 0;
    }
    if (source->blank == 0) {
        size_t plain = plain_length(source, len);
        len = source->blank == 0 ? plain : len;
    }
    if (source->blank > 0) {
        len = source->blank < len ? source->blank : len;
        memset(buffer, ' ', len);
        source->blank -= len;
    } else {
        memcpy(buffer, rest->data, len);
    }
    for (size_t i = 0; i < len; i++) {
        buffer[i] = limit(source, buffer[i]);
    }
    rest->data += len;
    rest->len -= len;
    return (int)len;
}
