/* The PDO driver: its table, transactions, close. */
#include "core/ascii.h"
#include "php/pdo/call.h"

#include <stdlib.h>
#include <string.h>

#include "php/pdo/mysql.h"
#include "php/pdo/own.h"
#include "php/pdo/pdo_statement.h"

#include "php_mailqueue.h"

/* ---- transactions ---- */

static void ended(struct mq_pdo *self)
{
    self->begun = self->joined = self->lost = self->aborted = false;
    mq_pdo_leave(self);
}

/* Finds a driver that is within a transaction, on the given PDO or (NULL) on any. */
static struct mq_pdo *find_begun(const zval *pdo)
{
    struct mq_pdo *at = MAILQUEUE_G(pdo_drivers);
    while (at && (!at->begun || (pdo && !zend_is_identical(&at->object, (zval *)pdo)))) {
        at = at->next;
    }
    return at;
}

static const char *rollback_text(const struct mq_pdo *self)
{
    return mq_pdo_is_mysql(self) ? "ROLLBACK" MQ_PDO_MYSQL_END : "ROLLBACK";
}

static const char *begin_text(const struct mq_pdo *self)
{
    if (self->own.begin[0]) {
        return self->own.begin;
    }
    return mq_pdo_is_pgsql(self) ? "BEGIN ISOLATION LEVEL READ COMMITTED" : "BEGIN IMMEDIATE";
}

enum mq_status mq_pdo_left_open(const char *who, struct mq_error *err)
{
    return mq_error_set(err, MQ_DATABASE, "database",
                        "%s left a transaction open on the PDO that the worker uses; it was rolled "
                        "back: commit it before returning",
                        who);
}

/* Undoes the application's transaction, which begin() has joined: a worker must not join one. */
static enum mq_status refuse_join(struct mq_pdo *self, struct mq_error *err)
{
    self->joined = false;
    MQ_TRY(mq_pdo_exec(self, rollback_text(self), err));
    return mq_pdo_left_open("PHP code", err);
}

/* Asks PDO for an open transaction, but also tries to begin one, because only the database knows:
 * SQLite's PDO does not see one that exec('BEGIN') opened, and a subclass may answer anything. */
static enum mq_status begin_or_join(struct mq_pdo *self, struct mq_error *err)
{
    bool joins = false;
    MQ_TRY(mq_pdo_in_transaction(self, &joins, err));
    bool told = joins;
    if (!joins) {
        enum mq_status status = mq_pdo_is_mysql(self) ? mq_pdo_mysql_begin(self, &joins, err)
                                                      : mq_pdo_exec(self, begin_text(self), err);
        joins = joins || (status == MQ_DATABASE && mq_pdo_cause_is_nested());
        if (!joins) {
            return status;
        }
        mq_pdo_forget_cause(self);
    }
    MQ_TRY(mq_pdo_exec(self, "SAVEPOINT mailqueue", err));
    MQ_TRY(told && mq_pdo_is_mysql(self) ? mq_pdo_mysql_joined(self, err) : MQ_OK);
    self->joined = true;
    return self->worker ? refuse_join(self, err) : MQ_OK;
}

static enum mq_status enter_and_begin(struct mq_pdo *self, struct mq_error *err)
{
    enum mq_status status = mq_pdo_enter(self, err);
    if (status == MQ_OK) {
        status = begin_or_join(self, err);
    }
    if (status != MQ_OK) {
        mq_pdo_leave(self);
    }
    return status;
}

/* Called before anything is written. Fails if a queue is within a transaction on this PDO: that
 * queue called the PHP code that runs now, and its ROLLBACK would undo what is stored here. */
static enum mq_status prepare_to_write(struct mq_pdo *self, struct mq_error *err)
{
    if (self->begun || find_begun(&self->object)) {
        return mq_error_set(err, MQ_DATABASE, "database",
                            "a mail queue is in use on this PDO already, by what called this code");
    }
    mq_pdo_finish(&self->base);
    mq_pdo_forget_cause(self);
    return MQ_OK;
}

/* Sets MQ_ALONE_NEVER on SQLite and MySQL, and for sessions that do not limit their waits for
 * locks: a worker's, and our own behind a pooler. */
