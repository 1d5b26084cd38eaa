#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php/pdo/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "zend_exceptions.h"

#include "core/buffer.h"
#include "core/file_id.h"
#include "db/server_dsn.h"
#include "php/guard.h"
#include "php/pdo/call.h"
#include "php_mailqueue.h"

#define CONNECT_TIMEOUT_S 10
#define PASSWORD_MAX      4096
#define MYSQL_GONE        2006
#define PASSWORD_FILE     "MAILQUEUE_DATABASE_PASSWORD_FILE"

bool mq_php_dsn_is(const zend_string *database)
{
    return mq_server_dsn_is((struct mq_str){ZSTR_VAL(database), ZSTR_LEN(database)});
}

static bool is_file(struct mq_str text)
{
    return !mq_server_dsn_is(text) && !mq_server_dsn_is_foreign(text);
}

zend_string *mq_php_dsn_shown(zend_string *database)
{
    struct mq_str text = {ZSTR_VAL(database), ZSTR_LEN(database)};
    bool password = false;
    char *shown = is_file(text) ? NULL : mq_server_dsn_describe(text, &password);
    if (!shown) {
        return is_file(text) ? zend_string_copy(database) : ZSTR_EMPTY_ALLOC();
    }
    zend_string *result = zend_string_init(shown, strlen(shown), 0);
    free(shown);
    return result;
}

zend_string *mq_php_dsn_hide(zval *argument)
{
    if (Z_TYPE_P(argument) != IS_STRING ||
        is_file((struct mq_str){Z_STRVAL_P(argument), Z_STRLEN_P(argument)})) {
        return NULL;
    }
    zend_string *kept = zend_string_copy(Z_STR_P(argument));
    zend_string *shown = mq_php_dsn_shown(kept);
    zval_ptr_dtor(argument);
    ZVAL_STR(argument, shown);
    return kept;
}

/* ---- credentials ---- */

static bool is_set(const char *s)
{
    return s && *s;
}

static enum mq_status refuse_file(const char *path, const char *why, struct mq_error *err)
{
    return mq_error_set(err, MQ_CONFIG, PASSWORD_FILE, "%s: the file %.200s %s", PASSWORD_FILE,
                        path, why);
}

static const char *fault_of_file(int fd)
{
    struct stat about;
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
        return "is no regular file: give the path of one that has the password only";
    }
    if ((about.st_mode & 077) != 0) {
        return "can be read by others than its owner: chmod 600";
    }
    return NULL;
}

/* The first line. */
static enum mq_status read_password(const char *path, char **out, struct mq_error *err)
{
    char text[PASSWORD_MAX + 1];
    if (php_check_open_basedir_ex(path, 0) != 0) {
        return refuse_file(path, "is not allowed by open_basedir: add its directory", err);
    }
    if (mq_file_is_open_database(path)) {
        return refuse_file(path, "is a database that this process has open: correct the path", err);
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        return mq_error_set(err, MQ_CONFIG, PASSWORD_FILE,
                            "%s: the file %.200s cannot be read: %s; correct the path, or chown it "
                            "to the user that this runs as",
                            PASSWORD_FILE, path, strerror(errno));
    }
    const char *fault = fault_of_file(fd);
    ssize_t len = fault ? 0 : read(fd, text, sizeof text);
    close(fd);
    if (fault) {
        return refuse_file(path, fault, err);
    }
    if (len <= 0 || len > PASSWORD_MAX) {
        return refuse_file(path, len > 0 ? "is too long for a password" : "is empty", err);
    }
    text[len] = '\0';
    text[strcspn(text, "\r\n")] = '\0';
    *out = mq_str_dup(mq_str_of(text));
    memset(text, 0, sizeof text);
    return *out ? MQ_OK : mq_error_nomem(err);
}

/* What is set first: the DSN's own, the environment's, php.ini's. *place stays NULL for none. */
static enum mq_status complete(char **place, const char *environment, const char *ini,
                               struct mq_error *err)
{
    const char *value = getenv(environment);
    if (*place) {
        return MQ_OK;
    }
    value = is_set(value) ? value : ini;
    if (is_set(value)) {
        *place = mq_str_dup(mq_str_of(value));
    }
    return *place || !is_set(value) ? MQ_OK : mq_error_nomem(err);
}

static enum mq_status find_credentials(struct mq_server_dsn *dsn, struct mq_error *err)
{
    const char *file = getenv(PASSWORD_FILE);
    enum mq_status status =
        complete(&dsn->user, "MAILQUEUE_DATABASE_USER", MAILQUEUE_G(database_user), err);
    if (status != MQ_OK) {
        return status;
    }
    if (!dsn->password && !is_set(getenv("MAILQUEUE_DATABASE_PASSWORD")) && is_set(file)) {
        return read_password(file, &dsn->password, err);
    }
    return complete(&dsn->password, "MAILQUEUE_DATABASE_PASSWORD", MAILQUEUE_G(database_password),
                    err);
}

/* ---- PDO ---- */

