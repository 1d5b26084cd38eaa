/* Looks attributes up. Values may have white space around them and any case. */
#include "mime/text/attribute.h"

#include <string.h>

#include "core/ascii.h"

struct mq_str mq_html_attribute(const unsigned char **attributes, const char *name)
{
    for (; attributes && attributes[0]; attributes += 2) {
        if (strcmp((const char *)attributes[0], name) == 0) {
            return attributes[1] ? mq_str_of((const char *)attributes[1]) : MQ_STR("");
        }
    }
    return (struct mq_str){NULL, 0};
}

int mq_html_number(struct mq_str value, int otherwise)
{
    long n = 0;
    value = mq_str_trim(value);
    for (size_t i = 0; i < value.len; i++) {
        if (!mq_is_digit(value.data[i]) || n > 100000000) {
            return otherwise;
        }
        n = n * 10 + (value.data[i] - '0');
    }
    return value.len > 0 ? (int)n : otherwise;
}

/* Whether a style begins with a declaration ("display:none"), white space aside. */
static bool declares(struct mq_str style, const char *declaration)
{
    size_t i = 0;
    for (; i < style.len && *declaration; i++) {
        char c = style.data[i];
        if (c == ' ' || (c >= '\t' && c <= '\r')) {
            continue;
        }
        if (mq_ascii_lower(c) != *declaration++) {
            return false;
        }
    }
    return !*declaration;
}

bool mq_html_hidden(const unsigned char **attributes)
{
    struct mq_str style = mq_html_attribute(attributes, "style");
    while (style.len > 0) {
        if (declares(style, "display:none") || declares(style, "visibility:hidden")) {
            return true;
        }
        const char *end = memchr(style.data, ';', style.len);
        size_t taken = end ? (size_t)(end - style.data) + 1 : style.len;
        style.data += taken;
        style.len -= taken;
    }
    return mq_html_attribute(attributes, "hidden").data != NULL;
}
