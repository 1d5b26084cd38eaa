#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php/message/message_object.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zend_interfaces.h"

#include "mime/idn.h"
#include "mime/wire/envelope.h"
#include "php/class/iterate.h"
#include "php/message/fields.h"
#include "php/message/message_arg.h"
#include "php/message/recipients.h"

/* The array that mq_php_object_read() makes. An envelope's half is null where the object does not
 * say, an array of addresses by their names in errors, or the text of an error. */
enum slot { SLOT_TEXT, SLOT_SENDER, SLOT_RECIPIENTS, SLOT_HEADERS_TOO, SLOT_COUNT };

/* List, header, list of its addresses, address: more is none. */
#define DEPTH_MAX 4

/* A header field and the method that gives its addresses. */
struct field {
    const char *name, *header, *method, *lower;
};

static const struct field recipient_fields[] = {
    {"to", "To", "getTo", "getto"},
    {"cc", "Cc", "getCc", "getcc"},
    {"bcc", "Bcc", "getBcc", "getbcc"},
};
/* In the order in which Symfony's Envelope looks for it. */
static const struct field sender_fields[] = {
    {"sender", "Sender", "getSender", "getsender"},
    {"return-path", "Return-Path", "getReturnPath", "getreturnpath"},
    {"from", "From", "getFrom", "getfrom"},
};

#define FIELD_COUNT 3

static zend_function *method_of(const zend_object *object, const char *lower, uint32_t arguments)
{
    zend_function *method =
        zend_hash_str_find_ptr(&object->ce->function_table, lower, strlen(lower));
    bool usable = method && (method->common.fn_flags & ZEND_ACC_PUBLIC) &&
                  !(method->common.fn_flags & ZEND_ACC_STATIC) &&
                  method->common.required_num_args <= arguments;
    return usable ? method : NULL;
}

bool mq_php_is_message_object(const zval *value)
{
    return Z_TYPE_P(value) == IS_OBJECT &&
           (mq_php_is_text(value) || method_of(Z_OBJ_P(value), "tostring", 0));
}

/* `argument` may be NULL. *out is no reference, and undefined on failure. */
static enum mq_status call(zend_object *object, zend_function *method, const char *argument,
                           zval *out)
{
    zval name;
    ZVAL_UNDEF(out);
    if (mq_php_is_leaving()) {
        return MQ_THROWN;
    }
    ZVAL_UNDEF(&name);
    if (argument) {
        ZVAL_STRING(&name, argument);
    }
    zend_call_known_function(method, object, object->ce, out, argument ? 1 : 0, &name, NULL);
    zval_ptr_dtor(&name);
    if (mq_php_is_leaving()) {
        zval_ptr_dtor(out);
        ZVAL_UNDEF(out);
        return MQ_THROWN;
    }
    if (Z_ISREF_P(out)) {
        zend_unwrap_reference(out);
    }
    return MQ_OK;
}

/* ---- the envelope ---- */

/* Asking an object for one half of its envelope. */
struct question {
    zend_object *object;
    zval *headers;    /* what its getHeaders() gave; null when that is of no use */
    const char *cure; /* for errors */
    const struct field *field;
    bool by_header; /* the answer is of the headers */
    bool known;     /* the object has at least one way to say it */
    bool unknown;   /* it has none for at least one field */
    size_t index;   /* of the next address of this field */
    zval *answer;   /* array: name in errors → address */
};

static enum mq_status misfit(const struct question *asked, const zval *value, struct mq_error *err)
{
    const struct field *field = asked->field;
    char method[64];
    snprintf(method, sizeof method, asked->by_header ? "getHeaders()->all(\"%s\")" : "%s()",
             asked->by_header ? field->header : field->method);
    return mq_error_set(err, MQ_MESSAGE, field->name,
                        "%s: %.120s::%s must give addresses, as strings or objects with "
                        "getAddress(), %.120s given; or give %s",
                        field->name, ZSTR_VAL(asked->object->ce->name), method,
                        zend_zval_type_name(value), asked->cure);
}

