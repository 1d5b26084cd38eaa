#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php/message_arg.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/address.h"
#include "mime/compose.h"
#include "mime/message.h"
#include "php/mail.h"
#include "php_mailqueue.h"

enum field { FIELD_FROM, FIELD_TO, FIELD_SUBJECT, FIELD_TEXT, FIELD_COUNT };

static const char *const field_names[FIELD_COUNT] = {"from", "to", "subject", "text"};

static const char *const field_cures[FIELD_COUNT] = {
    "give the sender, such as \"Name <a@example.org>\"",
    "give a recipient, such as \"Name <a@example.org>\", or a list of them",
    "give the subject; it may be empty",
    "give the text; it may be empty",
};

static size_t max_size(void)
{
    return (size_t)MAILQUEUE_G(max_message_size);
}

static struct mq_str str_of_zval(const zval *value)
{
    return (struct mq_str){Z_STRVAL_P(value), Z_STRLEN_P(value)};
}

static enum mq_status unknown_field(const char *name, struct mq_error *err)
{
    return mq_error_set(err, MQ_MESSAGE, name,
                        "%s: unknown field; a message has the fields from, to, subject and text",
                        name);
}

static enum mq_status reject_unknown_fields(HashTable *fields, struct mq_error *err)
{
    zend_string *key;
    zend_ulong number;
    char name[32];
    ZEND_HASH_FOREACH_KEY(fields, number, key)
    {
        if (key == NULL) {
            snprintf(name, sizeof name, ZEND_LONG_FMT, (zend_long)number);
            return unknown_field(name, err);
        }
        bool known = false;
        for (int i = 0; i < FIELD_COUNT; i++) {
            known |= mq_str_equal((struct mq_str){ZSTR_VAL(key), ZSTR_LEN(key)},
                                  mq_str_of(field_names[i]));
        }
        if (!known) {
            return unknown_field(ZSTR_VAL(key), err);
        }
    }
    ZEND_HASH_FOREACH_END();
    return MQ_OK;
}

static enum mq_status wrong_type(const char *field, const char *wanted, const zval *value,
                                 struct mq_error *err)
{
    return mq_error_set(err, MQ_MESSAGE, field, "%s: must be %s, %s given", field, wanted,
                        zend_zval_type_name(value));
}

static zval *find_field(HashTable *fields, enum field field)
{
    zval *value = zend_hash_str_find(fields, field_names[field], strlen(field_names[field]));
    if (value) {
        ZVAL_DEREF(value);
    }
    return value;
}

static enum mq_status get_field(HashTable *fields, enum field field, zval **value,
                                struct mq_error *err)
{
    *value = find_field(fields, field);
    if (*value == NULL) {
        return mq_error_set(err, MQ_MESSAGE, field_names[field], "%s: missing; %s",
                            field_names[field], field_cures[field]);
    }
    if (Z_TYPE_P(*value) != IS_STRING && field != FIELD_TO) {
        return wrong_type(field_names[field], "a string", *value, err);
    }
    return MQ_OK;
}

/* A list of strings as views; *items malloc'ed, also for a single string. */
static enum mq_status read_to(const zval *value, struct mq_str **items, size_t *count,
                              struct mq_error *err)
{
    HashTable *list = Z_TYPE_P(value) == IS_ARRAY ? Z_ARRVAL_P(value) : NULL;
    size_t n = list ? zend_hash_num_elements(list) : 1;
    if (list == NULL && Z_TYPE_P(value) != IS_STRING) {
        return wrong_type("to", "a string or a list of strings", value, err);
    }
    if (n == 0 || n > MQ_PHP_RECIPIENTS_MAX) {
        return mq_error_set(err, MQ_MESSAGE, "to", "to: %zu addresses; give 1 to %d", n,
                            MQ_PHP_RECIPIENTS_MAX);
    }
    struct mq_str *views = calloc(n, sizeof *views);
    if (views == NULL) {
        return mq_error_nomem(err);
    }
    if (list == NULL) {
        views[0] = str_of_zval(value);
    } else {
        size_t i = 0;
        zval *item;
        ZEND_HASH_FOREACH_VAL (list, item) {
            char name[32];
            ZVAL_DEREF(item);
            if (Z_TYPE_P(item) != IS_STRING) {
                free(views);
                snprintf(name, sizeof name, "to[%zu]", i);
                return wrong_type(name, "a string", item, err);
            }
            views[i++] = str_of_zval(item);
        }
        ZEND_HASH_FOREACH_END();
    }
    *items = views;
    *count = n;
    return MQ_OK;
}

void mq_php_wire_init(struct mq_php_wire *wire)
{
    memset(wire, 0, sizeof *wire);
    mq_buffer_init(&wire->message);
    mq_strings_init(&wire->recipients);
}

