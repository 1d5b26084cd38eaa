/* Parameters of Content-Type and Content-Disposition (RFC 2045, 5.1; RFC 2231). */
#ifndef MQ_MIME_PARAM_H
#define MQ_MIME_PARAM_H

#include "core/buffer.h"

/* A part's type, such as "text/csv; charset=utf-8". */
struct mq_media_type {
    struct mq_str type;    /* "text" */
    struct mq_str subtype; /* "csv" */
    struct mq_str params;  /* what follows, with the first ';'; may be empty */
    bool has_name;         /* params has a "name", plain or in a form of RFC 2231 */
};

/* Returns NULL, or what is wrong with the text. */
const char *mq_media_type_parse(struct mq_str text, struct mq_media_type *out);
/* Writes a type after "Content-Type:". */
void mq_media_type_write(struct mq_buffer *out, size_t *column, const struct mq_media_type *type);

#define MQ_PARAM_NAME_MAX 60 /* octets of a name that leaves room for a value */

/* Writes a parameter by RFC 2231, after ';' and a space or fold: name*=charset''…, or if that does
 * not fit in a line, in sections: name*0*=…; name*1*=…. The charset has at most 40 octets. */
void mq_param_extended(struct mq_buffer *out, size_t *column, struct mq_str charset,
                       struct mq_str name, struct mq_str value);
/* Writes a file's name (UTF-8 without control characters) as a parameter: a short ASCII name in
 * quotes, others with mq_param_extended(). */
void mq_param_filename(struct mq_buffer *out, size_t *column, const char *name,
                       struct mq_str value);
/* Writes a file's name for readers that do not know RFC 2231: in quotes and ASCII ("Größe.pdf"
 * becomes "Gr_e.pdf"). A long name is cut at its beginning. `value` may be any bytes. The composer
 * writes a parameter in one form only, because parsers treat two as duplicates: the real name as
 * "filename" of the disposition, this one as "name" of the type, where old readers look. */
void mq_param_fallback(struct mq_buffer *out, size_t *column, const char *name,
                       struct mq_str value);

#endif
