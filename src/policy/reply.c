/* Reads SMTP replies. They come from the network: nothing in them is trusted, and memory is
 * bounded. */
#include "policy/reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"
#include "core/clock.h"

/* Returns the code at the start of a line, 0 if there is none (RFC 5321, 4.2: 2yz … 5yz). */
static int code_of(struct mq_str line)
{
    if (line.len < 3 || line.data[0] < '2' || line.data[0] > '5' || !mq_is_digit(line.data[1]) ||
        !mq_is_digit(line.data[2])) {
        return 0;
    }
    return (line.data[0] - '0') * 100 + (line.data[1] - '0') * 10 + (line.data[2] - '0');
}

/* Removes an enhanced status code (RFC 2034, section 4) from the start of a line's text:
 * class.subject.detail, each of one to three digits. The class must be that of the basic code, and
 * a space or the end must follow. */
static bool take_enhanced(struct mq_str *text, int code, int out[3])
{
    struct mq_str rest = *text;
    int value[3] = {0};
    for (int i = 0; i < 3; i++) {
        size_t first = i > 0; /* skips the dot */
        size_t n = first;
        if (i > 0 && (rest.len == 0 || rest.data[0] != '.')) {
            return false;
        }
        while (n < rest.len && n < first + 3 && mq_is_digit(rest.data[n])) {
            value[i] = value[i] * 10 + (rest.data[n++] - '0');
        }
        if (n == first) {
            return false;
        }
        rest = mq_str_skip(rest, n);
    }
    bool known = value[0] == code / 100 && value[0] != 3;
    if (!known || (rest.len > 0 && rest.data[0] != ' ')) {
        return false;
    }
    memcpy(out, value, sizeof value);
    *text = mq_str_trim(rest);
    return true;
}

static void add_text(struct mq_reply *reply, struct mq_str text)
{
    int enhanced[3];
    struct mq_str rest = text;
    if (take_enhanced(&rest, reply->code, enhanced)) {
        if (reply->enhanced[0] == 0) {
            memcpy(reply->enhanced, enhanced, sizeof enhanced);
        }
        if (memcmp(reply->enhanced, enhanced, sizeof enhanced) == 0) {
            text = rest;
        }
    }
    size_t used = strlen(reply->text);
    if (used > 0 && text.len > 0) {
        used = mq_str_printable(reply->text, sizeof reply->text, used, MQ_STR(" "));
    }
    mq_str_printable(reply->text, sizeof reply->text, used, text);
}

static enum mq_status bad_reply(const char *why, struct mq_error *err)
{
    return mq_error_set(err, MQ_TRANSPORT, "",
                        "the relay's answer is not an SMTP reply: %s; check that host and port are "
                        "those of an SMTP server",
                        why);
}

/* Adds the complete line in the reader to the reply. *last tells whether it ends the reply. */
static enum mq_status take_line(struct mq_reply_reader *reader, bool *last, struct mq_error *err)
{
    struct mq_reply *reply = &reader->reply;
    struct mq_str line = {reader->line, reader->line_len};
    if (line.len > 0 && line.data[line.len - 1] == '\r') {
        line.len--;
    }
    int code = code_of(line);
    char separator = line.len > 3 ? line.data[3] : ' ';
    if (code == 0 || (separator != ' ' && separator != '-')) {
        return bad_reply("a line begins with no reply code", err);
    }
    if (reply->lines > 0 && code != reply->code) {
        return bad_reply("the lines of one reply have different codes", err);
    }
    if (reply->lines == MQ_REPLY_LINES_MAX) {
        return bad_reply("it has too many lines", err);
    }
    reply->code = code;
    reply->lines++;
    if (line.len > 4) {
        struct mq_str text = {line.data + 4, line.len - 4};
        add_text(reply, mq_str_trim(text));
    }
    reader->line_len = 0;
    *last = separator == ' ';
    return MQ_OK;
}

