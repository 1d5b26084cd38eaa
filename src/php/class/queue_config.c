/* The keys that steer the queue, its tables, and what diagnosis needs. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php/class/methods.h"

#include <stdlib.h>
#include <string.h>

#include "db/sqlite/sqlite.h"
#include "php/class/classes.h"
#include "php/class/database_arg.h"
#include "php/class/exceptions.h"
#include "php/class/queue_object.h"
#include "php/class/server_about.h"
#include "php/paths.h"
#include "php/pdo/driver.h"
#include "php/pdo/server.h"
#include "queue/config/config.h"
#include "queue/config/keys.h"
#include "queue/queue.h"
#include "send/smtp/smtp.h"
#include "worker/slot.h"

#define WORKERS_MAX     64
#define BUSY_TIMEOUT_MS 5000

static bool check_text(uint32_t arg, const zend_string *text)
{
    if (strlen(ZSTR_VAL(text)) == ZSTR_LEN(text)) {
        return true;
    }
    zend_argument_value_error(arg, "must not contain null bytes");
    return false;
}

ZEND_METHOD(MailQueue, config)
{
    zend_string *key;
    char *value = NULL;
    struct mq_error err;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STR(key)
    ZEND_PARSE_PARAMETERS_END();

    struct mq_queue *queue = check_text(1, key) ? mq_php_queue_use(ZEND_THIS) : NULL;
    if (queue == NULL ||
        !mq_php_queue_ok(ZEND_THIS, mq_queue_config(queue, ZSTR_VAL(key), &value, &err), &err)) {
        RETURN_THROWS();
    }
    if (value) {
        RETVAL_STRING(value);
    }
    free(value);
}

/* The text that is stored: booleans as "1" and "0". */
static zend_string *text_of(zval *value)
{
    if (Z_TYPE_P(value) == IS_FALSE) {
        return zend_string_init("0", 1, 0);
    }
    return zval_get_string(value);
}

ZEND_METHOD(MailQueue, setConfig)
{
    zend_string *key;
    zval *value;
    struct mq_error err;

    ZEND_PARSE_PARAMETERS_START(2, 2)
        Z_PARAM_STR(key)
        Z_PARAM_ZVAL(value)
    ZEND_PARSE_PARAMETERS_END();

    if (Z_TYPE_P(value) > IS_STRING) {
        zend_argument_type_error(2, "must be of type string|int|float|bool|null, %s given",
                                 zend_zval_type_name(value));
        RETURN_THROWS();
    }
    bool unset = Z_TYPE_P(value) == IS_NULL;
    zend_string *text = unset ? NULL : text_of(value);
    if (check_text(1, key) && (unset || check_text(2, text))) {
        struct mq_queue *queue = mq_php_queue_use(ZEND_THIS);
        if (queue) {
            enum mq_status status =
                mq_queue_set_config(queue, ZSTR_VAL(key), unset ? NULL : ZSTR_VAL(text), &err);
            mq_php_queue_ok(ZEND_THIS, status, &err);
        }
    }
    if (text) {
        zend_string_release(text);
    }
}

ZEND_METHOD(MailQueue, migrate)
{
    int version = 0;
    struct mq_error err;

    ZEND_PARSE_PARAMETERS_NONE();

    struct mq_queue *queue = mq_php_queue_use(ZEND_THIS);
    if (queue == NULL ||
        !mq_php_queue_ok(ZEND_THIS, mq_queue_migrate(queue, &version, &err), &err)) {
        RETURN_THROWS();
    }
    RETVAL_LONG(version);
}

static void add_path(zval *array, const char *key, char *path)
{
    add_assoc_string(array, key, path ? path : "");
    free(path);
}

/* "" when unknown. */
static void read_journal(struct mq_db *db, char out[16])
{
    struct mq_value mode = mq_null();
    struct mq_row row = {&mode, 1, false};
    struct mq_query query = {.slot = -1, .sql = "PRAGMA journal_mode"};
    if (db->driver->dialect != MQ_SQLITE) {
        out[0] = '\0';
        return;
    }
    if (!mq_php_pdo_is(db)) {
        snprintf(out, 16, "%s", mq_sqlite_journal(db));
        return;
    }
    bool read = mq_db_row(db, &query, &row, NULL) == MQ_OK && mode.type == MQ_TEXT;
    snprintf(out, 16, "%.*s", read ? (int)mode.s.len : 0, read ? mode.s.data : "");
    mq_db_finish(db);
}

ZEND_METHOD(MailQueue, diagnostics)
{
    ZEND_PARSE_PARAMETERS_NONE();

    struct mq_queue *queue = mq_php_queue_use(ZEND_THIS);
    if (queue == NULL) {
        RETURN_THROWS();
    }
    struct mq_db *db = mq_queue_db(queue);
    const char *path = db->driver->path(db);
    char journal[16];
    read_journal(db, journal);
    char *run_dir = NULL;
    int workers = 0;
    struct mq_error err;
    enum mq_status status = mq_php_run_dir(queue, &run_dir, &err);
    if (status == MQ_OK) {
        status = mq_slots_held(queue, run_dir, WORKERS_MAX, &workers, &err);
    }
    if (!mq_php_queue_ok(ZEND_THIS, status, &err)) {
        free(run_dir);
        RETURN_THROWS();
    }
    char *log = mq_php_log_path(queue, run_dir);
    array_init(return_value);
    add_assoc_string(return_value, "sqlite", mq_sqlite_version());
    add_assoc_string(return_value, "libcurl", mq_curl_version());
    add_assoc_bool(return_value, "walSafe", mq_sqlite_wal_safe());
    add_assoc_string(return_value, "database", path ? path : "");
    add_assoc_string(return_value, "journal", journal);
    add_path(return_value, "runDirectory", run_dir);
    add_path(return_value, "log", log);
    add_assoc_long(return_value, "workers", workers);
    mq_php_queue_ok(ZEND_THIS, mq_php_server_about(db, return_value, &err), &err);
}

