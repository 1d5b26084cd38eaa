/* A complete message (RFC 5322) brought to the form in which it goes over the wire. */
#ifndef MQ_MIME_WIRE_MESSAGE_H
#define MQ_MIME_WIRE_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"

enum {
    MQ_MESSAGE_8BIT = 1,         /* body has bytes over 127: needs 8BITMIME */
    MQ_MESSAGE_UTF8_HEADERS = 2, /* headers have them: needs SMTPUTF8 (RFC 6531) */
    /* What repair.h takes care of; only of messages without DKIM-Signature. */
    MQ_MESSAGE_LONG_LINES = 4, /* a line over 998 octets */
    MQ_MESSAGE_RAW_HEADERS = 8 /* headers have bytes over 127, perhaps no UTF-8 */
};

struct mq_message_options {
    size_t max_size;        /* bytes of the result; 0 = no limit */
    const char *message_id; /* "<…@…>", used when the message has none */
    int64_t date_s;         /* used for a missing Date */
};

/* What normalising found; message_id points into the output: printable, without the comments that
 * the field may have behind it. */
struct mq_message_info {
    unsigned flags;
    struct mq_str message_id;
};

/* Appends to `out` (initialised, empty) the message with CRLF line ends whatever it had (CRLF, LF,
 * both; or CR throughout), without Bcc and Resent-Bcc fields, with one Message-ID and one Date (the
 * first of each). It ends with CRLF, its header section with an empty line. A lone CR in the body
 * becomes CRLF. MQ_MESSAGE, field "message" and the line's number in the text, on: a NUL, a CR that
 * is not a part of CRLF in the headers of a message that has LFs, no header section, a malformed
 * header line, a Message-ID that is broken over lines, has control characters or fits in no line,
 * over the size; and when what is signed would have to be changed: a message with a
 * DKIM-Signature, or a lone CR where there is multipart/signed.
 *
 * Lines over 998 octets and header bytes that are not UTF-8 stay, and the flags tell; no relay
 * takes such a message: callers use mq_repair_accept() (repair.h), which calls this and repairs
 * them. In a message with a DKIM-Signature they are errors. Line ends that are LF throughout, or
 * CR, are no change: what is signed are the lines with CRLF (RFC 6376, section 5.3), and so is a
 * missing last one (3.4.3). Mixed line ends, an added, doubled or removed field are. */
enum mq_status mq_message_normalize(struct mq_str raw, const struct mq_message_options *options,
                                    struct mq_buffer *out, struct mq_message_info *info,
                                    struct mq_error *err);

/* Goes over the fields of a header section with any of these line ends. `name` is empty for a line
 * that is not a field; `value` is trimmed and has its folding. Up to the first empty line. */
struct mq_message_fields {
    struct mq_str rest; /* what was not read yet */
    struct mq_str name;
    struct mq_str value;
    size_t line;  /* number of the field's first line */
    size_t folds; /* lines that it has behind that */
    char end;     /* of lines: LF, or CR */
};

void mq_message_fields_init(struct mq_message_fields *fields, struct mq_str message);
bool mq_message_fields_next(struct mq_message_fields *fields);

/* Whether bytes that somebody may have edited are in wire form as far as SMTP is concerned: CR and
 * LF in pairs only, one pair at the end, no NUL. MQ_MESSAGE says what is wrong, and at which byte.
 * Cheap: one pass without branches. */
enum mq_status mq_message_check_wire(struct mq_str message, struct mq_error *err);

/* The header section of a message in wire form, without the empty line; *body is what follows it.
 */
struct mq_str mq_message_head(struct mq_str message, struct mq_str *body);

/* What a relay must offer for a message in wire form: MQ_MESSAGE_8BIT, MQ_MESSAGE_UTF8_HEADERS. */
unsigned mq_message_flags(struct mq_str message);
/* The Message-ID of one, as in mq_message_info; empty when it has none. */
struct mq_str mq_message_id(struct mq_str message);
/* MQ_MESSAGE when `size` is over `max`; 0 = no limit. */
enum mq_status mq_message_check_size(size_t size, size_t max, struct mq_error *err);

/* Finds the first field `name` (without colon) of a message in wire form: its value as it stands,
 * trimmed, folding kept. */
bool mq_message_header(struct mq_str message, const char *name, struct mq_str *value);

#endif
