/* Texts and parts of a message: checks, encodes and writes them, and the multiparts around them. */
#include "mime/compose/part_tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/ascii.h"
#include "core/hash.h"
#include "mime/compose/calendar.h"
#include "mime/header.h"
#include "mime/param.h"

#define CID_MAX     200                    /* octets; fits in a line */
#define READ_SIZE   (512 * MQ_BASE64_LINE) /* bytes read from an fd at a time */
#define HEADER_SIZE 512                    /* octets of a part's header, without the file name */
#define FRAME_SIZE  2048 /* headers of texts and multiparts, boundaries, a line in reserve */

enum multipart { MIXED = 1, ALTERNATIVE, RELATED };

/* A part, after the checks. */
struct mq_part {
    const struct mq_compose_part *source;
    struct mq_str name;
    struct mq_buffer spaced; /* the name, if it had pasted separators */
    struct mq_media_type type;
    enum mq_encoding encoding;
    struct mq_buffer loaded; /* a message that was read from an fd */
    struct mq_str content;   /* data NULL: still to be read from the fd, or empty */
};

/* ---- checks of a part ---- */

static enum mq_status bad(const struct mq_compose_part *source, struct mq_str what,
                          const char *fault, struct mq_error *err)
{
    char shown[128];
    mq_str_printable(shown, sizeof shown, 0, what);
    return mq_error_set(err, MQ_MESSAGE, source->field, "%s: \"%s\" %s", source->field, shown,
                        fault);
}

static enum mq_status check_name(const struct mq_compose_part *source, struct mq_part *part,
                                 struct mq_error *err)
{
    part->name = source->name;
    enum mq_status status = mq_header_text(&part->name, source->field, &part->spaced, err);
    struct mq_str name = part->name;
    if (status != MQ_OK || name.len == 0) {
        return status;
    }
    if (memchr(name.data, '/', name.len) != NULL || memchr(name.data, '\\', name.len) != NULL ||
        mq_str_equal(name, MQ_STR(".")) || mq_str_equal(name, MQ_STR(".."))) {
        return bad(source, name, "is not a file name; give it without directories", err);
    }
    return MQ_OK;
}

/* Checks a cid: only characters that neither Content-ID nor "cid:" encodes (RFC 2392). */
static enum mq_status check_cid(const struct mq_compose_part *source, struct mq_error *err)
{
    struct mq_str cid = source->cid;
    bool good = cid.len <= CID_MAX;
    bool at = false;
    for (size_t i = 0; good && i < cid.len; i++) {
        char c = cid.data[i];
        good = c > 32 && c < 127 && strchr("()<>[]:;,\\\"%", c) == NULL;
        good = good && !(c == '@' && (at || i == 0 || i + 1 == cid.len));
        at = at || c == '@';
    }
    return good ? MQ_OK
                : bad(source, cid,
                      "cannot be a cid; use letters, digits, \".\", \"-\", \"_\", and one \"@\"",
                      err);
}

static enum mq_status check_type(const struct mq_compose_part *source, struct mq_media_type *type,
                                 struct mq_error *err)
{
    struct mq_str text = source->type.len > 0 ? source->type : MQ_STR("application/octet-stream");
    const char *fault = mq_media_type_parse(text, type);
    if (fault == NULL && mq_str_equal_nocase(type->type, MQ_STR("multipart"))) {
        fault = "is a type of messages with parts; give application/octet-stream";
    }
    return fault == NULL ? MQ_OK : bad(source, text, fault, err);
}

/* ---- content from an fd ---- */

