/* For programs that write a whole paragraph as one line, and for relays that take 7 bits only:
 * walks through the parts of a message and encodes those that need it. */
#include <string.h>

#include "core/ascii.h"
#include "mime/encode.h"
#include "mime/wire/internal.h"
#include "mime/wire/message.h"

#define DEPTH_MAX    32  /* of multiparts and attached messages; deeper ones are never changed */
#define BOUNDARY_MAX 250 /* RFC 2046 allows 70, but longer ones occur */

/* The state of a walk through the parts. */
struct walk {
    struct mq_buffer *out;
    struct mq_str boundaries[DEPTH_MAX]; /* of the enclosing multiparts; empty for a message */
    size_t depth;
    bool seven;      /* removes bytes over 127; else long lines */
    const char *why; /* why this cannot be done; NULL: it can */
};

enum kind {
    LEAF,
    MULTIPART,
    MESSAGE,
    SEALED, /* signed or encrypted: its bytes must not change */
    OPAQUE  /* of unknown structure */
};

enum encoding { IDENTITY, QUOTED_PRINTABLE, BASE64, UNKNOWN };

struct entity {
    struct mq_str head, body; /* without the empty line between them */
    bool has_body;            /* the empty line is there */
    bool message;             /* a message, not a part of a multipart */
    bool has_end;             /* the last CRLF belongs to the boundary that follows */
    bool has_type, has_version, has_encoding, multipart, digest;
    enum kind kind;
    enum encoding encoding;
    struct mq_buffer boundary;
};

/* ---- reading ---- */

/* Separates header section and body. False if a line is not a field. */
static bool split(struct mq_str text, struct entity *entity)
{
    struct mq_message_fields fields = {.rest = text, .end = '\n'};
    while (mq_message_fields_next(&fields)) {
        if (fields.name.len == 0 || fields.name.len >= MQ_LINE_MAX) {
            return false;
        }
    }
    entity->head = (struct mq_str){text.data, text.len - fields.rest.len};
    entity->has_body = fields.rest.len > 0;
    mq_str_cut_at(&fields.rest, '\n');
    entity->body = fields.rest;
    return true;
}

static void read_type(struct entity *entity, struct mq_str value)
{
    struct mq_buffer type = {0};
    mq_repair_unfold(&type, mq_str_trim(value));
    struct mq_str text = mq_buffer_view(&type);
    entity->has_type = true;
    entity->kind = LEAF;
    if (mq_str_begins_nocase(text, "multipart/")) {
        entity->multipart = true;
        bool found = mq_repair_param_find(text, MQ_STR("boundary"), &entity->boundary);
        size_t len = entity->boundary.len;
        bool sealed = mq_str_begins_nocase(text, "multipart/signed") ||
                      mq_str_begins_nocase(text, "multipart/encrypted");
        found = found && len > 0 && len <= BOUNDARY_MAX;
        entity->kind = sealed ? SEALED : found ? MULTIPART : OPAQUE;
        entity->digest = mq_str_begins_nocase(text, "multipart/digest");
    } else if (mq_str_begins_nocase(text, "application/pkcs7-mime") ||
               mq_str_begins_nocase(text, "application/x-pkcs7-mime")) {
        entity->kind = SEALED;
    } else if (mq_str_begins_nocase(text, "message/rfc822") ||
               mq_str_begins_nocase(text, "message/global")) {
        entity->kind = MESSAGE;
    } else if (mq_str_begins_nocase(text, "message/")) {
        entity->kind = OPAQUE;
    }
    entity->boundary.failed = entity->boundary.failed || type.failed;
    mq_buffer_clear(&type);
}

static enum encoding read_encoding(struct mq_str value)
{
    static const char words[] = "7bit 8bit binary none quoted-printable base64";
    int word = mq_str_word(value, words, mq_str_equal_nocase);
    if (word < 0 && value.len > 0) {
        return UNKNOWN;
    }
    return word < 4 ? IDENTITY : word == 4 ? QUOTED_PRINTABLE : BASE64;
}

