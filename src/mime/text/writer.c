/* For html.c: collects words into lines that terminals show well, wrapped between words. */
#include "mime/text/writer.h"

#include <string.h>

#include "core/ascii.h"

#define COLUMNS           72
#define INDENT_OCTETS_MAX 40 /* with more, a line would have more indent than text */

void mq_text_writer_init(struct mq_text_writer *writer, struct mq_buffer *out)
{
    *writer = (struct mq_text_writer){.out = out, .start = out->len};
}

/* ---- lines ---- */

static void end_line(struct mq_text_writer *writer)
{
    mq_buffer_char(writer->out, '\n');
    writer->line_open = false;
    writer->ended = 1;
    writer->gap = writer->prefix.len;
}

static void empty_line(struct mq_text_writer *writer)
{
    struct mq_str prefix = {writer->prefix.data, writer->gap};
    while (prefix.len > 0 && prefix.data[prefix.len - 1] == ' ') {
        prefix.len--;
    }
    mq_buffer_str(writer->out, prefix);
    mq_buffer_char(writer->out, '\n');
    writer->ended++;
}

static void begin_line(struct mq_text_writer *writer)
{
    mq_buffer_str(writer->out, mq_buffer_view(&writer->first));
    if (writer->first.len > 0 && !writer->prefix.failed && !writer->first.failed) {
        memcpy(writer->first.data, writer->prefix.data, writer->first.len);
    }
    writer->column = writer->prefix.len;
    writer->line_open = true;
    writer->space = false;
    writer->bar = false;
    writer->ended = 0;
}

/* Begins a line if none is open, after the empty line that is due before it. */
static void open_line(struct mq_text_writer *writer)
{
    while (writer->out->len > writer->start && writer->ended < writer->breaks) {
        empty_line(writer);
    }
    writer->breaks = 0;
    if (!writer->line_open) {
        begin_line(writer);
    }
}

/* ---- words ---- */

/* Returns how many characters UTF-8 text has, which is about how many columns it takes. */
static size_t columns(struct mq_str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        n += ((unsigned char)text.data[i] & 0xC0) != 0x80;
    }
    return n;
}

static void place(struct mq_text_writer *writer, struct mq_str word)
{
    size_t wide = columns(word);
    open_line(writer);
    if (writer->bar) {
        mq_buffer_cstr(writer->out, " |");
        writer->column += 2;
        writer->space = true;
        writer->bar = false;
    }
    if (writer->space && writer->column + 1 + wide > COLUMNS) {
        end_line(writer);
        begin_line(writer);
    } else if (writer->space) {
        mq_buffer_char(writer->out, ' ');
        writer->column++;
    }
    mq_buffer_str(writer->out, word);
    writer->column += wide;
    writer->space = false;
}

static void end_word(struct mq_text_writer *writer)
{
    struct mq_str word = mq_buffer_view(&writer->word);
    size_t len = word.len;
    while (word.len > 0 && word.data[word.len - 1] == ' ') {
        word.len--;
    }
    if (writer->visible) {
        place(writer, word);
    }
    writer->space = writer->space || word.len < len || (len > 0 && !writer->visible);
    writer->visible = false;
    writer->word.len = 0; /* not mq_buffer_reset(), which would clear `failed` */
}

/* Whether to leave out a soft hyphen, grapheme joiner, zero-width space, word joiner or BOM. */
static bool is_ignored(uint32_t c)
{
    return c == 0xad || c == 0x34f || c == 0x200b || c == 0x2060 || c == 0xfeff;
}

static bool is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0);
}

/* Takes a character off text. */
static struct mq_str take(struct mq_str *text, uint32_t *c)
{
    *c = 0; /* omits invalid UTF-8, as it does controls */
    size_t len = mq_utf8_next(*text, c);
    struct mq_str character = {text->data, len > 0 ? len : 1};
    *text = mq_str_skip(*text, character.len);
    return character;
}

void mq_text_put(struct mq_text_writer *writer, struct mq_str text)
{
    while (text.len > 0) {
        uint32_t c;
        struct mq_str character = take(&text, &c);
        if (c == ' ' || (c >= '\t' && c <= '\r')) {
            end_word(writer);
            writer->space = true;
        } else if (c == 0xa0 || c == 0x2007 || c == 0x202f) {
            mq_buffer_char(&writer->word, ' ');
        } else if (!is_control(c) && !is_ignored(c)) {
            mq_buffer_str(&writer->word, character);
            /* A word of joiners only is invisible filling. */
            writer->visible = writer->visible || (c != 0x200c && c != 0x200d);
        }
    }
}

void mq_text_put_lines(struct mq_text_writer *writer, struct mq_str text)
{
    end_word(writer);
    while (text.len > 0) {
        uint32_t c;
        struct mq_str character = take(&text, &c);
        if (c == '\n' && writer->line_open) {
            end_line(writer);
        } else if (c == '\n' && writer->out->len > writer->start && writer->breaks == 0) {
            empty_line(writer);
        } else if (c == '\t' || !is_control(c)) {
            open_line(writer);
            mq_buffer_str(writer->out, c == 0xa0 ? MQ_STR(" ") : character);
            writer->column++;
        }
    }
    writer->space = false;
}

/* ---- structure ---- */

void mq_text_break(struct mq_text_writer *writer, unsigned lines)
{
    end_word(writer);
    if (writer->line_open && lines > 0) {
        end_line(writer);
    }
    writer->breaks = lines > writer->breaks ? lines : writer->breaks;
}

void mq_text_newline(struct mq_text_writer *writer)
{
    end_word(writer);
    mq_text_break(writer, writer->breaks < 2 ? writer->breaks + 1 : 2);
}

void mq_text_rule(struct mq_text_writer *writer)
{
    mq_text_break(writer, 2);
    open_line(writer);
    for (; writer->column < COLUMNS; writer->column++) {
        mq_buffer_char(writer->out, '-');
    }
    mq_text_break(writer, 2);
}

void mq_text_bar(struct mq_text_writer *writer)
{
    end_word(writer);
    writer->bar = writer->line_open;
}

void mq_text_indent(struct mq_text_writer *writer, const char *first, const char *rest)
{
    end_word(writer);
    if (writer->prefix.len + strlen(rest) <= INDENT_OCTETS_MAX) {
        mq_buffer_cstr(&writer->prefix, rest);
        mq_buffer_cstr(&writer->first, first);
    }
}

void mq_text_unindent(struct mq_text_writer *writer, size_t before)
{
    end_word(writer);
    writer->prefix.len = before;
    writer->first.len = writer->first.len < before ? writer->first.len : before;
    writer->gap = writer->gap < before ? writer->gap : before;
}

void mq_text_writer_finish(struct mq_text_writer *writer)
{
    mq_text_break(writer, 1);
    writer->out->failed =
        writer->out->failed || writer->word.failed || writer->prefix.failed || writer->first.failed;
    mq_buffer_clear(&writer->word);
    mq_buffer_clear(&writer->prefix);
    mq_buffer_clear(&writer->first);
}
