/* Writes one part: its header and its encoded body. */
#include "mime/compose/part.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "mime/header.h"

#define LINE_OCTETS_MAX 998                    /* RFC 5322, 2.1.1 */
#define CID_MAX         200                    /* octets; fits in a line */
#define READ_SIZE       (512 * MQ_BASE64_LINE) /* bytes read from an fd at a time */
#define HEADER_SIZE     512                    /* of a part's header, without its name */

/* ---- checks ---- */

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
        return bad(source, name, "is no file name; give it without directories", err);
    }
    return MQ_OK;
}

/* What stands in Content-ID and behind "cid:" without being encoded in either (RFC 2392). */
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

/* Octets that no type consists of would pass in quoted parameters. */
static enum mq_status check_type(const struct mq_compose_part *source, struct mq_media_type *type,
                                 struct mq_error *err)
{
    struct mq_str text = source->type.len > 0 ? source->type : MQ_STR("application/octet-stream");
    enum mq_status status = mq_header_text(&text, source->field, NULL, err);
    if (status != MQ_OK) {
        return status;
    }
    const char *fault =
        mq_str_ascii(text) ? mq_media_type_parse(text, type) : "is no type; types are ASCII";
    if (fault == NULL && mq_str_equal_nocase(type->type, MQ_STR("multipart"))) {
        fault = "is a type of messages with parts; give application/octet-stream";
    }
    return fault == NULL ? MQ_OK : bad(source, text, fault, err);
}

/* ---- content from an fd ---- */

/* Reads up to `size` bytes; less only at the end. */
static enum mq_status read_fully(const struct mq_compose_part *source, char *data, size_t size,
                                 size_t *got, struct mq_error *err)
{
    size_t have = 0;
    while (have < size) {
        ssize_t n = read(source->fd, data + have, size - have);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return mq_error_set(err, MQ_IO, source->field, "%s: it cannot be read: %s",
                                source->field, strerror(errno));
        }
        if (n == 0) {
            break;
        }
        have += (size_t)n;
    }
    *got = have;
    return MQ_OK;
}

static enum mq_status wrong_size(const struct mq_compose_part *source, struct mq_error *err)
{
    return mq_error_set(err, MQ_IO, source->field,
                        "%s: its size is not the %zu bytes that it had before; let nobody write "
                        "to it meanwhile",
                        source->field, source->size);
}

/* Nothing may follow what was announced. */
static enum mq_status check_end(const struct mq_compose_part *source, struct mq_error *err)
{
    char more;
    size_t got = 0;
    enum mq_status status = read_fully(source, &more, 1, &got, err);
    return status == MQ_OK && got > 0 ? wrong_size(source, err) : status;
}

static enum mq_status encode_fd(const struct mq_compose_part *source, struct mq_buffer *out,
                                struct mq_error *err)
{
    char block[READ_SIZE];
    size_t left = source->size;
    while (left > 0 && !out->failed) {
        size_t wanted = left < sizeof block ? left : sizeof block;
        size_t got = 0;
        enum mq_status status = read_fully(source, block, wanted, &got, err);
        if (status != MQ_OK) {
            return status;
        }
        if (got < wanted) {
            return wrong_size(source, err);
        }
        mq_encode_base64(out, (struct mq_str){block, got});
        left -= got;
    }
    return out->failed ? mq_error_nomem(err) : check_end(source, err);
}

/* ---- messages ---- */

static enum mq_status load(const struct mq_compose_part *source, struct mq_buffer *out,
                           struct mq_error *err)
{
    size_t got = 0;
    mq_buffer_reserve(out, source->size);
    if (out->failed) {
        return mq_error_nomem(err);
    }
    enum mq_status status = read_fully(source, out->data, source->size, &got, err);
    if (status == MQ_OK && got < source->size) {
        status = wrong_size(source, err);
    }
    out->len = status == MQ_OK ? got : 0;
    return status == MQ_OK ? check_end(source, err) : status;
}

