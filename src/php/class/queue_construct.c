/* MailQueue::__construct() and MailQueue::default(). */
#include "stubs/mailqueue_methods.h"

#include <string.h>

#include "core/ascii.h"
#include "php/class/classes.h"
#include "php/class/database_arg.h"
#include "php/class/exceptions.h"
#include "php/class/queue_object.h"
#include "php/class/value_objects.h"
#include "php/pdo/method.h"
#include "php/pdo/server.h"
#include "php_mailqueue.h"

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

struct text {
    char *s;
    size_t len;
};
#define TEXT(literal) ((struct text){(char *)(literal), sizeof(literal) - 1})

/* The constructor's arguments; borrowed from the call. */
struct arguments {
    zend_string *database; /* NULL: `pdo` */
    zval *pdo;
    struct text table;
    struct text config_table;
    struct text reference_column;
    zend_string *orphan_check; /* NULL: none */
    zend_object *backoff;      /* NULL: steps */
    zend_string *journal;      /* NULL: as the driver chooses */
    struct text durability;
    zend_long busy_timeout;
};

static struct arguments default_arguments(void)
{
    return (struct arguments){
        .table = TEXT("mail_queue"),
        .config_table = TEXT("config"),
        .reference_column = TEXT("reference"),
        .durability = TEXT("full"),
        .busy_timeout = 5000,
    };
}

static bool is_identifier(const char *s, size_t len)
{
    if (len == 0 || len > 63 || mq_is_digit(s[0])) {
        return false;
    }
    for (size_t i = 0; i < len; i++) {
        if (!mq_is_alnum(s[i]) && s[i] != '_') {
            return false;
        }
    }
    return true;
}

static bool check_identifier(uint32_t arg, struct text name)
{
    if (is_identifier(name.s, name.len)) {
        return true;
    }
    zend_argument_value_error(arg, "must be a name of 1 to 63 letters, digits and underscores that "
                                   "does not begin with a digit");
    return false;
}

static bool check_names(const struct arguments *args)
{
    return check_identifier(ARG_TABLE, args->table) &&
           check_identifier(ARG_CONFIG_TABLE, args->config_table) &&
           check_identifier(ARG_REFERENCE_COLUMN, args->reference_column);
}

static bool is_one_of(struct text value, const char *const *allowed)
{
    for (; *allowed; allowed++) {
        if (value.len == strlen(*allowed) && memcmp(value.s, *allowed, value.len) == 0) {
            return true;
        }
    }
    return false;
}

static bool check_options(const struct arguments *args)
{
    static const char *const journals[] = {"wal", "truncate", "delete", NULL};
    static const char *const durabilities[] = {"full", "normal", NULL};
    struct text journal = {NULL, 0};
    if (args->journal) {
        journal = (struct text){ZSTR_VAL(args->journal), ZSTR_LEN(args->journal)};
    }
    if (args->journal && args->pdo) {
        zend_argument_value_error(ARG_JOURNAL, "must be null for a PDO: its connection has one");
        return false;
    }
    if (args->journal && mq_php_dsn_is(args->database)) {
        zend_argument_value_error(ARG_JOURNAL, "must be null for a server: it is a file's");
        return false;
    }
    if (args->journal && !is_one_of(journal, journals)) {
        zend_argument_value_error(ARG_JOURNAL, "must be \"wal\", \"truncate\", \"delete\" or null");
        return false;
    }
    if (!is_one_of(args->durability, durabilities)) {
        zend_argument_value_error(ARG_DURABILITY, "must be \"full\" or \"normal\"");
        return false;
    }
    return mq_php_check_range(ARG_BUSY_TIMEOUT, args->busy_timeout, 0, BUSY_TIMEOUT_MAX_MS,
                              " (milliseconds)");
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

static bool take_arguments(struct mq_php_queue *self, const struct arguments *args)
{
    if (!check_names(args) || !check_options(args) ||
        !parse_orphan_check(self, args->orphan_check)) {
        return false;
    }
    if (args->pdo) {
        ZVAL_COPY(&self->pdo, args->pdo);
    } else if (mq_php_dsn_is(args->database)) {
        if (!mq_php_check_text(ARG_DATABASE, args->database)) {
            return false;
        }
        self->dsn = zend_string_copy(args->database);
    } else {
        self->path = mq_php_database_path(args->database);
        if (self->path == NULL) {
            return false;
        }
    }
    self->table = zend_string_init(args->table.s, args->table.len, 0);
    self->config_table = zend_string_init(args->config_table.s, args->config_table.len, 0);
    self->reference_column =
        zend_string_init(args->reference_column.s, args->reference_column.len, 0);
    self->journal = args->journal ? zend_string_copy(args->journal) : NULL;
    self->backoff = args->backoff ? mq_php_backoff_of(args->backoff) : mq_backoff_steps();
    self->synchronous_normal = args->durability.len == strlen("normal");
    self->busy_timeout_ms = (int)args->busy_timeout;
    return true;
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
    /* An error handler or a stack trace may have got hold of the object. */
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
    struct arguments args = default_arguments();
    zval *database;

    (void)return_value;
    ZEND_PARSE_PARAMETERS_START(1, 9)
        Z_PARAM_ZVAL(database)
        Z_PARAM_OPTIONAL
        Z_PARAM_STRING(args.table.s, args.table.len)
        Z_PARAM_STRING(args.config_table.s, args.config_table.len)
        Z_PARAM_STRING(args.reference_column.s, args.reference_column.len)
        Z_PARAM_STR_OR_NULL(args.orphan_check)
        Z_PARAM_OBJ_OF_CLASS_OR_NULL(args.backoff, mq_ce_backoff)
        Z_PARAM_STR_OR_NULL(args.journal)
        Z_PARAM_STRING(args.durability.s, args.durability.len)
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

static void throw_no_default(void)
{
    struct mq_error err;
    mq_error_set(&err, MQ_CONFIG, "mailqueue.database",
                 "The ini setting mailqueue.database is empty: set it to the path of the "
                 "SQLite file, or to a server's DSN, in php.ini, or use new MailQueue($path)");
    mq_php_throw(&err);
}

ZEND_METHOD(MailQueue, default)
{
    struct arguments args = default_arguments();
    const char *path = MAILQUEUE_G(database);

    ZEND_PARSE_PARAMETERS_NONE();

    if (path == NULL || *path == '\0') {
        throw_no_default();
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
