/* The fuzz targets' assertion and their checks of addresses, messages and encoded words. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mime/address.h"
#include "mime/wire/repair.h"

void fuzz_fail(const char *condition, const char *file, int line)
{
    fprintf(stderr, "%s:%d: required: %s\n", file, line, condition);
    abort();
}

struct mq_str fuzz_cut(struct mq_str *text, char end)
{
    const char *found = text->len > 0 ? memchr(text->data, end, text->len) : NULL;
    struct mq_str head = {text->data, found != NULL ? (size_t)(found - text->data) : text->len};
    size_t taken = head.len + (found != NULL);
    text->data += taken;
    text->len -= taken;
    return head;
}

bool fuzz_contains(struct mq_str text, const char *part)
{
    size_t len = strlen(part);
    for (size_t i = 0; i + len <= text.len; i++) {
        if (mq_str_equal_nocase((struct mq_str){text.data + i, len}, mq_str_of(part))) {
            return true;
        }
    }
    return false;
}

void fuzz_repeat(struct mq_str input, struct mq_buffer *out)
{
    for (size_t i = 0; i < input.len && out->len < 200000; i++) {
        bool repeats = input.data[i] == 1 && i + 1 < input.len;
        i += repeats;
        for (size_t n = repeats ? 300 : 1; n > 0; n--) {
            mq_buffer_char(out, input.data[i]);
        }
    }
}

/* ---- addresses ---- */

void fuzz_require_address(const char *address)
{
    struct mq_str text = mq_str_of(address);
    const char *at = strchr(address, '@');
    REQUIRE(at != NULL && at > address && at[1] != '\0');
    REQUIRE(strchr(at + 1, '@') == NULL);
    REQUIRE(text.len <= 254 && at - address <= 64);
    REQUIRE(address[0] != '-');
    REQUIRE(strpbrk(address, " \t\r\n\"(),;<>\\") == NULL);
    REQUIRE(mq_utf8_valid(text) && mq_str_ascii(mq_str_of(at)));
    for (const char *c = address; *c != '\0'; c++) {
        REQUIRE((unsigned char)*c > 32 && *c != 127);
    }
    REQUIRE(mq_address_check(text, "to", NULL) == MQ_OK);
}

void fuzz_require_recipients(const struct mq_strings *list)
{
    for (size_t i = 0; i < list->count; i++) {
        fuzz_require_address(list->items[i]);
        for (size_t k = 0; k < i; k++) {
            REQUIRE(strcmp(list->items[i], list->items[k]) != 0);
        }
    }
}

/* ---- messages ---- */

void fuzz_require_lines(struct mq_str text)
{
    REQUIRE(text.len >= 2 && memcmp(text.data + text.len - 2, "\r\n", 2) == 0);
    while (text.len > 0) {
        struct mq_str line = fuzz_cut(&text, '\n');
        REQUIRE(line.len > 0 && line.data[line.len - 1] == '\r');
        line.len--;
        REQUIRE(line.len <= 998);
        REQUIRE(line.len == 0 || memchr(line.data, '\r', line.len) == NULL);
        REQUIRE(line.len == 0 || memchr(line.data, '\0', line.len) == NULL);
    }
}

/* Counts the fields of that name in the header section, in the simplest way. */
static size_t count_fields(struct mq_str message, const char *name)
{
    size_t count = 0;
    while (message.len > 0) {
        struct mq_str line = fuzz_cut(&message, '\n');
        if (line.len <= 1) {
            break;
        }
        struct mq_str field = fuzz_cut(&line, ':');
        count += mq_str_equal_nocase(field, mq_str_of(name));
    }
    return count;
}