/* Whether the bytes may go as they are, but for line ends of LF, which become CRLF. */
static bool is_sendable(struct mq_str text, size_t *lines)
{
    size_t n = 0;
    if (text.len > 0 && memchr(text.data, '\0', text.len) != NULL) {
        return false;
    }
    for (; text.len > 0; n++) {
        const char *lf = memchr(text.data, '\n', text.len);
        size_t taken = lf ? (size_t)(lf - text.data) + 1 : text.len;
        size_t len = taken - (lf != NULL);
        len -= lf != NULL && len > 0 && lf[-1] == '\r';
        if (len > LINE_OCTETS_MAX || (len > 0 && memchr(text.data, '\r', len) != NULL)) {
            return false;
        }
        text.data += taken;
        text.len -= taken;
    }
    *lines = n;
    return true;
}

/* message/global and its kin may be encoded (RFC 6532, 3.7; RFC 6533), the others may not. */
static bool is_message(const struct mq_media_type *type)
{
    struct mq_str begin = {type->subtype.data, type->subtype.len < 6 ? type->subtype.len : 6};
    return mq_str_equal_nocase(type->type, MQ_STR("message")) &&
           !mq_str_equal_nocase(begin, MQ_STR("global"));
}

static enum mq_status prepare_message(const struct mq_compose_part *source, struct mq_part *part,
                                      struct mq_error *err)
{
    size_t lines = 0;
    part->content = source->data;
    if (source->fd >= 0) {
        enum mq_status status = load(source, &part->loaded, err);
        if (status != MQ_OK) {
            return status;
        }
        part->content = mq_buffer_view(&part->loaded);
    }
    /* Of the others each wants 7bit. */
    bool ascii = mq_str_ascii(part->content);
    if (is_sendable(part->content, &lines) &&
        (ascii || mq_str_equal_nocase(part->type.subtype, MQ_STR("rfc822")))) {
        part->encoding = ascii ? MQ_ENCODING_7BIT : MQ_ENCODING_8BIT;
        part->size = part->content.len + lines;
        return MQ_OK;
    }
    mq_media_type_parse(MQ_STR("application/octet-stream"), &part->type);
    return MQ_OK;
}

/* Line ends become CRLF; the last line may have none. */
static void put_lines(struct mq_buffer *out, struct mq_str text)
{
    while (text.len > 0 && !out->failed) {
        const char *lf = memchr(text.data, '\n', text.len);
        size_t n = lf ? (size_t)(lf - text.data) + 1 : text.len;
        bool bare = lf != NULL && (n == 1 || lf[-1] != '\r');
        mq_buffer_append(out, text.data, n - bare);
        mq_buffer_append(out, "\r\n", bare ? 2 : 0);
        text.data += n;
        text.len -= n;
    }
}

/* ---- parts ---- */

enum mq_status mq_part_prepare(const struct mq_compose_part *source, struct mq_part *part,
                               struct mq_error *err)
{
    struct mq_str content = {NULL, source->fd >= 0 ? source->size : source->data.len};
    enum mq_status status = check_name(source, part, err);
    if (status == MQ_OK) {
        status = check_cid(source, err);
    }
    if (status == MQ_OK) {
        status = check_type(source, &part->type, err);
    }
    if (status != MQ_OK) {
        return status;
    }
    part->source = source;
    part->encoding = MQ_ENCODING_BASE64;
    part->content = source->data;
    part->size = mq_encode_base64_size(content);
    if (is_message(&part->type)) {
        status = prepare_message(source, part, err);
    }
    /* An octet of a name takes up to three characters, and those that its section begins with. */
    part->size += HEADER_SIZE + 2 * source->type.len + source->cid.len + 6 * part->name.len;
    return status;
}

void mq_part_clear(struct mq_part *part)
{
    mq_buffer_clear(&part->spaced);
    mq_buffer_clear(&part->loaded);
}

static void put_header(const struct mq_part *part, struct mq_buffer *out)
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

enum mq_status mq_part_write(const struct mq_part *part, struct mq_buffer *out,
                             struct mq_error *err)
{
    const struct mq_compose_part *source = part->source;
    enum mq_status status = MQ_OK;
    put_header(part, out);
    size_t begin = out->len;
    if (part->encoding != MQ_ENCODING_BASE64) {
        put_lines(out, part->content);
    } else if (source->fd >= 0 && part->loaded.data == NULL) {
        status = encode_fd(source, out, err);
    } else {
        mq_encode_base64(out, part->content);
    }
    if (part->encoding == MQ_ENCODING_BASE64 && out->len > begin) {
        out->len -= 2; /* the last line end */
    }
    return status;
}
