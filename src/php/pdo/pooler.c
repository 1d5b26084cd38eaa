/* Detects poolers that give each transaction another session of PostgreSQL (pgbouncer in
 * transaction mode). Behind them a session's locks protect nothing, and prepared statements belong
 * to other clients. */
#include "php/pdo/own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "php/pdo/pdo_statement.h"

/* How often both connections ask, because other clients may use the pooler at that moment. */
#define ROUNDS 3

/* The server process that answers now. */
static enum mq_status answering(struct mq_pdo *self, int64_t *pid, struct mq_error *err)
{
    struct mq_query query = {.slot = -1, .sql = "SELECT pg_backend_pid()"};
    return mq_pdo_ask(self, &query, pid, err);
}

/* Sessions are shared if another process answers than the first time, or if the same process
 * answers on two connections that are open at the same time. */
static enum mq_status compare(struct mq_pdo *self, struct mq_pdo *other, int64_t first,
                              bool *shared, struct mq_error *err)
{
    int64_t again = first, beside = 0;
    MQ_TRY(answering(self, &again, err));
    MQ_TRY(other ? answering(other, &beside, err) : MQ_OK);
    *shared = again != first || beside == first;
    return MQ_OK;
}

enum mq_status mq_pdo_shares_sessions(struct mq_pdo *self, bool *shared, struct mq_error *err)
{
    int64_t told = 0, first = 0;
    struct mq_db *other = NULL;
    *shared = false;
    enum mq_status status = MQ_OK;
    MQ_TRY(mq_pdo_announced(self, &told, err));
    MQ_TRY(answering(self, &first, err));
    if (told == 0 || told == first) {
        return MQ_OK;
    }
    if (self->own.dsn) {
        struct mq_php_pdo_options options = {self->own.dsn, self->own.busy_timeout_ms, false};
        status = mq_php_pdo_open_dsn(&options, &other, err);
    }
    for (int i = 0; i < ROUNDS && status == MQ_OK && !*shared; i++) {
        status = compare(self, other ? mq_pdo_of(other) : NULL, first, shared, err);
    }
    if (other) {
        other->driver->close(other);
    }
    return status;
}
