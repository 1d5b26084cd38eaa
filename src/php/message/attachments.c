/* Reads the fields "attachments" and "inline" of an array message. Each is one element or a list of
 * them. An element is one of:
 *   '/path/file.pdf'; a stream;
 *   ['path' => …] or ['data' => …] or ['stream' => …], with name, type and cid.
 * If the key of an element is a string, it is the name of an attachment, or the cid of an inline
 * part. */
#include "php/message/fields.h"

#include <string.h>
#include <unistd.h>

#include "ext/spl/spl_directory.h"
#include "zend_interfaces.h"

#include "core/ascii.h"
#include "php/class/conversion.h"
#include "php/local_file.h"
#include "php_mailqueue.h"

static const char *const entry_keys[] = {"path", "data", "stream", "name", "type", "cid"};
enum { ENTRY_KEYS = 6 };

#define STREAM_PIECE 16384 /* octets */
#define HEAD         8192  /* octets at the start of a file, for guessing its type */

/* Below, `target` of each mq_php_path is the part that is being read. */

static enum mq_status bad(struct mq_php_path path, const char *what, struct mq_error *err)
{
    return mq_error_set(err, MQ_MESSAGE, path.field, "%s: %s", path.field, what);
}

static void default_name(struct mq_compose_part *part, struct mq_str path)
{
    const char *slash = path.len ? memrchr(path.data, '/', path.len) : NULL;
    if (part->name.len == 0) {
        part->name = slash ? mq_str_skip(path, (size_t)(slash + 1 - path.data)) : path;
    }
}

/* ---- where the content comes from ---- */

static enum mq_status from_file(struct mq_php_path path, struct mq_str file, struct mq_error *err)
{
    struct mq_compose_part *part = path.target;
    enum mq_status status =
        mq_php_local_file_open(file, part->field, &part->fd, &part->data.len, err);
    if (status == MQ_OK) {
        default_name(part, file);
    }
    return status;
}

/* Reads the file of an SplFileInfo. (The text of an SplFileObject would be its next line.) */
static enum mq_status from_file_object(struct mq_php_path path, const zval *object,
                                       struct mq_error *err)
{
    zval name;
    zend_call_method_with_0_params(Z_OBJ_P(object), Z_OBJCE_P(object), NULL, "getpathname", &name);
    if (EG(exception)) {
        return MQ_THROWN;
    }
    zend_string *text = zval_try_get_string(&name);
    zval_ptr_dtor(&name);
    return text ? from_file(path, mq_php_fields_keep(path.fields, text), err) : MQ_THROWN;
}

/* Adds a buffer that is freed with the fields. It is not in request memory, whose limit would end
 * the script in the middle of a stream. */
static struct mq_buffer *add_content(struct mq_php_fields *fields)
{
    size_t count = fields->content_count;
    fields->contents =
        mq_php_fields_grow(fields, fields->contents, count, sizeof *fields->contents);
    fields->contents[count] = (struct mq_buffer){0};
    fields->content_count = count + 1;
    return &fields->contents[count];
}

/* Reads a stream to its end, but at most `most` octets. */
static void read_all(php_stream *stream, size_t most, struct mq_buffer *out)
{
    php_stream_statbuf info;
    char piece[STREAM_PIECE];
    int kept_open = stream->flags & PHP_STREAM_FLAG_NO_FCLOSE;
    stream->flags |= PHP_STREAM_FLAG_NO_FCLOSE; /* a wrapper in PHP code could close the stream */
    if (php_stream_stat(stream, &info) == 0 && info.sb.st_size > 0) {
        size_t size = (size_t)info.sb.st_size;
        mq_buffer_reserve(out, size < most ? size : most);
    }
    while (out->len < most && !out->failed && !EG(exception)) {
        size_t left = most - out->len;
        ssize_t n = php_stream_read(stream, piece, left < sizeof piece ? left : sizeof piece);
        if (n <= 0) {
            break;
        }
        mq_buffer_append(out, piece, (size_t)n);
    }
    stream->flags = (stream->flags & ~PHP_STREAM_FLAG_NO_FCLOSE) | kept_open;
}

