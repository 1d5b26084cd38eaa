/* ASCII characters and prefixes. Unlike <ctype.h>, these functions do not depend on the locale. */
#ifndef MQ_CORE_ASCII_H
#define MQ_CORE_ASCII_H

#include <string.h>

#include "core/buffer.h"

/* Space or tab: WSP of RFC 5234, appendix B.1. */
static inline bool mq_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Space, tab or part of a line end, as in a folded field. */
static inline bool mq_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static inline bool mq_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool mq_is_alpha(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool mq_is_alnum(char c)
{
    return mq_is_alpha(c) || mq_is_digit(c);
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

/* The same for texts that end with a NUL. */
static inline bool mq_text_begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static inline bool mq_text_begins_nocase(const char *text, const char *prefix)
{
    return mq_str_begins_nocase((struct mq_str){text, strnlen(text, strlen(prefix))}, prefix);
}

/* Length of s before the first c, or of all of s if it has no c. */
static inline size_t mq_str_find(struct mq_str s, char c)
{
    const char *found = s.len > 0 ? (const char *)memchr(s.data, c, s.len) : NULL;
    return found != NULL ? (size_t)(found - s.data) : s.len;
}

/* s without its first n bytes; n is at most s.len. */
static inline struct mq_str mq_str_skip(struct mq_str s, size_t n)
{
    return n > 0 ? (struct mq_str){s.data + n, s.len - n} : s; /* for n = 0, s.data may be NULL */
}

/* Takes the first n bytes off *s and returns them; n is at most the length of *s. */
static inline struct mq_str mq_str_cut(struct mq_str *s, size_t n)
{
    struct mq_str head = {s->data, n};
    *s = mq_str_skip(*s, n);
    return head;
}

/* Takes the text before the first c, and c, off *s; returns that text. Without a c, takes all. */
static inline struct mq_str mq_str_cut_at(struct mq_str *s, char c)
{
    struct mq_str head = mq_str_cut(s, mq_str_find(*s, c));
    *s = mq_str_skip(*s, s->len > 0);
    return head;
}

#endif