/* Reads up to `size` bytes. MQ_IO if there are not exactly `expected` bytes. */
static enum mq_status read_fd(const struct mq_compose_part *source, char *data, size_t size,
                              size_t expected, struct mq_error *err)
{
    size_t have = 0;
    for (ssize_t n = 1; have < size && n != 0;) {
        n = read(source->fd, data + have, size - have);
        if (n < 0 && errno != EINTR) {
            return mq_error_set(err, MQ_IO, source->field, "%s: it cannot be read: %s",
                                source->field, strerror(errno));
        }
        have += n > 0 ? (size_t)n : 0;
    }
    if (have != expected) {
        return mq_error_set(err, MQ_IO, source->field,
                            "%s: its size is not the %zu bytes that it had before; do not "
                            "write to the file while it is being attached",
                            source->field, source->data.len);
    }
    return MQ_OK;
}

static enum mq_status encode_fd(const struct mq_compose_part *source, struct mq_buffer *out,
                                struct mq_error *err)
{
    char block[READ_SIZE + 1]; /* one more byte, to see that the file has no more than data.len */
    for (size_t left = source->data.len, n; left > 0; left -= n) {
        n = left < READ_SIZE ? left : READ_SIZE;
        MQ_TRY(read_fd(source, block, n + (n == left), n, err));
        mq_encode_base64(out, (struct mq_str){block, n});
        if (out->failed) {
            return mq_error_nomem(err);
        }
    }
    return source->data.len > 0 ? MQ_OK : read_fd(source, block, 1, 0, err);
}

/* ---- messages as parts ---- */

/* Whether the text can be sent as it is, except that LF becomes CRLF. *lines: how many it has. */
static bool is_sendable(struct mq_str text, size_t *lines)
{
    bool good = mq_str_find(text, '\0') == text.len;
    for (*lines = 0; good && text.len > 0; ++*lines) {
        size_t before = text.len;
        struct mq_str line = mq_str_cut_at(&text, '\n');
        bool ended = line.len < before - text.len;
        line.len -= ended && line.len > 0 && line.data[line.len - 1] == '\r';
        good = line.len <= MQ_LINE_MAX && mq_str_find(line, '\r') == line.len;
    }
    return good;
}

/* Whether a type is a message type that must not be encoded: all but message/global and its
 * variants (RFC 6532, 3.7; RFC 6533). */
static bool is_message(const struct mq_media_type *type)
{
    return mq_str_equal_nocase(type->type, MQ_STR("message")) &&
           !mq_str_begins_nocase(type->subtype, "global");
}

/* Prepares an attached message (RFC 2046, 5.2), which must not be encoded. If its lines allow it,
 * the message goes out unchanged in 7bit or 8bit. Otherwise it becomes application/octet-stream. */
static enum mq_status prepare_message(struct mq_part *part, size_t *size, struct mq_error *err)
{
    const struct mq_compose_part *source = part->source;
    size_t lines = 0;
    if (source->fd >= 0) {
        mq_buffer_reserve(&part->loaded, source->data.len + 1);
        if (part->loaded.failed) {
            return mq_error_nomem(err);
        }
        MQ_TRY(read_fd(source, part->loaded.data, source->data.len + 1, source->data.len, err));
        part->content = (struct mq_str){part->loaded.data, source->data.len};
    }
    /* message/rfc822 may be 8bit. The other types must be 7bit. */
    bool ascii = mq_str_ascii(part->content);
    if (is_sendable(part->content, &lines) &&
        (ascii || mq_str_equal_nocase(part->type.subtype, MQ_STR("rfc822")))) {
        part->encoding = ascii ? MQ_ENCODING_7BIT : MQ_ENCODING_8BIT;
        *size = part->content.len + lines;
        return MQ_OK;
    }
    mq_media_type_parse(MQ_STR("application/octet-stream"), &part->type);
    return MQ_OK;
}

/* ---- what is to be written ---- */