static php_stream *stream_of(const zval *value)
{
    zval resource;
    ZVAL_COPY_VALUE(&resource, value);
    return zend_fetch_resource2_ex(&resource, NULL, php_file_le_stream(), php_file_le_pstream());
}

/* Reads an open stream from its current position to its end. */
static enum mq_status from_stream(struct mq_php_path path, const zval *value, struct mq_error *err)
{
    struct mq_compose_part *part = path.target;
    size_t limit = (size_t)MAILQUEUE_G(max_message_size);
    php_stream *stream = stream_of(value);
    if (stream == NULL) {
        return mq_php_wrong_type(part->field, "an open stream", value, err);
    }
    if (stream->wrapper == &php_plain_files_wrapper && stream->orig_path) {
        zend_string *file = zend_string_init(stream->orig_path, strlen(stream->orig_path), 0);
        default_name(part, mq_php_fields_keep(path.fields, file));
    }
    struct mq_buffer *content = add_content(path.fields);
    read_all(stream, limit > 0 ? limit + 1 : SIZE_MAX, content);
    if (EG(exception)) {
        return MQ_THROWN;
    }
    if (content->failed) {
        return mq_error_nomem(err);
    }
    part->data = content->len > 0 ? mq_buffer_view(content) : MQ_STR("");
    if (limit > 0 && part->data.len > limit) {
        return bad(path, "the stream has more than a message may have (mailqueue.max_message_size)",
                   err);
    }
    if (!php_stream_eof(stream)) {
        return bad(
            path, "the stream did not give all that it has; it must be readable and blocking", err);
    }
    if (part->data.len == 0 && php_stream_tell(stream) > 0) {
        return bad(path, "the stream is at its end; rewind() it first", err);
    }
    return MQ_OK;
}

static enum mq_status from_bare(struct mq_php_path path, const zval *value, struct mq_error *err)
{
    if (Z_TYPE_P(value) == IS_RESOURCE) {
        return from_stream(path, value, err);
    }
    if (Z_TYPE_P(value) == IS_OBJECT && instanceof_function(Z_OBJCE_P(value), spl_ce_SplFileInfo)) {
        return from_file_object(path, value, err);
    }
    if (Z_TYPE_P(value) != IS_STRING) {
        return mq_php_wrong_type(path.field, "a path, a stream or an array of path, data or stream",
                                 value, err);
    }
    return from_file(path, mq_php_str(Z_STR_P(value)), err);
}

/* ---- the media type: from the extension of the name, or else from the first octets ---- */

struct media {
    const char *mark, *type;
};

