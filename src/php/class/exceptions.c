/* Turns errors of the core into PHP exceptions. Checks arguments, and throws if one is wrong. */
#include "php/class/exceptions.h"

#include <sysexits.h>

#include "zend_exceptions.h"

#include "core/buffer.h"
#include "php/class/classes.h"
#include "php/pdo/driver.h"

#include "stubs/mailqueue_methods.h"

/* Constructs a DatabaseException or MessageException: an Exception with one more property. */
ZEND_METHOD(MailQueue_DatabaseException, __construct)
{
    zend_string *message = NULL, *detail = NULL;
    zend_long code = 0;
    zval *previous = NULL;
    bool of_database = instanceof_function(Z_OBJCE_P(ZEND_THIS), mq_ce_database_exception);

    (void)return_value;
    if (zend_parse_parameters(ZEND_NUM_ARGS(), "|SlO!S", &message, &code, &previous,
                              zend_ce_throwable, &detail) == FAILURE) {
        RETURN_THROWS();
    }
    if ((message && ZSTR_LEN(message) > 0) || code || previous) { /* else class defaults stay */
        uint32_t count = MIN(ZEND_NUM_ARGS(), 3);
        zend_call_known_function(zend_ce_exception->constructor, Z_OBJ_P(ZEND_THIS),
                                 zend_ce_exception, NULL, count, ZEND_CALL_ARG(execute_data, 1),
                                 NULL);
    }
    const char *property = of_database ? "reason" : "field";
    const char *text = detail ? ZSTR_VAL(detail) : of_database ? "database" : "message";
    zval value; /* not zend_update_property_string(): it leaks if the property has a value */
    ZVAL_STRING(&value, text);
    zend_update_property(of_database ? mq_ce_database_exception : mq_ce_message_exception,
                         Z_OBJ_P(ZEND_THIS), property, strlen(property), &value);
    zval_ptr_dtor(&value);
}

/* Returns DatabaseException's $reason, or NULL if the failure is not the database's. */
static const char *database_reason(enum mq_status status)
{
    static const char *const reasons[MQ_BAILOUT + 1] = {
        [MQ_BUSY] = "busy",
        [MQ_TX_ABORTED] = "busy",
        [MQ_READONLY] = "readonly",
        [MQ_CANTOPEN] = "cantopen",
        [MQ_FULL] = "full",
        [MQ_CORRUPT] = "corrupt",
        [MQ_IO] = "io",
        [MQ_REPLACED] = "replaced",
        [MQ_SCHEMA] = "schema",
        [MQ_DUPLICATE] = "database",
        [MQ_DATABASE] = "database",
    };
    return reasons[status];
}

static void throw_error(const struct mq_error *err)
{
    if (EG(exception)) {
        return;
    }
    const char *reason = database_reason(err->status);
    zend_object *cause = mq_php_pdo_take_cause();
    bool undone = mq_php_pdo_take_undone();
    zend_object *exception;
    if (reason) {
        exception = zend_throw_exception_ex(
            mq_ce_database_exception, 0, "%s%s", err->text,
            undone ? "; the database has undone your whole transaction: roll back and repeat it"
                   : "");
        zend_update_property_string(mq_ce_database_exception, exception, ZEND_STRL("reason"),
                                    reason);
        zend_exception_set_previous(exception, cause);
        return;
    }
    if (cause) {
        OBJ_RELEASE(cause);
    }
    if (err->status == MQ_INVALID) {
        zend_value_error("%s", err->text);
    } else if (err->status == MQ_MESSAGE) {
        exception = zend_throw_exception(mq_ce_message_exception, err->text, 0);
        zend_update_property_string(mq_ce_message_exception, exception, ZEND_STRL("field"),
                                    err->field);
    } else {
        zend_throw_exception(err->status == MQ_TRANSPORT ? mq_ce_transport_exception
                             : err->status == MQ_REFUSED ? mq_ce_refused_exception
                                                         : mq_ce_exception,
                             err->text, err->status == MQ_NOMEM ? EX_TEMPFAIL : 0);
    }
}

void mq_php_throw_argument(uint32_t arg, const struct mq_error *err)
{
    if (err->status == MQ_CONFIG || err->status == MQ_INVALID) {
        zend_argument_value_error(arg, "cannot be used: %s", err->text);
    } else {
        throw_error(err);
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
    zend_argument_value_error(arg, "must not contain any null bytes");
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
        throw_error(err);
    }
    return false;
}

bool mq_php_exiting(void)
{
    return zend_is_unwind_exit(EG(exception)) || zend_is_graceful_exit(EG(exception));
}

static zval *read_base(zend_string *name, zval *scratch)
{
    zend_object *exception = EG(exception);
    bool is_exception = instanceof_function(exception->ce, zend_ce_exception);
    return zend_read_property_ex(is_exception ? zend_ce_exception : zend_ce_error, exception, name,
                                 1, scratch);
}

int mq_php_exception_code(void)
{
    zval scratch;
    const zval *code = read_base(ZSTR_KNOWN(ZEND_STR_CODE), &scratch);
    bool reply = Z_TYPE_P(code) == IS_LONG && Z_LVAL_P(code) >= 400 && Z_LVAL_P(code) <= 599;
    return reply ? (int)Z_LVAL_P(code) : 0;
}

void mq_php_exception_text(char *out, size_t size)
{
    zval scratch;
    const zval *message = read_base(ZSTR_KNOWN(ZEND_STR_MESSAGE), &scratch);
    bool has_words = Z_TYPE_P(message) == IS_STRING && Z_STRLEN_P(message) > 0;
    bool ours = instanceof_function(EG(exception)->ce, mq_ce_exception) && has_words;
    char before[256] = "";
    if (!ours) {
        snprintf(before, sizeof before, "%s%s", ZSTR_VAL(EG(exception)->ce->name),
                 has_words ? ": " : "");
    } else if (mq_php_exception_code()) {
        snprintf(before, sizeof before, "%d ", mq_php_exception_code());
    }
    size_t used = mq_str_printable(out, size, 0, mq_str_of(before));
    if (has_words) {
        struct mq_str words = {Z_STRVAL_P(message), Z_STRLEN_P(message)};
        mq_str_printable(out, size, used, words);
    }
}
