/* What the repair*.c files share. If memory is missing, `failed` of the output is set; callers
 * check it at the end. */
#ifndef MQ_MIME_WIRE_INTERNAL_H
#define MQ_MIME_WIRE_INTERNAL_H

#include "core/buffer.h"
#include "mime/encode.h"

/* ---- repair_words.c: fields written token by token ---- */

struct mq_repair_line {
    struct mq_buffer *out;
    size_t column;         /* length of the line so far */
    struct mq_str charset; /* of bytes over 127, for encoded words */
    size_t room;           /* octets to keep free after the next token, on its line */
    bool begun;            /* something was written after the field's name */
    bool changed;          /* something was encoded, not only copied */
};

/* Appends a value on one line: without line ends, tabs as spaces. */
void mq_repair_unfold(struct mq_buffer *out, struct mq_str value);
/* Appends text in ASCII: bytes over 127 become hexadecimal digits behind a mark, as in "=F6". */
void mq_repair_escape(struct mq_buffer *out, struct mq_str text, char mark);
/* Return how many spaces and tabs a text begins with, and ends with. */
size_t mq_repair_blanks(struct mq_str text);
size_t mq_repair_blanks_behind(struct mq_str text);
/* Like mq_enclosed_length(), but returns text.len if the end is missing. */
size_t mq_repair_enclosed(struct mq_str text);
/* Whether a word is an encoded one (RFC 2047, 2). */
bool mq_repair_is_encoded(struct mq_str word);
/* Writes spaces (perhaps none) and a token. Folds before the spaces if the token would not fit. */
void mq_repair_put(struct mq_repair_line *line, struct mq_str blanks, struct mq_str token);
/* Writes spaces, and text as encoded words. */
void mq_repair_encode(struct mq_repair_line *line, struct mq_str blanks, struct mq_str text);
/* Writes unfolded text; words with bytes over 127 become encoded words. */
void mq_repair_text(struct mq_repair_line *line, struct mq_str text);

/* ---- repair_field.c ---- */

/* Returns the charset for header bytes that are not UTF-8: that of the Content-Type among the
 * fields, if encoded words can have it, or else windows-1252. May point into `scratch`. */
struct mq_str mq_repair_charset(struct mq_str head, struct mq_buffer *scratch);
/* Appends all fields of a header section (wire form, without the empty line), with bytes over 127
 * encoded. */
void mq_repair_fields(struct mq_buffer *out, struct mq_str head, struct mq_str charset);

/* ---- repair_address.c, repair_param.c ---- */

/* Write the unfolded value of an address field, or of a field with parameters. Return false if the
 * value cannot be read or rewritten; a part of it may be written then. */
bool mq_repair_addresses(struct mq_repair_line *line, struct mq_str value);
bool mq_repair_params(struct mq_repair_line *line, struct mq_str value);
/* Writes a list of phrases, or of addresses that cannot be read. Encodes entries with bytes over
 * 127, which are not addresses afterwards, and copies the rest. */
void mq_repair_list(struct mq_repair_line *line, struct mq_str value);

/* Appends a phrase's word or a parameter's value without quotes. */
void mq_repair_unquote(struct mq_buffer *out, struct mq_str value);
/* Finds a parameter in an unfolded value and appends it without quotes. */
bool mq_repair_param_find(struct mq_str value, struct mq_str name, struct mq_buffer *out);

/* ---- repair_fold.c: lines that are too long ---- */

bool mq_repair_has_long(struct mq_str text);
/* Takes the next line off *text, without its CRLF. */
struct mq_str mq_repair_take_line(struct mq_str *text);
/* Changes to the header section of a message or part. */
struct mq_repair_head {
    const char *encoding; /* the new Content-Transfer-Encoding; NULL: it stays */
    const char *charset;  /* adds "Content-Type: text/plain" with it; NULL: nothing */
    bool version;         /* adds MIME-Version */
};

/* Appends a header section with its long lines folded. */
void mq_repair_fold(struct mq_buffer *out, struct mq_str head, const struct mq_repair_head *change);
/* Append the lines of a body and break the long ones: with soft breaks (quoted-printable), into
 * lines of 76 octets (base64), or into lines of 998. No break makes a line begin with "--". */
void mq_repair_break_quoted_printable(struct mq_buffer *out, struct mq_str text);
void mq_repair_break_base64(struct mq_buffer *out, struct mq_str text);
void mq_repair_break(struct mq_buffer *out, struct mq_str text);

/* ---- repair_body.c ---- */

/* Appends a message with its fields repaired and its long lines encoded or broken. With `seven`,
 * appends a form without bytes over 127 after its header section instead. Returns NULL, or why
 * this cannot be done. */
const char *mq_repair_entity(struct mq_buffer *out, struct mq_str wire, bool seven);

#endif
