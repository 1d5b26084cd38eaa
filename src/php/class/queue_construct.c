/* MailQueue::__construct() and MailQueue::default(). */
#include "stubs/mailqueue_methods.h"

#include <string.h>

#include "zend_exceptions.h"

#include "core/ascii.h"
#include "db/server_dsn.h"
#include "php/class/classes.h"
#include "php/class/conversion.h"
#include "php/class/exceptions.h"
#include "php/class/queue_object.h"
#include "php/class/queue_options.h"
#include "php/class/value_objects.h"
#include "php/paths.h"
#include "php/pdo/call_method.h"
#include "php/pdo/server.h"
#include "php/zone_reader.h"
#include "php_mailqueue.h"

#define BUSY_TIMEOUT_MS     5000
#define BUSY_TIMEOUT_MAX_MS 3600000

enum argument {
    ARG_DATABASE = 1,
    ARG_TABLE,
    ARG_CONFIG_TABLE,
    ARG_REFERENCE_COLUMN,
    ARG_ORPHAN_CHECK,
    ARG_BACKOFF,
    ARG_JOURNAL,
    ARG_DURABILITY,
    ARG_BUSY_TIMEOUT
};

/* The constructor's arguments; borrowed from the call. NULL: not given. */
struct arguments {
    zend_string *database; /* NULL: `pdo` is given */
    zval *pdo;
    zend_string *table, *config_table, *reference_column, *orphan_check;
    zval *backoff;
    zend_string *journal, *durability;
    zend_long busy_timeout;
};

/* ---- $database ---- */

static bool is_foreign(const zend_string *database)
{
    return mq_server_dsn_is_foreign(mq_php_str(database));
}

const char *mq_php_database_file(const zend_string *database)
{
    const char *path = ZSTR_VAL(database);
    if (mq_php_dsn_is(database) || is_foreign(database)) {
        return NULL;
    }
    path += mq_text_begins_nocase(path, "sqlite:") ? strlen("sqlite:") : 0;
    bool is_file = *path && strcmp(path, ":memory:") != 0 && !mq_text_begins(path, "file:");
    return is_file ? path : NULL;
}

/* Returns what is wrong with the path, or NULL. `directory`: what a relative path begins at. */
static const char *fault_of(const char *path, char directory[MAXPATHLEN])
{
    *directory = '\0';
    if (path == NULL) {
        return "must be the path of an SQLite file, which other processes can open too: an empty "
               "path, \":memory:\" and URIs cannot be used";
    }
    if (mq_is_space(*path)) {
        return "must not begin with white space: remove it, or put ./ before the name of a file "
               "that begins so";
    }
    if (!IS_ABSOLUTE_PATH(path, strlen(path)) && !VCWD_GETCWD(directory, MAXPATHLEN)) {
        return "is a relative path, and the working directory is gone: give an absolute path";
    }
    return strlen(directory) + strlen(path) + 1 < MAXPATHLEN
               ? NULL
               : "is too long for a path: use a shorter one";
}

zend_string *mq_php_database_path(const zend_string *database)
{
    const char *path = mq_php_database_file(database);
    char directory[MAXPATHLEN];
    if (!mq_php_check_text(ARG_DATABASE, database)) {
        return NULL;
    }
    if (is_foreign(database)) {
        zend_throw_exception(mq_ce_exception,
                             "$database: there is no such kind of database: give the path of an "
                             "SQLite file, \"sqlite:\" and the path, \"pgsql:host=db;dbname=app\" "
                             "(PostgreSQL) or \"mysql:host=db;dbname=app\" (MySQL, MariaDB)",
                             0);
        return NULL;
    }
    const char *fault = fault_of(path, directory);
    if (fault) {
        zend_argument_value_error(ARG_DATABASE, "%s", fault);
        return NULL;
    }
    /* Links are not resolved, because the driver watches where they lead. */
    return zend_strpprintf(0, "%s%s%s", directory, *directory ? "/" : "", path);
}

static bool take_database(struct mq_php_queue *self, const struct arguments *args)
{
    zend_string *database = args->database;
    if (args->pdo) {
        ZVAL_COPY(&self->pdo, args->pdo);
        return true;
    }
    if (mq_php_dsn_is(database)) {
        self->dsn = mq_php_queue_keep(self, ZSTR_VAL(database), ZSTR_LEN(database));
        return mq_php_check_text(ARG_DATABASE, database);
    }
    zend_string *path = mq_php_database_path(database);
    if (path == NULL) {
        return false;
    }
    add_next_index_str(&self->texts, path);
    self->file.path = ZSTR_VAL(path);
    return true;
}

/* ---- the other arguments ---- */

/* Sets *out to the name; leaves it unchanged if none is given. */
static bool take_name(struct mq_php_queue *self, uint32_t arg, const zend_string *name,
                      const char **out)
{
    if (name == NULL) {
        return true;
    }
    if (strlen(ZSTR_VAL(name)) != ZSTR_LEN(name) || !mq_queue_is_name(ZSTR_VAL(name))) {
        zend_argument_value_error(arg, "must be a name of 1 to 63 letters, digits and underscores "
                                       "that does not begin with a digit");
        return false;
    }
    *out = mq_php_queue_keep(self, ZSTR_VAL(name), ZSTR_LEN(name));
    return true;
}

static bool take_journal(struct mq_php_queue *self, const struct arguments *args)
{
    const zend_string *journal = args->journal;
    const char *fault = "must be \"wal\", \"truncate\", \"delete\" or null";
    if (journal == NULL) {
        return true;
    }
    if (args->pdo) {
        fault = "must be null for a PDO: its connection has one";
    } else if (mq_php_dsn_is(args->database)) {
        fault = "must be null for a server: it is a file's";
    } else if (zend_string_equals_literal(journal, "wal") ||
               zend_string_equals_literal(journal, "truncate") ||
               zend_string_equals_literal(journal, "delete")) {
        self->file.journal = mq_php_queue_keep(self, ZSTR_VAL(journal), ZSTR_LEN(journal));
        return true;
    }
    zend_argument_value_error(ARG_JOURNAL, "%s", fault);
    return false;
}

