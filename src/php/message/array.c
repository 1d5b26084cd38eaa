/* Reads the fields of an array message. PHP code can give addresses in these forms:
 *   'Name <a@example.org>, b@example.org'
 *   ['Name <a@example.org>', 'b@example.org']
 *   ['a@example.org' => 'Name', 'b@example.org' => null]
 *   [['address' => 'a@example.org', 'name' => 'Name']], or one such entry alone */
#include "php/message/given_message.h"

#include <unistd.h>

#include "mime/unsubscribe.h"
#include "php/class/conversion.h"

/* ---- addresses ---- */

static const char *const entry_keys[] = {"address", "name"};

/* Reads an entry ['address' => …, 'name' => …]. */
static enum mq_status read_entry(struct mq_php_path path, HashTable *entry,
                                 struct mq_compose_address *item, struct mq_error *err)
{
    item->name = MQ_STR("");
    MQ_TRY(mq_php_check_keys(path.field, entry, entry_keys, 2, err));
    MQ_TRY(mq_php_read_member(path, entry, "address", &item->address, err));
    if (item->address.data == NULL) {
        return mq_error_set(err, MQ_MESSAGE, path.field,
                            "%s: the address is missing; write ['address' => 'a@example.org', "
                            "'name' => 'Name']",
                            path.field);
    }
    return mq_php_read_member(path, entry, "name", &item->name, err);
}

static enum mq_status read_item(struct mq_php_path path, const zval *value, struct mq_error *err)
{
    struct mq_compose_addresses *list = path.target;
    /* read_addresses() allocated the list, with room for all. */
    struct mq_compose_address *item = (struct mq_compose_address *)list->items + list->count++;
    item->field = path.field;
    if (path.key) { /* name not NULL, even if empty: the address is one plain addr-spec */
        item->address = mq_php_str(path.key);
        item->name = MQ_STR("");
        path.target = &item->name;
        return Z_TYPE_P(value) == IS_NULL ? MQ_OK : mq_php_read_text(path, value, err);
    }
    if (Z_TYPE_P(value) == IS_ARRAY) {
        return read_entry(path, Z_ARRVAL_P(value), item, err);
    }
    if (Z_TYPE_P(value) != IS_STRING) {
        return mq_php_wrong_type(path.field, "a string or an array of address and name", value,
                                 err);
    }
    item->address = mq_php_str(Z_STR_P(value));
    return MQ_OK;
}

static enum mq_status read_addresses(struct mq_php_path path, const zval *value,
                                     struct mq_error *err)
{
    struct mq_compose_addresses *out = path.target;
    HashTable *list = Z_TYPE_P(value) == IS_ARRAY ? Z_ARRVAL_P(value) : NULL;
    bool entry = list && zend_hash_str_exists(list, ZEND_STRL("address"));
    size_t n = list && !entry ? zend_hash_num_elements(list) : 1;
    if (list == NULL && Z_TYPE_P(value) != IS_STRING) {
        return mq_php_wrong_type(path.field, "a string or an array", value, err);
    }
    MQ_TRY(mq_php_check_count(path.field, n, "", err));
    out->items = mq_php_fields_alloc(path.fields, n, sizeof *out->items);
    return entry ? read_item(path, value, err)
                 : mq_php_read_one_or_each(path, value, read_item, err);
}

/* ---- other fields ---- */

static enum mq_status add_header(struct mq_php_path path, const zval *value, struct mq_error *err)
{
    struct mq_php_fields *fields = path.fields;
    size_t count = fields->compose.header_count;
    if (Z_TYPE_P(value) == IS_NULL) {
        return MQ_OK;
    }
    fields->headers = mq_php_fields_grow(fields, fields->headers, count, sizeof *fields->headers);
    struct mq_compose_header *header = &fields->headers[count];
    fields->compose.header_count = count + 1;
    header->name = mq_php_str(path.key);
    if (Z_TYPE_P(value) == IS_LONG) { /* such as 'X-Priority' => 1 */
        header->value = mq_php_fields_keep(fields, zend_long_to_str(Z_LVAL_P(value)));
        return MQ_OK;
    }
    path.target = &header->value;
    return mq_php_read_text(path, value, err);
}

static enum mq_status add_headers(struct mq_php_path path, const zval *value, struct mq_error *err)
{
    if (path.key == NULL) {
        return mq_error_set(err, MQ_MESSAGE, path.field,
                            "%s: its key is not a name; write 'headers' => ['X-Name' => 'value']",
                            path.field);
    }
    zval *item;
    if (Z_TYPE_P(value) != IS_ARRAY) {
        return add_header(path, value, err);
    }
    ZEND_HASH_FOREACH_VAL (Z_ARRVAL_P(value), item) {
        MQ_TRY(add_header(path, item, err));
    }
    ZEND_HASH_FOREACH_END();
    return MQ_OK;
}

static enum mq_status read_headers(struct mq_php_path path, const zval *value, struct mq_error *err)
{
    return Z_TYPE_P(value) == IS_ARRAY
               ? mq_php_read_each(path, value, add_headers, err)
               : mq_php_wrong_type("headers", "an array keyed by names", value, err);
}

static enum mq_status read_date(struct mq_php_path path, const zval *value, struct mq_error *err)
{
    struct mq_php_fields *fields = path.fields;
    zval date;
    ZVAL_COPY_VALUE(&date, value);
    enum mq_status status =
        mq_php_time_of(&date, "date", &fields->date_s, &fields->date_given, err);
    /* MQ_INVALID (out of range) would become a ValueError, which is for arguments only. */
    return status == MQ_INVALID ? mq_error_set(err, MQ_MESSAGE, "date", "%s", err->text) : status;
}

