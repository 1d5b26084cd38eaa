/* Parameters of Content-Type and Content-Disposition (RFC 2045, 5.1; RFC 2231). */
#ifndef MQ_MIME_PARAM_H
#define MQ_MIME_PARAM_H

#include "core/buffer.h"

/* A part's type, such as "text/csv; charset=utf-8". */
struct mq_media_type {
    struct mq_str type;    /* "text" */
    struct mq_str subtype; /* "csv" */
    struct mq_str params;  /* what follows, with the first ';'; may be empty */
    bool has_name;         /* a parameter "name" is among them */
};

/* NULL, or what is wrong with the text. */
const char *mq_media_type_parse(struct mq_str text, struct mq_media_type *out);
/* Writes it behind "Content-Type:". */
void mq_media_type_write(struct mq_buffer *out, size_t *column, const struct mq_media_type *type);

/* A parameter, behind ';' and a space or a fold: a file's name, UTF-8 without control characters.
 * What is no short ASCII is given as encoded words in quotes, which RFC 2047 forbids and old
 * readers expect; and, if `extended`, behind that as RFC 2231 wants it, in sections where it is
 * long. */
void mq_param_filename(struct mq_buffer *out, size_t *column, const char *name, struct mq_str value,
                       bool extended);

#endif
