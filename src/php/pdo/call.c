/* Calls of PHP methods by the PDO driver. */
#include "php/pdo/call.h"

#include <string.h>

#include "zend_exceptions.h"

#include "php/guard.h"

enum mq_status mq_pdo_bailed(struct mq_pdo *self, struct mq_error *err)
{
    self->bailed = true;
    return mq_error_set(err, MQ_BAILOUT, "", "PHP stopped with a fatal error");
}

/* Security releases of PHP since 2026 raise the fatal error of the memory limit only after the
 * function has returned. It cannot be caught, and PHP code that runs before it would fail again. */
static bool out_of_memory(void)
{
#ifdef ZEND_HAS_OOM
    return ZEND_HAS_OOM();
#else
    return false;
#endif
}

/* Ends a call in the child process that the called method has forked. */
static enum mq_status in_child(struct mq_pdo *self, enum mq_status status, zval *out,
                               struct mq_error *err)
{
    mq_pdo_drop(self, out);
    enum mq_status forked = mq_pdo_forked(self, err);
    return status == MQ_THROWN || status == MQ_BAILOUT ? status : forked;
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
    enum mq_status status = end == MQ_PHP_CALL_BAILED || self->bailed ? mq_pdo_bailed(self, err)
                            : thrown ? mq_pdo_failed(self, thrown, err)
                                     : MQ_OK;
    return mq_pdo_is_foreign(self) ? in_child(self, status, out, err) : status;
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
    return mq_php_survives(make_string, &string) ? MQ_OK : mq_pdo_bailed(self, err);
}

/* Calls PDO::exec(), not query(), whose result keeps the transaction's locks until it is freed. */
enum mq_status mq_pdo_exec(struct mq_pdo *self, const char *sql, struct mq_error *err)
{
    zval arg;
    MQ_TRY(mq_pdo_string(self, mq_str_of(sql), &arg, err));
    enum mq_status status =
        mq_pdo_call(self, (struct mq_php_method){&self->object, "exec", &arg, 1}, NULL, err);
    self->answered_ms = status == MQ_OK ? mq_pdo_now_ms() : self->answered_ms;
    if (status != MQ_BAILOUT) {
        zval_ptr_dtor(&arg);
    }
    return status;
}

enum mq_status mq_pdo_undo(struct mq_pdo *self, const char *sql)
{
    if (self->stale) {
        self->stale = false;
        mq_pdo_forget_statements(self);
    }
    return mq_pdo_exec(self, sql, NULL);
}

enum mq_status mq_pdo_attribute(struct mq_pdo *self, zend_long name, zval *value,
                                struct mq_error *err)
{
    zval arg;
    ZVAL_LONG(&arg, name);
    return mq_pdo_call(self, (struct mq_php_method){&self->object, "getattribute", &arg, 1}, value,
                       err);
}

/* Frees the value; false on failure. */
static bool take_flag(struct mq_pdo *self, enum mq_status status, zval *value)
{
    bool flag = status == MQ_OK && zend_is_true(value);
    mq_pdo_drop(self, value);
    return flag;
}

enum mq_status mq_pdo_flag(struct mq_pdo *self, zend_long name, bool *flag, struct mq_error *err)
{
    zval value;
    enum mq_status status = mq_pdo_attribute(self, name, &value, err);
    *flag = take_flag(self, status, &value);
    return status;
}

enum mq_status mq_pdo_in_transaction(struct mq_pdo *self, bool *within, struct mq_error *err)
{
    zval value;
    enum mq_status status = mq_pdo_call(
        self, (struct mq_php_method){&self->object, "intransaction", NULL, 0}, &value, err);
    *within = take_flag(self, status, &value);
    return status;
}

/* ---- the application's attributes, set aside while the driver uses its PDO ---- */

static enum mq_status set(struct mq_pdo *self, zend_long attribute, const zval *value,
                          struct mq_error *err)
{
    zval args[2];
    ZVAL_LONG(&args[0], attribute);
    ZVAL_COPY_VALUE(&args[1], value);
    return mq_pdo_call(self, (struct mq_php_method){&self->object, "setattribute", args, 2}, NULL,
                       err);
}

enum mq_status mq_pdo_emulate(struct mq_pdo *self, bool emulate, struct mq_error *err)
{
    zval value;
    ZVAL_BOOL(&value, emulate);
    return set(self, MQ_PDO_ATTR_EMULATE_PREPARES, &value, err);
}

/* Sets what the driver needs: failures throw, and NULL stays NULL. Our own connections have that
 * from the start. Other attributes (case of names, fetch modes, numbers as text) do not matter. */
enum mq_status mq_pdo_enter(struct mq_pdo *self, struct mq_error *err)
{
    zval exceptions, natural;
    if (self->entered || self->own.dsn) {
        return MQ_OK;
    }
    ZVAL_LONG(&exceptions, MQ_PDO_ERRMODE_EXCEPTION);
    ZVAL_LONG(&natural, MQ_PDO_NULL_NATURAL);
    MQ_TRY(mq_pdo_attribute(self, MQ_PDO_ATTR_ERRMODE, &self->errmode, err));
    MQ_TRY(mq_pdo_attribute(self, MQ_PDO_ATTR_ORACLE_NULLS, &self->nulls, err));
    if (mq_pdo_is_mysql(self)) {
        bool emulates;
        MQ_TRY(mq_pdo_flag(self, MQ_PDO_ATTR_EMULATE_PREPARES, &emulates, err));
        self->native = !emulates;
    }
    self->entered = true;
    enum mq_status status = set(self, MQ_PDO_ATTR_ERRMODE, &exceptions, err);
    if (status == MQ_OK) {
        status = set(self, MQ_PDO_ATTR_ORACLE_NULLS, &natural, err);
    }
    if (status != MQ_OK) {
        mq_pdo_leave(self);
    }
    return status;
}

void mq_pdo_leave(struct mq_pdo *self)
{
    if (!self->entered || self->bailed) {
        return;
    }
    self->entered = false;
    set(self, MQ_PDO_ATTR_ORACLE_NULLS, &self->nulls, NULL);
    set(self, MQ_PDO_ATTR_ERRMODE, &self->errmode, NULL);
    mq_pdo_drop(self, &self->nulls);
    mq_pdo_drop(self, &self->errmode);
}
