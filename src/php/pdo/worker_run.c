/* A worker's run over a PDO: on the application's connection, or on the driver's own. */
#include "php/guard.h"
#include "php/pdo/call.h"
#include "php/pdo/own.h"

static enum mq_status refuse_pooler(struct mq_pdo *self, struct mq_error *err)
{
    bool shared = false;
    if (!mq_pdo_is_pgsql(self)) {
        return MQ_OK;
    }
    MQ_TRY(mq_pdo_shares_sessions(self, &shared, err));
    return shared ? mq_error_set(err, MQ_CONFIG, "database",
                                 "$database: " MQ_PDO_POOLER "; a worker's slot is a session "
                                 "lock, which protects nothing there: " MQ_PDO_POOLER_CURE)
                  : MQ_OK;
}

enum mq_status mq_php_pdo_for_worker(struct mq_db *db, struct mq_error *err)
{
    struct mq_pdo *self = mq_pdo_of(db);
    bool within = false;
    if (self->own.dsn) {
        return refuse_pooler(self, err);
    }
    MQ_TRY(mq_pdo_in_transaction(self, &within, err));
    if (within) {
        return mq_error_set(err, MQ_DATABASE, "database",
                            "runWorker() cannot run within a transaction of the PDO: commit it or "
                            "roll it back first");
    }
    MQ_TRY(refuse_pooler(self, err));
    self->worker = true;
    return MQ_OK;
}

struct mq_db *mq_php_pdo_of_run(struct mq_db *db)
{
    return mq_php_pdo_is(db) && mq_pdo_of(db)->worker ? db : NULL;
}

enum mq_status mq_php_pdo_after(struct mq_php_run *run, const char *who, struct mq_error *err)
{
    bool within = false;
    if (run->pdo == NULL || run->bailed) {
        return MQ_OK;
    }
    struct mq_pdo *self = mq_pdo_of(run->pdo);
    enum mq_status status = mq_pdo_in_transaction(self, &within, err);
    if (status == MQ_OK && within) {
        status = mq_pdo_call(self, (struct mq_php_method){&self->object, "rollback", NULL, 0}, NULL,
                             err);
        if (status == MQ_OK) {
            return mq_pdo_left_open(who, err);
        }
    }
    run->bailed = run->bailed || status == MQ_BAILOUT;
    /* If the rollback failed, the connection is lost, and the next transaction says so. */
    return status == MQ_BAILOUT || status == MQ_THROWN ? status : MQ_OK;
}