static enum mq_status alone(struct mq_db *db, enum mq_alone *what, struct mq_error *err)
{
    struct mq_pdo *self = mq_pdo_of(db);
    bool may = mq_pdo_is_pgsql(self) && !self->worker && (!self->own.dsn || self->own.bounded);
    bool within = false;
    *what = MQ_ALONE_NEVER;
    if (!may) {
        return MQ_OK;
    }
    MQ_TRY(prepare_to_write(self, err));
    MQ_TRY(self->own.dsn ? mq_pdo_wake(self, err) : MQ_OK);
    MQ_TRY(mq_pdo_in_transaction(self, &within, err));
    *what = within ? MQ_ALONE_JOINS : MQ_ALONE_COMMITS;
    return MQ_OK;
}

static enum mq_status begin(struct mq_db *db, struct mq_error *err)
{
    struct mq_pdo *self = mq_pdo_of(db);
    MQ_TRY(prepare_to_write(self, err));
    enum mq_status status = enter_and_begin(self, err);
    if (status != MQ_OK && mq_pdo_resume(self, status, err)) {
        status = enter_and_begin(self, err);
    }
    MQ_TRY(status);
    self->begun = self->fresh = true;
    return MQ_OK;
}

static enum mq_status begin_inserts(struct mq_db *db, struct mq_error *err)
{
    struct mq_pdo *self = mq_pdo_of(db);
    self->inserts = true;
    enum mq_status status = begin(db, err);
    self->inserts = false;
    return status;
}

static const char *end_text(const struct mq_pdo *self)
{
    if (self->joined) {
        return "RELEASE SAVEPOINT mailqueue";
    }
    return mq_pdo_is_mysql(self) ? "COMMIT" MQ_PDO_MYSQL_END : "COMMIT";
}

static enum mq_status commit(struct mq_db *db, struct mq_error *err)
{
    struct mq_pdo *self = mq_pdo_of(db);
    if (!self->begun) {
        return mq_error_set(err, MQ_DATABASE, "database", "a commit without a transaction");
    }
    mq_pdo_finish(db);
    if (self->lost) {
        return mq_error_set(err, MQ_DATABASE, "database",
                            "PDO did not say what a statement wrote: nothing was stored");
    }
    if (self->aborted) {
        /* For a COMMIT, PostgreSQL would roll back and report success. */
        return mq_error_set(err, MQ_DATABASE, "database",
                            "a statement of the transaction failed: nothing of it was stored");
    }
    enum mq_status status = mq_pdo_exec(self, end_text(self), err);
    if (status == MQ_IO && err) {
        err->in_doubt = !self->joined;
    }
    MQ_TRY(status);
    ended(self);
    mq_pdo_forget_cause(self);
    return MQ_OK;
}

/* After an error SQLite may have undone the transaction already, so failures here are ignored. The
 * first failure stays the cause. */
static void rollback(struct mq_db *db)
{
    struct mq_pdo *self = mq_pdo_of(db);
    if (!self->begun || self->bailed || mq_pdo_is_foreign(self)) {
        return;
    }
    zend_object *cause = mq_php_pdo_take_cause();
    mq_pdo_finish(db);
    if (self->joined) {
        bool there = mq_pdo_undo(self, "ROLLBACK TO mailqueue") == MQ_OK;
        if (there) {
            mq_pdo_exec(self, "RELEASE SAVEPOINT mailqueue", NULL);
        }
        MAILQUEUE_G(pdo_undone) = !there && !self->bailed;
        if (!there && mq_pdo_is_mysql(self)) {
            mq_pdo_exec(self, "DO 0", NULL); /* only a success tells PDO that the transaction is
                                                over */
        }
    } else {
        mq_pdo_undo(self, rollback_text(self));
    }
    ended(self);
    mq_pdo_keep_cause(self, cause);
}

/* In a child, freeing our statements or our own PDO would end those of the parent in the server. */
static void leave_to_parent(struct mq_pdo *self)
{
    if (mq_pdo_is_foreign(self)) {
        mq_pdo_abandon(self, self->own.dsn != NULL);
    }
}

static void free_driver(struct mq_pdo *self)
{
    struct mq_pdo **at = &MAILQUEUE_G(pdo_drivers);
    while (*at && *at != self) {
        at = &(*at)->next;
    }
    if (*at) {
        *at = self->next;
    }
    leave_to_parent(self);
    mq_pdo_forget_statements(self);
    mq_pdo_drop(self, &self->object);
    free(self->own.dsn);
    free(self->path);
    free(self);
}