/* Everything that allocates request memory happens in build(). */
struct connect {
    const struct mq_server_dsn *dsn;
    int busy_timeout_ms;
    zend_class_entry *ce;
    zval *pdo;
    zval args[4];
};

/* A constant of the class, whose number depends on how pdo_mysql was built; NULL: none. */
static const zval *constant(zend_class_entry *ce, const char *name)
{
    const zend_class_constant *found =
        zend_hash_str_find_ptr(CE_CONSTANTS_TABLE(ce), name, strlen(name));
    return found && Z_TYPE(found->value) == IS_LONG ? &found->value : NULL;
}

static void add_mysql_options(const struct connect *connect, zval *options)
{
    const zval *init = constant(connect->ce, "MYSQL_ATTR_INIT_COMMAND");
    const zval *ca = constant(connect->ce, "MYSQL_ATTR_SSL_CA");
    const zval *several = constant(connect->ce, "MYSQL_ATTR_MULTI_STATEMENTS");
    const char *file = getenv("MAILQUEUE_DATABASE_SSL_CA");
    file = is_set(file) ? file : MAILQUEUE_G(database_ssl_ca);
    if (init) {
        int seconds = (connect->busy_timeout_ms + 999) / 1000;
        /* A stopped process must not keep its locks; MySQL has no such setting. */
        zend_string *text = zend_strpprintf(0,
                                            "SET SESSION innodb_lock_wait_timeout = %d "
                                            "/*M!, idle_write_transaction_timeout = 60 */",
                                            seconds > 0 ? seconds : 1);
        add_index_str(options, (zend_ulong)Z_LVAL_P(init), text);
    }
    if (several) {
        add_index_bool(options, (zend_ulong)Z_LVAL_P(several), false);
    }
    if (ca && is_set(file)) {
        add_index_string(options, (zend_ulong)Z_LVAL_P(ca), file);
    }
}

static void set_text(zval *out, const char *text)
{
    if (text) {
        ZVAL_STRING(out, text);
    } else {
        ZVAL_NULL(out);
    }
}

static void build(void *context)
{
    struct connect *connect = context;
    const struct mq_server_dsn *dsn = connect->dsn;
    set_text(&connect->args[0], dsn->text);
    set_text(&connect->args[1], dsn->user);
    set_text(&connect->args[2], dsn->password);
    array_init(&connect->args[3]);
    add_index_long(&connect->args[3], MQ_PDO_ATTR_TIMEOUT,
                   dsn->connect_timeout_s ? dsn->connect_timeout_s : CONNECT_TIMEOUT_S);
    add_index_long(&connect->args[3], MQ_PDO_ATTR_ERRMODE, MQ_PDO_ERRMODE_EXCEPTION);
    if (dsn->mysql) {
        add_mysql_options(connect, &connect->args[3]);
    }
    object_init_ex(connect->pdo, connect->ce);
}

static zend_class_entry *find_class(const struct mq_server_dsn *dsn, struct mq_error *err)
{
    const char *module = dsn->mysql ? "pdo_mysql" : "pdo_pgsql";
    zend_class_entry *ce = zend_hash_str_find_ptr(CG(class_table), ZEND_STRL("pdo"));
    if (ce && zend_hash_str_exists(&module_registry, module, strlen(module))) {
        return ce;
    }
    mq_error_set(err, MQ_CONFIG, "database",
                 "$database: PHP's extension %s is not loaded: install it (Debian: apt-get install "
                 "%s) and look at php --ini for the place where this PHP loads extensions",
                 module, dsn->mysql ? "php-mysql" : "php-pgsql");
    return NULL;
}

/* Warnings that the drivers add to their exceptions are nobody's. */
static enum mq_php_call_end call_constructor(struct connect *connect, zend_object **thrown)
{
    zval result;
    int reporting = EG(error_reporting);
    int handled = EG(user_error_handler_error_reporting);
    EG(error_reporting) = EG(user_error_handler_error_reporting) = 0;
    struct mq_php_method method = {connect->pdo, "__construct", connect->args, 4};
    enum mq_php_call_end end = mq_php_call_method(&method, &result, thrown);
    EG(error_reporting) = reporting;
    EG(user_error_handler_error_reporting) = handled;
    return end;
}

/* ---- what went wrong ---- */

static zval *property(zend_object *object, const char *name, zval *scratch)
{
    zval *value = zend_read_property(object->ce, object, name, strlen(name), 1, scratch);
    ZVAL_DEREF(value);
    return value;
}

/* MySQL's numbers of errors that no second try mends (its manual, "Error Message Reference"). */
static bool is_mysql_refusal(zend_long code)
{
    static const zend_long codes[] = {1044, 1045, 1049, 1115, 1130, 1251, 1698,
                                      2019, 2026, 2054, 2059, 2061, 3118, 4151};
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (codes[i] == code) {
            return true;
        }
    }
    return false;
}

