/* The body of a message: its texts and parts, in as few multiparts as they need:
 * mixed (alternative (text, related (html, what it shows), calendar), attachments). */
#ifndef MQ_MIME_COMPOSE_PART_TREE_H
#define MQ_MIME_COMPOSE_PART_TREE_H

#include "mime/compose/composer.h"
#include "mime/encode.h"

#define MQ_BOUNDARY_STEM 16

struct mq_text_part {
    const char *type;   /* "text/plain" */
    struct mq_str text; /* data NULL: there is none */
    enum mq_encoding encoding;
};

struct mq_part;

struct mq_part_tree {
    struct mq_text_part text, html, calendar;
    struct mq_part *parts; /* in the order of the fields */
    size_t count, inline_count;
    /* Whether an inline or attached part is 8bit. The multiparts around it are 8bit then too. */
    bool eight_bit_inline, eight_bit_attached;
    char stem[MQ_BOUNDARY_STEM + 1]; /* what all boundaries share; occurs in no content */
    size_t size;                     /* an upper bound of the octets that are written */
};

/* Checks and measures the texts and parts, which are borrowed. `text` is the plain text to send
 * (data NULL: none); it may have been made from the HTML. The caller clears the tree (zeroed
 * before) in any case. MQ_MESSAGE, MQ_IO with the field of a part. */
enum mq_status mq_part_tree_prepare(const struct mq_compose_fields *fields, struct mq_str text,
                                    struct mq_part_tree *tree, struct mq_error *err);
void mq_part_tree_clear(struct mq_part_tree *tree);

/* Appends the header fields of the body, the empty line, and the body, which ends with CRLF. An fd
 * is read and encoded in blocks. MQ_IO with the field of a part. */
enum mq_status mq_part_tree_write(const struct mq_part_tree *tree, struct mq_buffer *out,
                                  struct mq_error *err);

#endif
