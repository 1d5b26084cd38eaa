#include "mime/html_text_source.h"

#include <string.h>

#define MARK_MAX 256

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
    rest->data += len;
    rest->len -= len;
    return (int)len;
}
