/* ASCII characters and prefixes, whatever the locale. */
#ifndef MQ_CORE_ASCII_H
#define MQ_CORE_ASCII_H

#include <string.h>
#include <strings.h>

#include "core/buffer.h"

/* Space or tab: WSP of RFC 5234, appendix B.1. */
static inline bool mq_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static inline bool mq_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline char mq_ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static inline bool mq_str_begins(struct mq_str s, const char *prefix)
{
    size_t len = strlen(prefix);
    return s.len >= len && memcmp(s.data, prefix, len) == 0;
}

static inline bool mq_str_begins_nocase(struct mq_str s, const char *prefix)
{
    size_t len = strlen(prefix);
    return s.len >= len && mq_str_equal_nocase((struct mq_str){s.data, len}, mq_str_of(prefix));
}

#endif
