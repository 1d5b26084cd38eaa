/* Composes a message from its fields: RFC 5322, 2045 to 2047, 2183 (disposition), 2231
 * (parameters), 2369 and 8058 (unsubscribing), 2387 (related), 2392 (cid). The output is 7-bit,
 * with two exceptions: addresses whose local part is not (RFC 6532), and attached messages with
 * 8-bit bytes, which must not be encoded (RFC 2046, 5.2.1). The same fields always give the same
 * bytes. */
#ifndef MQ_MIME_COMPOSE_COMPOSER_H
#define MQ_MIME_COMPOSE_COMPOSER_H

#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"

struct mq_envelope;

/* Mailboxes of one field. */
struct mq_compose_address {
    struct mq_str address; /* if name.data is NULL: one mailbox or a comma-separated list, as
                              people write them; else a plain addr-spec */
    struct mq_str name;    /* display name, UTF-8; may be empty */
    const char *field;     /* for errors: "to", "to[3]" */
};

struct mq_compose_addresses {
    const struct mq_compose_address *items;
    size_t count;
};

/* A header field that the caller adds. */
struct mq_compose_header {
    struct mq_str name;  /* by RFC 5322, 3.6.8; not a field that the composer writes itself */
    struct mq_str value; /* UTF-8 text, trimmed; mailboxes of Sender, Errors-To, …; ids of
                            In-Reply-To and References */
};

/* An attachment, or a part that the HTML shows. */
struct mq_compose_part {
    struct mq_str name; /* file name without directories, UTF-8; empty: none. If it is not short
                           ASCII, the type gets an ASCII form as "name" for old readers */
    struct mq_str type; /* "image/png", "text/csv; charset=utf-8"; empty: octet-stream */
    struct mq_str cid;  /* its id, which the HTML has after "cid:"; empty: an attachment */
    struct mq_str data; /* the content; with an fd, only its length */
    int fd;             /* data.len bytes are read from its current position; fewer or more are
                           an error. The caller closes it. -1: none */
    int ready;          /* 0: no. Else data is the whole part, as mq_part_ready() (part.h) wrote it,
                           and of the others only cid and field count */
    const char *field;  /* for errors: "attachments[2]" */
};

struct mq_compose_fields {
    struct mq_compose_addresses from;                  /* exactly one mailbox */
    struct mq_compose_addresses to, cc, bcc, reply_to; /* at least one in to, cc or bcc */
    struct mq_str subject;                             /* UTF-8, one line; may be empty */
    struct mq_str text; /* UTF-8, any line ends; data NULL: made from the HTML if this build can,
                           else left out */
    struct mq_str html; /* UTF-8; data NULL: none */
    struct mq_str
        calendar; /* iCalendar with a METHOD, UTF-8, beside text or html; data NULL: none */
    const struct mq_compose_header *headers;
    size_t header_count;
    const struct mq_compose_part *parts; /* in the order in which readers show them */
    size_t part_count;
    const struct mq_str *unsubscribe; /* URIs: https: or mailto: */
    size_t unsubscribe_count;
    const char *message_id; /* "<…@…>", required */
    int64_t date_s;         /* UTC */
    size_t max_size;        /* of the message; 0 = no limit */
};

/* Appends the message in wire form to `out` (initialised, empty) and fills the envelope
 * (initialised). MQ_MESSAGE with the field for: CR, LF, NUL and other controls in anything that
 * goes into a header (but text may have the separators of mq_header_text()); invalid UTF-8; a bad
 * address, header name, type or URI; a NUL in text or html; a header that the composer writes
 * itself; neither text nor html; calendar data without one METHOD; a cid without html, or twice;
 * two https URIs; a message over the size. MQ_IO: an fd cannot be read, or has more or fewer bytes
 * than data.len. */
enum mq_status mq_compose(const struct mq_compose_fields *fields, struct mq_buffer *out,
                          struct mq_envelope *envelope, struct mq_error *err);

#endif
