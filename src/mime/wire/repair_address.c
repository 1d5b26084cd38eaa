/* For programs that write names like "Jörg" into From and To without encoding them: rewrites
 * address fields. The reader of mailbox.h decides what is an address. This file splits a field into
 * the same pieces (words, quoted strings, comments, addresses) and writes them again. */
#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"
#include "mime/header.h"
#include "mime/idn.h"
#include "mime/mailbox.h"
#include "mime/wire/internal.h"

#define WORD_ROOM 32 /* octets of a short encoded word */

/* A word, and the spaces before it. */
struct word {
    struct mq_str blanks, text;
};

/* Returns the length of the word that text begins with: a comment, or all up to a space or one of
 * "(),:;<>" outside of quotes. */
static size_t word_length(struct mq_str text)
{
    size_t n = 0;
    if (text.len > 0 && text.data[0] == '(') {
        return mq_repair_enclosed(text);
    }
    while (n < text.len && memchr(" (),:;<>", text.data[n], 8) == NULL) {
        struct mq_str rest = mq_str_skip(text, n);
        size_t step = 1;
        if (rest.data[0] == '"' || rest.data[0] == '[') {
            step = mq_repair_enclosed(rest);
        } else if (rest.data[0] == '=') {
            step = mq_encoded_word_length(rest);
        }
        n += step > 0 ? step : 1;
    }
    return n;
}

/* Takes the next word. False if none follows. */
static bool take_word(struct mq_str *text, struct word *word)
{
    word->blanks = mq_str_cut(text, mq_repair_blanks(*text));
    word->text = mq_str_cut(text, word_length(*text));
    return word->text.len > 0;
}

/* Returns the spaces that a text ends with. */
static struct mq_str blanks_behind(struct mq_str words)
{
    return mq_str_skip(words, words.len - mq_repair_blanks_behind(words));
}

/* ---- comments ---- */

/* Writes text between parentheses. If it has bytes over 127 and a backslash, all of it is encoded,
 * because encoded words have no backslash escapes. */
static void put_comment_text(struct mq_repair_line *line, struct mq_str text)
{
    struct mq_buffer plain = {0};
    bool quoted = text.len > 0 && memchr(text.data, '\\', text.len) != NULL;
    if (!quoted || mq_str_ascii(text)) {
        mq_repair_text(line, text);
        return;
    }
    text.len -= mq_repair_blanks_behind(text);
    for (size_t i = 0; i < text.len; i++) {
        i += text.data[i] == '\\' && i + 1 < text.len;
        mq_buffer_char(&plain, text.data[i]);
    }
    line->out->failed = line->out->failed || plain.failed;
    mq_repair_encode(line, MQ_STR(""), mq_buffer_view(&plain));
    mq_buffer_clear(&plain);
}

static void put_comment(struct mq_repair_line *line, const struct word *word)
{
    struct mq_str comment = word->text;
    if (mq_str_ascii(comment)) {
        mq_repair_put(line, word->blanks, comment);
        return;
    }
    size_t begin = 0;
    line->room = WORD_ROOM;
    for (size_t i = 0; i < comment.len; i++) {
        char c = comment.data[i];
        if (c == '\\') {
            i++;
        } else if (c == '(' || c == ')') {
            struct mq_str text = {comment.data + begin, i - begin};
            put_comment_text(line, text);
            mq_repair_put(line, i == 0 ? word->blanks : blanks_behind(text),
                          (struct mq_str){comment.data + i, 1});
            begin = i + 1;
        }
    }
    if (begin < comment.len) { /* the comment has no end */
        put_comment_text(line, (struct mq_str){comment.data + begin, comment.len - begin});
    }
}

/* ---- names ---- */

/* A display name or a group's name. Its words are gathered and encoded together. */
struct phrase {
    struct mq_repair_line *line;
    struct mq_buffer text; /* the gathered words that are not written yet */
    struct mq_str blanks;  /* the spaces before them */
    bool behind_encoded;   /* an encoded word is before them */
};

/* Writes the gathered words. If an encoded word follows, the space before it is encoded with them,
 * because readers drop the space between encoded words. */
static void flush(struct phrase *phrase, bool before_encoded)
{
    struct mq_buffer *text = &phrase->text;
    if (before_encoded && text->len > 0) {
        mq_buffer_char(text, ' ');
    }
    phrase->line->out->failed = phrase->line->out->failed || text->failed;
    if (text->len > 0) {
        mq_repair_encode(phrase->line, phrase->blanks, mq_buffer_view(text));
        mq_buffer_reset(text);
    }
}

static void gather(struct phrase *phrase, const struct word *word)
{
    if (phrase->text.len == 0) {
        phrase->blanks = word->blanks;
    }
    if (phrase->text.len > 0 || phrase->behind_encoded) {
        mq_buffer_char(&phrase->text, ' ');
    }
    phrase->behind_encoded = false;
    mq_repair_unquote(&phrase->text, word->text);
}