ZEND_METHOD(MailQueue, configKeys)
{
    size_t count;

    ZEND_PARSE_PARAMETERS_NONE();

    const struct mq_config_key *keys = mq_config_keys(&count);
    array_init_size(return_value, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        zval key;
        array_init(&key);
        add_assoc_string(&key, "type", keys[i].type);
        add_assoc_string(&key, "range", keys[i].range);
        add_assoc_string(&key, "default", keys[i].standard);
        add_assoc_string(&key, "meaning", keys[i].meaning);
        add_assoc_bool(&key, "internal", keys[i].internal);
        add_assoc_zval(return_value, keys[i].name, &key);
    }
}

/* Opens what exists and changes nothing. MQ_THROWN: there is an exception. */
static enum mq_status open_existing(const zend_string *database, struct mq_db **out,
                                    struct mq_error *err)
{
    const struct mq_php_pdo_options server = {ZSTR_VAL(database), BUSY_TIMEOUT_MS, false};
    if (mq_php_dsn_is(database)) {
        return mq_php_pdo_open_dsn(&server, out, err);
    }
    zend_string *path = mq_php_database_path(database);
    if (path == NULL) {
        return MQ_THROWN;
    }
    const struct mq_sqlite_options options = {
        .path = ZSTR_VAL(path), .must_exist = true, .busy_timeout_ms = BUSY_TIMEOUT_MS};
    enum mq_status status = MQ_OK;
    if (php_check_open_basedir_ex(options.path, 0) != 0) {
        status = mq_error_set(err, MQ_CANTOPEN, "database",
                              "%s: open_basedir does not allow this file; add its directory to "
                              "open_basedir or move the database",
                              options.path);
    } else {
        status = mq_sqlite_open(&options, out, err);
    }
    zend_string_release(path);
    return status;
}

ZEND_METHOD(MailQueue_Internal, tables)
{
    zend_string *database;
    zend_string *names[2] = {NULL, NULL};
    const char *wanted[] = {"mail_queue", "config"};
    bool has[2] = {false, false};
    struct mq_db *db = NULL;
    struct mq_error err;

    ZEND_PARSE_PARAMETERS_START(1, 3)
        Z_PARAM_STR(database)
        Z_PARAM_OPTIONAL
        Z_PARAM_STR(names[0])
        Z_PARAM_STR(names[1])
    ZEND_PARSE_PARAMETERS_END();

    bool valid = check_text(1, database);
    for (uint32_t i = 0; i < 2 && valid; i++) {
        valid = names[i] == NULL || check_text(i + 2, names[i]);
        wanted[i] = names[i] ? ZSTR_VAL(names[i]) : wanted[i];
    }
    if (!valid) {
        RETURN_THROWS();
    }
    zend_string *hidden = mq_php_dsn_hide(ZEND_CALL_ARG(execute_data, 1));
    enum mq_status status = open_existing(hidden ? hidden : database, &db, &err);
    for (int i = 0; i < 2 && status == MQ_OK; i++) {
        status = mq_php_server_has_table(db, wanted[i], &has[i], &err);
    }
    if (db) {
        db->driver->close(db);
    }
    if (hidden) {
        zend_string_release(hidden);
    }
    if (!mq_php_ok(status, &err)) {
        RETURN_THROWS();
    }
    array_init(return_value);
    for (int i = 0; i < 2; i++) {
        if (has[i]) {
            add_next_index_string(return_value, wanted[i]);
        }
    }
}

ZEND_METHOD(MailQueue_Internal, connect)
{
    zend_string *database;
    struct mq_error err;
    zval pdo;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STR(database)
    ZEND_PARSE_PARAMETERS_END();

    if (!check_text(1, database)) {
        RETURN_THROWS();
    }
    if (!mq_php_dsn_is(database)) {
        zend_argument_value_error(1, "must be the DSN of a server");
        RETURN_THROWS();
    }
    zend_string *hidden = mq_php_dsn_hide(ZEND_CALL_ARG(execute_data, 1));
    enum mq_status status =
        mq_php_dsn_connect(ZSTR_VAL(hidden ? hidden : database), BUSY_TIMEOUT_MS, &pdo, &err);
    if (hidden) {
        zend_string_release(hidden);
    }
    if (mq_php_ok(status, &err)) {
        ZVAL_COPY_VALUE(return_value, &pdo);
    }
}

ZEND_METHOD(MailQueue_Internal, columns)
{
    zval *object;
    const char *name;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_OBJECT_OF_CLASS(object, mq_ce_queue)
    ZEND_PARSE_PARAMETERS_END();

    struct mq_queue *queue = mq_php_queue_use(object);
    if (queue == NULL) {
        RETURN_THROWS();
    }
    array_init(return_value);
    for (size_t i = 0; (name = mq_queue_column(queue, i)) != NULL; i++) {
        add_assoc_string(return_value, name, mq_queue_column_type(i));
    }
}
