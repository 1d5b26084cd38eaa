/* Checks, encodes and writes a part of a message. */
#include "mime/compose/part.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/ascii.h"
#include "mime/header.h"

#define CID_MAX     200                    /* octets; fits in a line */
#define READ_SIZE   (512 * MQ_BASE64_LINE) /* bytes read from an fd at a time */
#define HEADER_SIZE 512                    /* octets of a part's header, without the file name */

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

enum mq_status mq_part_prepare(const struct mq_compose_part *source, struct mq_part *part,
                               size_t *total, struct mq_error *err)
{
    size_t size = mq_encode_base64_size(source->data);
    part->source = source;
    if (source->ready != 0) {
        part->encoding = (enum mq_encoding)(source->ready - 1);
        part->content = source->data;
        *total += source->data.len;
        return check_cid(source, err);
    }
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

void mq_part_clear(struct mq_part *part)
{
    mq_buffer_clear(&part->spaced);
    mq_buffer_clear(&part->loaded);
}

/* ---- writing ---- */

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

enum mq_status mq_part_write(const struct mq_part *part, struct mq_buffer *out,
                             struct mq_error *err)
{
    bool base64 = part->encoding == MQ_ENCODING_BASE64;
    enum mq_status status = MQ_OK;
    if (part->source->ready != 0) {
        mq_buffer_str(out, part->content);
        return MQ_OK;
    }
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

enum mq_status mq_part_ready(const struct mq_compose_part *source, struct mq_buffer *out,
                             struct mq_compose_part *ready, struct mq_error *err)
{
    struct mq_part part = {.source = NULL};
    size_t size = 0;
    enum mq_status status = mq_part_prepare(source, &part, &size, err);
    if (status == MQ_OK) {
        mq_buffer_reserve(out, size);
        status = mq_part_write(&part, out, err);
    }
    if (status == MQ_OK && out->failed) {
        status = mq_error_nomem(err);
    }
    *ready = (struct mq_compose_part){.cid = source->cid,
                                      .data = mq_buffer_view(out),
                                      .fd = -1,
                                      .ready = MQ_PART_READY(part.encoding),
                                      .field = source->field};
    mq_part_clear(&part);
    return status;
}
