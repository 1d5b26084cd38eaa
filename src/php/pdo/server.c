/* Opens the queue's own connection to a server: finds user and password, and says what a failure
 * means. Nothing that is printed or thrown has the password. */
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
#include "core/process_id.h"
#include "db/server_dsn.h"
#include "php/class/conversion.h"
#include "php/guard.h"
#include "php/paths.h"
#include "php/pdo/call_method.h"
#include "php_mailqueue.h"

#define CONNECT_TIMEOUT_S 10
#define PASSWORD_MAX      4096
#define MYSQL_GONE        2006
#define PASSWORD_FILE     "MAILQUEUE_DATABASE_PASSWORD_FILE"

bool mq_php_dsn_is(const zend_string *database)
{
    return mq_server_dsn_is(mq_php_str(database));
}

zend_string *mq_php_dsn_shown(zend_string *database, enum mq_php_secret *secret)
{
    struct mq_server_dsn dsn;
    struct mq_str text = mq_str_trim(mq_php_str(database));
    bool is_server = mq_server_dsn_is(text);
    if (!is_server && !mq_server_dsn_is_foreign(text)) {
        *secret = MQ_PHP_SECRET_NONE;
        return zend_string_copy(database);
    }
    if (!is_server || mq_server_dsn_parse(text, &dsn, NULL) != MQ_OK) {
        const char *colon = memchr(text.data, ':', text.len);
        *secret = MQ_PHP_SECRET_UNKNOWN;
        return zend_string_init(text.data, colon ? (size_t)(colon + 1 - text.data) : 0, 0);
    }
    zend_string *shown = zend_string_init(dsn.shown, strlen(dsn.shown), 0);
    *secret = dsn.has_secret ? MQ_PHP_SECRET_THERE : MQ_PHP_SECRET_NONE;
    free(dsn.shown);
    return shown;
}

zend_string *mq_php_dsn_hide(zval *argument)
{
    enum mq_php_secret secret;
    if (Z_TYPE_P(argument) != IS_STRING) {
        return NULL;
    }
    zend_string *kept = Z_STR_P(argument);
    zend_string *shown = mq_php_dsn_shown(kept, &secret);
    if (shown == kept) {
        zend_string_release(shown);
        return NULL;
    }
    ZVAL_STR(argument, shown);
    return kept;
}

/* ---- credentials ---- */

static enum mq_status refuse_file(const char *path, const char *why, struct mq_error *err)
{
    return mq_error_set(err, MQ_CONFIG, PASSWORD_FILE, "%s: the file %.200s %s", PASSWORD_FILE,
                        path, why);
}

static const char *fault_of_file(int fd)
{
    struct stat about;
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
        return "is not a regular file: give the path of one that has the password only";
    }
    return (about.st_mode & 077) ? "can be read by others than its owner: chmod 600" : NULL;
}

/* What is needed to connect. Only build() allocates request memory. */
struct connect {
    const struct mq_server_dsn *dsn;
    const char *text; /* of the DSN */
    int busy_timeout_ms;
    bool persistent;
    const char *user; /* NULL: the client library searches by itself */
    const char *password;
    char line[PASSWORD_MAX + 1]; /* of the password file */
    zend_class_entry *ce;
    zval *pdo;
    zval args[4];
};

