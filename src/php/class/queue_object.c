/* The MailQueue object: its options and its connection. After a fork, a replaced file or a lost
 * server, the next use opens another connection. */
#include "php/class/queue_object.h"
#include "php/class/queue_options.h"

#include <string.h>
#include <unistd.h>

#include "core/process_id.h"
#include "php/class/classes.h"
#include "php/class/exceptions.h"
#include "php/pdo/driver.h"

/* Set once when the module starts. */
static zend_object_handlers handlers;

static zend_object *queue_create(zend_class_entry *ce)
{
    struct mq_php_queue *self = zend_object_alloc(sizeof *self, ce);
    zend_object_std_init(&self->std, ce);
    object_properties_init(&self->std, ce);
    self->std.handlers = &handlers;
    return &self->std;
}

/* Sets `opening`, because freeing a PDO can run PHP code, which may use this object again. */
static void close_queue(struct mq_php_queue *self)
{
    struct mq_queue *queue = self->queue;
    bool within = self->opening;
    self->opening = true;
    self->queue = NULL;
    mq_queue_close(queue);
    self->opening = within;
}

void mq_php_queue_clear(struct mq_php_queue *self)
{
    zval pdo;
    close_queue(self);
    self->constructed = false;
    self->dsn = NULL;
    self->file = (struct mq_sqlite_options){0};
    ZVAL_COPY_VALUE(&pdo, &self->pdo);
    ZVAL_UNDEF(&self->pdo);
    zval_ptr_dtor(&self->texts);
    ZVAL_UNDEF(&self->texts);
    zval_ptr_dtor(&pdo);
}

const char *mq_php_queue_keep(struct mq_php_queue *self, const char *text, size_t len)
{
    zend_string *kept = zend_string_init(text, len, 0);
    add_next_index_str(&self->texts, kept);
    return ZSTR_VAL(kept);
}

/* Clears weak references first: destructors that run afterwards could revive the object by them. */
static void queue_free(zend_object *object)
{
    zend_object_std_dtor(object);
    mq_php_queue_clear(mq_php_queue_from(object));
}

/* For the cycle collector: a PDO's SQL functions or a subclass's properties may hold this object.
 */
static HashTable *queue_get_gc(zend_object *object, zval **table, int *count)
{
    struct mq_php_queue *self = mq_php_queue_from(object);
    zend_get_gc_buffer *buffer = zend_get_gc_buffer_create();
    zend_get_gc_buffer_add_zval(buffer, &self->pdo);
    if (self->queue && mq_php_pdo_is(mq_queue_db(self->queue))) {
        mq_php_pdo_held(mq_queue_db(self->queue), buffer);
    }
    zend_get_gc_buffer_use(buffer, table, count);
    return zend_std_get_properties(object);
}

/* Compares by identity, because objects without properties would all be equal. This is only for two
 * objects: `$queue == true` stays true. */
static int queue_compare(zval *one, zval *other)
{
    ZEND_COMPARE_OBJECTS_FALLBACK(one, other);
    return zend_objects_not_comparable(one, other);
}

void mq_php_queue_register(zend_class_entry *ce)
{
    memcpy(&handlers, zend_get_std_object_handlers(), sizeof handlers);
    handlers.offset = offsetof(struct mq_php_queue, std);
    handlers.free_obj = queue_free;
    handlers.get_gc = queue_get_gc;
    handlers.clone_obj = NULL;
    handlers.compare = queue_compare;
    ce->create_object = queue_create;
}

/* The journal is made beside the file, so its directory has to be allowed as well. */
static enum mq_status check_open_basedir(const char *path, struct mq_error *err)
{
    char directory[MAXPATHLEN];
    snprintf(directory, sizeof directory, "%s", path);
    zend_dirname(directory, strlen(directory));
    if (php_check_open_basedir_ex(path, 0) == 0 && php_check_open_basedir_ex(directory, 0) == 0) {
        return MQ_OK;
    }
    return mq_error_set(err, MQ_CANTOPEN, "database",
                        "%s: open_basedir does not allow this file and its directory; add the "
                        "directory to open_basedir or move the database",
                        path);
}

static enum mq_status open_file(const struct mq_php_queue *self, bool worker, struct mq_db **out,
                                struct mq_error *err)
{
    struct mq_sqlite_options file = self->file;
    file.worker = worker;
    MQ_TRY(check_open_basedir(file.path, err));
    return mq_sqlite_open(&file, out, err);
}

/* For a file, a worker always opens its own connection: PHP code that uses the application's
 * connection during the run must not end the worker's transactions. For a server, the worker uses
 * the application's PDO, because the queue does not know how to open another. */
