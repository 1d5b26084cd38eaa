/* Reads messages that are objects: Stringables, and objects with a method toString() like those of
 * Symfony Mime and Mailer. These leave Bcc out of their text; other methods give sender and
 * recipients. They are recognised by their methods, so no class is loaded. */
#include "php/message/given_message.h"

#include <stdio.h>
#include <string.h>

#include "zend_interfaces.h"
#include "zend_smart_str.h"

#include "php/class/conversion.h"

/* The deepest nesting is an address in a list in a header in a list. */
#define DEPTH_MAX 4

/* A header field and the method that gives its addresses. */
struct field {
    const char *name, *header, *method;
};

#define FIELD_COUNT 3

/* One half of an envelope. */
struct half {
    struct field fields[FIELD_COUNT]; /* unused ones are zero */
    bool is_sender;                   /* only the first field that has an address counts */
    const char *cure;
};

#define SENDER_CURE     "envelopeFrom: \"a@example.org\""
#define RECIPIENTS_CURE "recipients: [\"a@example.org\"]"

/* Sender and recipients. The fields are in the order in which Symfony's Envelope looks for the
 * sender. */
static const struct half message_halves[] = {
    {{{"sender", "Sender", "getSender"},
      {"return-path", "Return-Path", "getReturnPath"},
      {"from", "From", "getFrom"}},
     true,
     SENDER_CURE},
    {{{"to", "To", "getTo"}, {"cc", "Cc", "getCc"}, {"bcc", "Bcc", "getBcc"}},
     false,
     RECIPIENTS_CURE},
};
static const struct half envelope_halves[] = {
    {{{"sender", "Sender", "getSender"}}, true, SENDER_CURE},
    {{{"recipients", "To", "getRecipients"}}, false, RECIPIENTS_CURE},
};

static zend_function *method_of(const zend_object *object, const char *name, uint32_t arguments)
{
    zend_function *method =
        zend_hash_str_find_ptr_lc(&object->ce->function_table, name, strlen(name));
    bool usable = method && (method->common.fn_flags & ZEND_ACC_PUBLIC) &&
                  !(method->common.fn_flags & ZEND_ACC_STATIC) &&
                  method->common.required_num_args <= arguments;
    return usable ? method : NULL;
}

bool mq_php_is_message_object(const zval *value)
{
    return Z_TYPE_P(value) == IS_OBJECT &&
           (mq_php_is_text(value) || method_of(Z_OBJ_P(value), "toString", 0));
}

/* Calls a method; `argument` may be NULL. *out is dereferenced; it is undefined on failure. */
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

/* The state while an object is asked for one half of its envelope. */
struct question {
    zend_object *object;
    zval *headers; /* the result of its getHeaders(); null if it has none */
    const struct half *half;
    const struct field *field;
    bool by_header;  /* the answer comes from getHeaders()->all() */
    bool known;      /* the object has a method for at least one of the fields */
    bool unknown;    /* at least one of the fields has no method */
    int depth;       /* nesting of the value that is being read */
    size_t count;    /* number of addresses so far */
    smart_str lines; /* the answer, as header fields */
    enum mq_status status;
    struct mq_error err;
};

static enum mq_status misfit(struct question *asked, const zval *value)
{
    const struct field *field = asked->field;
    char method[64];
    snprintf(method, sizeof method, asked->by_header ? "getHeaders()->all(\"%s\")" : "%s()",
             asked->by_header ? field->header : field->method);
    return mq_error_set(&asked->err, MQ_MESSAGE, field->name,
                        "%s: %.120s::%s must give addresses, as strings or objects with "
                        "getAddress(), %.120s given; or give %s",
                        field->name, ZSTR_VAL(asked->object->ce->name), method,
                        zend_zval_type_name(value), asked->half->cure);
}

/* Adds the address as a header field, where the parser of headers will find it. */
static enum mq_status add_address(struct question *asked, const zval *value)
{
    const char *line = asked->half->is_sender ? "From" : asked->field->header;
    const char *text = Z_STRVAL_P(value);
    if (*text == '\0' || strcspn(text, "\r\n") < Z_STRLEN_P(value)) {
        return misfit(asked, value);
    }
    MQ_TRY(mq_php_check_count(asked->field->name, ++asked->count, " or more", &asked->err));
    smart_str_append_printf(&asked->lines, "%s: %s\n", line, text);
    return MQ_OK;
}

static enum mq_status add_value(struct question *asked, zval *value);

static bool add_item(void *context, zval *item)
{
    struct question *asked = context;
    asked->status = add_value(asked, item);
    return asked->status == MQ_OK && !mq_php_is_leaving();
}

static bool is_list(const zval *value)
{
    return Z_TYPE_P(value) == IS_ARRAY ||
           (Z_TYPE_P(value) == IS_OBJECT &&
            instanceof_function(Z_OBJCE_P(value), zend_ce_traversable));
}

/* The method that gives a header's addresses, or one address, preferably with an ASCII domain. */
static zend_function *address_method(const zval *value)
{
    static const char *const names[] = {"getAddresses", "getEncodedAddress", "getAddress"};
    zend_function *found = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && found == NULL; i++) {
        found = Z_TYPE_P(value) == IS_OBJECT ? method_of(Z_OBJ_P(value), names[i], 0) : NULL;
    }
    return found;
}

