/* A part of a message beside its texts: an attachment, or what the HTML shows. */
#ifndef MQ_MIME_COMPOSE_PART_H
#define MQ_MIME_COMPOSE_PART_H

#include "mime/compose/composer.h"
#include "mime/encode.h"
#include "mime/param.h"

/* A part, after the checks. All zero: none. */
struct mq_part {
    const struct mq_compose_part *source;
    struct mq_str name;
    struct mq_buffer spaced; /* the name, if it had pasted separators */
    struct mq_media_type type;
    enum mq_encoding encoding;
    struct mq_buffer loaded; /* a message that was read from an fd */
    struct mq_str content;   /* data NULL: still to be read from the fd, or empty */
};

/* Checks the part, which is borrowed, and fills `part` (zeroed), which the caller clears in any
 * case. Adds the octets that it takes at most to *total. MQ_MESSAGE, MQ_IO with the part's field.
 */
enum mq_status mq_part_prepare(const struct mq_compose_part *source, struct mq_part *part,
                               size_t *total, struct mq_error *err);
void mq_part_clear(struct mq_part *part);
/* Appends the header of the part, the empty line and the content, without the line end that belongs
 * to the delimiter after it. An fd is read and encoded in blocks. MQ_IO with the part's field. */
enum mq_status mq_part_write(const struct mq_part *part, struct mq_buffer *out,
                             struct mq_error *err);

#define MQ_PART_READY(encoding) ((int)(encoding) + 1)

/* Makes a part that many messages have: appends the octets of mq_part_write() to `out` (empty).
 * `ready` is filled for mq_compose(), which then only copies them; it points into `out`, and its
 * cid and field into `source`. ready->ready is MQ_PART_READY() of the encoding. MQ_MESSAGE, MQ_IO
 * with the part's field. */
enum mq_status mq_part_ready(const struct mq_compose_part *source, struct mq_buffer *out,
                             struct mq_compose_part *ready, struct mq_error *err);

#endif