enum mq_status mq_reply_read(struct mq_reply_reader *reader, struct mq_str *data, bool *complete,
                             struct mq_reply *out, struct mq_error *err)
{
    struct mq_str rest = *data;
    bool last = false;
    while (rest.len > 0 && !last) {
        size_t len = mq_str_find(rest, '\n');
        bool ends = len < rest.len;
        if (len > sizeof reader->line - reader->line_len) {
            return bad_reply("a line is too long", err);
        }
        if (memchr(rest.data, '\0', len) != NULL) {
            return bad_reply("it has a NUL", err);
        }
        memcpy(reader->line + reader->line_len, rest.data, len);
        reader->line_len += len;
        rest = mq_str_skip(rest, len + ends);
        MQ_TRY(ends ? take_line(reader, &last, err) : MQ_OK);
    }
    *data = rest;
    *complete = last;
    if (last) {
        *out = reader->reply;
        reader->reply = (struct mq_reply){0};
    }
    return MQ_OK;
}

/* ---- the relay's own words ---- */

static bool is_letter(char c)
{
    return mq_is_alpha(c) || (unsigned char)c >= 0x80;
}

static void blank(char *from, const char *to)
{
    memset(from, '*', (size_t)(to - from));
}

static char *word_end(char *at)
{
    return at + strcspn(at, " ");
}

/* Blanks <…> if it has an "@", begins with a quote or is a single word. If the ">" was cut off, it
 * blanks up to the end of the word, or of the whole text after a quote. */
static void blank_brackets(char *text)
{
    char *open = text;
    while ((open = strchr(open, '<')) != NULL) {
        char *close = strchr(open, '>');
        char *end = word_end(open);
        bool quoted = open[1] == '"';
        if (close == NULL) {
            end = quoted ? open + strlen(open) : end;
        } else if (close < end || quoted || memchr(open, '@', (size_t)(close - open)) != NULL) {
            end = close + 1;
        } else {
            end = open + 1;
        }
        blank(open, end);
        open = end;
    }
}

/* Blanks words with an "@", and quoted local parts even if they have spaces. */
static void blank_addresses(char *text)
{
    char *at = text;
    while ((at = strchr(at, '@')) != NULL) {
        char *from = at;
        if (from > text && from[-1] == '"') {
            from--;
            while (from > text && *--from != '"') {
            }
        }
        while (from > text && from[-1] != ' ') {
            from--;
        }
        at = word_end(at);
        blank(from, at);
    }
}

/* Blanks "name", 'name' and `name' of one word. An apostrophe inside a word is not a quote. */
static void blank_quoted(char *text)
{
    for (char *open = text; *open != '\0'; open++) {
        bool begins_word = open == text || !is_letter(open[-1]);
        if (!begins_word || strchr("\"'`", *open) == NULL) {
            continue;
        }
        char *close = open + 1 + strcspn(open + 1, *open == '"' ? "\" " : "'` ");
        if (*close != ' ' && *close != '\0' && close > open + 1) {
            blank(open, close + 1);
            open = close;
        }
    }
}

void mq_reply_own_words(const struct mq_reply *reply, char out[MQ_REPLY_TEXT_MAX])
{
    size_t len = strlen(reply->text);
    memcpy(out, reply->text, len + 1);
    blank_brackets(out);
    blank_addresses(out);
    blank_quoted(out);
    if (len + 4 >= MQ_REPLY_TEXT_MAX) { /* the text was cut: its last word may be half an address */
        char *last = strrchr(out, ' ');
        if (last != NULL) {
            blank(last + 1, out + len);
        }
    }
}

static bool is_name_char(char c)
{
    return is_letter(c) || mq_is_digit(c) || c == '-' || c == '_' || c == '.';
}

/* Whether text[at] is in a host name: labels with dots between, the last begins with a letter. */
static bool in_host_name(const char *text, size_t at)
{
    size_t from = at, to = at;
    while (from > 0 && is_name_char(text[from - 1])) {
        from--;
    }
    while (is_name_char(text[to])) {
        to++;
    }
    while (to > from && text[to - 1] == '.') {
        to--;
    }
    while (from < to && text[from] == '.') {
        from++;
    }
    size_t label = to;
    while (label > from && text[label - 1] != '.') {
        label--;
    }
    return label > from && is_letter(text[label]);
}

bool mq_reply_says(const char *words, const char *phrase)
{
    for (size_t i = 0; words[i] != '\0'; i++) {
        if (mq_text_begins_nocase(words + i, phrase) && !in_host_name(words, i)) {
            return true;
        }
    }
    return false;
}

/* ---- waiting times ---- */

