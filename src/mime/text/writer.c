/* Collects words into lines: white space is collapsed, long lines wrap between words. */
#include "mime/text/writer.h"

#include <string.h>

#define INDENT_OCTETS_MAX 40 /* deeper, a line would have more indent than text */

void mq_text_writer_init(struct mq_text_writer *writer, struct mq_buffer *out)
{
    *writer = (struct mq_text_writer){.out = out, .start = out->len};
    mq_buffer_init(&writer->word);
    mq_buffer_init(&writer->prefix);
    mq_buffer_init(&writer->first);
}

bool mq_text_writer_failed(const struct mq_text_writer *writer)
{
    return writer->out->failed || writer->word.failed || writer->prefix.failed ||
           writer->first.failed;
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
    writer->ended = 0;
}

/* The line ends that are due, and the begin of a line if there is none. */
static void open_line(struct mq_text_writer *writer)
{
    if (writer->breaks > 0 && writer->line_open) {
        size_t gap = writer->gap;
        end_line(writer);
        writer->gap = gap;
    }
    while (writer->out->len > writer->start && writer->ended < writer->breaks) {
        empty_line(writer);
    }
    writer->breaks = 0;
    if (!writer->line_open) {
        begin_line(writer);
    }
}

/* ---- words ---- */

/* Columns that a character takes in a terminal: East Asian wide ones and emoji take two. */
static size_t width(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } wide[] = {{0x1100, 0x115f}, {0x2e80, 0xa4cf}, {0xac00, 0xd7a3},   {0xf900, 0xfaff},
                {0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd}};
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
        if (c >= wide[i].first && c <= wide[i].last) {
            return 2;
        }
    }
    return 1;
}

static size_t columns(struct mq_str text)
{
    size_t n = 0;
    while (text.len > 0) {
        uint32_t c = 0;
        size_t len = mq_utf8_next(text, &c);
        n += width(c);
        len = len > 0 ? len : 1;
        text.data += len;
        text.len -= len;
    }
    return n;
}

static void place(struct mq_text_writer *writer, struct mq_str word)
{
    size_t wide = columns(word);
    if (writer->breaks > 0 || !writer->line_open) {
        open_line(writer);
    }
    if (writer->space && writer->column + 1 + wide > MQ_TEXT_COLUMNS) {
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

static void place_bar(struct mq_text_writer *writer)
{
    bool within = writer->bar && writer->line_open && writer->breaks == 0;
    writer->bar = false;
    if (within) {
        writer->space = true;
        place(writer, MQ_STR("|"));
        writer->space = true;
    }
}

static void end_word(struct mq_text_writer *writer)
{
    struct mq_str word = mq_buffer_view(&writer->word);
    bool space_behind = false;
    if (word.len == 0) {
        return;
    }
    while (word.len > 0 && word.data[word.len - 1] == ' ') {
        word.len--;
        space_behind = true;
    }
    if (writer->visible) {
        place_bar(writer);
        place(writer, word);
    }
    writer->space = writer->space || space_behind || !writer->visible;
    writer->visible = false;
    writer->word.len = 0; /* not reset: a failure is to be seen */
}

/* Left out: soft hyphen, grapheme joiner, zero-width space, word joiner, byte order mark. */
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
    size_t len = mq_utf8_next(*text, c);
    struct mq_str character = {text->data, len > 0 ? len : 1};
    if (len == 0) {
        *c = 0; /* not UTF-8: left out, as controls are */
    }
    text->data += character.len;
    text->len -= character.len;
    return character;
}

static struct mq_str take_printable(struct mq_str *text)
{
    struct mq_str run = {text->data, 0};
    while (run.len < text->len && text->data[run.len] > ' ' && text->data[run.len] < 0x7f) {
        run.len++;
    }
    text->data += run.len;
    text->len -= run.len;
    return run;
}

void mq_text_put(struct mq_text_writer *writer, struct mq_str text)
{
    while (text.len > 0) {
        struct mq_str run = take_printable(&text);
        if (run.len > 0) {
            mq_buffer_str(&writer->word, run);
            writer->visible = true;
            continue;
        }
        uint32_t c;
        struct mq_str character = take(&text, &c);
        if (c == ' ' || (c >= '\t' && c <= '\r')) {
            end_word(writer);
            writer->space = true;
        } else if (c == 0xa0 || c == 0x2007 || c == 0x202f) {
            mq_buffer_char(&writer->word, ' ');
        } else if (!is_control(c) && !is_ignored(c)) {
            mq_buffer_str(&writer->word, character);
            /* Joiners alone are used as filling. */
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
        if (c == '\n' && writer->line_open && writer->breaks == 0) {
            end_line(writer);
        } else if (c == '\n' && writer->out->len > writer->start && writer->breaks == 0) {
            empty_line(writer);
        } else if (c == 0xa0) {
            open_line(writer);
            mq_buffer_char(writer->out, ' ');
        } else if (c == '\t' || !is_control(c)) {
            open_line(writer);
            mq_buffer_str(writer->out, character);
            writer->column += width(c);
        }
    }
    writer->space = false;
}

void mq_text_put_behind(struct mq_text_writer *writer, struct mq_str word)
{
    end_word(writer);
    unsigned breaks = writer->breaks;
    if (writer->line_open) {
        writer->breaks = 0;
    }
    writer->space = true;
    mq_buffer_str(&writer->word, word);
    writer->visible = true;
    if (breaks > 0) {
        end_word(writer);
        writer->breaks = breaks;
    }
}

/* ---- structure ---- */

void mq_text_break(struct mq_text_writer *writer, unsigned lines)
{
    end_word(writer);
    if (writer->breaks == 0 && writer->line_open) {
        writer->gap = writer->prefix.len;
    }
    if (lines > writer->breaks) {
        writer->breaks = lines;
    }
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
    while (writer->column < MQ_TEXT_COLUMNS && !writer->out->failed) {
        mq_buffer_char(writer->out, '-');
        writer->column++;
    }
    mq_text_break(writer, 2);
}

void mq_text_bar(struct mq_text_writer *writer)
{
    end_word(writer);
    writer->bar = true;
}

size_t mq_text_indent(struct mq_text_writer *writer, const char *first, const char *rest)
{
    size_t before = writer->prefix.len;
    end_word(writer);
    if (before + strlen(rest) <= INDENT_OCTETS_MAX) {
        mq_buffer_cstr(&writer->prefix, rest);
        mq_buffer_cstr(&writer->first, first);
    }
    return before;
}

void mq_text_unindent(struct mq_text_writer *writer, size_t before)
{
    end_word(writer);
    writer->prefix.len = before;
    writer->first.len = writer->first.len < before ? writer->first.len : before;
    if (writer->gap > before) {
        writer->gap = before;
    }
}

void mq_text_writer_finish(struct mq_text_writer *writer)
{
    end_word(writer);
    if (writer->line_open) {
        mq_buffer_char(writer->out, '\n');
    }
    mq_buffer_clear(&writer->word);
    mq_buffer_clear(&writer->prefix);
    mq_buffer_clear(&writer->first);
}
