/* Frees the PHP values that the driver holds, which may run PHP code, and leaves those alone that
 * belong to another process. */
#include "php/pdo/held.h"

#include <unistd.h>

#include "php/guard.h"
#include "php_mailqueue.h"

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

void mq_pdo_drop_row(struct mq_pdo *self)
{
    if (!self->bailed) {
        mq_pdo_drop(self, &self->row);
    }
    ZVAL_UNDEF(&self->row);
}

void mq_pdo_forget_statements(struct mq_pdo *self)
{
    mq_pdo_drop_row(self);
    for (int i = 0; i < MQ_PDO_SLOTS; i++) {
        mq_pdo_drop(self, &self->slots[i].object);
        self->slots[i].uses = 0;
    }
}

/* Forgets an object without releasing the reference, because its destructor would end the session
 * on a socket that the parent still uses. */
static void abandon(zval *object)
{
    if (Z_TYPE_P(object) == IS_OBJECT) {
        GC_ADD_FLAGS(Z_OBJ_P(object), IS_OBJ_DESTRUCTOR_CALLED | IS_OBJ_FREE_CALLED);
    }
    ZVAL_UNDEF(object);
}

void mq_pdo_abandon(struct mq_pdo *self, bool pdo)
{
    for (int i = 0; i < MQ_PDO_SLOTS; i++) {
        abandon(&self->slots[i].object);
    }
    if (pdo) {
        abandon(&self->object);
    }
}

/* A child forked in a worker's run exits, or else it would continue in the middle of the run. */
enum mq_status mq_pdo_forked(struct mq_pdo *self, struct mq_error *err)
{
    if (self->worker || (self->own.dsn && !self->own.resumes)) {
        _exit(EG(exit_status) & 0xff);
    }
    if (!self->forked) {
        self->forked = true;
        mq_pdo_abandon(self, true);
    }
    return mq_error_set(err, MQ_DATABASE, "database",
                        "this process was forked during a queue call that its parent is still "
                        "making: create a new MailQueue here");
}

/* ---- the exception behind the last failure ---- */

void mq_pdo_keep_cause(struct mq_pdo *self, zend_object *cause)
{
    mq_pdo_forget_cause(self);
    MAILQUEUE_G(pdo_cause) = cause;
}

void mq_pdo_forget_cause(struct mq_pdo *self)
{
    zval cause;
    if (MAILQUEUE_G(pdo_cause) == NULL) {
        return;
    }
    ZVAL_OBJ(&cause, MAILQUEUE_G(pdo_cause));
    MAILQUEUE_G(pdo_cause) = NULL;
    if (self) {
        mq_pdo_drop(self, &cause);
    } else {
        zval_ptr_dtor(&cause);
    }
}

zend_object *mq_php_pdo_take_cause(void)
{
    zend_object *cause = MAILQUEUE_G(pdo_cause);
    MAILQUEUE_G(pdo_cause) = NULL;
    return cause;
}
