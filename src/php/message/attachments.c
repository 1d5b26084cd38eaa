/* The fields attachments and inline of an array message: a list of, or one,
 *   '/path/file.pdf'; a stream;
 *   ['path' => …] or ['data' => …] or ['stream' => …], with name, type and cid;
 * where the key of an element is a string, it is the name of an attachment, or the cid of what the
 * HTML shows. */
#include "php/message/fields.h"

#include <string.h>
#include <unistd.h>

#include "ext/spl/spl_directory.h"
#include "zend_interfaces.h"

#include "php/local_file.h"
#include "php_mailqueue.h"

static const char *const entry_keys[] = {"path", "data", "stream", "name", "type", "cid"};
enum { ENTRY_KEYS = 6 };

#define STREAM_PIECE 16384 /* octets */
#define HEAD         8192  /* octets of a file that tell its type */

/* One element while it is read. */
struct element {
    struct mq_php_path place;
    struct mq_compose_part *part;
    bool shown; /* of `inline` */
};

static enum mq_status bad(const struct element *element, const char *what, struct mq_error *err)
{
    const char *field = element->place.field;
    return mq_error_set(err, MQ_MESSAGE, field, "%s: %s", field, what);
}

static struct mq_str base_name(struct mq_str path)
{
    const char *slash = path.len ? memrchr(path.data, '/', path.len) : NULL;
    if (slash == NULL) {
        return path;
    }
    return (struct mq_str){slash + 1, path.len - (size_t)(slash + 1 - path.data)};
}

static void default_name(struct mq_compose_part *part, struct mq_str path)
{
    if (part->name.len == 0) {
        part->name = base_name(path);
    }
}

/* ---- where the content comes from ---- */

static enum mq_status from_path(const struct element *element, struct mq_str path,
                                struct mq_error *err)
{
    struct mq_compose_part *part = element->part;
    enum mq_status status = mq_php_local_file_open(path, part->field, &part->fd, &part->size, err);
    if (status == MQ_OK) {
        default_name(part, path);
    }
    return status;
}

/* A file as an object: the text of a SplFileObject would be its next line. */
static enum mq_status from_file_object(const struct element *element, const zval *object,
                                       struct mq_error *err)
{
    zval path;
    zend_call_method_with_0_params(Z_OBJ_P(object), Z_OBJCE_P(object), NULL, "getpathname", &path);
    if (EG(exception)) {
        return MQ_THROWN;
    }
    zend_string *text = zval_try_get_string(&path);
    zval_ptr_dtor(&path);
    return text ? from_path(element, mq_php_fields_keep(element->place.fields, text), err)
                : MQ_THROWN;
}

/* A new buffer that is freed with the fields. Not request memory: its limit would end the script
 * in the middle of a stream. */
static struct mq_buffer *add_content(struct mq_php_fields *fields)
{
    size_t count = fields->content_count;
    fields->contents =
        mq_php_fields_grow(fields, fields->contents, count, sizeof *fields->contents);
    mq_buffer_init(&fields->contents[count]);
    fields->content_count = count + 1;
    return &fields->contents[count];
}