/* Reads the Message-ID and adds the angle brackets, which the job stores too. */
static enum mq_status read_message_id(struct mq_php_path path, const zval *value,
                                      struct mq_error *err)
{
    struct mq_str id;
    path.target = &id;
    MQ_TRY(mq_php_read_text(path, value, err));
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
    mq_php_fields_keep(path.fields, with_brackets);
    path.fields->message_id = with_brackets;
    return MQ_OK;
}

static enum mq_status add_uri(struct mq_php_path path, const zval *value, struct mq_error *err)
{
    struct mq_php_fields *fields = path.fields;
    size_t count = fields->compose.unsubscribe_count;
    fields->unsubscribe =
        mq_php_fields_grow(fields, fields->unsubscribe, count, sizeof *fields->unsubscribe);
    fields->compose.unsubscribe_count = count + 1;
    path.target = &fields->unsubscribe[count];
    return mq_php_read_text(path, value, err);
}

/* Reads ['list' => 'news', 'url' => 'https://…']: the link gets the recipient's token. */
static enum mq_status read_list(struct mq_php_path path, HashTable *map, struct mq_error *err)
{
    static const char *const keys[] = {"list", "url"};
    struct mq_php_fields *fields = path.fields;
    MQ_TRY(mq_php_check_keys("unsubscribe", map, keys, 2, err));
    MQ_TRY(mq_php_read_member(path, map, "list", &fields->list, err));
    MQ_TRY(mq_php_read_member(path, map, "url", &fields->list_url, err));
    if (fields->list.len == 0 || fields->list_url.len == 0) {
        return mq_error_set(err, MQ_MESSAGE, "unsubscribe",
                            "unsubscribe: give both, as ['list' => 'news', 'url' => "
                            "'https://example.org/unsubscribe.php']");
    }
    return mq_unsubscribe_check(fields->list_url, "unsubscribe[url]", err);
}

static enum mq_status read_unsubscribe(struct mq_php_path path, const zval *value,
                                       struct mq_error *err)
{
    bool is_map =
        Z_TYPE_P(value) == IS_ARRAY && (zend_hash_str_exists(Z_ARRVAL_P(value), "list", 4) ||
                                        zend_hash_str_exists(Z_ARRVAL_P(value), "url", 3));
    return is_map ? read_list(path, Z_ARRVAL_P(value), err)
                  : mq_php_read_one_or_each(path, value, add_uri, err);
}

/* ---- all fields ---- */

#define TARGET(member) offsetof(struct mq_php_fields, compose.member)

static const struct {
    const char *name;
    mq_php_reader *read;
    size_t target; /* offset in struct mq_php_fields; 0: the reader finds it itself */
} readers[] = {
    {"from", read_addresses, TARGET(from)},
    {"to", read_addresses, TARGET(to)},
    {"cc", read_addresses, TARGET(cc)},
    {"bcc", read_addresses, TARGET(bcc)},
    {"reply_to", read_addresses, TARGET(reply_to)},
    {"subject", mq_php_read_text, TARGET(subject)},
    {"text", mq_php_read_text, TARGET(text)},
    {"html", mq_php_read_text, TARGET(html)},
    {"calendar", mq_php_read_text, TARGET(calendar)},
    {"headers", read_headers, 0},
    {"attachments", mq_php_read_attachments, 0},
    {"inline", mq_php_read_inline, 0},
    {"date", read_date, 0},
    {"message_id", read_message_id, 0},
    {"unsubscribe", read_unsubscribe, 0},
};

#define FIELD_COUNT (sizeof readers / sizeof *readers)

static enum mq_status check_required(const struct mq_php_fields *fields, bool names_recipients,
                                     struct mq_error *err)
{
    const struct mq_compose_fields *compose = &fields->compose;
    if (compose->from.count == 0) {
        return mq_error_set(err, MQ_MESSAGE, "from",
                            "from: missing; give the sender, such as \"Name <a@example.org>\"");
    }
    if (names_recipients && compose->to.count + compose->cc.count + compose->bcc.count == 0) {
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

static enum mq_status read_message(const zval *message, bool names_recipients,
                                   struct mq_php_fields *fields, struct mq_error *err)
{
    const char *names[FIELD_COUNT];
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        names[i] = readers[i].name;
    }
    enum mq_status status = mq_php_plain(message, &fields->given);
    if (status == MQ_OK) {
        status = mq_php_check_keys(NULL, Z_ARRVAL(fields->given), names, FIELD_COUNT, err);
    }
    for (size_t i = 0; i < FIELD_COUNT && status == MQ_OK; i++) {
        const zval *value = mq_php_fields_find(Z_ARRVAL(fields->given), names[i]);
        struct mq_php_path path = {fields, names[i], (char *)fields + readers[i].target, NULL};
        status = value ? readers[i].read(path, value, err) : MQ_OK;
    }
    fields->compose.headers = fields->headers;
    fields->compose.parts = fields->parts;
    fields->compose.unsubscribe = fields->unsubscribe;
    if (EG(exception)) { /* thrown by a destructor */
        return MQ_THROWN;
    }
    return status == MQ_OK ? check_required(fields, names_recipients, err) : status;
}

enum mq_status mq_php_array_read(const zval *message, struct mq_php_fields *fields,
                                 struct mq_error *err)
{
    return read_message(message, true, fields, err);
}

enum mq_status mq_php_array_read_template(const zval *message, struct mq_php_fields *fields,
                                          struct mq_error *err)
{
    return read_message(message, false, fields, err);
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
    zval_ptr_dtor(&fields->given);
    zval_ptr_dtor(&fields->kept);
}
