/* Writes values as HTML, URIs, headers and text need them. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/ascii.h"
#include "core/hex.h"
#include "mime/template/internal.h"

/* What stands for a character in content and in quoted attributes of HTML; NULL: itself. */
static const char *entity(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

static void put_html(struct mq_buffer *out, struct mq_str value)
{
    size_t begin = 0;
    for (size_t i = 0; i < value.len; i++) {
        const char *escaped = entity(value.data[i]);
        if (escaped != NULL) {
            mq_buffer_append(out, value.data + begin, i - begin);
            mq_buffer_cstr(out, escaped);
            begin = i + 1;
        }
    }
    mq_buffer_str(out, mq_str_skip(value, begin));
}

/* RFC 3986, 2.3. */
static bool is_unreserved(char c)
{
    return mq_is_alnum(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

static void put_uri(struct mq_buffer *out, struct mq_str value)
{
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.data[i];
        char coded[3] = {'%'};
        mq_hex_put(coded + 1, c);
        bool plain = is_unreserved((char)c);
        mq_buffer_append(out, plain ? value.data + i : coded, plain ? 1 : sizeof coded);
    }
}

void mq_template_put(struct mq_buffer *out, enum mq_template_kind kind, struct mq_str value)
{
    if (kind == MQ_TEMPLATE_HTML) {
        put_html(out, value);
    } else if (kind == MQ_TEMPLATE_URI) {
        put_uri(out, value);
    } else {
        mq_buffer_str(out, value);
    }
}

enum mq_status mq_template_bad(const struct mq_template *template, size_t at, struct mq_error *err,
                               const char *format, ...)
{
    char text[MQ_ERROR_TEXT_MAX];
    size_t line = 1;
    size_t column = 1;
    va_list args;
    for (size_t i = 0; i < at; i++) {
        char c = template->source[i];
        bool ends = c == '\n' || (c == '\r' && template->source[i + 1] != '\n');
        line += ends;
        /* Columns count characters, not the other bytes of UTF-8. */
        column = ends ? 1 : column + (((unsigned char)c & 0xC0) != 0x80);
    }
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return mq_error_set(err, MQ_MESSAGE, template->part, "%s: line %zu, column %zu: %s",
                        template->part, line, column, text);
}
