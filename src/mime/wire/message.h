/* A complete message (RFC 5322) brought to the form in which it goes over the wire. */
#ifndef MQ_MIME_WIRE_MESSAGE_H
#define MQ_MIME_WIRE_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"

enum {
    MQ_MESSAGE_8BIT = 1,         /* body has bytes over 127: needs 8BITMIME */
    MQ_MESSAGE_UTF8_HEADERS = 2, /* headers have bytes over 127: needs SMTPUTF8 (RFC 6531) */
    /* What repair.h repairs. Never set for a message with a DKIM-Signature. */
    MQ_MESSAGE_LONG_LINES = 4, /* a line over 998 octets */
    MQ_MESSAGE_RAW_HEADERS = 8 /* headers have bytes over 127, perhaps not UTF-8 */
};

struct mq_message_options {
    size_t max_size;        /* bytes of the result; 0 = no limit */
    const char *message_id; /* "<…@…>", used when the message has none */
    int64_t date_s;         /* used for a missing Date */
};

/* What mq_message_normalize() found. message_id points into the output, has no control characters,
 * and ends before any comment that follows it in the field. */
struct mq_message_info {
    unsigned flags;
    struct mq_str message_id;
};

/* Appends the wire form of a message to `out` (initialised, empty). The message may have any line
 * ends: CRLF, LF, both, or CR throughout. The result has CRLF, no Bcc and Resent-Bcc, one
 * Message-ID and one Date (the first of each, or those of `options`), an empty line after the
 * header section, and CRLF at the end. A lone CR in the body becomes CRLF. If it has no
 * DKIM-Signature, it has at most one Subject (the first), To, Cc and Reply-To (with the addresses
 * of all).
 *
 * MQ_MESSAGE, field "message", mostly with the number of the line, for: a NUL; a CR without LF in
 * the headers of a message that has LFs; no header section; a malformed header line; a Message-ID
 * that is broken over lines, has control characters or fits in no line; a result over the size;
 * what would break a signature (a change in a message with a DKIM-Signature, or a lone CR in one
 * with a multipart/signed part).
 *
 * Lines over 998 octets and header bytes that are not UTF-8 stay, and the flags report them. No
 * relay takes such a message, so callers use mq_repair_accept() (repair.h), which calls this
 * function and repairs them. In a message with a DKIM-Signature they are errors. So are mixed line
 * ends there, and adding or removing a field that the signature covers. LF or CR throughout is not
 * an error, because lines are signed with CRLF (RFC 6376, 5.3), nor is a missing last line end
 * (3.4.3). */
enum mq_status mq_message_normalize(struct mq_str raw, const struct mq_message_options *options,
                                    struct mq_buffer *out, struct mq_message_info *info,
                                    struct mq_error *err);

/* Iterates over the fields of a header section (line ends as above), up to the first empty line.
 * `name` is empty for a line that is not a field; `value` is trimmed and still folded. */
struct mq_message_fields {
    struct mq_str rest; /* what was not read yet */
    struct mq_str name;
    struct mq_str value;
    size_t line;  /* number of the field's first line */
    size_t folds; /* number of its continuation lines */
    char end;     /* last byte of every line: LF, or CR */
};

void mq_message_fields_init(struct mq_message_fields *fields, struct mq_str message);
bool mq_message_fields_next(struct mq_message_fields *fields);

/* Checks that a message, which somebody may have edited in the database, is safe for SMTP: CR and
 * LF in pairs only, a pair at the end, no NUL. MQ_MESSAGE says what is wrong, and at which byte.
 * Cheap: one pass without branches. */
enum mq_status mq_message_check_wire(struct mq_str message, struct mq_error *err);

/* Returns the header section of a message in wire form, without the empty line. *body is what
 * follows that line. */
struct mq_str mq_message_head(struct mq_str message, struct mq_str *body);

/* Returns what a relay must offer for a message in wire form: MQ_MESSAGE_8BIT, _UTF8_HEADERS. */
unsigned mq_message_flags(struct mq_str message);
/* Returns the Message-ID of a message in wire form, as in mq_message_info; empty if it has none. */
struct mq_str mq_message_id(struct mq_str message);
/* MQ_MESSAGE when `size` is over `max`; 0 = no limit. */
enum mq_status mq_message_check_size(size_t size, size_t max, struct mq_error *err);

/* Finds the first field `name` (without colon) of a message in wire form. *value is trimmed and
 * still folded. */
bool mq_message_header(struct mq_str message, const char *name, struct mq_str *value);

#endif