/* Reads the MIME fields. If there are several of one name, the first counts. */
static void read_head(struct entity *entity)
{
    struct mq_message_fields fields = {.rest = entity->head, .end = '\n'};
    while (mq_message_fields_next(&fields)) {
        if (mq_str_equal_nocase(fields.name, MQ_STR("Content-Type")) && !entity->has_type) {
            read_type(entity, fields.value);
        } else if (mq_str_equal_nocase(fields.name, MQ_STR("Content-Transfer-Encoding")) &&
                   !entity->has_encoding) {
            entity->encoding = read_encoding(fields.value);
            entity->has_encoding = true;
        } else if (mq_str_equal_nocase(fields.name, MQ_STR("MIME-Version"))) {
            entity->has_version = true;
        }
    }
    if (entity->multipart) {
        entity->encoding = IDENTITY; /* a multipart is never encoded (RFC 2045, 6.4) */
    }
}

/* ---- leaves ---- */

/* Whether a boundary has "=", and each "=" in it could also be in quoted-printable text. */
static bool is_like_quoted(struct mq_str boundary)
{
    static const char hex[] = "0123456789ABCDEF";
    const char *end = boundary.data + boundary.len;
    const char *at = memchr(boundary.data, '=', boundary.len);
    bool found = at != NULL;
    while (at != NULL && end - at > 2 && memchr(hex, at[1], 16) && memchr(hex, at[2], 16)) {
        at = memchr(at + 1, '=', (size_t)(end - at) - 1);
    }
    return found && (at == NULL || end - at == 1); /* a last "=" looks like a soft break */
}

/* Whether a line of the text could become a boundary of an enclosing multipart when the text is
 * encoded as quoted-printable. */
static bool has_boundary(const struct walk *walk, struct mq_str text)
{
    for (size_t i = 0; i < walk->depth; i++) {
        struct mq_str boundary = walk->boundaries[i];
        if (boundary.len == 0) {
            continue;
        }
        if (is_like_quoted(boundary) ||
            memmem(text.data, text.len, boundary.data, boundary.len) != NULL) {
            return true;
        }
    }
    return false;
}

static void put_head(struct walk *walk, const struct entity *entity,
                     const struct mq_repair_head *change)
{
    mq_repair_fold(walk->out, entity->head, change);
    mq_buffer_append(walk->out, "\r\n", entity->has_body ? 2 : 0);
}

static void put_leaf(struct walk *walk, const struct entity *entity)
{
    struct mq_str body = entity->body;
    size_t size;
    enum mq_encoding encoding = mq_encode_text_choose(body, &size);
    if (encoding != MQ_ENCODING_BASE64 && has_boundary(walk, body)) {
        encoding = MQ_ENCODING_BASE64;
    }
    struct mq_repair_head change = {.encoding = mq_encoding_name(encoding),
                                    .version = entity->message && !entity->has_version};
    if (!entity->has_type && !mq_str_ascii(body)) {
        change.charset = mq_utf8_valid(body) ? "utf-8" : "windows-1252";
    }
    put_head(walk, entity, &change);
    if (encoding == MQ_ENCODING_BASE64) {
        body.len -= entity->has_end ? 2 : 0;
        mq_encode_base64(walk->out, body);
    } else {
        mq_encode_quoted_printable(walk->out, body);
    }
}

/* ---- which parts must change ---- */

static bool needs_change(const struct walk *walk, struct mq_str text)
{
    return walk->seven ? !mq_str_ascii(text) : mq_repair_has_long(text);
}

/* Writes text around parts, which no reader decodes, with its long lines cut. With `seven`, bytes
 * over 127 become "*". No boundary has a "*" (RFC 2046, 5.1.1), so no line becomes one. */
static void put_cut(struct walk *walk, struct mq_str text)
{
    size_t at = walk->out->len;
    mq_repair_break(walk->out, text);
    for (; walk->seven && at < walk->out->len; at++) {
        char *c = &walk->out->data[at];
        *c = (unsigned char)*c < 0x80 ? *c : '*';
    }
}

