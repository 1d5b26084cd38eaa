/* Byte strings: borrowed views, growing buffers, lists of strings. */
#ifndef MQ_CORE_BUFFER_H
#define MQ_CORE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A borrowed view of bytes, which need no NUL behind them. data may be NULL when len is 0. */
struct mq_str {
    const char *data;
    size_t len;
};
#define MQ_STR(literal)    ((struct mq_str){(literal), sizeof(literal) - 1})
#define MQ_DIGITS(macro)   MQ_LITERAL(macro) /* of a number, as a literal: "32" */
#define MQ_LITERAL(digits) #digits
struct mq_str mq_str_of(const char *c_string); /* NULL gives an empty view */
bool mq_str_equal(struct mq_str a, struct mq_str b);
bool mq_str_equal_nocase(struct mq_str a, struct mq_str b); /* ASCII only */
struct mq_str mq_str_trim(struct mq_str s);                 /* without SP, HTAB, CR, LF around */
bool mq_str_ascii(struct mq_str s);                         /* no byte of 0x80 or above */
/* Which of the words, between which are spaces, equals s: its index, or -1. */
int mq_str_word(struct mq_str s, const char *words, bool (*equal)(struct mq_str, struct mq_str));
char *mq_str_dup(struct mq_str s); /* malloc'ed, NUL-terminated; NULL without memory */

/* A growing buffer in the caller's storage. An append that finds no memory sets `failed`; it and
 * all later ones change nothing, so a writer checks `failed` once, at the end. After an append,
 * data ends with a NUL that len does not count. */
struct mq_buffer {
    char *data;
    size_t len;
    size_t capacity;
    bool failed;
};
void mq_buffer_clear(struct mq_buffer *buffer); /* frees; usable again afterwards */
void mq_buffer_wipe(struct mq_buffer *buffer);  /* the same for secrets: overwrites them first */
void mq_buffer_reset(struct mq_buffer *buffer); /* empties, keeps the memory, clears failed */
void mq_buffer_reserve(struct mq_buffer *buffer, size_t more);
void mq_buffer_append(struct mq_buffer *buffer, const void *data, size_t len);
void mq_buffer_str(struct mq_buffer *buffer, struct mq_str s);
void mq_buffer_cstr(struct mq_buffer *buffer, const char *s);
void mq_buffer_char(struct mq_buffer *buffer, char c);
void mq_buffer_utf8(struct mq_buffer *buffer, uint32_t code); /* a code point */
void mq_buffer_int(struct mq_buffer *buffer, int64_t value);
void mq_buffer_printf(struct mq_buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *mq_buffer_take(struct mq_buffer *buffer); /* malloc'ed; NULL: failed or empty. Then empty */
static inline struct mq_str mq_buffer_view(const struct mq_buffer *buffer)
{
    return (struct mq_str){buffer->data, buffer->len};
}

/* A list of NUL-terminated strings that it owns. */
struct mq_strings {
    char **items;
    size_t count, capacity;
};
void mq_strings_clear(struct mq_strings *list);
void mq_strings_cut(struct mq_strings *list, size_t count);    /* keeps the first `count` */
bool mq_strings_add(struct mq_strings *list, struct mq_str s); /* copies; false without memory */
bool mq_strings_contains(const struct mq_strings *list, const char *s);

/* Length of the longest prefix of s, at most max bytes, that does not cut a UTF-8 character. */
size_t mq_utf8_cut(struct mq_str s, size_t max);
/* Length of the well-formed UTF-8 character that s begins with; 0: none. *code: its code point. */
size_t mq_utf8_next(struct mq_str s, uint32_t *code); /* code may be NULL */
size_t mq_utf8_span(struct mq_str s); /* length of the well-formed UTF-8 that s begins with */
bool mq_utf8_valid(struct mq_str s);  /* RFC 3629: no surrogates, no overlong forms */
/* Whether a character controls a terminal or the order in which text is shown: C0, DEL, C1, line
 * and paragraph separators, and characters that change the direction (UAX #9). */
bool mq_utf8_steers(uint32_t code);
/* Appends s made printable: U+FFFD for invalid UTF-8, '?' where mq_utf8_steers() is true. */
void mq_buffer_printable(struct mq_buffer *buffer, struct mq_str s);
/* Appends s, made printable in this way, to an array of `size` bytes (at least 1), of which `used`
 * are in use. Cuts only between characters and ends with a NUL. Returns the new length. */
size_t mq_str_printable(char *out, size_t size, size_t used, struct mq_str s);

#endif
