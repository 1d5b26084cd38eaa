/* Views, growing buffers, lists of strings, UTF-8. */
#include "core/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"

#define PRINTF_ROOM 32 /* most texts of mq_buffer_printf() are shorter */

struct mq_str mq_str_of(const char *c_string)
{
    return (struct mq_str){c_string, c_string ? strlen(c_string) : 0};
}

bool mq_str_equal(struct mq_str a, struct mq_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

bool mq_str_equal_nocase(struct mq_str a, struct mq_str b)
{
    if (a.len != b.len) {
        return false;
    }
    for (size_t i = 0; i < a.len; i++) {
        if (mq_ascii_lower(a.data[i]) != mq_ascii_lower(b.data[i])) {
            return false;
        }
    }
    return true;
}

int mq_str_word(struct mq_str s, const char *words, bool (*equal)(struct mq_str, struct mq_str))
{
    for (int i = 0; *words; i++) {
        size_t len = strcspn(words, " ");
        if (equal(s, (struct mq_str){words, len})) {
            return i;
        }
        words += len + (words[len] == ' ');
    }
    return -1;
}

/* Reads eight bytes at a time, because each enqueue and each delivery checks a whole message. */
bool mq_str_ascii(struct mq_str s)
{
    const uint64_t high = UINT64_C(0x8080808080808080);
    uint64_t seen = 0;
    for (; s.len >= sizeof seen; s.data += sizeof seen, s.len -= sizeof seen) {
        uint64_t word;
        memcpy(&word, s.data, sizeof word);
        seen |= word;
    }
    for (; s.len > 0; s.data++, s.len--) {
        seen |= (unsigned char)*s.data;
    }
    return (seen & high) == 0;
}

struct mq_str mq_str_trim(struct mq_str s)
{
    while (s.len > 0 && mq_is_space(s.data[0])) {
        s.data++;
        s.len--;
    }
    while (s.len > 0 && mq_is_space(s.data[s.len - 1])) {
        s.len--;
    }
    return s;
}

char *mq_str_dup(struct mq_str s)
{
    if (s.len == SIZE_MAX) {
        return NULL;
    }
    char *copy = malloc(s.len + 1);
    if (copy == NULL) {
        return NULL;
    }
    if (s.len > 0) {
        memcpy(copy, s.data, s.len);
    }
    copy[s.len] = '\0';
    return copy;
}

void mq_buffer_clear(struct mq_buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct mq_buffer){0};
}

void mq_buffer_wipe(struct mq_buffer *buffer)
{
    if (buffer->data != NULL) {
        explicit_bzero(buffer->data, buffer->capacity);
    }
    mq_buffer_clear(buffer);
}

void mq_buffer_reset(struct mq_buffer *buffer)
{
    buffer->len = 0;
    buffer->failed = false;
    if (buffer->data != NULL) {
        buffer->data[0] = '\0';
    }
}

void mq_buffer_reserve(struct mq_buffer *buffer, size_t more)
{
    if (buffer->failed) {
        return;
    }
    if (more >= SIZE_MAX / 2 - buffer->len) {
        buffer->failed = true;
        return;
    }
    size_t need = buffer->len + more + 1;
    if (need <= buffer->capacity) {
        return;
    }
    size_t capacity = buffer->capacity < 32 ? 64 : buffer->capacity * 2;
    if (capacity < need) {
        capacity = need;
    }
    char *data = realloc(buffer->data, capacity);
    if (data == NULL) {
        buffer->failed = true;
        return;
    }
    data[buffer->len] = '\0';
    buffer->data = data;
    buffer->capacity = capacity;
}

void mq_buffer_append(struct mq_buffer *buffer, const void *data, size_t len)
{
    mq_buffer_reserve(buffer, len);
    if (buffer->failed) {
        return;
    }
    if (len > 0) {
        memcpy(buffer->data + buffer->len, data, len);
    }
    buffer->len += len;
    buffer->data[buffer->len] = '\0';
}

void mq_buffer_str(struct mq_buffer *buffer, struct mq_str s)
{
    mq_buffer_append(buffer, s.data, s.len);
}

void mq_buffer_cstr(struct mq_buffer *buffer, const char *s)
{
    mq_buffer_str(buffer, mq_str_of(s));
}

void mq_buffer_char(struct mq_buffer *buffer, char c)
{
    if (buffer->failed || buffer->len + 1 >= buffer->capacity) {
        mq_buffer_append(buffer, &c, 1);
        return;
    }
    buffer->data[buffer->len++] = c;
    buffer->data[buffer->len] = '\0';
}

void mq_buffer_utf8(struct mq_buffer *buffer, uint32_t code)
{
    size_t more = (code >= 0x80) + (code >= 0x800) + (code >= 0x10000); /* bytes after the first */
    static const unsigned char begins[] = {0, 0xC0, 0xE0, 0xF0};
    mq_buffer_char(buffer, (char)(begins[more] | code >> 6 * more));
    while (more-- > 0) {
        mq_buffer_char(buffer, (char)(0x80 | (code >> 6 * more & 0x3F)));
    }
}

void mq_buffer_int(struct mq_buffer *buffer, int64_t value)
{
    char text[24];
    int n = snprintf(text, sizeof text, "%lld", (long long)value);
    mq_buffer_append(buffer, text, (size_t)n);
}