static enum mq_status open_db(struct mq_php_queue *self, bool worker, struct mq_db **out,
                              struct mq_error *err)
{
    if (self->dsn) {
        struct mq_php_pdo_options options = {self->dsn, self->file.busy_timeout_ms, worker};
        return mq_php_pdo_open_dsn(&options, out, err);
    }
    bool on_file = !self->queue || !mq_queue_is_shared(self->queue);
    if (worker && on_file && self->file.path == NULL) {
        return mq_error_set(err, MQ_CONFIG, "database",
                            "the PDO's database is in memory: a worker needs one in a file, which "
                            "it can open too");
    }
    if (Z_ISUNDEF(self->pdo) || (worker && on_file)) {
        return open_file(self, worker, out, err);
    }
    if (self->pid && self->pid != mq_process_id()) {
        return mq_error_set(err, MQ_DATABASE, "database",
                            "the PDO connection belongs to the process that forked this one: open "
                            "a PDO of its own here, and a MailQueue with it");
    }
    return mq_php_pdo_open(&self->pdo, out, err);
}

static enum mq_status check_opened(struct mq_db *db, bool worker, struct mq_error *err)
{
    if (mq_php_pdo_is(db)) {
        return worker ? mq_php_pdo_for_worker(db, err) : MQ_OK;
    }
    /* A link of the path may have been changed between the check and the opening. */
    return check_open_basedir(db->driver->path(db), err);
}

enum mq_status mq_php_queue_open(struct mq_php_queue *self, bool worker, struct mq_queue **out,
                                 struct mq_error *err)
{
    struct mq_db *db = NULL;
    MQ_TRY(open_db(self, worker, &db, err));
    enum mq_status status = check_opened(db, worker, err);
    if (status != MQ_OK) {
        db->driver->close(db);
        return status;
    }
    return mq_queue_open(db, &self->options, out, err);
}

void mq_php_queue_let_go(struct mq_php_queue *self)
{
    if (Z_ISUNDEF(self->pdo) && !self->dsn) {
        close_queue(self);
    }
}

/* In a forked child, frees the queue without closing the connection, which belongs to the parent.
 * The next use opens another connection. */
static void abandon_after_fork(struct mq_php_queue *self)
{
    if (self->pid != mq_process_id()) {
        close_queue(self);
        self->working = false;
    }
}

/* Fails with MQ_DATABASE while a call on the connection is under way. */
static enum mq_status check_free(const struct mq_php_queue *self, struct mq_error *err)
{
    struct mq_db *db = self->queue ? mq_queue_db(self->queue) : NULL;
    if (self->opening) {
        return mq_error_set(err, MQ_DATABASE, "database",
                            "this MailQueue is being opened or closed, by what called this code: "
                            "use another one");
    }
    return db && mq_php_pdo_is(db) ? mq_php_pdo_usable(db, err) : MQ_OK;
}

static bool open_queue(struct mq_php_queue *self)
{
    struct mq_error err;
    pid_t pid = mq_process_id();
    self->opening = true;
    enum mq_status status = mq_php_queue_open(self, false, &self->queue, &err);
    self->opening = false;
    if (!mq_php_ok(status, &err)) {
        return false;
    }
    self->pid = pid;
    self->file.must_exist = true;
    if (self->file.path == NULL) {
        const char *path = mq_queue_path(self->queue);
        self->file.path = path ? mq_php_queue_keep(self, path, strlen(path)) : NULL;
    }
    return true;
}

struct mq_queue *mq_php_queue_opened(zval *object)
{
    struct mq_php_queue *self = mq_php_queue_from(Z_OBJ_P(object));
    if (!self->constructed) {
        zend_throw_error(NULL, "The MailQueue object was not constructed");
        return NULL;
    }
    struct mq_error err;
    if (!mq_php_ok(check_free(self, &err), &err)) {
        return NULL;
    }
    abandon_after_fork(self);
    return self->queue || open_queue(self) ? self->queue : NULL;
}

bool mq_php_queue_ok(zval *object, enum mq_status status, const struct mq_error *err)
{
    struct mq_php_queue *self = mq_php_queue_from(Z_OBJ_P(object));
    struct mq_db *db = self->queue ? mq_queue_db(self->queue) : NULL;
    if (db && mq_php_pdo_is(db) && mq_php_pdo_bailed(db)) {
        status = MQ_BAILOUT;
    }
    if ((status == MQ_REPLACED || (status == MQ_IO && self->dsn)) &&
        check_free(self, NULL) == MQ_OK) {
        close_queue(self);
    }
    return mq_php_ok(status, err);
}

struct mq_queue *mq_php_queue_use(zval *object)
{
    struct mq_queue *queue = mq_php_queue_opened(object);
    struct mq_error err;
    return queue && mq_php_queue_ok(object, mq_queue_prepare(queue, &err), &err) ? queue : NULL;
}
