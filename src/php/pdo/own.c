/* A PDO that is the driver's own: opened by a DSN, opened anew, never shared with a child. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php/pdo/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/buffer.h"
#include "php/pdo/server.h"
#include "php_mailqueue.h"

static void list(struct mq_pdo *self)
{
    self->own.next = MAILQUEUE_G(pdo_own);
    MAILQUEUE_G(pdo_own) = self;
}

static void unlist(struct mq_pdo *self)
{
    for (struct mq_pdo **at = &MAILQUEUE_G(pdo_own); *at; at = &(*at)->own.next) {
        if (*at == self) {
            *at = self->own.next;
            return;
        }
    }
}

/* Its destructor would tell the server that all is over, on a socket that the parent still uses.
 * The reference is never given back. */
void mq_pdo_abandon(zval *object)
{
    if (Z_TYPE_P(object) == IS_OBJECT) {
        GC_ADD_FLAGS(Z_OBJ_P(object), IS_OBJ_DESTRUCTOR_CALLED | IS_OBJ_FREE_CALLED);
    }
    ZVAL_UNDEF(object);
}

/* The application's PDO is its own; statements of ours would end in the server too. */
static void abandon_all(struct mq_pdo *self)
{
    for (int i = 0; i < MQ_PDO_SLOTS; i++) {
        mq_pdo_abandon(&self->slots[i].object);
    }
    mq_pdo_abandon(&self->single.object);
    if (self->own.dsn) {
        mq_pdo_abandon(&self->object);
    }
}

void mq_pdo_disown(struct mq_pdo *self)
{
    unlist(self);
    if (mq_pdo_is_foreign(self)) {
        abandon_all(self);
    }
}

/* PHP frees what is left in an order of its own, statements first. */
void mq_pdo_own_request_ends(void)
{
    for (struct mq_pdo *self = MAILQUEUE_G(pdo_own); self; self = self->own.next) {
        if (mq_pdo_is_foreign(self)) {
            abandon_all(self);
        }
    }
}

/* As the transaction's own settings they are also right behind a pooler that shares connections. A
 * process that is stopped, or a host that is gone, must not keep its locks: all machines wait. */
static void write_begin(struct mq_pdo *self)
{
    int wait_ms = self->own.busy_timeout_ms > 0 ? self->own.busy_timeout_ms : 1;
    if (mq_pdo_is_pgsql(self)) {
        snprintf(self->own.begin, sizeof self->own.begin,
                 "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = %d%s", wait_ms,
                 self->ends_idle ? "; SET LOCAL idle_in_transaction_session_timeout = 60000" : "");
    }
}

/* A worker's slot is a lock of its session. The server must end that within minutes when the host
 * is gone without a word, or no other worker may run. */
static enum mq_status end_with_host(struct mq_pdo *self, struct mq_error *err)
{
    const char *text = "SET tcp_keepalives_idle = 60; SET tcp_keepalives_interval = 10; "
                       "SET tcp_keepalives_count = 6";
    return mq_pdo_exec(self, mq_pdo_is_pgsql(self) ? text : "SET SESSION wait_timeout = 600", err);
}

/* What a connection that was just opened has to be told. */
static enum mq_status set_up_session(struct mq_pdo *self, struct mq_error *err)
{
    if (!self->own.resumes) {
        return end_with_host(self, err);
    }
    return mq_pdo_is_pgsql(self) ? mq_pdo_bound_waits(self, err) : MQ_OK;
}

/* Times are cut to milliseconds: such an answer is less than two of them old. */
#define JUST_ANSWERED_MS 1

enum mq_status mq_pdo_wake(struct mq_pdo *self, struct mq_error *err)
{
    struct mq_query query = {.slot = -1, .sql = "SELECT 1"};
    if (mq_pdo_now_ms() - self->answered_ms <= JUST_ANSWERED_MS) {
        return MQ_OK;
    }
    return mq_db_exec(&self->base, &query, err);
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
    struct mq_pdo *self = mq_pdo_of(db);
    self->own.busy_timeout_ms = options->busy_timeout_ms;
    self->own.resumes = !options->worker;
    self->own.dsn = mq_str_dup(mq_str_of(options->dsn));
    if (!self->own.dsn) {
        db->driver->close(db);
        return mq_error_nomem(err);
    }
    write_begin(self);
    status = options->worker ? mq_pdo_refuse_pooler(self, err) : MQ_OK;
    self->own.opening = true;
    status = status == MQ_OK ? set_up_session(self, err) : status;
    self->own.opening = false;
    if (status != MQ_OK) {
        db->driver->close(db);
        return status;
    }
    list(self);
    *out = db;
    return MQ_OK;
}

enum mq_status mq_pdo_reopen(struct mq_pdo *self, struct mq_error *err)
{
    zval pdo;
    if (self->begun) {
        self->base.driver->rollback(&self->base);
    }
    self->base.driver->finish(&self->base);
    if (self->bailed) {
        return mq_error_set(err, MQ_BAILOUT, "", "PHP stopped with a fatal error");
    }
    mq_pdo_forget_statements(self);
    mq_pdo_drop(self, &self->object);
    self->entered = self->guarded = false;
    mq_pdo_forget_cause(self);
    self->calling = true;
    enum mq_status status = mq_php_dsn_connect(self->own.dsn, self->own.busy_timeout_ms, &pdo, err);
    self->calling = false;
    self->bailed = status == MQ_BAILOUT;
    if (status != MQ_OK) {
        return status;
    }
    ZVAL_COPY_VALUE(&self->object, &pdo);
    if (mq_pdo_is_foreign(self)) {
        return mq_pdo_forked(self, err);
    }
    self->own.opening = true;
    status = mq_pdo_look(self, err); /* it may be another server now */
    status = status == MQ_OK ? set_up_session(self, err) : status;
    self->own.opening = false;
    write_begin(self);
    if (status != MQ_OK && status != MQ_BAILOUT) {
        mq_pdo_drop(self, &self->object);
    }
    return status;
}

bool mq_pdo_resume(struct mq_pdo *self, enum mq_status failure, struct mq_error *err)
{
    const struct mq_pdo_own *own = &self->own;
    if (failure != MQ_IO || !own->dsn || !own->resumes || own->opening || self->begun) {
        return false;
    }
    return mq_pdo_reopen(self, err) == MQ_OK;
}