void mq_php_wire_clear(struct mq_php_wire *wire)
{
    mq_buffer_clear(&wire->message);
    mq_strings_clear(&wire->recipients);
    free(wire->envelope_from);
    mq_php_wire_init(wire);
}

enum mq_status mq_php_message_compose(HashTable *fields,
                                      const struct mq_php_message_options *options,
                                      struct mq_php_wire *out, struct mq_error *err)
{
    zval *values[FIELD_COUNT];
    struct mq_str *to = NULL;
    size_t to_count = 0;
    enum mq_status status = reject_unknown_fields(fields, err);
    for (enum field i = 0; i < FIELD_COUNT && status == MQ_OK; i++) {
        status = get_field(fields, i, &values[i], err);
    }
    if (status == MQ_OK) {
        status = read_to(values[FIELD_TO], &to, &to_count, err);
    }
    if (status != MQ_OK) {
        return status;
    }
    struct mq_compose_fields compose = {
        .from = str_of_zval(values[FIELD_FROM]),
        .to = to,
        .to_count = to_count,
        .subject = str_of_zval(values[FIELD_SUBJECT]),
        .text = str_of_zval(values[FIELD_TEXT]),
        .message_id = options->message_id,
        .date_s = options->date_s,
        .max_size = max_size(),
    };
    status = mq_compose_text(&compose, &out->message, &out->envelope_from, &out->recipients, err);
    free(to);
    return status;
}

enum mq_status mq_php_message_normalize(struct mq_str raw,
                                        const struct mq_php_message_options *options,
                                        struct mq_php_wire *out, struct mq_error *err)
{
    struct mq_message_options wanted = {
        .max_size = max_size(),
        .message_id = options->message_id,
        .date_s = options->date_s,
    };
    struct mq_message_info info = {0};
    enum mq_status status = mq_message_normalize(raw, &wanted, &out->message, &info, err);
    if (status == MQ_OK) {
        out->message_id = info.message_id;
    }
    return status;
}

/* Adds an address that is not yet in `seen`; domains differ in case only (RFC 5321, 2.4). Nothing
 * here is request memory: its limit would end the script past what the callers hold. */
static bool add_once(HashTable *seen, struct mq_str address, struct mq_strings *out)
{
    const char *at = memrchr(address.data, '@', address.len);
    zend_string *key = zend_string_init(address.data, address.len, 1);
    for (size_t i = at ? (size_t)(at - address.data) : 0; i < address.len; i++) {
        ZSTR_VAL(key)[i] = (char)tolower((unsigned char)ZSTR_VAL(key)[i]);
    }
    bool added = zend_hash_add_empty_element(seen, key) != NULL;
    zend_string_release(key);
    return !added || mq_strings_add(out, address);
}

static enum mq_status add_recipient(HashTable *seen, const zval *item, size_t index,
                                    struct mq_strings *out, struct mq_error *err)
{
    char name[32];
    bool utf8;
    snprintf(name, sizeof name, "recipients[%zu]", index);
    if (Z_TYPE_P(item) != IS_STRING) {
        return wrong_type(name, "a string", item, err);
    }
    enum mq_status status = mq_address_check(str_of_zval(item), name, &utf8, err);
    if (status == MQ_OK && !add_once(seen, str_of_zval(item), out)) {
        return mq_error_nomem(err);
    }
    return status;
}

enum mq_status mq_php_recipients(HashTable *list, struct mq_strings *out, struct mq_error *err)
{
    size_t count = zend_hash_num_elements(list);
    size_t index = 0;
    enum mq_status status = MQ_OK;
    HashTable seen;
    zval *item;
    if (count == 0 || count > MQ_PHP_RECIPIENTS_MAX) {
        return mq_error_set(err, MQ_MESSAGE, "recipients",
                            "recipients: %zu addresses; give 1 to %d", count,
                            MQ_PHP_RECIPIENTS_MAX);
    }
    zend_hash_init(&seen, (uint32_t)count, NULL, NULL, 1);
    ZEND_HASH_FOREACH_VAL (list, item) {
        ZVAL_DEREF(item);
        status = add_recipient(&seen, item, index++, out, err);
        if (status != MQ_OK) {
            break;
        }
    }
    ZEND_HASH_FOREACH_END();
    zend_hash_destroy(&seen);
    return status;
}

struct mq_str mq_php_message_domain(HashTable *fields, struct mq_buffer *scratch)
{
    struct mq_mailbox mailbox;
    zval *from = find_field(fields, FIELD_FROM);
    if (from == NULL || Z_TYPE_P(from) != IS_STRING ||
        mq_mailbox_parse(str_of_zval(from), "from", &mailbox, NULL) != MQ_OK) {
        return (struct mq_str){NULL, 0};
    }
    const char *at = strrchr(mailbox.address, '@');
    mq_buffer_cstr(scratch, at ? at + 1 : "");
    mq_mailbox_clear(&mailbox);
    return mq_buffer_view(scratch);
}
