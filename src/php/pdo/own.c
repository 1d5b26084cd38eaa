/* A PDO that the driver opens itself, by a DSN. It is reopened when it was lost, and never shared
 * with a forked child. */
#include "php/pdo/own.h"

#include <stdio.h>

#include "php/pdo/call.h"
#include "php/pdo/pdo_statement.h"
#include "php/pdo/server.h"
#include "php_mailqueue.h"

static int wait_ms(const struct mq_pdo *self)
{
    return self->own.busy_timeout_ms > 0 ? self->own.busy_timeout_ms : 1;
}

/* SET LOCAL sets the limits in each transaction, so they also work behind a pooler that shares
 * connections. Without the idle limit, a stopped process or a lost host would keep its locks, and
 * all machines would wait for them. */
static void write_begin(struct mq_pdo *self)
{
    if (mq_pdo_is_pgsql(self)) {
        snprintf(self->own.begin, sizeof self->own.begin,
                 "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = %d%s",
                 wait_ms(self),
                 self->ends_idle ? "; SET LOCAL idle_in_transaction_session_timeout = 60000" : "");
    }
}

/* A worker's slot is a session lock. If the host is lost, the server must end the session
 * within minutes, or no other worker can run. */
static enum mq_status end_with_host(struct mq_pdo *self, struct mq_error *err)
{
    const char *text = "SET tcp_keepalives_idle = 60; SET tcp_keepalives_interval = 10; "
                       "SET tcp_keepalives_count = 6";
    return mq_pdo_exec(self, mq_pdo_is_pgsql(self) ? text : "SET SESSION wait_timeout = 600", err);
}

/* Limits the session's waits for locks, unless a pooler shares the session with other clients.
 * Behind a pooler statements get no name. */
static enum mq_status bound_waits(struct mq_pdo *self, struct mq_error *err)
{
    int64_t told = 0, set = 0;
    self->own.bounded = false;
    MQ_TRY(mq_pdo_announced(self, &told, err));
    struct mq_value values[] = {mq_int(wait_ms(self)), mq_int(told)};
    struct mq_query query = {
        .slot = -1,
        .sql = "SELECT length(set_config('lock_timeout', ?1, false)) WHERE pg_backend_pid() = ?2",
        .params = values,
        .param_count = 2};
    MQ_TRY(mq_pdo_ask(self, &query, &set, err));
    self->own.bounded = set > 0;
    self->unnamed = self->unnamed || set == 0;
    return MQ_OK;
}

enum mq_status mq_pdo_wait(struct mq_db *db, int64_t ms, bool *told, struct mq_error *err)
{
    struct mq_pdo *self = mq_pdo_of(db);
    const zend_class_entry *ce = Z_TYPE(self->object) == IS_OBJECT ? Z_OBJCE(self->object) : NULL;
    /* From PHP 8.4 on there is a class for PostgreSQL; 8.5 warns of the older name. */
    bool newer = ce && zend_hash_str_exists(&ce->function_table, ZEND_STRL("getnotify"));
    zval args[2], notice;
    ZVAL_LONG(&args[0], MQ_PDO_FETCH_NUM);
    for (*told = false;; ms = 0) { /* takes all that have come */
        struct mq_php_method method = {&self->object, newer ? "getnotify" : "pgsqlgetnotify", args,
                                       2};
        ZVAL_LONG(&args[1], ms);
        MQ_TRY(mq_pdo_call(self, method, &notice, err));
        bool came = Z_TYPE(notice) == IS_ARRAY;
        mq_pdo_drop(self, &notice);
        if (!came) {
            return MQ_OK;
        }
        *told = true;
    }
}

/* Checks a connection that was just opened, which may be to another server now, and sets it up. */
static enum mq_status set_up_session(struct mq_pdo *self, struct mq_error *err)
{
    MQ_TRY(mq_pdo_look(self, err));
    write_begin(self);
    if (!self->own.resumes) {
        self->base.waits = mq_pdo_is_pgsql(self);
        return end_with_host(self, err);
    }
    return mq_pdo_is_pgsql(self) ? bound_waits(self, err) : MQ_OK;
}

/* Whether the connection may be the persistent one of this process. PDO gives the same one to all
 * that ask, so a second queue would be in the first one's transaction. A worker's run holds locks
 * of its session, which must end with it. */
static bool may_persist(const struct mq_pdo *self)
{
    bool may = MAILQUEUE_G(database_persistent) && self->own.resumes;
    for (const struct mq_pdo *other = MAILQUEUE_G(pdo_drivers); other && may; other = other->next) {
        may = other == self || !other->own.persistent;
    }
    return may;
}

/* Sets *opened to whether PDO has opened the connection. */
static enum mq_status connect_once(struct mq_pdo *self, bool *opened, struct mq_error *err)
{
    zval pdo;
    self->calling = true;
    enum mq_status status = mq_php_dsn_connect(self->own.dsn, self->own.busy_timeout_ms,
                                               self->own.persistent, &pdo, err);
    self->calling = false;
    self->bailed = status == MQ_BAILOUT;
    *opened = status == MQ_OK;
    MQ_TRY(status);
    ZVAL_COPY_VALUE(&self->object, &pdo);
    if (mq_pdo_is_foreign(self)) {
        return mq_pdo_forked(self, err);
    }
    self->own.opening = true;
    status = set_up_session(self, err);
    self->own.opening = false;
    if (status != MQ_OK && status != MQ_BAILOUT) {
        mq_pdo_drop(self, &self->object);
    }
    return status;
}

enum mq_status mq_pdo_connect(struct mq_pdo *self, struct mq_error *err)
{
    bool opened;
    self->own.persistent = may_persist(self);
    enum mq_status status = connect_once(self, &opened, err);
    /* The server may have closed a persistent connection. PDO opens it again once it knows. */
    if (status == MQ_IO && opened && self->own.persistent) {
        mq_pdo_forget_cause(self);
        status = connect_once(self, &opened, err);
    }
    return status;
}

/* Timestamps are truncated: a difference of 1 ms means under 2 ms. */
#define JUST_ANSWERED_MS 1

enum mq_status mq_pdo_wake(struct mq_pdo *self, struct mq_error *err)
{
    struct mq_query query = {.slot = -1, .sql = "SELECT 1"};
    if (mq_pdo_now_ms() - self->answered_ms <= JUST_ANSWERED_MS) {
        return MQ_OK;
    }
    return mq_db_exec(&self->base, &query, err);
}

enum mq_status mq_pdo_reopen(struct mq_pdo *self, struct mq_error *err)
{
    if (self->begun) {
        self->base.driver->rollback(&self->base);
    }
    self->base.driver->finish(&self->base);
    if (self->bailed) {
        return mq_pdo_bailed(self, err);
    }
    mq_pdo_forget_statements(self);
    mq_pdo_drop(self, &self->object);
    self->guarded = false;
    mq_pdo_forget_cause(self);
    return mq_pdo_connect(self, err);
}

bool mq_pdo_resume(struct mq_pdo *self, enum mq_status failure, struct mq_error *err)
{
    const struct mq_pdo_own *own = &self->own;
    if (failure != MQ_IO || !own->dsn || !own->resumes || own->opening || self->begun) {
        return false;
    }
    return mq_pdo_reopen(self, err) == MQ_OK;
}
