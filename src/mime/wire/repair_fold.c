/* Breaks lines over 998 octets, in headers and bodies. HTML from templates often has such lines. */
#include <string.h>

#include "core/ascii.h"
#include "mime/wire/internal.h"

#define LINE_MAX_CODED 76 /* RFC 2045, 6.7 and 6.8 */

struct mq_str mq_repair_take_line(struct mq_str *text)
{
    struct mq_str line = mq_str_cut_at(text, '\n');
    line.len -= line.len > 0 && line.data[line.len - 1] == '\r';
    return line;
}

bool mq_repair_has_long(struct mq_str text)
{
    while (text.len > 0) {
        if (mq_repair_take_line(&text).len > MQ_LINE_MAX) {
            return true;
        }
    }
    return false;
}

static void put_line(struct mq_buffer *out, struct mq_str line)
{
    mq_buffer_str(out, line);
    mq_buffer_append(out, "\r\n", 2);
}

/* ---- headers ---- */

/* Returns where to fold a long line: before the last white space within `max` octets that has text
 * on both sides and at least `kept` octets before it. 0 if there is none. */
static size_t fold_place(struct mq_str line, size_t kept, size_t max)
{
    size_t least = mq_repair_blanks(line) + 1;
    least = least > kept ? least : kept;
    for (size_t n = max; n >= least; n--) {
        if (mq_is_blank(line.data[n])) {
            return n;
        }
    }
    return 0;
}

/* Returns where to break a line without white space, so that the added space does the least harm:
 * after an address or id in angle brackets, or after a comma or semicolon, or anywhere. */
static size_t break_place(struct mq_str line, size_t kept, size_t max)
{
    for (size_t n = max; n > kept && n > 1; n--) {
        if (line.data[n - 1] == '>') {
            return n + (n < max && (line.data[n] == ',' || line.data[n] == ';'));
        }
    }
    for (size_t n = max; n > kept && n > 1; n--) {
        if (line.data[n - 1] == ',' || line.data[n - 1] == ';') {
            return n;
        }
    }
    return mq_utf8_cut(line, max);
}

/* Whether the word after the space that the text begins with is too long for a line. Such a word
 * begins directly after the field's name, because some readers treat a fold there as part of the
 * value. */
static bool is_unfoldable(struct mq_str text)
{
    size_t n = 1;
    while (n < text.len && n <= MQ_LINE_MAX && !mq_is_blank(text.data[n])) {
        n++;
    }
    return n > MQ_LINE_MAX;
}

/* Writes a header line as lines of at most 998 octets. Its first `kept` octets stay together on the
 * first. Removes white space at the end, and all but one at the beginning, so that no line is
 * blank. */
static void fold_line(struct mq_buffer *out, struct mq_str line, size_t kept)
{
    size_t max = MQ_LINE_MAX;
    if (line.len > max) {
        line.len -= mq_repair_blanks_behind(line);
    }
    while (line.len > max && !out->failed) {
        size_t blanks = mq_repair_blanks(line);
        if (blanks > 1) {
            line = mq_str_skip(line, blanks - 1);
            kept = kept > blanks ? kept - blanks + 1 : 0;
            continue;
        }
        size_t place = fold_place(line, kept, max);
        bool has_blank = place > 0 && !(place == kept && is_unfoldable(mq_str_skip(line, place)));
        place = has_blank ? place : break_place(line, kept, max);
        struct mq_str head = {line.data, place};
        head.len -= mq_repair_blanks_behind(head);
        put_line(out, head);
        mq_buffer_append(out, " ", !has_blank);
        max = MQ_LINE_MAX - !has_blank;
        line = mq_str_skip(line, place);
        kept = 0;
    }
    if (line.len > 0) {
        put_line(out, line);
    }
}

/* ---- header sections ---- */

/* Writes a line of a Message-ID field, folded; the id (at most 980 octets) stays together. `name`:
 * the length of the field's name, 0 in a continuation line. *done: whether the id was written. */
static void fold_id_line(struct mq_buffer *out, struct mq_str line, size_t name, bool *done)
{
    struct mq_str value = mq_str_skip(line, name);
    size_t blanks = mq_repair_blanks(value);
    const char *end = blanks < value.len ? memchr(value.data, '>', value.len) : NULL;
    size_t kept = *done || end == NULL ? 0 : (size_t)(end - value.data) + 1;
    *done = *done || blanks < value.len;
    if (name > 0 && blanks > 0 && line.len > MQ_LINE_MAX) {
        put_line(out, (struct mq_str){line.data, name});
        fold_line(out, value, kept);
    } else {
        fold_line(out, line, name + kept);
    }
}