/* Fills a part (zeroed) and adds the octets that it needs to *total. */
static enum mq_status prepare_part(const struct mq_compose_part *source, struct mq_part *part,
                                   size_t *total, struct mq_error *err)
{
    size_t size = mq_encode_base64_size(source->data);
    part->source = source;
    part->encoding = MQ_ENCODING_BASE64;
    part->content = source->fd >= 0 ? (struct mq_str){NULL, 0} : source->data;
    MQ_TRY(check_name(source, part, err));
    MQ_TRY(check_cid(source, err));
    MQ_TRY(check_type(source, &part->type, err));
    if (is_message(&part->type)) {
        MQ_TRY(prepare_message(part, &size, err));
    }
    /* An octet of a name takes up to three characters, and a share of its section's beginning. */
    *total += size + HEADER_SIZE + 2 * source->type.len + source->cid.len + 6 * part->name.len;
    return MQ_OK;
}

static void prepare_text(struct mq_text_part *part, const char *type, struct mq_str text,
                         size_t *total)
{
    if (text.data != NULL) {
        size_t size = 0;
        *part = (struct mq_text_part){type, text, mq_encode_text_choose(text, &size)};
        *total += size;
    }
}

static enum mq_status prepare_parts(const struct mq_compose_fields *fields,
                                    struct mq_part_tree *tree, struct mq_error *err)
{
    tree->parts = fields->part_count > 0 ? calloc(fields->part_count, sizeof *tree->parts) : NULL;
    if (fields->part_count > 0 && tree->parts == NULL) {
        return mq_error_nomem(err);
    }
    for (size_t i = 0; i < fields->part_count; i++) {
        struct mq_part *part = &tree->parts[tree->count++];
        MQ_TRY(prepare_part(&fields->parts[i], part, &tree->size, err));
        bool shown = part->source->cid.len > 0;
        bool eight_bit = part->encoding == MQ_ENCODING_8BIT;
        tree->inline_count += shown;
        tree->eight_bit_inline |= eight_bit && shown;
        tree->eight_bit_attached |= eight_bit && !shown;
    }
    return MQ_OK;
}

/* Checks the cids. Without HTML nothing refers to them. Of two parts with the same cid only one
 * would be shown. */
static enum mq_status check_inline(const struct mq_part_tree *tree, struct mq_error *err)
{
    for (size_t i = 0; i < tree->count; i++) {
        const struct mq_compose_part *part = tree->parts[i].source;
        if (part->cid.len > 0 && tree->html.text.data == NULL) {
            return mq_error_set(err, MQ_MESSAGE, part->field,
                                "%s: it has a cid, but there is no HTML to show it; give html, or "
                                "attach it",
                                part->field);
        }
        for (size_t other = 0; part->cid.len > 0 && other < i; other++) {
            if (mq_str_equal(tree->parts[other].source->cid, part->cid)) {
                return mq_error_set(err, MQ_MESSAGE, part->field,
                                    "%s: another part has the same cid; give each its own",
                                    part->field);
            }
        }
    }
    return MQ_OK;
}

/* ---- boundaries ---- */

