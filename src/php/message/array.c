/* An array message: its fields are taken out of it. */
#include "php/message/given_message.h"

#include <unistd.h>

#include "php/class/time_arg.h"

/* The address fields come first: their numbers are those of struct mq_php_fields. */
enum field {
    FIELD_FROM,
    FIELD_TO,
    FIELD_CC,
    FIELD_BCC,
    FIELD_REPLY_TO,
    FIELD_SUBJECT,
    FIELD_TEXT,
    FIELD_HTML,
    FIELD_HEADERS,
    FIELD_ATTACHMENTS,
    FIELD_INLINE,
    FIELD_DATE,
    FIELD_MESSAGE_ID,
    FIELD_UNSUBSCRIBE,
    FIELD_COUNT
};

static const char *const field_names[FIELD_COUNT] = {
    "from", "to",      "cc",          "bcc",    "reply_to", "subject",    "text",
    "html", "headers", "attachments", "inline", "date",     "message_id", "unsubscribe",
};

/* ---- single fields ---- */

static enum mq_status read_addresses(struct mq_php_path place, enum field field, const zval *value,
                                     struct mq_error *err)
{
    struct mq_php_fields *fields = place.fields;
    struct mq_compose_addresses *lists[] = {&fields->compose.from, &fields->compose.to,
                                            &fields->compose.cc, &fields->compose.bcc,
                                            &fields->compose.reply_to};
    enum mq_status status =
        mq_php_read_addresses(place, value, &fields->addresses[field], &lists[field]->count, err);
    lists[field]->items = fields->addresses[field];
    return status;
}

static enum mq_status add_header(struct mq_php_path place, zend_string *name, const zval *value,
                                 struct mq_error *err)
{
    struct mq_php_fields *fields = place.fields;
    struct mq_compose_header header;
    if (Z_TYPE_P(value) == IS_NULL) {
        return MQ_OK;
    }
    header.name = mq_php_fields_keep(fields, zend_string_copy(name));
    if (Z_TYPE_P(value) == IS_LONG) { /* 'X-Priority' => 1 */
        header.value = mq_php_fields_keep(fields, zend_long_to_str(Z_LVAL_P(value)));
    } else {
        enum mq_status status = mq_php_read_text(place, value, &header.value, err);
        if (status != MQ_OK) {
            return status;
        }
    }
    size_t count = fields->compose.header_count;
    fields->headers = mq_php_fields_grow(fields->headers, count, sizeof header);
    fields->headers[count] = header;
    fields->compose.header_count = count + 1;
    return MQ_OK;
}

static enum mq_status add_headers(struct mq_php_path place, zend_string *name, const zval *value,
                                  struct mq_error *err)
{
    enum mq_status status = MQ_OK;
    zval *item;
    if (Z_TYPE_P(value) != IS_ARRAY) {
        return add_header(place, name, value, err);
    }
    ZEND_HASH_FOREACH_VAL (Z_ARRVAL_P(value), item) {
        zval copy;
        ZVAL_COPY_DEREF(&copy, item);
        status = add_header(place, name, &copy, err);
        zval_ptr_dtor(&copy);
        if (status != MQ_OK) {
            break;
        }
    }
    ZEND_HASH_FOREACH_END();
    return status;
}

static enum mq_status read_headers(struct mq_php_path place, const zval *value,
                                   struct mq_error *err)
{
    enum mq_status status = MQ_OK;
    zend_ulong index;
    zend_string *key;
    zval *item;
    if (Z_TYPE_P(value) != IS_ARRAY) {
        return mq_php_wrong_type("headers", "an array keyed by names", value, err);
    }
    ZEND_HASH_FOREACH_KEY_VAL (Z_ARRVAL_P(value), index, key, item) {
        zval copy;
        struct mq_php_path header = mq_php_path_of(place, index, key);
        if (key == NULL) {
            return mq_error_set(err, MQ_MESSAGE, header.field,
                                "%s: its key is no name; write 'headers' => ['X-Name' => 'value']",
                                header.field);
        }
        ZVAL_COPY_DEREF(&copy, item);
        status = add_headers(header, key, &copy, err);
        zval_ptr_dtor(&copy);
        if (status != MQ_OK) {
            break;
        }
    }
    ZEND_HASH_FOREACH_END();
    return status;
}