/* Reads the first line of the file. */
static enum mq_status read_password(const char *path, struct connect *out, struct mq_error *err)
{
    if (php_check_open_basedir_ex(path, 0) != 0) {
        return refuse_file(path, "is not allowed by open_basedir: add its directory", err);
    }
    if (mq_file_is_open_database(path)) { /* closing the file would drop SQLite's locks */
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
    ssize_t len = fault ? 0 : read(fd, out->line, sizeof out->line);
    close(fd);
    if (fault == NULL && (len <= 0 || len > PASSWORD_MAX)) {
        fault = len > 0 ? "is too long for a password" : "is empty";
    }
    if (fault) {
        return refuse_file(path, fault, err);
    }
    out->line[len] = '\0';
    out->line[strcspn(out->line, "\r\n")] = '\0';
    out->password = out->line;
    return MQ_OK;
}

/* User and password of the DSN come first, then those of the environment, then those of php.ini. */
static enum mq_status find_credentials(struct connect *out, struct mq_error *err)
{
    const char *file = mq_php_setting(PASSWORD_FILE, NULL);
    if (!out->dsn->has_user) {
        out->user = mq_php_setting("MAILQUEUE_DATABASE_USER", MAILQUEUE_G(database_user));
    }
    if (out->dsn->has_password) {
        return MQ_OK;
    }
    const char *ini = file ? NULL : MAILQUEUE_G(database_password);
    out->password = mq_php_setting("MAILQUEUE_DATABASE_PASSWORD", ini);
    return file && !out->password ? read_password(file, out, err) : MQ_OK;
}

/* ---- PDO ---- */

/* Sets an option by the name of its constant, whose number depends on how pdo_mysql was built.
 * Takes over the value. */
static void set_mysql_option(const struct connect *connect, zval *options, const char *name,
                             zval value)
{
    const zend_class_constant *found =
        zend_hash_str_find_ptr(CE_CONSTANTS_TABLE(connect->ce), name, strlen(name));
    if (found && Z_TYPE(found->value) == IS_LONG) {
        add_index_zval(options, (zend_ulong)Z_LVAL(found->value), &value);
    } else {
        zval_ptr_dtor(&value);
    }
}

static void set_mysql_options(const struct connect *connect, zval *options)
{
    const char *ca = mq_php_setting("MAILQUEUE_DATABASE_SSL_CA", MAILQUEUE_G(database_ssl_ca));
    int seconds = (connect->busy_timeout_ms + 999) / 1000;
    zval value;
    seconds = seconds > 0 ? seconds : 1;
    /* The second setting is for LOCK TABLES and ALTER TABLE, whose default is a day. The third one
     * takes the locks from a stopped process. Only MariaDB has it. */
    ZVAL_STR(&value, zend_strpprintf(0,
                                     "SET SESSION innodb_lock_wait_timeout = %d, "
                                     "lock_wait_timeout = %d "
                                     "/*M!, idle_write_transaction_timeout = 60 */",
                                     seconds, seconds));
    set_mysql_option(connect, options, "MYSQL_ATTR_INIT_COMMAND", value);
    ZVAL_FALSE(&value);
    set_mysql_option(connect, options, "MYSQL_ATTR_MULTI_STATEMENTS", value);
    if (ca) {
        ZVAL_STRING(&value, ca);
        set_mysql_option(connect, options, "MYSQL_ATTR_SSL_CA", value);
    }
}

/* Puts defaults first, because PDO uses the last value of a name. The queue's texts are UTF-8, also
 * if the database has another encoding. The server's list of sessions shows "mailqueue". */
static zend_string *with_defaults(const struct connect *connect)
{
    const char *defaults = connect->dsn->mysql
                               ? "mysql:charset=utf8mb4"
                               : "pgsql:client_encoding=UTF8;fallback_application_name=mailqueue";
    return zend_strpprintf(0, "%s;%s", defaults, strchr(connect->text, ':') + 1);
}

/* A name of its own keeps the connection apart from persistent ones of the application. A forked
 * child must not get its parent's, nor a queue one that waits longer for locks. */
static void add_persistent(const struct connect *connect, zval *options)
{
    zval name;
    ZVAL_STR(&name,
             zend_strpprintf(0, "mailqueue %d %d", (int)mq_process_id(), connect->busy_timeout_ms));
    add_index_zval(options, MQ_PDO_ATTR_PERSISTENT, &name);
}

static void build(void *context)
{
    struct connect *connect = context;
    const struct mq_server_dsn *dsn = connect->dsn;
    ZVAL_STR(&connect->args[0], with_defaults(connect));
    if (connect->user) {
        ZVAL_STRING(&connect->args[1], connect->user);
    }
    if (connect->password) {
        ZVAL_STRING(&connect->args[2], connect->password);
    }
    array_init(&connect->args[3]);
    add_index_long(&connect->args[3], MQ_PDO_ATTR_TIMEOUT,
                   dsn->connect_timeout_s ? dsn->connect_timeout_s : CONNECT_TIMEOUT_S);
    add_index_long(&connect->args[3], MQ_PDO_ATTR_ERRMODE, MQ_PDO_ERRMODE_EXCEPTION);
    if (dsn->mysql) {
        set_mysql_options(connect, &connect->args[3]);
    }
    if (connect->persistent) {
        add_persistent(connect, &connect->args[3]);
    }
    object_init_ex(connect->pdo, connect->ce);
}

static zend_class_entry *find_class(const struct mq_server_dsn *dsn, struct mq_error *err)
{
    const char *module = dsn->mysql ? "pdo_mysql" : "pdo_pgsql";
    zend_class_entry *ce = zend_hash_str_find_ptr(CG(class_table), ZEND_STRL("pdo"));
    zend_class_entry *pgsql = zend_hash_str_find_ptr(CG(class_table), ZEND_STRL("pdo\\pgsql"));
    if (pgsql && !dsn->mysql) { /* from PHP 8.4 on */
        return pgsql;
    }
    if (ce && zend_hash_str_exists(&module_registry, module, strlen(module))) {
        return ce;
    }
    mq_error_set(err, MQ_CONFIG, "database",
                 "$database: PHP's extension %s is not loaded: install it (Debian: apt-get install "
                 "%s) and look at php --ini for the place where this PHP loads extensions",
                 module, dsn->mysql ? "php-mysql" : "php-pgsql");
    return NULL;
}

/* Hides warnings, also from handlers: the drivers' warnings repeat what their exceptions say. */
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

static bool has_one_of(const char *text, const char *const *words)
{
    while (*words && !strstr(text, *words)) {
        words++;
    }
    return *words != NULL;
}

/* Failures that a second try does not cure, by their words: libpq has one number for all. */
static const char *const pgsql_refusals[] = {"authentication failed",
                                             "authentication method",
                                             "no password supplied",
                                             "pg_hba.conf",
                                             "does not exist",
                                             "permission denied for",
                                             "not permitted",
                                             "certificate",
                                             "support SSL",
                                             "invalid ",
                                             "private key",
                                             "definition of service",
                                             NULL};

/* In these messages libpq quotes names and values that it cannot read, even parts of passwords. */
static const char *const pgsql_quotes[] = {"connection option", "connection info string",
                                           "invalid value", "invalid integer", NULL};

static enum mq_status describe(const struct mq_server_dsn *dsn, zend_object *thrown,
                               struct mq_error *err)
{
    zval *code = mq_php_property(thrown, "code");
    struct mq_str message = mq_php_exception_message(thrown);
    zend_long number = Z_TYPE_P(code) == IS_LONG ? Z_LVAL_P(code) : 0;
    bool refused =
        dsn->mysql ? mq_pdo_mysql_refuses(number) : has_one_of(message.data, pgsql_refusals);
    const char *cure = "is the server up, and are host and port right?";
    char text[301] = "";
    if (!dsn->mysql && has_one_of(message.data, pgsql_quotes)) {
        return mq_error_set(err, MQ_CONFIG, "database",
                            "$database: libpq cannot use the DSN: it does not know a name or value "
                            "in it; its manual lists them (Parameter Key Words)");
    }
    if (refused) {
        cure = "correct the DSN, or user and password (MAILQUEUE_DATABASE_USER, "
               "MAILQUEUE_DATABASE_PASSWORD_FILE)";
    } else if (dsn->mysql && number == MYSQL_GONE) {
        cure = "is the server up, and does it speak TLS where a certificate is set "
               "(mailqueue.database_ssl_ca)?";
    }
    /* Further lines of libpq repeat the first one, or ask what our cure asks. */
    message.len = strcspn(message.data, "\r\n");
    mq_str_printable(text, sizeof text, 0, message);
    return mq_error_set(err, refused ? MQ_CONFIG : MQ_IO, "database",
                        "%.120s cannot be opened: %s: %s", dsn->shown, text, cure);
}

static enum mq_status failed(const struct mq_server_dsn *dsn, zend_object *thrown,
                             struct mq_error *err)
{
    if (zend_is_unwind_exit(thrown) || zend_is_graceful_exit(thrown)) {
        EG(exception) = thrown; /* code that the constructor called used exit() */
        return MQ_THROWN;
    }
    enum mq_status status = describe(dsn, thrown, err);
    OBJ_RELEASE(thrown);
    return status;
}

static enum mq_status open_pdo(struct connect *connect, struct mq_error *err)
{
    zend_object *thrown = NULL;
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
        return failed(connect->dsn, thrown, err);
    }
    return MQ_OK;
}

enum mq_status mq_php_dsn_connect(const char *database, int busy_timeout_ms, bool persistent,
                                  zval *pdo, struct mq_error *err)
{
    struct mq_server_dsn dsn;
    MQ_TRY(mq_server_dsn_parse(mq_str_of(database), &dsn, err));
    struct connect connect = {.dsn = &dsn,
                              .text = database,
                              .busy_timeout_ms = busy_timeout_ms,
                              .persistent = persistent,
                              .pdo = pdo};
    connect.ce = find_class(&dsn, err);
    enum mq_status status = connect.ce ? find_credentials(&connect, err) : MQ_CONFIG;
    for (int i = 0; i < 4; i++) {
        ZVAL_NULL(&connect.args[i]);
    }
    if (status == MQ_OK) {
        status = open_pdo(&connect, err);
    }
    free(dsn.shown);
    ZEND_SECURE_ZERO(connect.line, sizeof connect.line);
    return status;
}
