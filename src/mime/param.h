/* Parameters of Content-Type and Content-Disposition (RFC 2045, 5.1; RFC 2231). */
#ifndef MQ_MIME_PARAM_H
#define MQ_MIME_PARAM_H

#include "core/buffer.h"

/* A part's type, such as "text/csv; charset=utf-8". */
struct mq_media_type {
    struct mq_str type;    /* "text" */
    struct mq_str subtype; /* "csv" */
    struct mq_str params;  /* what follows, with the first ';'; may be empty */
    bool has_name;         /* a parameter "name" is among them, in any form */
};

/* NULL, or what is wrong with the text. */
const char *mq_media_type_parse(struct mq_str text, struct mq_media_type *out);
/* Writes it behind "Content-Type:". */
void mq_media_type_write(struct mq_buffer *out, size_t *column, const struct mq_media_type *type);

/* Whether a character stands for itself in an extended value: attribute-char of RFC 2231, 7. */
bool mq_param_is_literal(char c);

/* A parameter, behind ';' and a space or a fold: a file's name, UTF-8 without control characters.
 * In quotes if it is a short one of ASCII, else as RFC 2231 wants it, in sections where it is long.
 */
void mq_param_filename(struct mq_buffer *out, size_t *column, const char *name,
                       struct mq_str value);
/* The same for readers that do not know RFC 2231: in quotes and ASCII ("Größe.pdf" is "Gr_e.pdf"),
 * of a long name as much of its end as fits in a line. `value` may be any bytes. The composer gives
 * one form of a parameter only, since parsers take two for a duplicate: the real name as the
 * disposition's "filename", this one as the type's "name", where old readers look. */
void mq_param_fallback(struct mq_buffer *out, size_t *column, const char *name,
                       struct mq_str value);

#endif