static enum mq_status read_date(struct mq_php_fields *fields, zval *value, struct mq_error *err)
{
    enum mq_status status =
        mq_php_time_of(value, "date", &fields->date_s, &fields->date_given, err);
    /* Out of range; an argument would be a ValueError, a field is not. */
    return status == MQ_INVALID ? mq_error_set(err, MQ_MESSAGE, "date", "%s", err->text) : status;
}

/* With brackets, as the job keeps it. */
static enum mq_status read_message_id(struct mq_php_path place, const zval *value,
                                      struct mq_error *err)
{
    struct mq_str id;
    enum mq_status status = mq_php_read_text(place, value, &id, err);
    if (status != MQ_OK) {
        return status;
    }
    for (size_t i = 0; i < id.len; i++) {
        unsigned char c = (unsigned char)id.data[i];
        if (c <= ' ' || c >= 0x7F) {
            return mq_error_set(err, MQ_MESSAGE, "message_id",
                                "message_id: a blank, a control character or a letter that is not "
                                "ASCII at byte %zu; write <unique@example.org>",
                                i + 1);
        }
    }
    bool bare = id.len == 0 || id.data[0] != '<';
    zend_string *with_brackets = strpprintf(0, bare ? "<%s>" : "%s", id.data);
    mq_php_fields_keep(place.fields, with_brackets);
    place.fields->message_id = with_brackets;
    return MQ_OK;
}

static enum mq_status add_uri(struct mq_php_path place, const zval *value, struct mq_error *err)
{
    struct mq_php_fields *fields = place.fields;
    struct mq_str uri;
    enum mq_status status = mq_php_read_text(place, value, &uri, err);
    if (status == MQ_OK) {
        size_t count = fields->compose.unsubscribe_count;
        fields->unsubscribe = mq_php_fields_grow(fields->unsubscribe, count, sizeof uri);
        fields->unsubscribe[count] = uri;
        fields->compose.unsubscribe_count = count + 1;
    }
    return status;
}

static enum mq_status read_unsubscribe(struct mq_php_path place, const zval *value,
                                       struct mq_error *err)
{
    enum mq_status status = MQ_OK;
    zend_ulong index;
    zend_string *key;
    zval *item;
    if (Z_TYPE_P(value) != IS_ARRAY) {
        return add_uri(place, value, err);
    }
    ZEND_HASH_FOREACH_KEY_VAL (Z_ARRVAL_P(value), index, key, item) {
        zval copy;
        ZVAL_COPY_DEREF(&copy, item);
        status = add_uri(mq_php_path_of(place, index, key), &copy, err);
        zval_ptr_dtor(&copy);
        if (status != MQ_OK) {
            break;
        }
    }
    ZEND_HASH_FOREACH_END();
    return status;
}

/* ---- all of them ---- */

static enum mq_status read_field(struct mq_php_fields *fields, enum field field, zval *value,
                                 struct mq_error *err)
{
    struct mq_php_path place = {fields, field_names[field]};
    switch (field) {
    case FIELD_SUBJECT:
        return mq_php_read_text(place, value, &fields->compose.subject, err);
    case FIELD_TEXT:
        return mq_php_read_text(place, value, &fields->compose.text, err);
    case FIELD_HTML:
        return mq_php_read_text(place, value, &fields->compose.html, err);
    case FIELD_HEADERS:
        return read_headers(place, value, err);
    case FIELD_ATTACHMENTS:
        return mq_php_read_parts(place, false, value, err);
    case FIELD_INLINE:
        return mq_php_read_parts(place, true, value, err);
    case FIELD_DATE:
        return read_date(fields, value, err);
    case FIELD_MESSAGE_ID:
        return read_message_id(place, value, err);
    case FIELD_UNSUBSCRIBE:
        return read_unsubscribe(place, value, err);
    default:
        return read_addresses(place, field, value, err);
    }
}

