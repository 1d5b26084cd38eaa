/* Poolers that give each transaction another session of PostgreSQL (pgbouncer in transaction mode):
 * locks of a session hold nothing behind them, and prepared statements are another client's. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php/pdo/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How often both connections ask: others may use the pooler at that moment. */
#define ROUNDS 3

/* The process that the connection was told of when it began: by a pooler a number of its own. */
static enum mq_status announced(struct mq_pdo *self, int64_t *pid, struct mq_error *err)
{
    zval value;
    enum mq_status status = mq_pdo_attribute(self, MQ_PDO_ATTR_SERVER_INFO, &value, err);
    if (status != MQ_OK) {
        return status;
    }
    if (Z_TYPE(value) == IS_STRING && strncmp(Z_STRVAL(value), "PID: ", 5) == 0) {
        *pid = strtol(Z_STRVAL(value) + 5, NULL, 10);
    }
    mq_pdo_drop(self, &value);
    return MQ_OK;
}

/* The one that answers now. */
static enum mq_status answering(struct mq_pdo *self, int64_t *pid, struct mq_error *err)
{
    struct mq_value value = mq_null();
    struct mq_row row = {&value, 1, false};
    struct mq_query query = {.slot = -1, .sql = "SELECT pg_backend_pid()"};
    enum mq_status status = mq_db_row(&self->base, &query, &row, err);
    if (status == MQ_OK) {
        mq_pdo_number(value, pid);
    }
    mq_db_finish(&self->base);
    return status;
}

/* Two connections that are open at the same time and are answered by one process share it. */
static enum mq_status compare(struct mq_pdo *self, struct mq_pdo *other, int64_t first,
                              bool *shared, struct mq_error *err)
{
    int64_t again = first, beside = 0;
    enum mq_status status = answering(self, &again, err);
    if (status == MQ_OK && other) {
        status = answering(other, &beside, err);
    }
    *shared = status == MQ_OK && (again != first || beside == first);
    return status;
}

enum mq_status mq_pdo_shares_sessions(struct mq_pdo *self, bool *shared, struct mq_error *err)
{
    int64_t told = 0, first = 0;
    struct mq_db *other = NULL;
    *shared = false;
    enum mq_status status = announced(self, &told, err);
    if (status == MQ_OK) {
        status = answering(self, &first, err);
    }
    if (status != MQ_OK || told == 0 || told == first) {
        return status;
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

enum mq_status mq_pdo_bound_waits(struct mq_pdo *self, struct mq_error *err)
{
    int64_t told = 0;
    struct mq_value values[] = {mq_null(), mq_null()};
    char wait[16];
    struct mq_value column = mq_null();
    struct mq_row row = {&column, 1, false};
    enum mq_status status = announced(self, &told, err);
    snprintf(wait, sizeof(wait), "%d",
             self->own.busy_timeout_ms > 0 ? self->own.busy_timeout_ms : 1);
    values[0] = mq_text(mq_str_of(wait));
    values[1] = mq_int(told);
    struct mq_query query = {
        .slot = -1,
        .sql = "SELECT set_config('lock_timeout', ?1, false) WHERE pg_backend_pid() = ?2",
        .params = values,
        .param_count = 2};
    if (status == MQ_OK) {
        status = mq_db_row(&self->base, &query, &row, err);
    }
    mq_db_finish(&self->base);
    self->own.bounded = status == MQ_OK && row.found;
    self->unnamed = self->unnamed || (status == MQ_OK && !row.found);
    return status;
}

enum mq_status mq_pdo_refuse_pooler(struct mq_pdo *self, struct mq_error *err)
{
    bool shared = false;
    if (!mq_pdo_is_pgsql(self)) {
        return MQ_OK;
    }
    enum mq_status status = mq_pdo_shares_sessions(self, &shared, err);
    if (status == MQ_OK && shared) {
        status = mq_error_set(err, MQ_CONFIG, "database",
                              "$database: " MQ_PDO_POOLER "; a worker's place is a lock of its "
                              "session, which would hold nothing: " MQ_PDO_POOLER_CURE);
    }
    return status;
}