static void put_phrase(struct mq_repair_line *line, struct mq_str text)
{
    struct phrase phrase = {.line = line};
    struct word word;
    bool was_text = false;
    while (take_word(&text, &word)) {
        bool encoded = mq_repair_is_encoded(word.text);
        if (!encoded && word.text.data[0] != '(') {
            gather(&phrase, &word);
            was_text = true;
            continue;
        }
        flush(&phrase, encoded);
        if (encoded) {
            mq_repair_put(line, was_text ? MQ_STR(" ") : word.blanks, word.text);
        } else {
            put_comment(line, &word);
        }
        phrase.behind_encoded = encoded;
        was_text = false;
    }
    flush(&phrase, false);
    mq_buffer_clear(&phrase.text);
}

/* ---- addresses ---- */

static void put_address(struct mq_repair_line *line, struct mq_str blanks, struct mq_str address)
{
    char *ascii = NULL;
    if (!mq_str_ascii(address)) {
        enum mq_status status = mq_idn_address(address, "address", &ascii, NULL);
        line->out->failed = line->out->failed || status == MQ_NOMEM;
    }
    if (ascii != NULL) {
        line->changed = line->changed || !mq_str_equal(address, mq_str_of(ascii));
        address = mq_str_of(ascii);
    }
    if (mq_utf8_valid(address)) {
        mq_repair_put(line, blanks, address);
    } else {
        mq_repair_encode(line, blanks, address);
    }
    free(ascii);
}

/* Writes words and comments. `address`: the words are addresses; else they stay as they are. */
static void put_words(struct mq_repair_line *line, struct mq_str text, bool address)
{
    struct word word;
    while (take_word(&text, &word)) {
        if (word.text.data[0] == '(') {
            put_comment(line, &word);
        } else if (address) {
            put_address(line, word.blanks, word.text);
        } else {
            mq_repair_put(line, word.blanks, word.text);
        }
    }
}

/* Whether a phrase has bytes over 127 outside of its comments. */
static bool is_raw(struct mq_str text)
{
    struct word word;
    while (take_word(&text, &word)) {
        if (word.text.data[0] != '(' && !mq_str_ascii(word.text)) {
            return true;
        }
    }
    return false;
}

/* Takes "<addr>" and writes it, with the spaces before it. */
static void put_angle(struct mq_repair_line *line, struct mq_str blanks, struct mq_str *rest)
{
    size_t end = mq_str_find(*rest, '>');
    bool closed = end < rest->len;
    struct mq_str angle = mq_str_cut(rest, end + closed);
    if (mq_str_ascii(angle)) {
        mq_repair_put(line, blanks, angle);
        return;
    }
    mq_repair_put(line, blanks, MQ_STR("<"));
    put_address(line, MQ_STR(""),
                mq_str_trim((struct mq_str){angle.data + 1, angle.len - 1 - closed}));
    mq_repair_put(line, MQ_STR(""), MQ_STR(">"));
}

/* Takes the words and comments up to one of "),:;<>". */
static struct mq_str take_words(struct mq_str *rest)
{
    struct mq_str words = *rest;
    struct word word;
    while (take_word(rest, &word)) {
    }
    words.len -= rest->len;
    return words;
}

/* Writes words with bytes over 127 that are not the name before an address. */
static void put_loose(struct mq_repair_line *line, struct mq_str words)
{
    if (memchr(words.data, '@', words.len) != NULL) {
        mq_repair_text(line, words);
    } else {
        put_phrase(line, words);
    }
}

static void put_list(struct mq_repair_line *line, struct mq_str rest, bool loose)
{
    while (rest.len > 0 && !line->out->failed) {
        struct mq_str words = take_words(&rest);
        char stop = rest.len > 0 ? rest.data[0] : ',';
        bool phrase = stop == '<' || stop == ':';
        bool raw = (phrase || loose) && is_raw(words);
        struct mq_str blanks = blanks_behind(words);
        if (raw && phrase) {
            put_phrase(line, words);
        } else if (raw) {
            put_loose(line, words);
        } else {
            put_words(line, words, !phrase);
        }
        if (stop == '<') {
            put_angle(line, raw && blanks.len == 0 ? MQ_STR(" ") : blanks, &rest);
        } else if (rest.len > 0) {
            mq_repair_put(line, MQ_STR(""), mq_str_cut(&rest, 1));
        }
    }
}

void mq_repair_list(struct mq_repair_line *line, struct mq_str value)
{
    put_list(line, value, true);
}

static bool is_same(const struct mq_strings *a, const struct mq_strings *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++) {
        same = strcmp(a->items[i], b->items[i]) == 0;
    }
    return same;
}

bool mq_repair_addresses(struct mq_repair_line *line, struct mq_str value)
{
    struct mq_strings before = {0};
    struct mq_strings after = {0};
    size_t begin = line->out->len;
    enum mq_status status = mq_addresses_of_header(value, "address", &before, NULL);
    if (status == MQ_OK) {
        put_list(line, value, false);
    }
    if (status == MQ_OK && !line->out->failed) {
        struct mq_str written = {line->out->data + begin, line->out->len - begin};
        status = mq_addresses_of_header(written, "address", &after, NULL);
    }
    bool same = status == MQ_OK && is_same(&before, &after);
    line->out->failed = line->out->failed || status == MQ_NOMEM;
    mq_strings_clear(&before);
    mq_strings_clear(&after);
    return same;
}