bool mq_php_pdo_bailed(struct mq_db *db)
{
    return mq_pdo_of(db)->bailed;
}

bool mq_php_pdo_take_undone(void)
{
    bool undone = MAILQUEUE_G(pdo_undone);
    MAILQUEUE_G(pdo_undone) = false;
    return undone;
}

void mq_php_pdo_request_ends(void)
{
    for (struct mq_pdo *self; (self = find_begun(NULL)) != NULL;) {
        self->bailed = false; /* PHP no longer unwinds */
        bool usable = Z_TYPE(self->object) == IS_OBJECT && !mq_pdo_is_foreign(self);
        if (usable && !(OBJ_FLAGS(Z_OBJ(self->object)) & IS_OBJ_FREE_CALLED)) {
            rollback(&self->base);
        }
        self->begun = false;
        if (self->closing) {
            free_driver(self);
        }
    }
    mq_pdo_forget_cause(NULL);
    MAILQUEUE_G(pdo_undone) = false;
    /* PHP will free what the other drivers hold in its own order, statements first. */
    for (struct mq_pdo *self = MAILQUEUE_G(pdo_drivers); self; self = self->next) {
        leave_to_parent(self);
    }
}

enum mq_status mq_php_pdo_usable(struct mq_db *db, struct mq_error *err)
{
    struct mq_pdo *self = mq_pdo_of(db);
    if (self->calling && !self->bailed) {
        return mq_error_set(err, MQ_DATABASE, "database",
                            "this MailQueue is in use already, by what called this code (a method "
                            "of the PDO, a signal handler, an SQL function): use another PDO and a "
                            "MailQueue with it");
    }
    if (self->bailed) {
        /* A shutdown function runs after the fatal error: PHP no longer unwinds. */
        self->bailed = self->calling = false;
        rollback(db);
        mq_pdo_finish(db);
    }
    return MQ_OK;
}

/* ---- the rest of the table ---- */

/* Whether the failed statement can be run again, because its failure undid no statement that had
 * succeeded. A transaction of our own is repeated by its caller. */
static bool may_repeat(struct mq_pdo *self)
{
    bool again = self->again && !self->bailed;
    self->again = false;
    if (again && !self->begun && self->stale) {
        self->stale = false; /* a transaction is not open: end_guard() would have freed them */
        mq_pdo_forget_statements(self);
    }
    if (!again || !self->begun) {
        return again;
    }
    if (!self->joined || !self->fresh || mq_pdo_undo(self, "ROLLBACK TO mailqueue") != MQ_OK) {
        return false;
    }
    self->aborted = false;
    return true;
}

static enum mq_status run(struct mq_db *db, const struct mq_query *query, struct mq_error *err)
{
    struct mq_pdo *self = mq_pdo_of(db);
    enum mq_status status = mq_pdo_run(db, query, err);
    bool reads = mq_text_begins(query->sql, "SELECT");
    bool again = status != MQ_OK && reads && mq_pdo_resume(self, status, err);
    if (again || (status == MQ_TX_ABORTED && may_repeat(self))) {
        mq_pdo_forget_cause(self);
        status = mq_pdo_run(db, query, err);
    }
    return status;
}

#define SPARE_OCTETS (4 << 20) /* for everything but the column */

/* PDO holds a column twice. libpq also holds the column's text, which is twice as long. */
static bool has_room(struct mq_db *db, size_t octets)
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

/* Asks a function of the database. With SQLite neither rowCount() nor lastInsertId() can be used:
 * PRAGMA count_changes makes the first say nothing, and a subclass may have overridden the
 * second. */
static int64_t ask(struct mq_db *db, int slot, const char *sql)
{
    struct mq_query query = {.slot = slot, .sql = sql};
    int64_t number = -1;
    mq_pdo_ask(mq_pdo_of(db), &query, &number, NULL);
    if (number < 0) {
        mq_pdo_of(db)->lost = true;
    }
    return number;
}

static int64_t changes(struct mq_db *db)
{
    struct mq_pdo *self = mq_pdo_of(db);
    bool native = db->driver->dialect == MQ_SQLITE;
    return native ? ask(db, MQ_PDO_CHANGES, "SELECT changes()") : self->changes;
}