/* Writes a body that has bytes over 127 although it is declared as encoded. They become "=XX", or
 * are dropped in base64. No line begins with "-" then, so none can become a boundary. */
static void put_stray(struct walk *walk, const struct entity *entity)
{
    struct mq_buffer text = {0};
    for (size_t i = 0; i < entity->body.len; i++) {
        unsigned char c = (unsigned char)entity->body.data[i];
        bool quoted = entity->encoding == QUOTED_PRINTABLE;
        bool begins = i == 0 || entity->body.data[i - 1] == '\n';
        if (c < 0x80 && (c != '-' || (quoted && !begins))) {
            mq_buffer_char(&text, (char)c);
        } else if (quoted) {
            mq_buffer_printf(&text, "=%02X", c);
        } /* base64: readers skip bytes over 127 and "-" */
    }
    walk->out->failed = walk->out->failed || text.failed;
    if (entity->encoding == QUOTED_PRINTABLE) {
        mq_repair_break_quoted_printable(walk->out, mq_buffer_view(&text));
    } else {
        mq_buffer_str(walk->out, mq_buffer_view(&text));
    }
    mq_buffer_clear(&text);
}

/* Notes why the body must not be changed. */
static void refuse(struct walk *walk, const struct entity *entity)
{
    walk->why = entity->kind == SEALED        ? "a part of it is signed or encrypted"
                : walk->depth >= DEPTH_MAX    ? "a part of it is nested more than 32 deep"
                : entity->encoding == UNKNOWN ? "a part of it has an unknown encoding"
                                              : "a part of it must not be encoded";
}

/* ---- multiparts ---- */

static void put_entity(struct walk *walk, struct entity *entity);

/* Writes a part, or an attached message. */
static void put_part(struct walk *walk, struct mq_str text, const struct entity *around,
                     bool has_end)
{
    struct entity entity = {.message = around->kind == MESSAGE,
                            .has_end = has_end,
                            .kind = around->digest ? MESSAGE : LEAF};
    if (!needs_change(walk, text)) {
        mq_buffer_str(walk->out, text);
    } else if (split(text, &entity)) {
        put_entity(walk, &entity);
    } else if (walk->seven) {
        walk->why = "a part of it has no readable header section";
    } else {
        mq_repair_break(walk->out, text);
    }
}

enum delimiter { NO_DELIMITER, OPENS, CLOSES };

static enum delimiter delimiter_of(struct mq_str line, struct mq_str boundary)
{
    if (line.len < 2 + boundary.len || memcmp(line.data, "--", 2) != 0 ||
        memcmp(line.data + 2, boundary.data, boundary.len) != 0) {
        return NO_DELIMITER;
    }
    struct mq_str rest = {line.data + 2 + boundary.len, line.len - 2 - boundary.len};
    bool closes = rest.len >= 2 && memcmp(rest.data, "--", 2) == 0;
    rest.data += closes ? 2 : 0;
    rest.len -= closes ? 2 : 0;
    return mq_str_trim(rest).len > 0 ? NO_DELIMITER : closes ? CLOSES : OPENS;
}

/* Writes the parts and the text around them. Without any boundary, the whole body is a preamble. */
static void put_multipart(struct walk *walk, const struct entity *entity)
{
    struct mq_str boundary = mq_buffer_view(&entity->boundary);
    struct mq_str rest = entity->body;
    const char *begin = rest.data; /* of the part, preamble or epilogue that is being read */
    bool in_part = false;
    while (rest.len > 0 && !walk->out->failed) {
        const char *at = rest.data;
        struct mq_str line = mq_repair_take_line(&rest);
        enum delimiter delimiter = delimiter_of(line, boundary);
        if (delimiter == NO_DELIMITER) {
            continue;
        }
        struct mq_str before = {begin, (size_t)(at - begin)};
        if (in_part) {
            put_part(walk, before, entity, true);
        } else {
            put_cut(walk, before);
        }
        line.len = line.len > MQ_LINE_MAX ? mq_str_trim(line).len : line.len;
        mq_buffer_str(walk->out, line);
        mq_buffer_append(walk->out, "\r\n", 2);
        begin = rest.data;
        in_part = delimiter == OPENS;
        if (delimiter == CLOSES) {
            break;
        }
    }
    struct mq_str last = {begin, (size_t)(entity->body.data + entity->body.len - begin)};
    if (in_part) {
        put_part(walk, last, entity, entity->has_end);
    } else {
        put_cut(walk, last);
    }
}

