/* Lines of plain text from words: wrapped, indented, quoted. Used by html.c. */
#ifndef MQ_MIME_TEXT_WRITER_H
#define MQ_MIME_TEXT_WRITER_H

#include "core/buffer.h"

struct mq_text_writer {
    struct mq_buffer *out;
    size_t start;            /* where in out the text begins */
    struct mq_buffer word;   /* as far as it has come; no-break spaces are spaces in it */
    bool visible;            /* whether anything in it can be seen */
    struct mq_buffer prefix; /* of every line: quote marks, indents */
    struct mq_buffer first;  /* of the next line: the same length, with list marks */
    size_t column;           /* of the line, when it is open */
    bool line_open;
    bool space;      /* before the next word */
    bool bar;        /* a mark between cells before the next word, if it is on the same line */
    unsigned breaks; /* line ends before the next word: 2 make an empty line */
    unsigned ended;  /* line ends that out has at its end already */
    size_t gap;      /* the shortest prefix since the line: that of the empty line */
};

void mq_text_writer_init(struct mq_text_writer *writer, struct mq_buffer *out);
/* Writes what is left, with a line end, and frees all but `out`, whose `failed` says whether memory
 * was missing anywhere. */
void mq_text_writer_finish(struct mq_text_writer *writer);

/* UTF-8 text; white space is collapsed, controls are left out. */
void mq_text_put(struct mq_text_writer *writer, struct mq_str text);
/* The same, with its white space. */
void mq_text_put_lines(struct mq_text_writer *writer, struct mq_str text);

/* At least so many line ends (0 to 2) before what comes. */
void mq_text_break(struct mq_text_writer *writer, unsigned lines);
/* One more, up to an empty line. */
void mq_text_newline(struct mq_text_writer *writer);
/* A line across. */
void mq_text_rule(struct mq_text_writer *writer);
/* A mark between two cells, if the next word stands on the same line as the last. */
void mq_text_bar(struct mq_text_writer *writer);

/* Lines from here on begin with `rest`, the first one with `first`, which is as long. Beyond some
 * depth nothing is added. */
void mq_text_indent(struct mq_text_writer *writer, const char *first, const char *rest);
/* Back to a prefix of that length, which was prefix.len before. */
void mq_text_unindent(struct mq_text_writer *writer, size_t before);

#endif
