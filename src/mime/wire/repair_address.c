/* Address fields. The reader of mailbox.h judges what is an address; here only the pieces that it
 * takes for words, quoted strings, comments and addresses are told apart, and written again. */
#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"
#include "mime/idn.h"
#include "mime/mailbox.h"
#include "mime/wire/internal.h"

#define WORD_ROOM 32 /* a short encoded word */

static struct mq_str take_blanks(struct mq_str *text)
{
    size_t n = 0;
    while (n < text->len && text->data[n] == ' ') {
        n++;
    }
    return mq_str_cut(text, n);
}

/* Length of what begins with a quote, "(" or "[", with its end. */
static size_t enclosed_length(struct mq_str text)
{
    char open = text.data[0];
    size_t depth = 1;
    for (size_t i = 1; i < text.len; i++) {
        char c = text.data[i];
        if (c == '\\' && open != '[') {
            i++;
        } else if (open == '(' && c == '(') {
            depth++;
        } else if (c == (open == '"' ? '"' : open == '(' ? ')' : ']') && --depth == 0) {
            return i + 1;
        }
    }
    return text.len;
}

/* Takes a word: up to a space or one of these outside of quotes; a comment is a word too. */
static struct mq_str take_word(struct mq_str *text)
{
    size_t n = 0;
    if (text->data[0] == '(') {
        return mq_str_cut(text, enclosed_length(*text));
    }
    while (n < text->len && memchr(" (),:;<>", text->data[n], 8) == NULL) {
        struct mq_str rest = {text->data + n, text->len - n};
        size_t step = 1;
        if (rest.data[0] == '"' || rest.data[0] == '[') {
            step = enclosed_length(rest);
        } else if (rest.data[0] == '=') {
            step = mq_encoded_word_length(rest);
        }
        n += step > 0 ? step : 1;
    }
    return mq_str_cut(text, n);
}

/* The spaces that a text ends with. */
static struct mq_str blanks_behind(struct mq_str words)
{
    struct mq_str blanks = {words.data + words.len, 0};
    while (blanks.len < words.len && blanks.data[-1] == ' ') {
        blanks.data--;
        blanks.len++;
    }
    return blanks;
}

/* ---- comments ---- */

/* Text between parentheses. Where something in it has a backslash before it, all of it is encoded,
 * for in encoded words there is none. */
static void put_comment_text(struct mq_repair_line *line, struct mq_str text)
{
    struct mq_buffer plain = {0};
    bool quoted = text.len > 0 && memchr(text.data, '\\', text.len) != NULL;
    if (!quoted || mq_str_ascii(text)) {
        mq_repair_text(line, text);
        return;
    }
    text.len -= blanks_behind(text).len;
    for (size_t i = 0; i < text.len; i++) {
        i += text.data[i] == '\\' && i + 1 < text.len;
        mq_buffer_char(&plain, text.data[i]);
    }
    line->out->failed = line->out->failed || plain.failed;
    mq_repair_encode(line, MQ_STR(""), mq_buffer_view(&plain));
    mq_buffer_clear(&plain);
}

static void put_comment(struct mq_repair_line *line, struct mq_str blanks, struct mq_str comment)
{
    if (mq_str_ascii(comment)) {
        mq_repair_put(line, blanks, comment);
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
            mq_repair_put(line, i == 0 ? blanks : blanks_behind(text),
                          (struct mq_str){comment.data + i, 1});
            begin = i + 1;
        }
    }
    if (begin < comment.len) { /* it has no end */
        put_comment_text(line, (struct mq_str){comment.data + begin, comment.len - begin});
    }
}

/* ---- names ---- */

/* A display name or a group's name: its words are gathered, to be encoded together. */
struct phrase {
    struct mq_repair_line *line;
    struct mq_buffer text; /* of the words since the last piece that stays */
    struct mq_str blanks;  /* before them */
    bool behind_encoded;   /* an encoded word stands before them */
};

/* Writes the words. The space to an encoded word next to them goes into theirs: readers drop the
 * one between. */
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

static void gather(struct phrase *phrase, struct mq_str blanks, struct mq_str word)
{
    if (phrase->text.len == 0) {
        phrase->blanks = blanks;
    }
    if (phrase->text.len > 0 || phrase->behind_encoded) {
        mq_buffer_char(&phrase->text, ' ');
    }
    phrase->behind_encoded = false;
    mq_repair_unquote(&phrase->text, word);
}

static void put_phrase(struct mq_repair_line *line, struct mq_str text)
{
    struct phrase phrase = {.line = line};
    bool was_text = false;
    while (text.len > 0) {
        struct mq_str blanks = take_blanks(&text);
        if (text.len == 0) {
            break;
        }
        struct mq_str word = take_word(&text);
        bool encoded = mq_repair_is_encoded(word);
        if (!encoded && word.len > 0 && word.data[0] != '(') {
            gather(&phrase, blanks, word);
            was_text = true;
            continue;
        }
        flush(&phrase, encoded);
        if (encoded) {
            mq_repair_put(line, was_text ? MQ_STR(" ") : blanks, word);
        } else {
            put_comment(line, blanks, word);
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

/* Words that stay, comments, and an address without angle brackets among them. */
static void put_words(struct mq_repair_line *line, struct mq_str text, bool address)
{
    while (text.len > 0) {
        struct mq_str blanks = take_blanks(&text);
        if (text.len == 0) {
            break;
        }
        struct mq_str word = take_word(&text);
        if (word.len == 0) {
            break;
        }
        if (word.data[0] == '(') {
            put_comment(line, blanks, word);
        } else if (address) {
            put_address(line, blanks, word);
        } else {
            mq_repair_put(line, blanks, word);
        }
    }
}

/* Whether a phrase has such bytes outside of its comments. */
static bool is_raw(struct mq_str text)
{
    while (take_blanks(&text), text.len > 0) {
        struct mq_str word = take_word(&text);
        if (word.len == 0 || (word.data[0] != '(' && !mq_str_ascii(word))) {
            return word.len > 0;
        }
    }
    return false;
}

/* Takes "<addr>" and writes it, with the spaces before it. */
static void put_angle(struct mq_repair_line *line, struct mq_str blanks, struct mq_str *rest)
{
    const char *end = memchr(rest->data, '>', rest->len);
    struct mq_str angle =
        mq_str_cut(rest, end != NULL ? (size_t)(end - rest->data) + 1 : rest->len);
    if (mq_str_ascii(angle)) {
        mq_repair_put(line, blanks, angle);
        return;
    }
    mq_repair_put(line, blanks, MQ_STR("<"));
    put_address(line, MQ_STR(""),
                mq_str_trim((struct mq_str){angle.data + 1, angle.len - 1 - (end != NULL)}));
    mq_repair_put(line, MQ_STR(""), MQ_STR(">"));
}

/* The words and comments up to one of ",:;<>". */
static struct mq_str take_words(struct mq_str *rest)
{
    struct mq_str words = {rest->data, 0};
    while (rest->len > 0) {
        take_blanks(rest);
        if (rest->len == 0 || take_word(rest).len == 0) {
            break;
        }
    }
    words.len = (size_t)(rest->data - words.data);
    return words;
}

/* Writes words with bytes over 127 that are no name before an address. */
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