/* What a stream gives until its end, but no more than `most` octets. */
static void read_all(php_stream *stream, size_t most, struct mq_buffer *out)
{
    php_stream_statbuf info;
    char piece[STREAM_PIECE];
    int kept_open = stream->flags & PHP_STREAM_FLAG_NO_FCLOSE;
    stream->flags |= PHP_STREAM_FLAG_NO_FCLOSE; /* its own wrapper could close it meanwhile */
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

/* From where it stands to its end. */
static enum mq_status from_stream(const struct element *element, const zval *value,
                                  struct mq_error *err)
{
    struct mq_compose_part *part = element->part;
    size_t limit = (size_t)MAILQUEUE_G(max_message_size);
    php_stream *stream = stream_of(value);
    if (stream == NULL) {
        return mq_php_wrong_type(part->field, "an open stream", value, err);
    }
    if (stream->wrapper == &php_plain_files_wrapper && stream->orig_path) {
        zend_string *path = zend_string_init(stream->orig_path, strlen(stream->orig_path), 0);
        default_name(part, mq_php_fields_keep(element->place.fields, path));
    }
    struct mq_buffer *content = add_content(element->place.fields);
    read_all(stream, limit > 0 ? limit + 1 : SIZE_MAX, content);
    if (EG(exception)) {
        return MQ_THROWN;
    }
    if (content->failed) {
        return mq_error_nomem(err);
    }
    part->data = content->len > 0 ? mq_buffer_view(content) : MQ_STR("");
    if (limit > 0 && part->data.len > limit) {
        return bad(element,
                   "the stream has more than a message may have (mailqueue.max_message_size)", err);
    }
    if (!php_stream_eof(stream)) {
        return bad(element,
                   "the stream did not give all that it has; it must be readable and blocking",
                   err);
    }
    if (part->data.len == 0 && php_stream_tell(stream) > 0) {
        return bad(element, "the stream is at its end; rewind() it first", err);
    }
    return MQ_OK;
}

static enum mq_status from_bare(const struct element *element, const zval *value,
                                struct mq_error *err)
{
    if (Z_TYPE_P(value) == IS_RESOURCE) {
        return from_stream(element, value, err);
    }
    if (Z_TYPE_P(value) == IS_OBJECT && instanceof_function(Z_OBJCE_P(value), spl_ce_SplFileInfo)) {
        return from_file_object(element, value, err);
    }
    if (Z_TYPE_P(value) != IS_STRING) {
        return mq_php_wrong_type(element->place.field,
                                 "a path, a stream or an array of path, data or stream", value,
                                 err);
    }
    return from_path(element, (struct mq_str){Z_STRVAL_P(value), Z_STRLEN_P(value)}, err);
}

/* ---- an element ---- */

static enum mq_status read_content(const struct element *element, HashTable *entry,
                                   struct mq_error *err)
{
    const zval *path = mq_php_fields_find(entry, "path");
    const zval *stream = mq_php_fields_find(entry, "stream");
    bool data = mq_php_fields_find(entry, "data") != NULL;
    if ((path != NULL) + (stream != NULL) + data != 1) {
        return bad(element, "give one of path, data and stream", err);
    }
    if (path && Z_TYPE_P(path) == IS_RESOURCE) {
        return mq_php_wrong_type(element->place.field, "a path", path, err);
    }
    return path     ? from_bare(element, path, err)
           : stream ? from_stream(element, stream, err)
                    : mq_php_read_member(element->place, entry, "data", &element->part->data, err);
}

static enum mq_status read_entry(const struct element *element, HashTable *entry,
                                 struct mq_error *err)
{
    struct mq_compose_part *part = element->part;
    struct mq_str *texts[] = {&part->name, &part->type, &part->cid};
    const char *const *names = entry_keys + 3;
    enum mq_status status =
        mq_php_check_keys(element->place.field, entry, entry_keys, ENTRY_KEYS, err);
    for (int i = 0; i < 3 && status == MQ_OK; i++) {
        status = mq_php_read_member(element->place, entry, names[i], texts[i], err);
    }
    return status == MQ_OK ? read_content(element, entry, err) : status;
}

static void guess_type(const struct element *element)
{
    struct mq_compose_part *part = element->part;
    char head[HEAD];
    struct mq_str content = part->data;
    bool whole = true;
    if (part->fd >= 0) {
        ssize_t n = pread(part->fd, head, sizeof head, 0);
        content = (struct mq_str){head, n > 0 ? (size_t)n : 0};
        whole = content.len == part->size;
    }
    part->type =
        mq_php_fields_keep(element->place.fields, mq_php_media_type(part->name, content, whole));
}

static enum mq_status finish(const struct element *element, struct mq_error *err)
{
    struct mq_compose_part *part = element->part;
    if (element->shown && part->cid.len == 0) {
        part->cid = part->name;
    }
    if (element->shown && part->cid.len == 0) {
        return bad(element,
                   "what the HTML shows needs a cid; give it as key, such as 'inline' => ['logo' "
                   "=> …] for <img src=\"cid:logo\">",
                   err);
    }
    if (part->type.len == 0) {
        guess_type(element);
    }
    return MQ_OK;
}

static struct mq_compose_part *add_part(struct mq_php_path place)
{
    struct mq_php_fields *fields = place.fields;
    size_t count = fields->compose.part_count;
    fields->parts = mq_php_fields_grow(fields, fields->parts, count, sizeof *fields->parts);
    fields->parts[count].fd = -1;
    fields->parts[count].field = place.field;
    fields->compose.part_count = count + 1;
    return &fields->parts[count];
}

static enum mq_status read_element(struct mq_php_path place, bool shown, zend_string *key,
                                   const zval *value, struct mq_error *err)
{
    struct element element = {place, add_part(place), shown};
    if (key) {
        *(shown ? &element.part->cid : &element.part->name) =
            (struct mq_str){ZSTR_VAL(key), ZSTR_LEN(key)};
    }
    enum mq_status status = Z_TYPE_P(value) == IS_ARRAY
                                ? read_entry(&element, Z_ARRVAL_P(value), err)
                                : from_bare(&element, value, err);
    return status == MQ_OK ? finish(&element, err) : status;
}

static enum mq_status read_attachment(struct mq_php_path place, zend_string *key, const zval *value,
                                      struct mq_error *err)
{
    return read_element(place, false, key, value, err);
}

static enum mq_status read_shown(struct mq_php_path place, zend_string *key, const zval *value,
                                 struct mq_error *err)
{
    return read_element(place, true, key, value, err);
}

/* ['path' => '/x'] as the whole field: a file that is named "path", or an entry that is not in a
 * list? */
static enum mq_status read_parts(struct mq_php_path place, const zval *value, mq_php_reader *read,
                                 struct mq_error *err)
{
    for (int i = 0; i < 3 && Z_TYPE_P(value) == IS_ARRAY; i++) {
        if (zend_hash_str_exists(Z_ARRVAL_P(value), entry_keys[i], strlen(entry_keys[i]))) {
            return mq_error_set(err, MQ_MESSAGE, place.field,
                                "%s: must be a list; write [['%s' => …]], or with a key that is "
                                "the name",
                                place.field, entry_keys[i]);
        }
    }
    return mq_php_read_one_or_each(place, value, read, err);
}

enum mq_status mq_php_read_attachments(struct mq_php_path place, zend_string *key,
                                       const zval *value, struct mq_error *err)
{
    (void)key;
    return read_parts(place, value, read_attachment, err);
}

enum mq_status mq_php_read_inline(struct mq_php_path place, zend_string *key, const zval *value,
                                  struct mq_error *err)
{
    (void)key;
    return read_parts(place, value, read_shown, err);
}