/* PDO gives all failures of libpq one number: its words must do. Others may be over in a moment. */
static bool is_pgsql_refusal(const char *text)
{
    static const char *const words[] = {
        "authentication failed",
        "authentication method",
        "no password supplied",
        "no pg_hba.conf entry",
        "pg_hba.conf rejects",
        "does not exist", /* the database, the role, a file of a certificate; not the socket */
        "permission denied for database",
        "is not permitted to log in",
        "certificate",
        "does not support SSL",
        "invalid sslmode",
        "invalid port number",
        "definition of service",
        "private key",
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strstr(text, words[i])) {
            return true;
        }
    }
    return false;
}

/* libpq quotes what it cannot read, and that may be a piece of a password. */
static bool is_about_text(const char *text)
{
    return strstr(text, "connection option") || strstr(text, "connection info string") ||
           strstr(text, "invalid value") || strstr(text, "invalid integer");
}

static void hide(struct mq_buffer *text, const char *secret)
{
    size_t len = secret ? strlen(secret) : 0;
    char *at = len && text->data ? strstr(text->data, secret) : NULL;
    for (; at; at = strstr(at + len, secret)) {
        memset(at, '*', len);
    }
}

static enum mq_status describe(const struct mq_server_dsn *dsn, zend_object *thrown,
                               struct mq_error *err)
{
    zval scratch[2];
    zval *message = property(thrown, "message", &scratch[0]);
    zval *code = property(thrown, "code", &scratch[1]);
    const char *text = Z_TYPE_P(message) == IS_STRING ? Z_STRVAL_P(message) : "";
    bool refused = dsn->mysql ? Z_TYPE_P(code) == IS_LONG && is_mysql_refusal(Z_LVAL_P(code))
                              : is_pgsql_refusal(text);
    if (!dsn->mysql && is_about_text(text)) {
        return mq_error_set(err, MQ_CONFIG, "database",
                            "$database: libpq cannot use the DSN: a name or a value in it is none "
                            "that it knows; its manual lists them (Parameter Key Words)");
    }
    struct mq_buffer words;
    mq_buffer_init(&words);
    /* libpq's further lines repeat the first, or ask what the end of ours does. */
    mq_buffer_printable(&words, (struct mq_str){text, strcspn(text, "\r\n")});
    hide(&words, dsn->password);
    const char *cure = "is the server up, and are host and port right?";
    if (refused) {
        cure = "correct the DSN, or user and password (MAILQUEUE_DATABASE_USER, "
               "MAILQUEUE_DATABASE_PASSWORD_FILE)";
    } else if (dsn->mysql && Z_TYPE_P(code) == IS_LONG && Z_LVAL_P(code) == MYSQL_GONE) {
        cure = "is the server up, and does it speak TLS where a certificate is set "
               "(mailqueue.database_ssl_ca)?";
    }
    mq_error_set(err, refused ? MQ_CONFIG : MQ_IO, "database",
                 "%.120s cannot be opened: %.300s: %s", dsn->shown, words.data ? words.data : "",
                 cure);
    mq_buffer_clear(&words);
    return refused ? MQ_CONFIG : MQ_IO;
}

static enum mq_status fail(const struct mq_server_dsn *dsn, zend_object *thrown,
                           struct mq_error *err)
{
    if (zend_is_unwind_exit(thrown) || zend_is_graceful_exit(thrown)) {
        EG(exception) = thrown; /* exit() in what the constructor called: nothing to be caught */
        return MQ_THROWN;
    }
    enum mq_status status = describe(dsn, thrown, err);
    OBJ_RELEASE(thrown);
    return status;
}

static enum mq_status open_pdo(struct connect *connect, struct mq_error *err)
{
    zend_object *thrown = NULL;
    ZVAL_UNDEF(connect->pdo);
    enum mq_php_call_end end = MQ_PHP_CALL_BAILED;
    if (mq_php_survives(build, connect)) {
        end = call_constructor(connect, &thrown);
    }
    if (end == MQ_PHP_CALL_BAILED) {
        return mq_error_set(err, MQ_BAILOUT, "", "PHP stopped with a fatal error");
    }
    for (int i = 0; i < 4; i++) {
        zval_ptr_dtor(&connect->args[i]);
    }
    if (end == MQ_PHP_CALL_THREW) {
        zval_ptr_dtor(connect->pdo);
        ZVAL_UNDEF(connect->pdo);
        return fail(connect->dsn, thrown, err);
    }
    return MQ_OK;
}

enum mq_status mq_php_dsn_connect(const char *database, int busy_timeout_ms, zval *pdo,
                                  struct mq_error *err)
{
    struct mq_server_dsn dsn;
    enum mq_status status = mq_server_dsn_parse(mq_str_of(database), &dsn, err);
    if (status != MQ_OK) {
        return status;
    }
    zval opened;
    struct connect connect = {
        .dsn = &dsn,
        .busy_timeout_ms = busy_timeout_ms,
        .ce = find_class(&dsn, err),
        .pdo = &opened,
    };
    status = connect.ce ? find_credentials(&dsn, err) : MQ_CONFIG;
    if (status == MQ_OK) {
        status = open_pdo(&connect, err);
    }
    if (status == MQ_OK) {
        ZVAL_COPY_VALUE(pdo, &opened);
    }
    mq_server_dsn_clear(&dsn);
    return status;
}
