/* Errors of the core as PHP exceptions; checks of arguments that throw. */
#include "php/class/exceptions.h"

#include "zend_exceptions.h"

#include "core/buffer.h"
#include "php/class/classes.h"
#include "php/class/methods.h"
#include "php/pdo/driver.h"

static void throw_with(zend_class_entry *ce, const char *text, const char *property,
                       const char *value)
{
    zval exception, message, detail;
    object_init_ex(&exception, ce);
    ZVAL_STRING(&message, text);
    zend_update_property_ex(zend_ce_exception, Z_OBJ(exception), ZSTR_KNOWN(ZEND_STR_MESSAGE),
                            &message);
    zval_ptr_dtor(&message);
    if (property) {
        ZVAL_STRING(&detail, value);
        zend_update_property(ce, Z_OBJ(exception), property, strlen(property), &detail);
        zval_ptr_dtor(&detail);
    }
    zend_throw_exception_object(&exception);
}

/* As Exception's constructor, with one property more. */
static void construct(INTERNAL_FUNCTION_PARAMETERS, zend_class_entry *ce, const char *property,
                      const char *standard)
{
    zend_string *message = NULL, *detail = NULL;
    zend_long code = 0;
    zval *previous = NULL, value;
    zend_object *self = Z_OBJ_P(ZEND_THIS);

    (void)return_value;
    ZEND_PARSE_PARAMETERS_START(0, 4)
        Z_PARAM_OPTIONAL
        Z_PARAM_STR(message)
        Z_PARAM_LONG(code)
        Z_PARAM_OBJECT_OF_CLASS_OR_NULL(previous, zend_ce_throwable)
        Z_PARAM_STR(detail)
    ZEND_PARSE_PARAMETERS_END();

    if (message && ZSTR_LEN(message) > 0) { /* else a subclass's own stays */
        ZVAL_STR(&value, message);
        zend_update_property_ex(zend_ce_exception, self, ZSTR_KNOWN(ZEND_STR_MESSAGE), &value);
    }
    if (code) {
        ZVAL_LONG(&value, code);
        zend_update_property_ex(zend_ce_exception, self, ZSTR_KNOWN(ZEND_STR_CODE), &value);
    }
    if (previous) {
        zend_update_property_ex(zend_ce_exception, self, ZSTR_KNOWN(ZEND_STR_PREVIOUS), previous);
    }
    if (detail) {
        zend_update_property_str(ce, self, property, strlen(property), detail);
    } else {
        zend_update_property_string(ce, self, property, strlen(property), standard);
    }
}

ZEND_METHOD(MailQueue_DatabaseException, __construct)
{
    construct(INTERNAL_FUNCTION_PARAM_PASSTHRU, mq_ce_database_exception, "reason", "database");
}

ZEND_METHOD(MailQueue_MessageException, __construct)
{
    construct(INTERNAL_FUNCTION_PARAM_PASSTHRU, mq_ce_message_exception, "field", "message");
}

/* DatabaseException's $reason; NULL for what is no failure of the database. */
static const char *database_reason(enum mq_status status)
{
    switch (status) {
    case MQ_BUSY:
    case MQ_TX_ABORTED:
        return "busy";
    case MQ_READONLY:
        return "readonly";
    case MQ_CANTOPEN:
        return "cantopen";
    case MQ_FULL:
        return "full";
    case MQ_CORRUPT:
        return "corrupt";
    case MQ_IO:
        return "io";
    case MQ_REPLACED:
        return "replaced";
    case MQ_SCHEMA:
        return "schema";
    case MQ_DUPLICATE:
    case MQ_DATABASE:
        return "database";
    default:
        return NULL;
    }
}