/* ---- one entity ---- */

static void put_inside(struct walk *walk, const struct entity *entity)
{
    struct mq_str boundary = {NULL, 0};
    if (entity->kind == MULTIPART) {
        boundary = mq_buffer_view(&entity->boundary);
    }
    walk->boundaries[walk->depth++] = boundary;
    if (entity->kind == MULTIPART) {
        put_multipart(walk, entity);
    } else {
        put_part(walk, entity->body, entity, entity->has_end);
    }
    walk->depth--;
}

/* Writes a body that is encoded already. Breaking its lines does not change its content. */
static void put_coded(struct walk *walk, const struct entity *entity)
{
    if (walk->seven) {
        put_stray(walk, entity);
    } else if (entity->encoding == QUOTED_PRINTABLE) {
        mq_repair_break_quoted_printable(walk->out, entity->body);
    } else {
        mq_repair_break_base64(walk->out, entity->body);
    }
}

static void put_changed(struct walk *walk, const struct entity *entity)
{
    struct mq_repair_head change = {0};
    bool deep = walk->depth >= DEPTH_MAX;
    bool inside = entity->encoding == IDENTITY && !deep &&
                  (entity->kind == MULTIPART || entity->kind == MESSAGE);
    if (entity->encoding == IDENTITY && entity->kind == LEAF) {
        put_leaf(walk, entity);
        return;
    }
    if (walk->seven && inside && entity->has_encoding) {
        change.encoding = mq_encoding_name(MQ_ENCODING_7BIT);
    }
    put_head(walk, entity, &change);
    if (entity->encoding == QUOTED_PRINTABLE || entity->encoding == BASE64) {
        put_coded(walk, entity);
    } else if (inside) {
        put_inside(walk, entity);
    } else if (walk->seven || entity->kind == SEALED || deep) {
        refuse(walk, entity);
    } else {
        mq_repair_break(walk->out, entity->body);
    }
}

static void put_entity(struct walk *walk, struct entity *entity)
{
    static const struct mq_repair_head nothing = {0};
    struct mq_buffer head = {0}, charset = {0};
    /* Encodes bytes over 127: with `seven` in parts' headers, otherwise in the message's. */
    if (walk->seven == (walk->depth > 0) && !mq_str_ascii(entity->head)) {
        mq_repair_fields(&head, entity->head, mq_repair_charset(entity->head, &charset));
        walk->out->failed = walk->out->failed || head.failed || charset.failed;
        entity->head = mq_buffer_view(&head);
    }
    read_head(entity);
    if (entity->boundary.failed) {
        walk->out->failed = true;
    } else if (needs_change(walk, entity->body)) {
        put_changed(walk, entity);
    } else {
        put_head(walk, entity, &nothing);
        mq_buffer_str(walk->out, entity->body);
    }
    mq_buffer_clear(&entity->boundary);
    mq_buffer_clear(&head);
    mq_buffer_clear(&charset);
}

const char *mq_repair_entity(struct mq_buffer *out, struct mq_str wire, bool seven)
{
    struct walk walk = {.out = out, .seven = seven};
    struct entity entity = {.has_body = true, .message = true};
    entity.head = mq_message_head(wire, &entity.body);
    put_entity(&walk, &entity);
    return walk.why;
}
