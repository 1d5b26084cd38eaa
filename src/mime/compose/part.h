/* One attachment, or a part that the HTML shows: its header and its encoded content. */
#ifndef MQ_MIME_COMPOSE_PART_H
#define MQ_MIME_COMPOSE_PART_H

#include "mime/compose/composer.h"
#include "mime/encode.h"
#include "mime/param.h"

/* A part that was checked. `content` and `loaded` are of those that must not be encoded. */
struct mq_part {
    const struct mq_compose_part *source;
    struct mq_str name;
    struct mq_buffer spaced; /* the name, if it had pasted separators */
    struct mq_media_type type;
    enum mq_encoding encoding;
    struct mq_buffer loaded; /* what was read from an fd */
    struct mq_str content;
    size_t size; /* of what is written, about */
};

/* Fills `part` (zeroed). A message (RFC 2046, 5.2) is not encoded: it goes as it is, in 7bit or
 * 8bit, where its lines allow that, and else as application/octet-stream. MQ_MESSAGE with the
 * source's field: name, type or cid; MQ_IO: the fd of a message. */
enum mq_status mq_part_prepare(const struct mq_compose_part *source, struct mq_part *part,
                               struct mq_error *err);
void mq_part_clear(struct mq_part *part);

/* Appends the part, without a line end behind its content. An fd is read straight into the output.
 * MQ_IO with the source's field. */
enum mq_status mq_part_write(const struct mq_part *part, struct mq_buffer *out,
                             struct mq_error *err);

#endif