/* FNV-1a, with its bits spread as in splitmix64. */
static uint64_t hash(struct mq_str text, uint64_t cycle)
{
    uint64_t h = mq_hash(MQ_HASH_BEGIN ^ cycle, text);
    h = (h ^ h >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    h = (h ^ h >> 27) * UINT64_C(0x94D049BB133111EB);
    return h ^ h >> 31;
}

static bool has_stem(enum mq_encoding encoding, struct mq_str content, const char *stem)
{
    /* Each boundary has "=_" before the stem, and encoded content cannot contain "=_". */
    return (encoding == MQ_ENCODING_7BIT || encoding == MQ_ENCODING_8BIT) && content.len > 0 &&
           memmem(content.data, content.len, stem, MQ_BOUNDARY_STEM) != NULL;
}

static bool is_stem_used(const struct mq_part_tree *tree)
{
    bool used = has_stem(tree->text.encoding, tree->text.text, tree->stem) ||
                has_stem(tree->html.encoding, tree->html.text, tree->stem) ||
                has_stem(tree->calendar.encoding, tree->calendar.text, tree->stem);
    for (size_t i = 0; !used && i < tree->count; i++) {
        used = has_stem(tree->parts[i].encoding, tree->parts[i].content, tree->stem);
    }
    return used;
}

static void choose_stem(struct mq_part_tree *tree, struct mq_str message_id)
{
    uint64_t cycle = 0;
    do {
        snprintf(tree->stem, sizeof tree->stem, "%016llx",
                 (unsigned long long)hash(message_id, cycle++));
    } while (is_stem_used(tree));
}

enum mq_status mq_part_tree_prepare(const struct mq_compose_fields *fields, struct mq_str text,
                                    struct mq_part_tree *tree, struct mq_error *err)
{
    const char *type = NULL;
    tree->size = FRAME_SIZE + 64 * fields->part_count;
    if (fields->calendar.data != NULL) {
        MQ_TRY(mq_calendar_type(fields->calendar, &type, err));
    }
    prepare_text(&tree->text, "text/plain", text, &tree->size);
    prepare_text(&tree->html, "text/html", fields->html, &tree->size);
    prepare_text(&tree->calendar, type, fields->calendar, &tree->size);
    MQ_TRY(prepare_parts(fields, tree, err));
    MQ_TRY(check_inline(tree, err));
    choose_stem(tree, mq_str_of(fields->message_id));
    return MQ_OK;
}

void mq_part_tree_clear(struct mq_part_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++) {
        mq_buffer_clear(&tree->parts[i].spaced);
        mq_buffer_clear(&tree->parts[i].loaded);
    }
    free(tree->parts);
    *tree = (struct mq_part_tree){.count = 0};
}

/* ---- writing: the line end after a part belongs to the delimiter that follows ---- */

static void put_part_header(const struct mq_part *part, struct mq_buffer *out)
{
    const struct mq_compose_part *source = part->source;
    size_t column = sizeof "Content-Type:" - 1;
    mq_buffer_cstr(out, "Content-Type:");
    mq_media_type_write(out, &column, &part->type);
    if (part->name.len > 0 && !part->type.has_name) {
        mq_param_fallback(out, &column, "name", part->name);
    }
    mq_buffer_printf(out, "\r\nContent-Transfer-Encoding: %s\r\n",
                     mq_encoding_name(part->encoding));
    if (source->cid.len > 0) {
        mq_buffer_cstr(out, "Content-ID: <");
        mq_buffer_str(out, source->cid);
        mq_buffer_cstr(out, ">\r\n");
    }
    const char *disposition =
        source->cid.len > 0 ? "Content-Disposition: inline" : "Content-Disposition: attachment";
    column = strlen(disposition);
    mq_buffer_cstr(out, disposition);
    if (part->name.len > 0) {
        mq_param_filename(out, &column, "filename", part->name);
    }
    mq_buffer_cstr(out, "\r\n\r\n");
}

static enum mq_status put_part(const struct mq_part *part, struct mq_buffer *out,
                               struct mq_error *err)
{
    bool base64 = part->encoding == MQ_ENCODING_BASE64;
    enum mq_status status = MQ_OK;
    put_part_header(part, out);
    size_t begin = out->len;
    if (base64 && part->source->fd >= 0 && part->content.data == NULL) {
        status = encode_fd(part->source, out, err);
    } else if (base64) {
        mq_encode_base64(out, part->content);
    } else {
        mq_encode_text(out, part->content, part->encoding);
    }
    bool ends = !base64 && part->content.len > 0 &&
                part->content.data[part->content.len - 1] == '\n'; /* part of the content */
    if (!ends && out->len > begin) {
        out->len -= 2;
    }
    return status;
}

static void put_text(struct mq_buffer *out, const struct mq_text_part *part)
{
    if (part->text.data == NULL) {
        return;
    }
    mq_buffer_printf(out,
                     "Content-Type: %s; charset=utf-8\r\nContent-Transfer-Encoding: %s\r\n\r\n",
                     part->type, mq_encoding_name(part->encoding));
    mq_encode_text(out, part->text, part->encoding);
    if (part->encoding == MQ_ENCODING_BASE64 && !out->failed) {
        out->len -= 2;
    }
}

