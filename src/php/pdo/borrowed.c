/* A worker's run on the application's own connection. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php/pdo/internal.h"

#include <stdlib.h>

#include "php_globals.h"

#define SPARE_OCTETS (4 << 20) /* for all else */

enum mq_status mq_php_pdo_for_worker(struct mq_db *db, struct mq_error *err)
{
    struct mq_pdo *self = mq_pdo_of(db);
    bool within = false;
    enum mq_status status = mq_pdo_in_transaction(self, &within, err);
    if (status == MQ_OK && within) {
        status =
            mq_error_set(err, MQ_DATABASE, "database",
                         "runWorker() cannot run within a transaction of the PDO: commit it or "
                         "roll it back first");
    }
    status = status == MQ_OK ? mq_pdo_refuse_pooler(self, err) : status;
    self->worker = status == MQ_OK;
    return status;
}

/* PDO holds a column twice, libpq its text besides, twice as long. */
bool mq_pdo_has_room(struct mq_db *db, size_t octets)
{
    size_t php = 2 * octets + SPARE_OCTETS;
    size_t all = (mq_pdo_is_pgsql(mq_pdo_of(db)) ? 6 : 3) * octets + SPARE_OCTETS;
    if ((size_t)PG(memory_limit) < zend_memory_usage(0) + php) {
        return false;
    }
    void *probe = malloc(all);
    free(probe);
    return probe != NULL;
}

struct mq_db *mq_php_pdo_of_run(struct mq_db *db)
{
    return mq_php_pdo_is(db) && mq_pdo_of(db)->worker ? db : NULL;
}

static enum mq_status left_open(const char *who, struct mq_error *err)
{
    return mq_error_set(err, MQ_DATABASE, "database",
                        "%s left a transaction open on the PDO that the worker uses; it was rolled "
                        "back: commit it before returning",
                        who);
}

enum mq_status mq_pdo_refuse_join(struct mq_pdo *self, struct mq_error *err)
{
    self->joined = false;
    enum mq_status status = mq_pdo_exec(self, mq_pdo_rollback_text(self), err);
    return status == MQ_OK ? left_open("PHP code", err) : status;
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
            return left_open(who, err);
        }
    }
    run->bailed = run->bailed || status == MQ_BAILOUT;
    /* Else the connection is lost, which the next transaction says. */
    return status == MQ_BAILOUT || status == MQ_THROWN ? status : MQ_OK;
}