static enum mq_status add_value(struct question *asked, zval *value)
{
    zend_function *method = address_method(value);
    enum mq_status status = MQ_OK;
    if (Z_TYPE_P(value) == IS_STRING) {
        return add_address(asked, value);
    }
    if (asked->depth == DEPTH_MAX || (method == NULL && !is_list(value))) {
        return misfit(asked, value);
    }
    asked->depth++;
    if (method) {
        zval result;
        status = call(Z_OBJ_P(value), method, NULL, &result);
        if (status == MQ_OK) {
            status = add_value(asked, &result);
            zval_ptr_dtor(&result);
        }
    } else {
        mq_php_each(value, add_item, asked);
        status = mq_php_is_leaving() ? MQ_THROWN : asked->status;
    }
    asked->depth--;
    return status;
}

/* Asks the object for one field and adds its addresses; null means none. */
static enum mq_status ask(struct question *asked)
{
    const struct field *field = asked->field;
    zend_object *object = asked->object;
    zend_function *method = method_of(object, field->method, 0);
    zval result;
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
        status = add_value(asked, &result);
    }
    zval_ptr_dtor(&result);
    return mq_php_is_leaving() ? MQ_THROWN : status;
}

/* Asks for a half of the envelope. Keeps an error until the answer is used; returns exceptions. */
static enum mq_status ask_half(zend_object *object, zval *headers, const struct half *half,
                               struct mq_php_answer *out)
{
    enum mq_status status = MQ_OK;
    struct question asked = {.object = object, .headers = headers, .half = half};
    for (size_t i = 0; i < FIELD_COUNT && half->fields[i].name && status == MQ_OK; i++) {
        if (!half->is_sender || asked.count == 0) {
            asked.field = &half->fields[i];
            status = ask(&asked);
        }
    }
    if (status == MQ_OK && !half->is_sender && asked.known && asked.unknown) {
        status = mq_error_set(&asked.err, MQ_MESSAGE, "recipients",
                              "recipients: %.120s has only some of getTo(), getCc() and getBcc(); "
                              "give %s",
                              ZSTR_VAL(object->ce->name), half->cure);
    }
    if (status == MQ_MESSAGE) {
        out->error = zend_string_init(asked.err.text, strlen(asked.err.text), 0);
    } else if (status == MQ_OK && asked.known) {
        out->lines = smart_str_extract(&asked.lines);
    }
    smart_str_free(&asked.lines);
    return status == MQ_THROWN ? status : MQ_OK;
}

/* Calls a method that returns an object; *out stays null if the object has no such method. */
static enum mq_status call_if_any(zend_object *object, const char *name, zval *out)
{
    zend_function *method = method_of(object, name, 0);
    ZVAL_NULL(out);
    return method ? call(object, method, NULL, out) : MQ_OK;
}

static enum mq_status ask_both(zend_object *object, zval *headers, const struct half *halves,
                               struct mq_php_message *out)
{
    enum mq_status status = ask_half(object, headers, &halves[0], &out->sender);
    return status == MQ_OK ? ask_half(object, headers, &halves[1], &out->recipients) : status;
}

static enum mq_status read_envelope(zend_object *object, struct mq_php_message *out)
{
    zval envelope, headers;
    ZVAL_NULL(&headers);
    enum mq_status status = call_if_any(object, "getEnvelope", &envelope);
    if (Z_TYPE(envelope) == IS_OBJECT && method_of(Z_OBJ(envelope), "getRecipients", 0)) {
        status = ask_both(Z_OBJ(envelope), &headers, envelope_halves, out);
    } else if (status == MQ_OK) {
        status = call_if_any(object, "getHeaders", &headers);
        status = status == MQ_OK ? ask_both(object, &headers, message_halves, out) : status;
    }
    zval_ptr_dtor(&headers);
    zval_ptr_dtor(&envelope);
    return mq_php_is_leaving() ? MQ_THROWN : status;
}

/* ---- reading ---- */

static enum mq_status read_text(zval *object, zend_function *to_string, zend_string **out,
                                struct mq_error *err)
{
    zval text;
    if (mq_php_is_text(object)) {
        *out = zval_try_get_string(object);
        return *out ? MQ_OK : MQ_THROWN;
    }
    enum mq_status status = call(Z_OBJ_P(object), to_string, NULL, &text);
    if (status == MQ_OK && Z_TYPE(text) != IS_STRING) {
        status = mq_error_set(err, MQ_MESSAGE, "message",
                              "message: %.120s::toString() must return the message as a string, "
                              "%.120s given; give its text instead of the object",
                              ZSTR_VAL(Z_OBJCE_P(object)->name), zend_zval_type_name(&text));
        zval_ptr_dtor(&text);
    } else if (status == MQ_OK) {
        *out = Z_STR(text);
    }
    return status;
}

enum mq_status mq_php_object_read(zval *object, struct mq_php_message *out, struct mq_error *err)
{
    zend_function *to_string = method_of(Z_OBJ_P(object), "toString", 0);
    enum mq_status status = read_text(object, to_string, &out->text, err);
    return status == MQ_OK && to_string ? read_envelope(Z_OBJ_P(object), out) : status;
}