static bool take_durability(struct mq_php_queue *self, const zend_string *durability)
{
    bool *normal = &self->file.synchronous_normal;
    *normal = durability && zend_string_equals_literal(durability, "normal");
    if (durability == NULL || *normal || zend_string_equals_literal(durability, "full")) {
        return true;
    }
    zend_argument_value_error(ARG_DURABILITY, "must be \"full\" or \"normal\"");
    return false;
}

/* Takes "table.column". */
static bool take_orphan_check(struct mq_php_queue *self, const zend_string *check)
{
    const char *text = check ? ZSTR_VAL(check) : NULL;
    const char *dot = check ? memchr(text, '.', ZSTR_LEN(check)) : NULL;
    if (check == NULL) {
        return true;
    }
    if (dot) {
        const char *table = mq_php_queue_keep(self, text, (size_t)(dot - text));
        if (strlen(text) == ZSTR_LEN(check) && mq_queue_is_name(table) &&
            mq_queue_is_name(dot + 1)) {
            self->options.orphan_table = table;
            self->options.orphan_column = mq_php_queue_keep(self, dot + 1, strlen(dot + 1));
            return true;
        }
    }
    zend_argument_value_error(ARG_ORPHAN_CHECK, "must be \"table.column\" or null");
    return false;
}

static const char *machine_setting(struct mq_php_queue *self, const char *name, const char *ini)
{
    const char *value = mq_php_setting(name, ini);
    return value ? mq_php_queue_keep(self, value, strlen(value)) : NULL;
}

static bool take_arguments(struct mq_php_queue *self, const struct arguments *args)
{
    struct mq_queue_options *options = &self->options;
    mq_queue_options_init(options);
    options->zones = &mq_php_zones;
    array_init(&self->texts);
    options->redirect_to = machine_setting(self, "MAILQUEUE_REDIRECT_TO", MAILQUEUE_G(redirect_to));
    options->allow_to = machine_setting(self, "MAILQUEUE_ALLOW_TO", MAILQUEUE_G(allow_to));
    if (args->backoff) {
        options->backoff = mq_php_backoff_of(Z_OBJ_P(args->backoff));
    }
    self->file.busy_timeout_ms = (int)args->busy_timeout;
    self->constructed =
        take_name(self, ARG_TABLE, args->table, &options->table) &&
        take_name(self, ARG_CONFIG_TABLE, args->config_table, &options->config_table) &&
        take_name(self, ARG_REFERENCE_COLUMN, args->reference_column, &options->reference_column) &&
        take_journal(self, args) && take_durability(self, args->durability) &&
        mq_php_check_range(ARG_BUSY_TIMEOUT, args->busy_timeout, 0, BUSY_TIMEOUT_MAX_MS,
                           " (milliseconds)") &&
        take_orphan_check(self, args->orphan_check) && take_database(self, args);
    return self->constructed;
}

static bool construct(zval *object, const struct arguments *args)
{
    struct mq_php_queue *self = mq_php_queue_from(Z_OBJ_P(object));
    if (self->constructed || self->opening) {
        zend_throw_error(NULL, "The MailQueue object is constructed already");
        return false;
    }
    if (take_arguments(self, args) && mq_php_queue_opened(object)) {
        return true;
    }
    /* An error handler or a stack trace may keep the object alive, so clear it now. */
    mq_php_queue_clear(self);
    return false;
}

ZEND_METHOD(MailQueue, __construct)
{
    struct arguments args = {.busy_timeout = BUSY_TIMEOUT_MS};
    zval *database;

    (void)return_value;
    if (zend_parse_parameters(ZEND_NUM_ARGS(), "z|SSSS!O!S!Sl", &database, &args.table,
                              &args.config_table, &args.reference_column, &args.orphan_check,
                              &args.backoff, mq_ce_backoff, &args.journal, &args.durability,
                              &args.busy_timeout) == FAILURE) {
        RETURN_THROWS();
    }
    if (mq_php_is_pdo(database)) {
        args.pdo = database;
        construct(ZEND_THIS, &args);
    } else if (zend_parse_arg_str(database, &args.database, false, ARG_DATABASE)) {
        zend_string *dsn = mq_php_dsn_hide(database);
        construct(ZEND_THIS, &args);
        if (dsn) {
            zend_string_release(dsn);
        }
    } else if (!EG(exception)) {
        zend_argument_type_error(ARG_DATABASE, "must be of type PDO|string, %s given",
                                 zend_zval_type_name(database));
    }
}

ZEND_METHOD(MailQueue, default)
{
    struct arguments args = {.busy_timeout = BUSY_TIMEOUT_MS};
    const char *path = MAILQUEUE_G(database);

    ZEND_PARSE_PARAMETERS_NONE();

    if (path == NULL || *path == '\0') {
        zend_throw_exception(mq_ce_exception,
                             "The ini setting mailqueue.database is empty: set it to the path of "
                             "the SQLite file, or to a server's DSN, in php.ini, or use new "
                             "MailQueue($path)",
                             0);
        RETURN_THROWS();
    }
    args.database = zend_string_init(path, strlen(path), 0);
    object_init_ex(return_value, mq_ce_queue);
    if (!construct(return_value, &args)) {
        zval_ptr_dtor(return_value);
        ZVAL_NULL(return_value);
    }
    zend_string_release(args.database);
}