static enum mq_status add_address(struct question *asked, zend_string *address,
                                  struct mq_error *err)
{
    char name[32];
    if (zend_hash_num_elements(Z_ARRVAL_P(asked->answer)) == MQ_PHP_RECIPIENTS_MAX) {
        return mq_error_set(err, MQ_MESSAGE, asked->field->name,
                            "%s: more than %d addresses in the message; send it to fewer at a time",
                            asked->field->name, MQ_PHP_RECIPIENTS_MAX);
    }
    snprintf(name, sizeof name, "%s[%zu]", asked->field->name, asked->index++);
    add_assoc_str(asked->answer, name, zend_string_copy(address));
    return MQ_OK;
}

static enum mq_status add_value(struct question *asked, zval *value, int depth,
                                struct mq_error *err);

static enum mq_status add_each(struct question *asked, zval *list, int depth, struct mq_error *err)
{
    struct mq_php_iterator iterator;
    enum mq_status status = MQ_THROWN;
    bool more = true;
    if (mq_php_iterator_begin(&iterator, list)) {
        status = MQ_OK;
    }
    while (status == MQ_OK && more) {
        zval item;
        status = mq_php_iterator_next(&iterator, &item, &more);
        if (more) {
            status = status == MQ_OK ? add_value(asked, &item, depth, err) : status;
            zval_ptr_dtor(&item);
        }
        status = mq_php_is_leaving() ? MQ_THROWN : status;
    }
    mq_php_iterator_end(&iterator);
    return mq_php_is_leaving() ? MQ_THROWN : status;
}

/* Of a header all that it has; of an address the form with its domain in ASCII, where it has it. */
static zend_function *address_method(const zend_object *object)
{
    static const char *const names[] = {"getaddresses", "getencodedaddress", "getaddress"};
    zend_function *found = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && found == NULL; i++) {
        found = method_of(object, names[i], 0);
    }
    return found;
}

static enum mq_status add_value(struct question *asked, zval *value, int depth,
                                struct mq_error *err)
{
    zend_function *method = Z_TYPE_P(value) == IS_OBJECT ? address_method(Z_OBJ_P(value)) : NULL;
    if (Z_TYPE_P(value) == IS_STRING) {
        return add_address(asked, Z_STR_P(value), err);
    }
    if (depth < DEPTH_MAX && method) {
        zval result;
        enum mq_status status = call(Z_OBJ_P(value), method, NULL, &result);
        if (status == MQ_OK) {
            status = add_value(asked, &result, depth + 1, err);
            zval_ptr_dtor(&result);
        }
        return status;
    }
    bool is_list =
        Z_TYPE_P(value) == IS_ARRAY || (Z_TYPE_P(value) == IS_OBJECT &&
                                        instanceof_function(Z_OBJCE_P(value), zend_ce_traversable));
    if (depth < DEPTH_MAX && is_list) {
        return add_each(asked, value, depth + 1, err);
    }
    return misfit(asked, value, err);
}

/* Adds what the object says of one field; null says that there is none. */
static enum mq_status ask(struct question *asked, const struct field *field, struct mq_error *err)
{
    zend_object *object = asked->object;
    zend_function *method = method_of(object, field->lower, 0);
    zval result;
    asked->field = field;
    asked->index = 0;
    asked->by_header = method == NULL;
    if (method == NULL && Z_TYPE_P(asked->headers) == IS_OBJECT) {
        object = Z_OBJ_P(asked->headers);
        method = method_of(object, "all", 1);
    }
    if (method == NULL) {
        asked->unknown = true;
        return MQ_OK;
    }
    asked->known = true;
    enum mq_status status = call(object, method, asked->by_header ? field->header : NULL, &result);
    if (status == MQ_OK && Z_TYPE(result) != IS_NULL) {
        status = add_value(asked, &result, 0, err);
    }
    zval_ptr_dtor(&result);
    return mq_php_is_leaving() ? MQ_THROWN : status;
}

/* The halves of an envelope. */
static const struct half {
    enum slot slot;
    const struct field *fields;
    bool first; /* of the fields the first that has an address counts */
    const char *cure;
} halves[] = {
    {SLOT_SENDER, sender_fields, true, "envelopeFrom: \"a@example.org\""},
    {SLOT_RECIPIENTS, recipient_fields, false, "recipients: [\"a@example.org\"]"},
};