static const char *skip_filler(const char *at)
{
    static const char *const words[] = {" ",      ":",    "~",     "=",       "at least ",
                                        "about ", "for ", "after", "another", "approximately "};
    for (size_t i = 0; i < sizeof words / sizeof *words;) {
        if (mq_text_begins_nocase(at, words[i])) {
            at += strlen(words[i]);
            i = 0;
        } else {
            i++;
        }
    }
    return at;
}

static int64_t take_digits(const char **at)
{
    char *end;
    long long value = strtoll(*at, &end, 10);
    *at = end;
    return value < MQ_DAY_S ? value : MQ_DAY_S;
}

/* Returns the length in seconds of the unit that `at` begins with. Without a word there, returns 1.
 * For any other word, returns 0: the number counts something else. */
static int unit_of(const char *at)
{
    static const struct {
        const char *name;
        int seconds;
    } units[] = {{"sec", 1},       {"min", 60},    {"hour", 3600}, {"hr", 3600}, {"day", MQ_DAY_S},
                 {"stunde", 3600}, {"sekunde", 1}, {"s", 1},       {"m", 60},    {"h", 3600}};
    at += strspn(at, " -");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        bool letter = units[i].name[1] == '\0'; /* "s", "m", "h": no unit if a letter follows */
        if (mq_text_begins_nocase(at, units[i].name) && !(letter && mq_is_alpha(at[1]))) {
            return units[i].seconds;
        }
    }
    return mq_is_alpha(*at) ? 0 : 1;
}

/* Parses a span of time ("300", "300 seconds", "5 min", "00:05:00"); 0 if it is not one. */
static int span_s(const char *at)
{
    if (!mq_is_digit(*at)) {
        return 0;
    }
    int64_t value = take_digits(&at);
    int parts = 1;
    while (parts < 3 && at[0] == ':' && mq_is_digit(at[1]) && mq_is_digit(at[2])) {
        at++;
        value = value * 60 + take_digits(&at);
        parts++;
    }
    if (parts == 1) {
        if (at[0] == '.' && mq_is_digit(at[1])) {
            at++;
            take_digits(&at);
            value++; /* rounded up: a relay may extend the wait if we come too early */
        }
        value *= unit_of(at);
    }
    return value > MQ_DAY_S ? MQ_DAY_S : (int)value;
}

int mq_reply_retry_after_s(const struct mq_reply *reply)
{
    static const char *const phrases[] = {
        "again in",     "again after", "retry in",       "retry after",  "retry-after",
        "back in",      "back after",  "greylisted for", "resume in",    "delayed for",
        "deferred for", "wait",        "blocked for",    "available in", "come back after",
        "resend in",    "resend after"};
    char words[MQ_REPLY_TEXT_MAX];
    mq_reply_own_words(reply, words);
    for (const char *at = words; *at != '\0'; at++) {
        for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++) {
            if (mq_text_begins_nocase(at, phrases[i]) &&
                !in_host_name(words, (size_t)(at - words))) {
                int seconds = span_s(skip_filler(at + strlen(phrases[i])));
                if (seconds > 0) {
                    return seconds;
                }
            }
        }
    }
    return 0;
}

void mq_reply_format(const struct mq_reply *reply, char *out, size_t size)
{
    const int *enhanced = reply->enhanced;
    char codes[64] = "";
    if (enhanced[0] != 0) {
        snprintf(codes, sizeof codes, "%d %d.%d.%d", reply->code, enhanced[0], enhanced[1],
                 enhanced[2]);
    } else if (reply->code != 0) {
        snprintf(codes, sizeof codes, "%d", reply->code);
    }
    size_t used = mq_str_printable(out, size, 0, mq_str_of(codes));
    if (used > 0 && reply->text[0] != '\0') {
        used = mq_str_printable(out, size, used, MQ_STR(" "));
    }
    mq_str_printable(out, size, used, mq_str_of(reply->text));
}

void mq_reply_hide_addresses(char *reply)
{
    char *end = reply;
    for (const char *c = reply; *c; c++) {
        char *local = end;
        while (*c == '@' && local > reply && !strchr(" \t\r\n<>()[],:;\"", local[-1])) {
            local--;
        }
        if (local < end) {
            *local = '*';
            end = local + 1;
        }
        *end++ = *c;
    }
    *end = '\0';
}
