/* The PDO driver: its table, transactions, close. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php/pdo_private.h"

#include <stdlib.h>
#include <string.h>

#include "php_mailqueue.h"

/* ---- calls ---- */

enum mq_status mq_pdo_call(struct mq_pdo *self, struct mq_php_method method, zval *result,
                           struct mq_error *err)
{
    zend_object *thrown = NULL;
    enum mq_php_call_end end = MQ_PHP_CALL_BAILED;
    ZVAL_UNDEF(result);
    if (!self->bailed) {
        end = mq_php_call_method(&method, result, &thrown);
    }
    if (end == MQ_PHP_CALL_THREW) {
        return mq_pdo_failed(self, thrown, err);
    }
    if (end == MQ_PHP_CALL_RETURNED) {
        return MQ_OK;
    }
    self->bailed = true;
    return mq_error_set(err, MQ_BAILOUT, "", "PHP stopped with a fatal error");
}

/* Not query(): what it returns keeps the transaction's locks until it is freed. */
enum mq_status mq_pdo_exec(struct mq_pdo *self, const char *sql, struct mq_error *err)
{
    zval arg, result;
    ZVAL_STRING(&arg, sql);
    enum mq_status status =
        mq_pdo_call(self, (struct mq_php_method){&self->object, "exec", &arg, 1}, &result, err);
    if (status != MQ_BAILOUT) {
        zval_ptr_dtor(&arg);
        zval_ptr_dtor(&result);
    }
    return status;
}

/* ---- transactions ---- */

static void list_open(struct mq_pdo *self)
{
    self->next_open = MAILQUEUE_G(pdo_open);
    MAILQUEUE_G(pdo_open) = self;
}

static void unlist_open(struct mq_pdo *self)
{
    for (struct mq_pdo **at = &MAILQUEUE_G(pdo_open); *at; at = &(*at)->next_open) {
        if (*at == self) {
            *at = self->next_open;
            return;
        }
    }
}

static void ended(struct mq_pdo *self)
{
    if (self->begun && !self->joined) {
        unlist_open(self);
    }
    self->begun = self->joined = self->aborted = false;
    mq_pdo_leave(self);
}

enum mq_status mq_pdo_in_transaction(struct mq_pdo *self, bool *within, struct mq_error *err)
{
    zval result;
    enum mq_status status = mq_pdo_call(
        self, (struct mq_php_method){&self->object, "intransaction", NULL, 0}, &result, err);
    *within = status == MQ_OK && zend_is_true(&result);
    return status;
}

static const char *begin_text(const struct mq_pdo *self)
{
    return mq_pdo_is_pgsql(self) ? "BEGIN ISOLATION LEVEL READ COMMITTED" : "BEGIN IMMEDIATE";
}

/* SQLite's PDO does not know of a transaction that exec('BEGIN') opened; SQLite itself does. */
static enum mq_status begin_or_join(struct mq_pdo *self, struct mq_error *err)
{
    bool joins = false;
    enum mq_status status = mq_pdo_in_transaction(self, &joins, err);
    if (status == MQ_OK && !joins) {
        status = mq_pdo_exec(self, begin_text(self), err);
        joins = status == MQ_DATABASE && mq_pdo_cause_is_nested();
        if (!joins) {
            return status;
        }
        status = MQ_OK;
    }
    if (status == MQ_OK) {
        status = mq_pdo_exec(self, "SAVEPOINT mailqueue", err);
    }
    self->joined = status == MQ_OK;
    return status;
}

static enum mq_status begin(struct mq_db *db, struct mq_error *err)
{
    struct mq_pdo *self = mq_pdo_of(db);
    if (self->begun) {
        return mq_error_set(err, MQ_DATABASE, "database", "a transaction within a transaction");
    }
    mq_pdo_finish(db);
    mq_pdo_forget_cause();
    enum mq_status status = mq_pdo_enter(self, err);
    if (status == MQ_OK) {
        status = begin_or_join(self, err);
    }
    if (status != MQ_OK) {
        mq_pdo_leave(self);
        return status;
    }
    self->begun = true;
    if (!self->joined) {
        list_open(self);
    }
    return MQ_OK;
}

