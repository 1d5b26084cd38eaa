/* Makes lines of plain text from words: wrapped, indented, quoted. Used by html.c. */
#ifndef MQ_MIME_TEXT_WRITER_H
#define MQ_MIME_TEXT_WRITER_H

#include "core/buffer.h"

struct mq_text_writer {
    struct mq_buffer *out;
    size_t start;            /* index in `out` where the text begins */
    struct mq_buffer word;   /* the unfinished word; no-break spaces became spaces */
    bool visible;            /* the word has a visible character */
    struct mq_buffer prefix; /* begins every line: quote marks, indents */
    struct mq_buffer first;  /* begins the next line: as long as prefix, but with list marks */
    size_t column;           /* of the open line */
    bool line_open;
    bool space;      /* a space is due before the next word */
    bool bar;        /* a mark is due between two cells, if the next word is on this line */
    unsigned breaks; /* line ends due before the next word: 2 make an empty line */
    unsigned ended;  /* line ends at the end of `out` */
    size_t gap;      /* smallest prefix.len since the last line: empty lines have that much */
};

void mq_text_writer_init(struct mq_text_writer *writer, struct mq_buffer *out);
/* Writes what is left, with a line end, and frees all but `out`. Sets out->failed if memory was
 * missing anywhere. */
void mq_text_writer_finish(struct mq_text_writer *writer);

/* Adds UTF-8 text. Collapses white space, and omits controls. */
void mq_text_put(struct mq_text_writer *writer, struct mq_str text);
/* Adds preformatted UTF-8 text, with its white space and line ends. */
void mq_text_put_lines(struct mq_text_writer *writer, struct mq_str text);

/* Puts at least this many line ends (0 to 2) before the next text. */
void mq_text_break(struct mq_text_writer *writer, unsigned lines);
/* Puts one more line end before the next text, up to an empty line. */
void mq_text_newline(struct mq_text_writer *writer);
/* Draws a horizontal line. */
void mq_text_rule(struct mq_text_writer *writer);
/* Puts a mark between two cells, if the next word is on the same line as the last. */
void mq_text_bar(struct mq_text_writer *writer);

/* Lines from here on begin with `rest`, the first one with `first`, which is as long. Adds nothing
 * beyond a maximum depth. */
void mq_text_indent(struct mq_text_writer *writer, const char *first, const char *rest);
/* Shortens the prefix to `before`, which is what prefix.len was before mq_text_indent(). */
void mq_text_unindent(struct mq_text_writer *writer, size_t before);

#endif