/* Returns the length of a field's name with its colon; 0 for a continuation line. */
static size_t name_length(struct mq_str line)
{
    const char *colon = memchr(line.data, ':', line.len);
    return colon == NULL || mq_is_blank(line.data[0]) ? 0 : (size_t)(colon - line.data) + 1;
}

void mq_repair_fold(struct mq_buffer *out, struct mq_str head, const struct mq_repair_head *change)
{
    bool drops = false; /* the current field is omitted */
    bool in_id = false;
    bool met_id = false;
    bool has_encoding = false;
    while (head.len > 0) {
        struct mq_str line = mq_repair_take_line(&head);
        size_t name = line.len > 0 ? name_length(line) : 0;
        if (name > 0) {
            struct mq_str field = {line.data, name - 1};
            bool is_encoding = mq_str_equal_nocase(field, MQ_STR("Content-Transfer-Encoding"));
            drops = change->encoding != NULL && is_encoding;
            in_id = mq_str_equal_nocase(field, MQ_STR("Message-ID"));
            met_id = false;
        }
        if (in_id) {
            fold_id_line(out, line, name, &met_id);
        } else if (!drops) {
            fold_line(out, line, name);
        } else if (name > 0 && !has_encoding) {
            mq_buffer_printf(out, "Content-Transfer-Encoding: %s\r\n", change->encoding);
            has_encoding = true;
        }
    }
    if (change->version) {
        mq_buffer_cstr(out, "MIME-Version: 1.0\r\n");
    }
    if (change->charset != NULL) {
        mq_buffer_printf(out, "Content-Type: text/plain; charset=%s\r\n", change->charset);
    }
    if (change->encoding != NULL && !has_encoding) {
        mq_buffer_printf(out, "Content-Transfer-Encoding: %s\r\n", change->encoding);
    }
}

/* ---- bodies ---- */

/* Whether the line has "--", which could begin a boundary, at index `at`. */
static bool has_dashes(struct mq_str line, size_t at)
{
    return at + 1 < line.len && line.data[at] == '-' && line.data[at + 1] == '-';
}

/* Returns where to cut a line: at most at `max`, between characters, and not before "--" if that is
 * possible behind the first octets, which may be "=XX". */
static size_t cut_place(struct mq_str line, size_t max)
{
    size_t n = mq_utf8_cut(line, max);
    size_t place = n;
    while (n > 3 && has_dashes(line, n)) {
        n = mq_utf8_cut(line, n - 1);
    }
    return n > 3 ? n : place;
}

/* Like cut_place(), but for quoted-printable: "=XX" is not cut either. */
static size_t soft_place(struct mq_str line, size_t max)
{
    size_t n = cut_place(line, max - 1);
    return line.data[n - 1] == '=' ? n - 1 : line.data[n - 2] == '=' ? n - 2 : n;
}

void mq_repair_break_quoted_printable(struct mq_buffer *out, struct mq_str text)
{
    while (text.len > 0 && !out->failed) {
        struct mq_str line = mq_repair_take_line(&text);
        if (line.len > MQ_LINE_MAX) {
            line.len -= mq_repair_blanks_behind(line);
            for (size_t max = LINE_MAX_CODED; line.len > max && !out->failed;) {
                size_t n = soft_place(line, max);
                bool dashes = has_dashes(line, n);
                mq_buffer_append(out, line.data, n);
                mq_buffer_cstr(out, dashes ? "=\r\n=2D" : "=\r\n");
                max = LINE_MAX_CODED - (dashes ? 3 : 0);
                line = mq_str_skip(line, n + dashes);
            }
        }
        put_line(out, line);
    }
}

static void break_lines(struct mq_buffer *out, struct mq_str text, size_t max)
{
    while (text.len > 0 && !out->failed) {
        struct mq_str line = mq_repair_take_line(&text);
        bool is_long = line.len > MQ_LINE_MAX;
        for (size_t room = max; is_long && line.len > room && !out->failed;) {
            size_t n = cut_place(line, room);
            bool dashes = has_dashes(line, n);
            put_line(out, (struct mq_str){line.data, n});
            mq_buffer_append(out, " ", dashes);
            room = max - dashes;
            line = mq_str_skip(line, n);
        }
        put_line(out, line);
    }
}

void mq_repair_break_base64(struct mq_buffer *out, struct mq_str text)
{
    break_lines(out, text, LINE_MAX_CODED);
}

void mq_repair_break(struct mq_buffer *out, struct mq_str text)
{
    break_lines(out, text, MQ_LINE_MAX);
}