/* Fills a half's slot; an error that is no exception waits there until the answer is needed. */
static enum mq_status ask_half(zend_object *object, zval *headers, const struct half *half,
                               zval *slots)
{
    struct mq_error error;
    enum mq_status status = MQ_OK;
    zval answer;
    struct question asked = {
        .object = object, .headers = headers, .cure = half->cure, .answer = &answer};
    array_init(&answer);
    for (size_t i = 0; i < FIELD_COUNT && status == MQ_OK; i++) {
        if (!half->first || zend_hash_num_elements(Z_ARRVAL(answer)) == 0) {
            status = ask(&asked, &half->fields[i], &error);
        }
    }
    if (status == MQ_MESSAGE) {
        ZVAL_STRING(&slots[half->slot], error.text);
    } else if (status == MQ_OK && asked.known) {
        ZVAL_COPY(&slots[half->slot], &answer);
    }
    ZVAL_BOOL(&slots[SLOT_HEADERS_TOO], asked.unknown); /* of the last half: the recipients */
    zval_ptr_dtor(&answer);
    return status == MQ_THROWN ? status : MQ_OK;
}

static enum mq_status read_envelope(zend_object *object, zval *slots)
{
    zend_function *method = method_of(object, "getheaders", 0);
    enum mq_status status = MQ_OK;
    zval headers;
    ZVAL_NULL(&headers);
    if (method) {
        status = call(object, method, NULL, &headers);
    }
    for (size_t i = 0; i < sizeof halves / sizeof *halves && status == MQ_OK; i++) {
        status = ask_half(object, &headers, &halves[i], slots);
    }
    zval_ptr_dtor(&headers);
    return mq_php_is_leaving() ? MQ_THROWN : status;
}

/* ---- reading ---- */

static enum mq_status read_text(zval *object, zend_function *to_string, zval *out,
                                struct mq_error *err)
{
    if (mq_php_is_text(object)) {
        zend_string *text = zval_try_get_string(object);
        if (text == NULL) {
            return MQ_THROWN;
        }
        ZVAL_STR(out, text);
        return MQ_OK;
    }
    enum mq_status status = call(Z_OBJ_P(object), to_string, NULL, out);
    if (status == MQ_OK && Z_TYPE_P(out) != IS_STRING) {
        status = mq_error_set(err, MQ_MESSAGE, "message",
                              "message: %.120s::toString() must return the message as a string, "
                              "%.120s given; give its text instead of the object",
                              ZSTR_VAL(Z_OBJCE_P(object)->name), zend_zval_type_name(out));
        zval_ptr_dtor(out);
        ZVAL_UNDEF(out);
    }
    return status;
}

static void pack(zval *slots, zval *out)
{
    if (Z_TYPE(slots[SLOT_SENDER]) == IS_NULL && Z_TYPE(slots[SLOT_RECIPIENTS]) == IS_NULL) {
        ZVAL_COPY(out, &slots[SLOT_TEXT]);
        return;
    }
    array_init_size(out, SLOT_COUNT);
    for (enum slot i = 0; i < SLOT_COUNT; i++) {
        Z_TRY_ADDREF(slots[i]);
        add_next_index_zval(out, &slots[i]);
    }
}

enum mq_status mq_php_object_read(zval *object, zval *out, struct mq_error *err)
{
    zend_function *to_string = method_of(Z_OBJ_P(object), "tostring", 0);
    zval slots[SLOT_COUNT];
    ZVAL_UNDEF(out);
    for (enum slot i = 0; i < SLOT_COUNT; i++) {
        ZVAL_NULL(&slots[i]);
    }
    enum mq_status status = read_text(object, to_string, &slots[SLOT_TEXT], err);
    if (status == MQ_OK && to_string) {
        status = read_envelope(Z_OBJ_P(object), slots);
    }
    if (status == MQ_OK) {
        pack(slots, out);
    }
    for (enum slot i = 0; i < SLOT_COUNT; i++) {
        zval_ptr_dtor(&slots[i]);
    }
    return status;
}