static enum mq_status commit(struct mq_db *db, struct mq_error *err)
{
    struct mq_pdo *self = mq_pdo_of(db);
    if (!self->begun) {
        return mq_error_set(err, MQ_DATABASE, "database", "a commit without a transaction");
    }
    mq_pdo_finish(db);
    if (self->aborted) {
        /* PostgreSQL would answer with a rollback and report success. */
        return mq_error_set(err, MQ_DATABASE, "database",
                            "a statement of the transaction failed: nothing of it was stored");
    }
    enum mq_status status = mq_pdo_exec(self, self->joined ? "RELEASE mailqueue" : "COMMIT", err);
    if (status == MQ_OK) {
        ended(self);
    }
    return status;
}

/* An error in between may have made SQLite undo the transaction by itself. The first failure stays
 * the cause. */
static void rollback(struct mq_db *db)
{
    struct mq_pdo *self = mq_pdo_of(db);
    if (!self->begun || self->bailed) {
        return;
    }
    zend_object *cause = mq_php_pdo_take_cause();
    mq_pdo_finish(db);
    if (self->joined) {
        if (mq_pdo_exec(self, "ROLLBACK TO mailqueue", NULL) == MQ_OK) {
            mq_pdo_exec(self, "RELEASE mailqueue", NULL);
        }
    } else {
        mq_pdo_exec(self, "ROLLBACK", NULL);
    }
    ended(self);
    mq_pdo_keep_cause(cause);
}

void mq_php_pdo_request_ends(void)
{
    while (MAILQUEUE_G(pdo_open)) {
        struct mq_pdo *self = MAILQUEUE_G(pdo_open);
        self->bailed = false; /* PHP has come back to its senses */
        if (OBJ_FLAGS(Z_OBJ(self->object)) & IS_OBJ_FREE_CALLED) {
            unlist_open(self);
        } else {
            rollback(&self->base);
        }
    }
    mq_pdo_forget_cause();
}

/* ---- the rest of the table ---- */

static int64_t changes(struct mq_db *db)
{
    return mq_pdo_of(db)->changes;
}

static int64_t last_id(struct mq_db *db)
{
    struct mq_pdo *self = mq_pdo_of(db);
    zval result;
    int64_t id = 0;
    if (mq_pdo_call(self, (struct mq_php_method){&self->object, "lastinsertid", NULL, 0}, &result,
                    NULL) == MQ_OK) {
        id = zval_get_long(&result);
        zval_ptr_dtor(&result);
    }
    return id;
}

static enum mq_status maintain(struct mq_db *db, struct mq_error *err)
{
    (void)db, (void)err; /* checkpoints are made by whoever commits, as SQLite does by itself */
    return MQ_OK;
}

static enum mq_status reopen(struct mq_db *db, struct mq_error *err)
{
    (void)db;
    return mq_error_set(err, MQ_DATABASE, "database",
                        "the connection is the application's and cannot be opened anew");
}

static bool in_transaction(struct mq_db *db)
{
    return mq_pdo_of(db)->begun;
}

static bool joined(struct mq_db *db)
{
    return mq_pdo_of(db)->joined;
}

static bool has_column(struct mq_db *db, const char *table, const char *column)
{
    (void)db, (void)table, (void)column;
    return false; /* cannot be told without a query */
}

static void close_db(struct mq_db *db)
{
    struct mq_pdo *self = mq_pdo_of(db);
    unlist_open(self);
    mq_pdo_forget_statements(self);
    zval_ptr_dtor(&self->object);
    free(self->path);
    free(self);
}

static const char *path(struct mq_db *db)
{
    return mq_pdo_of(db)->path;
}

#define DRIVER(name)                                                                              \
    {                                                                                             \
        .dialect = (name), .begin = begin, .commit = commit, .rollback = rollback,                \
        .run = mq_pdo_run, .next = mq_pdo_next, .column = mq_pdo_column, .finish = mq_pdo_finish, \
        .changes = changes, .last_id = last_id, .maintain = maintain, .reopen = reopen,           \
        .in_transaction = in_transaction, .joined = joined, .has_column = has_column,             \
        .path = path, .close = close_db,                                                          \
    }

static const struct mq_db_driver drivers[MQ_DIALECT_COUNT] = {
    [MQ_SQLITE] = DRIVER(MQ_SQLITE),
    [MQ_PGSQL] = DRIVER(MQ_PGSQL),
};

const struct mq_db_driver *mq_pdo_driver(enum mq_dialect dialect)
{
    return &drivers[dialect];
}

bool mq_php_pdo_is(const struct mq_db *db)
{
    return db->driver->begin == begin;
}