static const struct media extensions[] = {
    {"7z", "application/x-7z-compressed"},
    {"avif", "image/avif"},
    {"bmp", "image/bmp"},
    {"css", "text/css"},
    {"csv", "text/csv"},
    {"doc", "application/msword"},
    {"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    {"epub", "application/epub+zip"},
    {"gif", "image/gif"},
    {"gpx", "application/gpx+xml"},
    {"gz", "application/gzip"},
    {"heic", "image/heic"},
    {"htm", "text/html"},
    {"html", "text/html"},
    {"ico", "image/vnd.microsoft.icon"},
    {"ics", "text/calendar"},
    {"jpeg", "image/jpeg"},
    {"jpg", "image/jpeg"},
    {"js", "text/javascript"},
    {"json", "application/json"},
    {"log", "text/plain"},
    {"m4a", "audio/mp4"},
    {"md", "text/markdown"},
    {"mov", "video/quicktime"},
    {"mp3", "audio/mpeg"},
    {"mp4", "video/mp4"},
    {"odp", "application/vnd.oasis.opendocument.presentation"},
    {"ods", "application/vnd.oasis.opendocument.spreadsheet"},
    {"odt", "application/vnd.oasis.opendocument.text"},
    {"ogg", "audio/ogg"},
    {"p7s", "application/pkcs7-signature"},
    {"pdf", "application/pdf"},
    {"pkpass", "application/vnd.apple.pkpass"},
    {"png", "image/png"},
    {"ppt", "application/vnd.ms-powerpoint"},
    {"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
    {"rar", "application/vnd.rar"},
    {"rtf", "application/rtf"},
    {"svg", "image/svg+xml"},
    {"tar", "application/x-tar"},
    {"tif", "image/tiff"},
    {"tiff", "image/tiff"},
    {"tsv", "text/tab-separated-values"},
    {"txt", "text/plain"},
    {"vcf", "text/vcard"},
    {"wav", "audio/wav"},
    {"webm", "video/webm"},
    {"webp", "image/webp"},
    {"xls", "application/vnd.ms-excel"},
    {"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    {"xml", "application/xml"},
    {"yaml", "application/yaml"},
    {"yml", "application/yaml"},
    {"zip", "application/zip"},
};

/* Types that a mail program shows even if the part has no name. */
static const struct media beginnings[] = {
    {"\x89PNG", "image/png"},
    {"\xFF\xD8\xFF", "image/jpeg"},
    {"GIF8", "image/gif"},
    {"%PDF-", "application/pdf"},
};

static const char *find_type(struct mq_str name, struct mq_str head)
{
    const char *dot = name.len ? memrchr(name.data, '.', name.len) : NULL;
    size_t at = dot ? (size_t)(dot + 1 - name.data) : name.len;
    struct mq_str extension = {name.data + at, name.len - at};
    for (size_t i = 0; dot && i < sizeof extensions / sizeof *extensions; i++) {
        if (mq_str_equal_nocase(extension, mq_str_of(extensions[i].mark))) {
            return extensions[i].type;
        }
    }
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        if (mq_str_begins(head, beginnings[i].mark)) {
            return beginnings[i].type;
        }
    }
    return "application/octet-stream";
}

/* `whole` is false if `text` is only the beginning of a text. Then it counts as UTF-8 only if it
 * has a character that is not ASCII: an ASCII beginning says nothing about the rest. */
static bool is_utf8(struct mq_str text, bool whole)
{
    if (whole) {
        return mq_utf8_valid(text);
    }
    for (int cut = 0; cut < 3 && text.len > 0 && !mq_utf8_valid(text); cut++) {
        text.len--; /* the beginning may end within a character */
    }
    return mq_utf8_valid(text) && !mq_str_ascii(text);
}

/* The media type of a part, from its name and its content (or the content's beginning). Gives no
 * charset for a text that is not UTF-8: the default is ASCII (RFC 2046, section 4.1.2). */
static zend_string *media_type(struct mq_str name, struct mq_str content, bool whole)
{
    const char *type = find_type(name, content);
    bool utf8 = mq_str_begins(mq_str_of(type), "text/") && is_utf8(content, whole);
    return strpprintf(0, "%s%s", type, utf8 ? "; charset=utf-8" : "");
}

/* ---- an element ---- */

static enum mq_status read_content(struct mq_php_path path, HashTable *entry, struct mq_error *err)
{
    struct mq_compose_part *part = path.target;
    const zval *file = mq_php_fields_find(entry, "path");
    const zval *stream = mq_php_fields_find(entry, "stream");
    bool data = mq_php_fields_find(entry, "data") != NULL;
    if ((file != NULL) + (stream != NULL) + data != 1) {
        return bad(path, "give one of path, data and stream", err);
    }
    if (file && Z_TYPE_P(file) == IS_RESOURCE) {
        return mq_php_wrong_type(path.field, "a path", file, err);
    }
    return file     ? from_bare(path, file, err)
           : stream ? from_stream(path, stream, err)
                    : mq_php_read_member(path, entry, "data", &part->data, err);
}

static enum mq_status read_entry(struct mq_php_path path, HashTable *entry, struct mq_error *err)
{
    struct mq_compose_part *part = path.target;
    MQ_TRY(mq_php_check_keys(path.field, entry, entry_keys, ENTRY_KEYS, err));
    MQ_TRY(mq_php_read_member(path, entry, "name", &part->name, err));
    MQ_TRY(mq_php_read_member(path, entry, "type", &part->type, err));
    MQ_TRY(mq_php_read_member(path, entry, "cid", &part->cid, err));
    return read_content(path, entry, err);
}

static zend_string *guess_type(const struct mq_compose_part *part)
{
    char head[HEAD];
    if (part->fd < 0) {
        return media_type(part->name, part->data, true);
    }
    ssize_t n = pread(part->fd, head, sizeof head, 0);
    struct mq_str content = {head, n > 0 ? (size_t)n : 0};
    return media_type(part->name, content, content.len == part->data.len);
}

static struct mq_compose_part *add_part(struct mq_php_path path)
{
    struct mq_php_fields *fields = path.fields;
    size_t count = fields->compose.part_count;
    fields->parts = mq_php_fields_grow(fields, fields->parts, count, sizeof *fields->parts);
    fields->parts[count].fd = -1;
    fields->parts[count].field = path.field;
    fields->compose.part_count = count + 1;
    return &fields->parts[count];
}

static enum mq_status read_element(struct mq_php_path path, struct mq_compose_part *part,
                                   const zval *value, struct mq_error *err)
{
    path.target = part;
    MQ_TRY(Z_TYPE_P(value) == IS_ARRAY ? read_entry(path, Z_ARRVAL_P(value), err)
                                       : from_bare(path, value, err));
    if (part->type.len == 0) {
        part->type = mq_php_fields_keep(path.fields, guess_type(part));
    }
    return MQ_OK;
}

static enum mq_status read_attachment(struct mq_php_path path, const zval *value,
                                      struct mq_error *err)
{
    struct mq_compose_part *part = add_part(path);
    part->name = mq_php_str(path.key);
    return read_element(path, part, value, err);
}

static enum mq_status read_shown(struct mq_php_path path, const zval *value, struct mq_error *err)
{
    struct mq_compose_part *part = add_part(path);
    part->cid = mq_php_str(path.key);
    MQ_TRY(read_element(path, part, value, err));
    if (part->cid.len == 0) {
        part->cid = part->name;
    }
    return part->cid.len > 0
               ? MQ_OK
               : bad(path,
                     "what the HTML shows needs a cid; give it as key, such as 'inline' => ['logo' "
                     "=> …] for <img src=\"cid:logo\">",
                     err);
}

/* Refuses ['path' => '/x'] as the whole field, because it is ambiguous: a file with the name
 * "path", or an entry that is not in a list? */
static enum mq_status read_parts(struct mq_php_path path, const zval *value, mq_php_reader *read,
                                 struct mq_error *err)
{
    for (int i = 0; i < 3 && Z_TYPE_P(value) == IS_ARRAY; i++) {
        if (zend_hash_str_exists(Z_ARRVAL_P(value), entry_keys[i], strlen(entry_keys[i]))) {
            return mq_error_set(err, MQ_MESSAGE, path.field,
                                "%s: must be a list; write [['%s' => …]], or with a key that is "
                                "the name",
                                path.field, entry_keys[i]);
        }
    }
    return mq_php_read_one_or_each(path, value, read, err);
}

enum mq_status mq_php_read_attachments(struct mq_php_path path, const zval *value,
                                       struct mq_error *err)
{
    return read_parts(path, value, read_attachment, err);
}

enum mq_status mq_php_read_inline(struct mq_php_path path, const zval *value, struct mq_error *err)
{
    return read_parts(path, value, read_shown, err);
}
