/* Opening: over a PDO of the application's, or over one of the driver's own, by a DSN. */
#include "php/pdo/call.h"

#include <stdlib.h>

#include "php/pdo/own.h"
#include "php/pdo/server.h"

enum mq_status mq_php_pdo_open(zval *object, struct mq_db **out, struct mq_error *err)
{
    struct mq_pdo *self = calloc(1, sizeof *self);
    if (!self) {
        return mq_error_nomem(err);
    }
    self->drivers = mq_pdo_drivers;
    self->base.driver = &self->drivers[MQ_SQLITE];
    ZVAL_COPY(&self->object, object);
    self->pid = mq_process_id();
    enum mq_status status = mq_pdo_look(self, err);
    if (status != MQ_OK) {
        self->base.driver->close(&self->base);
        return status;
    }
    *out = &self->base;
    return MQ_OK;
}

enum mq_status mq_php_pdo_open_dsn(const struct mq_php_pdo_options *options, struct mq_db **out,
                                   struct mq_error *err)
{
    zval pdo;
    struct mq_db *db = NULL;
    pid_t pid = mq_process_id();
    enum mq_status status = mq_php_dsn_connect(options->dsn, options->busy_timeout_ms, &pdo, err);
    if (status != MQ_OK) {
        return status;
    }
    if (mq_process_id() != pid) {
        mq_pdo_abandon(&pdo);
        return mq_error_set(err, MQ_DATABASE, "database",
                            "this process was forked while its parent connected: try again here");
    }
    status = mq_php_pdo_open(&pdo, &db, err);
    if (status != MQ_BAILOUT) {
        zval_ptr_dtor(&pdo);
    }
    if (status != MQ_OK) {
        return status;
    }
    status = mq_pdo_own_begin(mq_pdo_of(db), options, err);
    if (status != MQ_OK) {
        db->driver->close(db);
        return status;
    }
    *out = db;
    return MQ_OK;
}