static int64_t last_id(struct mq_db *db)
{
    bool mysql = mq_pdo_is_mysql(mq_pdo_of(db));
    return ask(db, MQ_PDO_LAST_ID,
               mysql ? "SELECT LAST_INSERT_ID()" : "SELECT last_insert_rowid()");
}

static enum mq_status reopen(struct mq_db *db, struct mq_error *err)
{
    if (mq_pdo_of(db)->own.dsn) {
        return mq_pdo_reopen(mq_pdo_of(db), err);
    }
    return mq_error_set(err, MQ_CONFIG, "database",
                        "the connection is the application's and cannot be opened again");
}

static bool joined(struct mq_db *db)
{
    return mq_pdo_of(db)->joined;
}

/* A transaction that is still open was broken off by a fatal error. It is rolled back when the
 * request ends; until then, nothing may join it. A call under way belongs to that rollback. */
static void close_db(struct mq_db *db)
{
    struct mq_pdo *self = mq_pdo_of(db);
    if (self->begun || self->calling) {
        self->closing = true;
    } else {
        free_driver(self);
    }
}

void mq_php_pdo_held(struct mq_db *db, zend_get_gc_buffer *buffer)
{
    struct mq_pdo *self = mq_pdo_of(db);
    if (self->own.dsn) {
        return; /* no other object holds our own PDO, so it is freed with the queue */
    }
    zend_get_gc_buffer_add_zval(buffer, &self->object);
    for (int i = 0; i < MQ_PDO_SLOTS; i++) {
        zend_get_gc_buffer_add_zval(buffer, &self->slots[i].object);
    }
}

static const char *path(struct mq_db *db)
{
    return mq_pdo_of(db)->path;
}

#define DRIVER(name)                                                                              \
    {                                                                                             \
        .dialect = (name), .begin = begin, .begin_inserts = begin_inserts, .commit = commit,      \
        .rollback = rollback, .alone = alone, .run = run, .next = mq_pdo_next,                    \
        .column = mq_pdo_column, .columns = mq_pdo_columns, .finish = mq_pdo_finish,              \
        .changes = changes, .last_id = last_id, .reopen = reopen, .joined = joined, .path = path, \
        .has_column = mq_pdo_has_column, .has_room = has_room, .close = close_db,                 \
        .wait = mq_pdo_wait,                                                                      \
    }

static const struct mq_db_driver drivers[MQ_DIALECT_COUNT] = {
    [MQ_SQLITE] = DRIVER(MQ_SQLITE),
    [MQ_PGSQL] = DRIVER(MQ_PGSQL),
    [MQ_MYSQL] = DRIVER(MQ_MYSQL),
};

/* ---- opening ---- */

static struct mq_pdo *new_driver(void)
{
    struct mq_pdo *self = calloc(1, sizeof *self);
    if (self) {
        self->drivers = drivers;
        self->base.driver = &self->drivers[MQ_SQLITE];
        self->pid = mq_process_id();
        self->next = MAILQUEUE_G(pdo_drivers);
        MAILQUEUE_G(pdo_drivers) = self;
    }
    return self;
}

static enum mq_status opened(struct mq_pdo *self, enum mq_status status, struct mq_db **out)
{
    if (status == MQ_OK) {
        *out = &self->base;
    } else {
        self->base.driver->close(&self->base);
    }
    return status;
}

enum mq_status mq_php_pdo_open(zval *object, struct mq_db **out, struct mq_error *err)
{
    struct mq_pdo *self = new_driver();
    if (!self) {
        return mq_error_nomem(err);
    }
    ZVAL_COPY(&self->object, object);
    return opened(self, mq_pdo_look(self, err), out);
}

enum mq_status mq_php_pdo_open_dsn(const struct mq_php_pdo_options *options, struct mq_db **out,
                                   struct mq_error *err)
{
    struct mq_pdo *self = new_driver();
    if (!self) {
        return mq_error_nomem(err);
    }
    self->own.busy_timeout_ms = options->busy_timeout_ms;
    self->own.resumes = !options->worker;
    self->own.dsn = mq_str_dup(mq_str_of(options->dsn));
    return opened(self, self->own.dsn ? mq_pdo_connect(self, err) : mq_error_nomem(err), out);
}

bool mq_php_pdo_is(const struct mq_db *db)
{
    return db->driver->begin == begin;
}