static enum mq_status reject_unknown_fields(HashTable *message, struct mq_error *err)
{
    zend_string *key;
    zend_ulong number;
    ZEND_HASH_FOREACH_KEY(message, number, key)
    {
        bool known = false;
        if (key == NULL) {
            char name[32];
            snprintf(name, sizeof name, ZEND_LONG_FMT, (zend_long)number);
            return mq_error_set(err, MQ_MESSAGE, name,
                                "%s: unknown field; a message is an array keyed by names, such as "
                                "from, to, subject and text",
                                name);
        }
        for (int i = 0; i < FIELD_COUNT && !known; i++) {
            known = mq_php_key_is(key, field_names[i]);
        }
        if (!known) {
            return mq_php_fields_unknown_key(NULL, key, field_names, FIELD_COUNT, err);
        }
    }
    ZEND_HASH_FOREACH_END();
    return MQ_OK;
}

static enum mq_status check_required(const struct mq_php_fields *fields, struct mq_error *err)
{
    const struct mq_compose_fields *compose = &fields->compose;
    if (compose->from.count == 0) {
        return mq_error_set(err, MQ_MESSAGE, "from",
                            "from: missing; give the sender, such as \"Name <a@example.org>\"");
    }
    if (compose->to.count + compose->cc.count + compose->bcc.count == 0) {
        return mq_error_set(err, MQ_MESSAGE, "to",
                            "to: missing; give a recipient, such as \"Name <a@example.org>\", or "
                            "a list of them (or cc, or bcc)");
    }
    if (compose->subject.data == NULL) {
        return mq_error_set(err, MQ_MESSAGE, "subject",
                            "subject: missing; give the subject; it may be empty");
    }
    if (compose->text.data == NULL && compose->html.data == NULL) {
        return mq_error_set(err, MQ_MESSAGE, "text",
                            "text: missing; give the text (it may be empty), or html, or both");
    }
    return MQ_OK;
}

enum mq_status mq_php_array_read(HashTable *message, struct mq_php_fields *fields,
                                 struct mq_error *err)
{
    enum mq_status status = reject_unknown_fields(message, err);
    for (enum field i = 0; i < FIELD_COUNT && status == MQ_OK; i++) {
        zval value;
        mq_php_fields_find(message, field_names[i], &value);
        if (!Z_ISUNDEF(value)) {
            status = read_field(fields, i, &value, err);
            zval_ptr_dtor(&value);
        }
    }
    fields->compose.headers = fields->headers;
    fields->compose.parts = fields->parts;
    fields->compose.unsubscribe = fields->unsubscribe;
    if (EG(exception)) { /* a destructor's */
        return MQ_THROWN;
    }
    return status == MQ_OK ? check_required(fields, err) : status;
}

void mq_php_array_clear(struct mq_php_fields *fields)
{
    for (size_t i = 0; i < fields->compose.part_count; i++) {
        if (fields->parts[i].fd >= 0) {
            close(fields->parts[i].fd);
        }
    }
    for (size_t i = 0; i < fields->content_count; i++) {
        mq_buffer_clear(&fields->contents[i]);
    }
    for (size_t i = 0; i < fields->kept_count; i++) {
        zend_string_release(fields->kept[i]);
    }
    for (size_t i = 0; i < sizeof fields->addresses / sizeof *fields->addresses; i++) {
        if (fields->addresses[i]) {
            efree(fields->addresses[i]);
        }
    }
    void *arrays[] = {fields->parts, fields->headers, fields->unsubscribe, fields->contents,
                      fields->kept};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        if (arrays[i]) {
            efree(arrays[i]);
        }
    }
}
