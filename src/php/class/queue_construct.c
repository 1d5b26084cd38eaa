/* MailQueue::__construct() and MailQueue::default(). */
#include "stubs/mailqueue_methods.h"

#include <string.h>

#include "zend_exceptions.h"

#include "core/ascii.h"
#include "php/class/classes.h"
#include "php/class/database_arg.h"
#include "php/class/exceptions.h"
#include "php/class/queue_object.h"
#include "php/class/value_objects.h"
#include "php/pdo/method.h"
#include "php/pdo/server.h"
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
    zend_string *database; /* NULL: `pdo` */
    zval *pdo;
    zend_string *table, *config_table, *reference_column, *orphan_check;
    zend_object *backoff;
    zend_string *journal, *durability;
    zend_long busy_timeout;
};

static bool is_identifier(const char *s, size_t len)
{
    if (len == 0 || len > 63 || mq_is_digit(s[0])) {
        return false;
    }
    while (len > 0 && (mq_is_alnum(s[len - 1]) || s[len - 1] == '_')) {
        len--;
    }
    return len == 0;
}

/* *out is the name, or the default. */
static bool take_name(uint32_t arg, zend_string *name, const char *standard, zend_string **out)
{
    if (name && !is_identifier(ZSTR_VAL(name), ZSTR_LEN(name))) {
        zend_argument_value_error(arg, "must be a name of 1 to 63 letters, digits and underscores "
                                       "that does not begin with a digit");
        return false;
    }
    *out = name ? zend_string_copy(name) : zend_string_init(standard, strlen(standard), 0);
    return true;
}

static bool check_journal(const struct arguments *args)
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
        return true;
    }
    zend_argument_value_error(ARG_JOURNAL, "%s", fault);
    return false;
}

static bool take_durability(struct mq_php_queue *self, const zend_string *durability)
{
    self->synchronous_normal = durability && zend_string_equals_literal(durability, "normal");
    if (durability == NULL || self->synchronous_normal ||
        zend_string_equals_literal(durability, "full")) {
        return true;
    }
    zend_argument_value_error(ARG_DURABILITY, "must be \"full\" or \"normal\"");
    return false;
}

/* "table.column" */
static bool parse_orphan_check(struct mq_php_queue *self, const zend_string *check)
{
    if (check == NULL) {
        return true;
    }
    const char *text = ZSTR_VAL(check);
    const char *dot = memchr(text, '.', ZSTR_LEN(check));
    size_t table_len = dot ? (size_t)(dot - text) : 0;
    size_t column_len = dot ? ZSTR_LEN(check) - table_len - 1 : 0;
    if (!is_identifier(text, table_len) || !is_identifier(dot + 1, column_len)) {
        zend_argument_value_error(ARG_ORPHAN_CHECK, "must be \"table.column\" or null");
        return false;
    }
    self->orphan_table = zend_string_init(text, table_len, 0);
    self->orphan_column = zend_string_init(dot + 1, column_len, 0);
    return true;
}

static bool take_database(struct mq_php_queue *self, const struct arguments *args)
{
    if (args->pdo) {
        ZVAL_COPY(&self->pdo, args->pdo);
        return true;
    }
    if (!mq_php_dsn_is(args->database)) {
        self->path = mq_php_database_path(args->database);
        return self->path != NULL;
    }
    self->dsn = zend_string_copy(args->database);
    return mq_php_check_text(ARG_DATABASE, args->database);
}

/* self->table is set last: it says that the object is complete. */
static bool take_arguments(struct mq_php_queue *self, const struct arguments *args)
{
    zend_string *table = NULL;
    self->backoff =
        args->backoff ? mq_php_backoff_of(args->backoff) : mq_backoffs[MQ_BACKOFF_STEPS];
    self->busy_timeout_ms = (int)args->busy_timeout;
    self->journal = args->journal ? zend_string_copy(args->journal) : NULL;
    if (take_name(ARG_TABLE, args->table, "mail_queue", &table) &&
        take_name(ARG_CONFIG_TABLE, args->config_table, "config", &self->config_table) &&
        take_name(ARG_REFERENCE_COLUMN, args->reference_column, "reference",
                  &self->reference_column) &&
        check_journal(args) && take_durability(self, args->durability) &&
        mq_php_check_range(ARG_BUSY_TIMEOUT, args->busy_timeout, 0, BUSY_TIMEOUT_MAX_MS,
                           " (milliseconds)") &&
        parse_orphan_check(self, args->orphan_check) && take_database(self, args)) {
        self->table = table;
        return true;
    }
    if (table) {
        zend_string_release(table);
    }
    return false;
}

static bool construct(zval *object, const struct arguments *args)
{
    struct mq_php_queue *self = mq_php_queue_from(Z_OBJ_P(object));
    if (self->table || self->opening) {
        zend_throw_error(NULL, "The MailQueue object is constructed already");
        return false;
    }
    if (take_arguments(self, args) && mq_php_queue_use(object)) {
        return true;
    }
    /* An error handler or a stack trace may hold a reference to the object. */
    mq_php_queue_clear(self);
    return false;
}

static bool parse_database(zval *value, struct arguments *args)
{
    if (mq_php_is_pdo(value)) {
        args->pdo = value;
        return true;
    }
    if (!zend_parse_arg_str(value, &args->database, false, ARG_DATABASE)) {
        if (!EG(exception)) {
            zend_argument_type_error(ARG_DATABASE, "must be of type PDO|string, %s given",
                                     zend_zval_type_name(value));
        }
        return false;
    }
    return true;
}

ZEND_METHOD(MailQueue, __construct)
{
    struct arguments args = {.busy_timeout = BUSY_TIMEOUT_MS};
    zval *database;

    (void)return_value;
    ZEND_PARSE_PARAMETERS_START(1, 9)
        Z_PARAM_ZVAL(database)
        Z_PARAM_OPTIONAL
        Z_PARAM_STR(args.table)
        Z_PARAM_STR(args.config_table)
        Z_PARAM_STR(args.reference_column)
        Z_PARAM_STR_OR_NULL(args.orphan_check)
        Z_PARAM_OBJ_OF_CLASS_OR_NULL(args.backoff, mq_ce_backoff)
        Z_PARAM_STR_OR_NULL(args.journal)
        Z_PARAM_STR(args.durability)
        Z_PARAM_LONG(args.busy_timeout)
    ZEND_PARSE_PARAMETERS_END();

    if (parse_database(database, &args)) {
        zend_string *dsn = args.database ? mq_php_dsn_hide(database) : NULL;
        construct(ZEND_THIS, &args);
        if (dsn) {
            zend_string_release(dsn);
        }
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
