/* What the files of repair.h share. None of these fails but for memory: `out` says so in the end.
 */
#ifndef MQ_MIME_WIRE_INTERNAL_H
#define MQ_MIME_WIRE_INTERNAL_H

#include "core/buffer.h"
#include "mime/encode.h"

/* ---- repair_words.c: fields written token by token ---- */

struct mq_repair_line {
    struct mq_buffer *out;
    size_t column;         /* length of the line so far */
    struct mq_str charset; /* of bytes over 127, for encoded words */
    size_t room;           /* for what has to stand in a line with the next token */
    bool begun;            /* something stands behind the field's name */
    bool changed;          /* it was not only copied */
};

/* Appends a value on one line: without line ends, tabs as spaces. */
void mq_repair_unfold(struct mq_buffer *out, struct mq_str value);
/* How many spaces and tabs a text begins with, or ends with. */
size_t mq_repair_blanks(struct mq_str text);
size_t mq_repair_blanks_behind(struct mq_str text);
/* Length of what mq_enclosed_length() knows; all of the text if that does not end. */
size_t mq_repair_enclosed(struct mq_str text);
/* Whether a word is an encoded one (RFC 2047, 2). */
bool mq_repair_is_encoded(struct mq_str word);
/* Writes a token behind spaces (perhaps none), before which the line may be folded. */
void mq_repair_put(struct mq_repair_line *line, struct mq_str blanks, struct mq_str token);
/* Writes text as encoded words. */
void mq_repair_encode(struct mq_repair_line *line, struct mq_str blanks, struct mq_str text);
/* Writes unfolded text; words with bytes over 127 become encoded words. */
void mq_repair_text(struct mq_repair_line *line, struct mq_str text);

/* ---- repair_field.c ---- */

/* The charset for header bytes that are not UTF-8: what the Content-Type among the fields names,
 * if it can be, else windows-1252. Points into `scratch`. */
struct mq_str mq_repair_charset(struct mq_str head, struct mq_buffer *scratch);
/* Appends all fields of a header section (wire form, without the empty line), with bytes over 127
 * encoded. */
void mq_repair_fields(struct mq_buffer *out, struct mq_str head, struct mq_str charset);

/* ---- repair_address.c, repair_param.c ---- */

/* Write the unfolded value of an address field, or of one with parameters. False, with anything
 * written: it cannot be read. */
bool mq_repair_addresses(struct mq_repair_line *line, struct mq_str value);
bool mq_repair_params(struct mq_repair_line *line, struct mq_str value);
/* Writes a list of phrases, or of addresses that cannot be read: what has bytes over 127 does not
 * become an address, the others stay what they are. */
void mq_repair_list(struct mq_repair_line *line, struct mq_str value);

/* Appends a phrase's word or a parameter's value without quotes. */
void mq_repair_unquote(struct mq_buffer *out, struct mq_str value);
/* Finds a parameter in an unfolded value and appends it without quotes. */
bool mq_repair_param_find(struct mq_str value, struct mq_str name, struct mq_buffer *out);

/* ---- repair_fold.c: lines that are too long ---- */

bool mq_repair_has_long(struct mq_str text);
/* Takes the next line off *text, without its CRLF. */
struct mq_str mq_repair_take_line(struct mq_str *text);
/* What the header section of a part gets in place of what it has. */
struct mq_repair_head {
    const char *encoding; /* Content-Transfer-Encoding; NULL: nothing changes */
    const char *charset;  /* for "Content-Type: text/plain"; NULL: it stays */
    bool version;         /* MIME-Version */
};

/* Appends a header section with its long lines folded. */
void mq_repair_fold(struct mq_buffer *out, struct mq_str head, const struct mq_repair_head *change);
/* Append lines of a body, the long ones in pieces: with soft breaks; of 76; of 998. None begins
 * with "--" that did not. */
void mq_repair_break_quoted_printable(struct mq_buffer *out, struct mq_str text);
void mq_repair_break_base64(struct mq_buffer *out, struct mq_str text);
void mq_repair_break(struct mq_buffer *out, struct mq_str text);

/* ---- repair_body.c ---- */

/* Appends a message with its fields repaired and no long lines; or, `seven`, with no bytes over 127
 * behind its header section. NULL, or why that cannot be done. */
const char *mq_repair_entity(struct mq_buffer *out, struct mq_str wire, bool seven);

#endif