/* Writes a boundary. Each kind begins differently: no boundary is the beginning of another. */
static void put_boundary(const struct mq_part_tree *tree, struct mq_buffer *out,
                         enum multipart kind)
{
    static const char *const begins[] = {"", "=_1_", "=_2_", "=_3_"};
    mq_buffer_append(out, begins[kind], 4);
    mq_buffer_append(out, tree->stem, MQ_BOUNDARY_STEM);
}

/* Writes the delimiter before a part. Its first line end, after a header, is the empty line. */
static void put_delimiter(const struct mq_part_tree *tree, struct mq_buffer *out,
                          enum multipart kind)
{
    mq_buffer_cstr(out, "\r\n--");
    put_boundary(tree, out, kind);
    mq_buffer_cstr(out, "\r\n");
}

/* Writes the header of a multipart and the first delimiter. */
static void open_multipart(const struct mq_part_tree *tree, struct mq_buffer *out,
                           enum multipart kind)
{
    static const char *const types[] = {"", "multipart/mixed; boundary=\"",
                                        "multipart/alternative; boundary=\"",
                                        "multipart/related; type=\"text/html\";\r\n boundary=\""};
    mq_buffer_cstr(out, "Content-Type: ");
    mq_buffer_cstr(out, types[kind]);
    put_boundary(tree, out, kind);
    mq_buffer_cstr(out, "\"\r\n");
    if (tree->eight_bit_inline || (kind == MIXED && tree->eight_bit_attached)) {
        mq_buffer_cstr(out, "Content-Transfer-Encoding: 8bit\r\n");
    }
    put_delimiter(tree, out, kind);
}

static void close_multipart(const struct mq_part_tree *tree, struct mq_buffer *out,
                            enum multipart kind)
{
    mq_buffer_cstr(out, "\r\n--");
    put_boundary(tree, out, kind);
    mq_buffer_cstr(out, "--");
}

/* Writes the parts that the HTML shows (RELATED), or the others (MIXED), and ends the multipart. */
static enum mq_status put_parts(const struct mq_part_tree *tree, struct mq_buffer *out,
                                enum multipart kind, struct mq_error *err)
{
    for (size_t i = 0; i < tree->count; i++) {
        bool shown = tree->parts[i].source->cid.len > 0;
        if (shown == (kind == RELATED)) {
            put_delimiter(tree, out, kind);
            MQ_TRY(put_part(&tree->parts[i], out, err));
        }
    }
    close_multipart(tree, out, kind);
    return MQ_OK;
}

enum mq_status mq_part_tree_write(const struct mq_part_tree *tree, struct mq_buffer *out,
                                  struct mq_error *err)
{
    bool mixed = tree->count > tree->inline_count;
    bool both = tree->text.text.data != NULL && tree->html.text.data != NULL;
    bool alternative = both || tree->calendar.text.data != NULL;
    bool related = tree->inline_count > 0;
    if (mixed) {
        open_multipart(tree, out, MIXED);
    }
    if (alternative) {
        open_multipart(tree, out, ALTERNATIVE);
    }
    put_text(out, &tree->text);
    if (both) {
        put_delimiter(tree, out, ALTERNATIVE);
    }
    if (related) {
        open_multipart(tree, out, RELATED);
    }
    put_text(out, &tree->html);
    if (related) {
        MQ_TRY(put_parts(tree, out, RELATED, err));
    }
    if (tree->calendar.text.data != NULL) { /* the last one, which mail programs prefer */
        put_delimiter(tree, out, ALTERNATIVE);
        put_text(out, &tree->calendar);
    }
    if (alternative) {
        close_multipart(tree, out, ALTERNATIVE);
    }
    if (mixed) {
        MQ_TRY(put_parts(tree, out, MIXED, err));
    }
    if (out->len >= 2 && memcmp(out->data + out->len - 2, "\r\n", 2) != 0) {
        mq_buffer_cstr(out, "\r\n");
    }
    return MQ_OK;
}