void mq_buffer_printf(struct mq_buffer *buffer, const char *format, ...)
{
    va_list args;
    va_list again;
    va_start(args, format);
    va_copy(again, args);
    mq_buffer_reserve(buffer, PRINTF_ROOM);
    if (!buffer->failed) {
        size_t room = buffer->capacity - buffer->len;
        int n = vsnprintf(buffer->data + buffer->len, room, format, args);
        mq_buffer_reserve(buffer, n < 0 ? SIZE_MAX : (size_t)n);
        if (!buffer->failed && (size_t)n >= room) {
            vsnprintf(buffer->data + buffer->len, (size_t)n + 1, format, again);
        }
        buffer->len += buffer->failed ? 0 : (size_t)n;
    }
    va_end(args);
    va_end(again);
}

char *mq_buffer_take(struct mq_buffer *buffer)
{
    char *data = NULL;
    if (!buffer->failed && buffer->len > 0) {
        data = buffer->data;
        buffer->data = NULL;
    }
    mq_buffer_clear(buffer);
    return data;
}

void mq_strings_cut(struct mq_strings *list, size_t count)
{
    while (list->count > count) {
        free(list->items[--list->count]);
    }
}

void mq_strings_clear(struct mq_strings *list)
{
    mq_strings_cut(list, 0);
    free(list->items);
    *list = (struct mq_strings){0};
}

bool mq_strings_add(struct mq_strings *list, struct mq_str s)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? list->capacity * 2 : 4;
        char **items = realloc(list->items, capacity * sizeof *items);
        if (items == NULL) {
            return false;
        }
        list->items = items;
        list->capacity = capacity;
    }
    char *copy = mq_str_dup(s);
    if (copy == NULL) {
        return false;
    }
    list->items[list->count++] = copy;
    return true;
}

bool mq_strings_contains(const struct mq_strings *list, const char *s)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i], s) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* Length of a character that begins with the byte `first`; 0 if no character begins with it. */
static size_t utf8_length(unsigned char first)
{
    return first < 0x80                   ? 1
           : first < 0xC0 || first > 0xF4 ? 0
           : first < 0xE0                 ? 2
           : first < 0xF0                 ? 3
                                          : 4;
}

size_t mq_utf8_next(struct mq_str s, uint32_t *code)
{
    /* Smallest code point of each length; a smaller one is an overlong form. */
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t len = s.len > 0 ? utf8_length((unsigned char)s.data[0]) : 0;
    if (len == 0 || len > s.len) {
        return 0;
    }
    uint32_t value = (unsigned char)s.data[0] & (len == 1 ? 0x7Fu : 0x7Fu >> len);
    for (size_t i = 1; i < len; i++) {
        if (!is_continuation(s.data[i])) {
            return 0;
        }
        value = value << 6 | ((unsigned char)s.data[i] & 0x3Fu);
    }
    if (value < smallest[len] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) {
        return 0;
    }
    if (code != NULL) {
        *code = value;
    }
    return len;
}

size_t mq_utf8_cut(struct mq_str s, size_t max)
{
    if (s.len <= max) {
        return s.len;
    }
    /* At most three continuation bytes belong to a character. If there are more, cut anywhere. */
    size_t cut = max;
    for (int i = 0; i < 3 && cut > 0 && is_continuation(s.data[cut]); i++) {
        cut--;
    }
    return is_continuation(s.data[cut]) ? max : cut;
}

size_t mq_utf8_span(struct mq_str s)
{
    size_t at = 0;
    for (size_t step = 1; at < s.len && step > 0; at += step) {
        /* Most text is ASCII: step over eight bytes at once. */
        uint64_t bytes = 0;
        step = s.len - at < sizeof bytes ? 1 : sizeof bytes;
        memcpy(&bytes, s.data + at, step);
        if ((bytes & UINT64_C(0x8080808080808080)) != 0) {
            step = mq_utf8_next((struct mq_str){s.data + at, s.len - at}, NULL);
        }
    }
    return at;
}

bool mq_utf8_valid(struct mq_str s)
{
    return mq_utf8_span(s) == s.len;
}

bool mq_utf8_steers(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C || code == 0x200E ||
           code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}

/* Takes printable ASCII off s, at most `most` octets at once; or else one character, or one byte
 * that is not UTF-8. Returns the printable form. */
static struct mq_str next_printable(struct mq_str *s, size_t most)
{
    uint32_t code = 0;
    size_t step = 0;
    while (step < s->len && step < most && s->data[step] >= 0x20 && s->data[step] < 0x7F) {
        step++;
    }
    if (step > 0) {
        struct mq_str run = {s->data, step};
        *s = mq_str_skip(*s, step);
        return run;
    }
    step = mq_utf8_next(*s, &code);
    struct mq_str shown = {s->data, step};
    if (step == 0) {
        shown = MQ_STR("\xEF\xBF\xBD");
        step = 1;
    } else if (mq_utf8_steers(code)) {
        shown = MQ_STR("?");
    }
    *s = mq_str_skip(*s, step);
    return shown;
}

void mq_buffer_printable(struct mq_buffer *buffer, struct mq_str s)
{
    while (s.len > 0) {
        mq_buffer_str(buffer, next_printable(&s, s.len));
    }
}

size_t mq_str_printable(char *out, size_t size, size_t used, struct mq_str s)
{
    while (s.len > 0) {
        struct mq_str shown = next_printable(&s, size - used - 1);
        if (used + shown.len >= size) {
            break;
        }
        memcpy(out + used, shown.data, shown.len);
        used += shown.len;
    }
    out[used] = '\0';
    return used;
}