void mq_php_throw(const struct mq_error *err)
{
    if (EG(exception)) {
        return;
    }
    const char *reason = database_reason(err->status);
    zend_object *cause = mq_php_pdo_take_cause();
    bool undone = mq_php_pdo_take_undone();
    if (reason) {
        char text[MQ_ERROR_TEXT_MAX + 96];
        snprintf(text, sizeof text, "%s%s", err->text,
                 undone
                     ? "; the database has undone your whole transaction: roll back and repeat it"
                     : "");
        throw_with(mq_ce_database_exception, text, "reason", reason);
        if (cause) {
            zend_exception_set_previous(EG(exception), cause);
        }
        return;
    }
    if (cause) {
        OBJ_RELEASE(cause);
    }
    switch (err->status) {
    case MQ_INVALID:
        zend_value_error("%s", err->text);
        break;
    case MQ_MESSAGE:
        throw_with(mq_ce_message_exception, err->text, "field", err->field);
        break;
    case MQ_TRANSPORT:
        throw_with(mq_ce_transport_exception, err->text, NULL, NULL);
        break;
    case MQ_REFUSED:
        throw_with(mq_ce_refused_exception, err->text, NULL, NULL);
        break;
    default:
        throw_with(mq_ce_exception, err->text, NULL, NULL);
    }
}

void mq_php_throw_argument(uint32_t arg, const struct mq_error *err)
{
    if (err->status == MQ_CONFIG || err->status == MQ_INVALID) {
        zend_argument_value_error(arg, "cannot be used: %s", err->text);
    } else {
        mq_php_throw(err);
    }
}

bool mq_php_check_range(uint32_t arg, zend_long value, zend_long min, zend_long max,
                        const char *unit)
{
    if (value >= min && value <= max) {
        return true;
    }
    zend_argument_value_error(arg, "must be between " ZEND_LONG_FMT " and " ZEND_LONG_FMT "%s", min,
                              max, unit);
    return false;
}

bool mq_php_check_text(uint32_t arg, const zend_string *text)
{
    if (strlen(ZSTR_VAL(text)) == ZSTR_LEN(text)) {
        return true;
    }
    zend_argument_value_error(arg, "must not contain null bytes");
    return false;
}

bool mq_php_ok(enum mq_status status, const struct mq_error *err)
{
    if (status == MQ_OK) {
        return true;
    }
    if (status == MQ_BAILOUT) {
        zend_bailout();
    }
    if (status != MQ_THROWN) {
        mq_php_throw(err);
    }
    return false;
}

bool mq_php_exiting(void)
{
    return zend_is_unwind_exit(EG(exception)) || zend_is_graceful_exit(EG(exception));
}

static zval *read_base(zend_object *exception, zend_string *name, zval *scratch)
{
    bool is_exception = instanceof_function(exception->ce, zend_ce_exception);
    return zend_read_property_ex(is_exception ? zend_ce_exception : zend_ce_error, exception, name,
                                 1, scratch);
}

int mq_php_exception_code(void)
{
    zval scratch;
    zval *code = read_base(EG(exception), ZSTR_KNOWN(ZEND_STR_CODE), &scratch);
    bool reply = Z_TYPE_P(code) == IS_LONG && Z_LVAL_P(code) >= 400 && Z_LVAL_P(code) <= 599;
    return reply ? (int)Z_LVAL_P(code) : 0;
}

void mq_php_exception_text(char *out, size_t size)
{
    zend_object *exception = EG(exception);
    zval scratch;
    zval *message = read_base(exception, ZSTR_KNOWN(ZEND_STR_MESSAGE), &scratch);
    struct mq_str words = {NULL, 0};
    if (Z_TYPE_P(message) == IS_STRING) {
        words = (struct mq_str){Z_STRVAL_P(message), Z_STRLEN_P(message)};
    }
    bool ours = instanceof_function(exception->ce, mq_ce_exception) && words.len > 0;
    struct mq_buffer text;
    mq_buffer_init(&text);
    if (!ours) {
        mq_buffer_cstr(&text, ZSTR_VAL(exception->ce->name));
    } else if (mq_php_exception_code()) {
        mq_buffer_int(&text, mq_php_exception_code());
    }
    if (text.len > 0 && words.len > 0) {
        mq_buffer_cstr(&text, ours ? " " : ": ");
    }
    mq_buffer_printable(&text, words);
    size_t len = mq_utf8_cut(mq_buffer_view(&text), size - 1);
    memcpy(out, text.data ? text.data : "", len);
    out[len] = '\0';
    mq_buffer_clear(&text);
}