void fuzz_require_message(struct mq_str message)
{
    const struct mq_message_options options = {.message_id = "<other@fuzz.example>", .date_s = 1};
    struct mq_message_info info;
    struct mq_buffer again;
    struct mq_str id;
    again = (struct mq_buffer){0};
    fuzz_require_lines(message);
    REQUIRE(count_fields(message, "Bcc") == 0);
    REQUIRE(count_fields(message, "Resent-Bcc") == 0);
    REQUIRE(count_fields(message, "Message-ID") == 1);
    REQUIRE(count_fields(message, "Date") == 1);
    REQUIRE(mq_repair_accept(message, &options, &again, &info, NULL) == MQ_OK);
    REQUIRE(mq_str_equal(message, mq_buffer_view(&again)));
    REQUIRE(info.flags == mq_message_flags(message));
    REQUIRE(mq_message_header(message, "Message-ID", &id));
    /* A comment may follow it. */
    REQUIRE(id.len >= info.message_id.len &&
            memcmp(id.data, info.message_id.data, info.message_id.len) == 0);
    mq_buffer_clear(&again);
}

/* ---- encoded words ---- */

int fuzz_base64_digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = c != '\0' ? strchr(digits, c) : NULL;
    return found != NULL ? (int)(found - digits) : -1;
}

static void decode_base64(struct mq_str text, struct mq_buffer *out)
{
    REQUIRE(text.len % 4 == 0);
    for (size_t i = 0; i < text.len; i += 4) {
        uint32_t bits = 0;
        size_t pad = 0;
        for (size_t k = 0; k < 4; k++) {
            char c = text.data[i + k];
            bool is_pad = c == '=' && i + 4 == text.len && k >= 2;
            pad += is_pad;
            REQUIRE(is_pad || (fuzz_base64_digit(c) >= 0 && pad == 0));
            bits = bits << 6 | (is_pad ? 0 : (uint32_t)fuzz_base64_digit(c));
        }
        for (size_t k = 0; k < 3 - pad; k++) {
            mq_buffer_char(out, (char)(bits >> (16 - 8 * k) & 0xFF));
        }
    }
}

static void decode_q(struct mq_str text, struct mq_buffer *out)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        REQUIRE(c > 32 && c < 127);
        if (c == '=') {
            char code[3] = {0};
            char *end;
            REQUIRE(i + 2 < text.len);
            memcpy(code, text.data + i + 1, 2);
            c = (char)strtoul(code, &end, 16);
            REQUIRE(end == code + 2);
            i += 2;
        } else if (c == '_') {
            c = ' ';
        }
        mq_buffer_char(out, c);
    }
}

/* Decodes the word if it is an encoded one. */
static bool decode_word(struct mq_str word, struct mq_buffer *out)
{
    size_t before = out->len;
    if (word.len < 12 || memcmp(word.data + word.len - 2, "?=", 2) != 0 ||
        !mq_str_equal_nocase((struct mq_str){word.data, 8}, MQ_STR("=?utf-8?")) ||
        word.data[9] != '?') {
        return false;
    }
    REQUIRE(word.len <= 75);
    struct mq_str text = {word.data + 10, word.len - 12};
    REQUIRE(word.data[8] == 'Q' || word.data[8] == 'B');
    if (word.data[8] == 'B') {
        decode_base64(text, out);
    } else {
        decode_q(text, out);
    }
    REQUIRE(mq_utf8_valid((struct mq_str){out->data + before, out->len - before}));
    return true;
}

void fuzz_decode_header(struct mq_str value, struct mq_buffer *out)
{
    struct mq_buffer space; /* since the last word, without line ends */
    bool encoded = false;   /* the last word was an encoded one */
    space = (struct mq_buffer){0};
    while (value.len > 0) {
        size_t n = 0;
        while (n < value.len && memchr(" \t\r\n", value.data[n], 4) == NULL) {
            n++;
        }
        if (n == 0) {
            if (value.data[0] != '\r' && value.data[0] != '\n') {
                mq_buffer_char(&space, value.data[0]);
            }
            n = 1;
        } else {
            struct mq_buffer text = {0};
            struct mq_str word = {value.data, n};
            bool is_encoded = decode_word(word, &text);
            /* White space between two of them is not part of the text. */
            if (!encoded || !is_encoded) {
                mq_buffer_str(out, mq_buffer_view(&space));
            }
            mq_buffer_str(out, is_encoded ? mq_buffer_view(&text) : word);
            encoded = is_encoded;
            mq_buffer_reset(&space);
            mq_buffer_clear(&text);
        }
        value.data += n;
        value.len -= n;
    }
    mq_buffer_str(out, mq_buffer_view(&space));
    mq_buffer_clear(&space);
}
