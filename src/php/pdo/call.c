/* Calls of PHP methods by the PDO driver. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php/pdo/call.h"

#include <string.h>

#include "zend_exceptions.h"

#include "php/guard.h"
#include "php/pdo/internal.h"

bool mq_php_is_pdo(const zval *value)
{
    if (Z_TYPE_P(value) != IS_OBJECT) {
        return false;
    }
    zend_string *name = zend_string_init("PDO", strlen("PDO"), 0);
    zend_class_entry *pdo =
        zend_lookup_class_ex(name, NULL, ZEND_FETCH_CLASS_NO_AUTOLOAD | ZEND_FETCH_CLASS_SILENT);
    zend_string_release(name);
    return pdo && instanceof_function(Z_OBJCE_P(value), pdo);
}

struct call {
    const struct mq_php_method *method;
    zval *result;
};

static void body(void *context)
{
    const struct call *call = context;
    const struct mq_php_method *method = call->method;
    zend_object *object = Z_OBJ_P(method->object);
    zend_function *function =
        zend_hash_str_find_ptr(&object->ce->function_table, method->name, strlen(method->name));
    if (function == NULL) { /* a subclass gave an object of another class */
        zend_throw_error(NULL, "%s has no method %s()", ZSTR_VAL(object->ce->name), method->name);
        return;
    }
    zend_call_known_function(function, object, object->ce, call->result, method->count,
                             method->args, NULL);
}

enum mq_php_call_end mq_php_call_method(const struct mq_php_method *method, zval *result,
                                        zend_object **thrown)
{
    struct call call = {method, result};
    zend_object *pending = EG(exception);
    ZVAL_UNDEF(result);
    EG(exception) = NULL; /* else the engine would return at once */
    if (!mq_php_survives(body, &call)) {
        return MQ_PHP_CALL_BAILED;
    }
    *thrown = EG(exception);
    EG(exception) = pending;
    if (*thrown == NULL) {
        return MQ_PHP_CALL_RETURNED;
    }
    zval_ptr_dtor(result);
    ZVAL_UNDEF(result);
    return MQ_PHP_CALL_THREW;
}

zval *mq_php_property(zend_object *object, const char *name)
{
    const zend_property_info *info =
        zend_hash_str_find_ptr(&object->ce->properties_info, name, strlen(name));
    if (info == NULL || (info->flags & ZEND_ACC_STATIC)) {
        return &EG(uninitialized_zval);
    }
    zval *value = OBJ_PROP(object, info->offset);
    ZVAL_DEREF(value);
    return value;
}

struct mq_str mq_php_exception_message(zend_object *thrown)
{
    zval *message = mq_php_property(thrown, "message");
    if (Z_TYPE_P(message) != IS_STRING) {
        return MQ_STR("");
    }
    return (struct mq_str){Z_STRVAL_P(message), Z_STRLEN_P(message)};
}

/* ---- by the driver ---- */

static enum mq_status bailed(struct mq_pdo *self, struct mq_error *err)
{
    self->bailed = true;
    return mq_error_set(err, MQ_BAILOUT, "", "PHP stopped with a fatal error");
}

/* Security releases since 2026 raise the memory limit's error when the function has returned: it
 * cannot be caught, and PHP code that is called before would fail again. */
static bool out_of_memory(void)
{
#ifdef ZEND_HAS_OOM
    return ZEND_HAS_OOM();
#else
    return false;
#endif
}

static void free_value(void *value)
{
    zval_ptr_dtor(value);
}

void mq_pdo_drop(struct mq_pdo *self, zval *value)
{
    zval dropped;
    ZVAL_COPY_VALUE(&dropped, value);
    ZVAL_UNDEF(value);
    if (Z_TYPE(dropped) <= IS_STRING) {
        zval_ptr_dtor(&dropped);
        return;
    }
    self->calling = true;
    self->bailed = !mq_php_survives(free_value, &dropped) || self->bailed;
    self->calling = false;
}

/* The child would go on in the middle of what its parent does. */
enum mq_status mq_pdo_forked(struct mq_pdo *self, struct mq_error *err)
{
    if (self->worker || (self->own.dsn && !self->own.resumes)) {
        _exit(EG(exit_status) & 0xff);
    }
    if (!self->forked) {
        self->forked = true;
        for (int i = 0; i < MQ_PDO_SLOTS; i++) {
            mq_pdo_abandon(&self->slots[i].object);
        }
        mq_pdo_abandon(&self->single.object);
        mq_pdo_abandon(&self->object);
    }
    return mq_error_set(err, MQ_DATABASE, "database",
                        "this process was forked in the middle of a call of the queue's, which its "
                        "parent goes on with: use a MailQueue of its own here");
}

enum mq_status mq_pdo_call(struct mq_pdo *self, struct mq_php_method method, zval *result,
                           struct mq_error *err)
{
    zval unused;
    zval *out = result ? result : &unused;
    zend_object *thrown = NULL;
    enum mq_php_call_end end = MQ_PHP_CALL_BAILED;
    ZVAL_UNDEF(out);
    if (self->forked) {
        return mq_pdo_forked(self, err);
    }
    if (Z_ISUNDEF_P(method.object)) {
        return mq_error_set(err, MQ_IO, "database", "the connection to the server was lost");
    }
    if (!self->bailed) {
        self->called_ms = mq_pdo_now_ms();
        self->calling = true;
        end = mq_php_call_method(&method, out, &thrown);
        self->calling = false;
    }
    if (end != MQ_PHP_CALL_BAILED && out_of_memory()) {
        if (thrown) {
            OBJ_RELEASE(thrown);
        }
        mq_pdo_drop(self, out);
        end = MQ_PHP_CALL_BAILED;
    }
    if (end == MQ_PHP_CALL_RETURNED && result == NULL) {
        mq_pdo_drop(self, out);
    }
    enum mq_status status = end == MQ_PHP_CALL_BAILED || self->bailed ? bailed(self, err)
                            : thrown ? mq_pdo_failed(self, thrown, err)
                                     : MQ_OK;
    if (mq_pdo_is_foreign(self)) {
        mq_pdo_drop(self, out);
        enum mq_status forked = mq_pdo_forked(self, err);
        status = status == MQ_THROWN || status == MQ_BAILOUT ? status : forked;
    }
    return status;
}

struct string {
    struct mq_str text;
    zval *out;
};

static void make_string(void *context)
{
    const struct string *string = context;
    ZVAL_STRINGL(string->out, string->text.len ? string->text.data : "", string->text.len);
}

enum mq_status mq_pdo_string(struct mq_pdo *self, struct mq_str text, zval *out,
                             struct mq_error *err)
{
    struct string string = {text, out};
    ZVAL_UNDEF(out);
    return mq_php_survives(make_string, &string) ? MQ_OK : bailed(self, err);
}

/* Not query(): what it returns keeps the transaction's locks until it is freed. */
enum mq_status mq_pdo_exec(struct mq_pdo *self, const char *sql, struct mq_error *err)
{
    zval arg;
    enum mq_status status = mq_pdo_string(self, mq_str_of(sql), &arg, err);
    if (status == MQ_OK) {
        status =
            mq_pdo_call(self, (struct mq_php_method){&self->object, "exec", &arg, 1}, NULL, err);
        self->answered_ms = status == MQ_OK ? mq_pdo_now_ms() : self->answered_ms;
    }
    if (status != MQ_BAILOUT) {
        zval_ptr_dtor(&arg);
    }
    return status;
}