/* ---- what was read ---- */

/* Null of a text. */
static const zval *slot_of(const zval *message, enum slot slot)
{
    return Z_TYPE_P(message) == IS_ARRAY ? zend_hash_index_find(Z_ARRVAL_P(message), slot)
                                         : &EG(uninitialized_zval);
}

struct mq_str mq_php_message_text(const zval *message)
{
    const zval *text = Z_TYPE_P(message) == IS_ARRAY ? slot_of(message, SLOT_TEXT) : message;
    return (struct mq_str){Z_STRVAL_P(text), Z_STRLEN_P(text)};
}

/* "bcc: App\Mail::getBcc() must …": what misfit() said. */
static enum mq_status say_misfit(const zval *slot, struct mq_error *err)
{
    char field[MQ_ERROR_FIELD_MAX];
    snprintf(field, sizeof field, "%.*s", (int)strcspn(Z_STRVAL_P(slot), ":"), Z_STRVAL_P(slot));
    return mq_error_set(err, MQ_MESSAGE, field, "%s", Z_STRVAL_P(slot));
}

static enum mq_status plain_address(const zval *address, const zend_string *name, char **out,
                                    struct mq_error *err)
{
    return mq_idn_address((struct mq_str){Z_STRVAL_P(address), Z_STRLEN_P(address)}, ZSTR_VAL(name),
                          out, err);
}

enum mq_status mq_php_message_sender(const zval *message, char **from, struct mq_error *err)
{
    const zval *slot = slot_of(message, SLOT_SENDER);
    zend_string *name;
    zval *address;
    if (Z_TYPE_P(slot) == IS_STRING) {
        return say_misfit(slot, err);
    }
    if (Z_TYPE_P(slot) == IS_ARRAY) {
        ZEND_HASH_FOREACH_STR_KEY_VAL (Z_ARRVAL_P(slot), name, address) {
            return plain_address(address, name, from, err);
        }
        ZEND_HASH_FOREACH_END();
    }
    return mq_envelope_sender(mq_php_message_text(message), from, err);
}

static enum mq_status add_named(HashTable *list, HashTable *seen, struct mq_strings *out,
                                struct mq_error *err)
{
    enum mq_status status = MQ_OK;
    zend_string *name;
    zval *item;
    ZEND_HASH_FOREACH_STR_KEY_VAL (list, name, item) {
        char *address = NULL;
        status = plain_address(item, name, &address, err);
        if (status == MQ_OK && !mq_php_recipient_add(seen, mq_str_of(address), out)) {
            status = mq_error_nomem(err);
        }
        free(address);
        if (status != MQ_OK) {
            break;
        }
    }
    ZEND_HASH_FOREACH_END();
    return status;
}

enum mq_status mq_php_message_recipients(const zval *message, struct mq_strings *out,
                                         struct mq_error *err)
{
    const zval *slot = slot_of(message, SLOT_RECIPIENTS);
    bool headers_too = Z_TYPE_P(slot_of(message, SLOT_HEADERS_TOO)) == IS_TRUE;
    struct mq_strings own;
    HashTable seen;
    if (Z_TYPE_P(slot) == IS_STRING) {
        return say_misfit(slot, err);
    }
    if (Z_TYPE_P(slot) != IS_ARRAY) {
        return mq_envelope_recipients(mq_php_message_text(message), out, err);
    }
    mq_strings_init(&own);
    zend_hash_init(&seen, zend_hash_num_elements(Z_ARRVAL_P(slot)), NULL, NULL, 1);
    enum mq_status status =
        headers_too ? mq_envelope_recipients(mq_php_message_text(message), &own, err) : MQ_OK;
    for (size_t i = 0; i < own.count && status == MQ_OK; i++) {
        if (!mq_php_recipient_add(&seen, mq_str_of(own.items[i]), out)) {
            status = mq_error_nomem(err);
        }
    }
    if (status == MQ_OK) {
        status = add_named(Z_ARRVAL_P(slot), &seen, out, err);
    }
    zend_hash_destroy(&seen);
    mq_strings_clear(&own);
    return status;
}
