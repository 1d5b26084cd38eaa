/* The application's attributes of a PDO object, set aside while the driver uses it. */
#include "php/pdo/statement.h"

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

/* Failures must be exceptions, and NULL must not come as "". The others (case of names, fetch
 * modes, numbers as text) do not affect the driver. */
enum mq_status mq_pdo_enter(struct mq_pdo *self, struct mq_error *err)
{
    zval exceptions, natural;
    if (self->entered) {
        return MQ_OK;
    }
    ZVAL_LONG(&exceptions, MQ_PDO_ERRMODE_EXCEPTION);
    ZVAL_LONG(&natural, MQ_PDO_NULL_NATURAL);
    enum mq_status status = mq_pdo_attribute(self, MQ_PDO_ATTR_ERRMODE, &self->errmode, err);
    if (status == MQ_OK) {
        status = mq_pdo_attribute(self, MQ_PDO_ATTR_ORACLE_NULLS, &self->nulls, err);
    }
    if (status == MQ_OK && mq_pdo_is_mysql(self)) {
        status = mq_pdo_flag(self, MQ_PDO_ATTR_EMULATE_PREPARES, &self->native, err);
        self->native = !self->native;
    }
    if (status != MQ_OK) {
        return status;
    }
    self->entered = true;
    status = set(self, MQ_PDO_ATTR_ERRMODE, &exceptions, err);
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
