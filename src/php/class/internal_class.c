/* MailQueue\Internal: what the command line needs of a database, without a queue object. */
#include "stubs/mailqueue_methods.h"

#include <stdlib.h>
#ifdef __linux__
#include <sys/xattr.h>
#endif

#include "db/db.h"
#include "db/sqlite/sqlite.h"
#include "php/class/classes.h"
#include "php/class/conversion.h"
#include "php/class/exceptions.h"
#include "php/class/queue_object.h"
#include "php/paths.h"
#include "php/pdo/driver.h"
#include "php/pdo/server.h"
#include "php/pdo/server_about.h"
#include "php_mailqueue.h"
#include "queue/campaign/campaign.h"
#include "queue/manage.h"
#include "queue/queue.h"
#include "send/dsn.h"
#include "send/factory.h"
#include "send/group.h"
#include "send/smtp/hello.h"
#include "worker/files.h"

#define BUSY_TIMEOUT_MS 5000

ZEND_METHOD(MailQueue_Internal, describe)
{
    zend_string *database;
    enum mq_php_secret secret;
    zval password;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STR(database)
    ZEND_PARSE_PARAMETERS_END();

    const char *path = mq_php_database_file(database);
    char *run_dir = path ? mq_run_dir_path(MAILQUEUE_G(run_dir), path) : NULL;
    char *log = path ? mq_php_log_beside(path) : NULL;
    array_init_size(return_value, 6);
    add_assoc_str(return_value, "shown", mq_php_dsn_shown(database, &secret));
    ZVAL_BOOL(&password, secret == MQ_PHP_SECRET_THERE);
    if (secret == MQ_PHP_SECRET_UNKNOWN) {
        ZVAL_NULL(&password);
    }
    add_assoc_zval(return_value, "password", &password);
    add_assoc_bool(return_value, "server", mq_php_dsn_is(database));
    mq_php_add_text(return_value, "path", path);
    mq_php_add_text(return_value, "runDirectory", run_dir);
    mq_php_add_text(return_value, "log", log);
    free(run_dir);
    free(log);
}

/* Opens a database that exists, and changes nothing in it. MQ_THROWN: an exception is pending. */
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

/* Adds to `out` those of the two tables that exist. */
static enum mq_status add_tables(const zend_string *database, const char *const names[2], zval *out,
                                 struct mq_error *err)
{
    struct mq_db *db = NULL;
    enum mq_status status = open_existing(database, &db, err);
    array_init(out);
    for (int i = 0; i < 2 && status == MQ_OK; i++) {
        bool has = false;
        status = mq_php_server_has_table(db, names[i], &has, err);
        if (has) {
            add_next_index_string(out, names[i]);
        }
    }
    if (db) {
        db->driver->close(db);
    }
    return status;
}

ZEND_METHOD(MailQueue_Internal, tables)
{
    zend_string *database, *table = NULL, *config_table = NULL;
    struct mq_error err;

    ZEND_PARSE_PARAMETERS_START(1, 3)
        Z_PARAM_PATH_STR(database)
        Z_PARAM_OPTIONAL
        Z_PARAM_PATH_STR(table)
        Z_PARAM_PATH_STR(config_table)
    ZEND_PARSE_PARAMETERS_END();

    const char *const names[] = {table ? ZSTR_VAL(table) : "mail_queue",
                                 config_table ? ZSTR_VAL(config_table) : "config"};
    zend_string *hidden = mq_php_dsn_hide(ZEND_CALL_ARG(execute_data, 1));
    mq_php_ok(add_tables(hidden ? hidden : database, names, return_value, &err), &err);
    if (hidden) {
        zend_string_release(hidden);
    }
}

ZEND_METHOD(MailQueue_Internal, connect)
{
    zend_string *database;
    struct mq_error err;
    zval pdo;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_PATH_STR(database)
    ZEND_PARSE_PARAMETERS_END();

    zend_string *dsn = mq_php_dsn_hide(ZEND_CALL_ARG(execute_data, 1));
    if (dsn == NULL || !mq_php_dsn_is(dsn)) {
        zend_argument_value_error(1, "must be the DSN of a server");
    } else if (mq_php_ok(mq_php_dsn_connect(ZSTR_VAL(dsn), BUSY_TIMEOUT_MS, false, &pdo, &err),
                         &err)) {
        ZVAL_COPY_VALUE(return_value, &pdo);
    }
    if (dsn) {
        zend_string_release(dsn);
    }
}

ZEND_METHOD(MailQueue_Internal, columns)
{
    zval *object;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_OBJECT_OF_CLASS_OR_NULL(object, mq_ce_queue)
    ZEND_PARSE_PARAMETERS_END();

    const struct mq_queue *queue = object ? mq_php_queue_opened(object) : NULL;
    array_init(return_value);
    for (size_t i = 0; (queue || !object) && mq_queue_column(queue, i); i++) {
        add_assoc_string(return_value, mq_queue_column(queue, i), mq_queue_column_type(i));
    }
}

/* ---- queries ---- */

static zval *new_row(zval *rows, int columns)
{
    zval row;
    array_init_size(&row, (uint32_t)columns);
    return zend_hash_next_index_insert(Z_ARRVAL_P(rows), &row);
}

static void add_row(void *context, const struct mq_value *values, int count)
{
    zval *row = new_row(context, count);
    for (int i = 0; i < count; i++) {
        const struct mq_value *value = &values[i];
        if (value->type == MQ_INT) {
            add_next_index_long(row, (zend_long)value->i);
        } else if (value->type == MQ_NULL) {
            add_next_index_null(row);
        } else {
            add_next_index_stringl(row, value->s.data, value->s.len);
        }
    }
}

/* The parameters as the queue takes them; borrowed from the array. NULL with an exception. */
static struct mq_value *parameters_of(const HashTable *given)
{
    struct mq_value *values = safe_emalloc(zend_hash_num_elements(given) + 1, sizeof *values, 0);
    size_t n = 0;
    zval *one;
    ZEND_HASH_FOREACH_VAL ((HashTable *)given, one) {
        ZVAL_DEREF(one);
        if (Z_TYPE_P(one) != IS_LONG && Z_TYPE_P(one) != IS_STRING && Z_TYPE_P(one) != IS_NULL) {
            zend_argument_type_error(3, "must be a list of int, string and null");
            efree(values);
            return NULL;
        }
        values[n++] = Z_TYPE_P(one) == IS_LONG     ? mq_int(Z_LVAL_P(one))
                      : Z_TYPE_P(one) == IS_STRING ? mq_text(mq_php_str(Z_STR_P(one)))
                                                   : mq_null();
    }
    ZEND_HASH_FOREACH_END();
    return values;
}

static void run_select(zval *object, const char *sql, const HashTable *given, zval *return_value)
{
    struct mq_error err;
    struct mq_value *values = parameters_of(given);
    struct mq_queue *queue = values ? mq_php_queue_use(object) : NULL;
    if (queue) {
        const struct mq_query query = {-1, sql, values, (int)zend_hash_num_elements(given)};
        const struct mq_reader reader = {add_row, return_value};
        array_init(return_value);
        mq_php_queue_ok(object, mq_queue_select(queue, &query, &reader, &err), &err);
    }
    if (values) {
        efree(values);
    }
}

ZEND_METHOD(MailQueue_Internal, select)
{
    zval *object;
    char *sql;
    size_t length;
    HashTable *given = (HashTable *)&zend_empty_array;

    ZEND_PARSE_PARAMETERS_START(2, 3)
        Z_PARAM_OBJECT_OF_CLASS(object, mq_ce_queue)
        Z_PARAM_PATH(sql, length)
        Z_PARAM_OPTIONAL
        Z_PARAM_ARRAY_HT(given)
    ZEND_PARSE_PARAMETERS_END();

    run_select(object, sql, given, return_value);
}

static void erase_rows(zval *object, HashTable *list,
                       enum mq_status (*erase)(struct mq_queue *, const struct mq_ids *,
                                               struct mq_error *))
{
    struct mq_error err;
    const struct mq_ids rows = {mq_php_ids_read(2, list), zend_hash_num_elements(list)};
    struct mq_queue *queue = rows.items ? mq_php_queue_use(object) : NULL;
    if (queue) {
        mq_php_queue_ok(object, erase(queue, &rows, &err), &err);
    }
    if (rows.items) {
        efree((void *)rows.items);
    }
}

ZEND_METHOD(MailQueue_Internal, eraseHistory)
{
    zval *object;
    HashTable *list;
    (void)return_value;

    ZEND_PARSE_PARAMETERS_START(2, 2)
        Z_PARAM_OBJECT_OF_CLASS(object, mq_ce_queue)
        Z_PARAM_ARRAY_HT(list)
    ZEND_PARSE_PARAMETERS_END();

    erase_rows(object, list, mq_queue_erase_history);
}

ZEND_METHOD(MailQueue_Internal, eraseRecipients)
{
    zval *object;
    HashTable *list;
    (void)return_value;

    ZEND_PARSE_PARAMETERS_START(2, 2)
        Z_PARAM_OBJECT_OF_CLASS(object, mq_ce_queue)
        Z_PARAM_ARRAY_HT(list)
    ZEND_PARSE_PARAMETERS_END();

    erase_rows(object, list, mq_campaign_erase);
}

/* ---- the relay ---- */

ZEND_METHOD(MailQueue_Internal, probe)
{
    zend_string *text;
    struct mq_dsn dsn;
    struct mq_buffer trace = {0};
    struct mq_error err;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STR(text)
    ZEND_PARSE_PARAMETERS_END();

    char *accounts = NULL;
    enum mq_status status = mq_dsn_parse(mq_php_str(text), &dsn, &err);
    if (status == MQ_OK) {
        status = dsn.account ? mq_php_accounts_path(&accounts, &err) : MQ_OK;
        if (status == MQ_OK) {
            status = mq_dsn_is_http(&dsn) ? mq_http_probe(&dsn, &trace, &err)
                                          : mq_smtp_probe(&dsn, accounts, &trace, &err);
        }
        mq_dsn_clear(&dsn);
    }
    free(accounts);
    if (mq_php_ok(status, &err)) {
        RETVAL_STRINGL(trace.data ? trace.data : "", trace.len);
    }
    mq_buffer_clear(&trace);
}

ZEND_METHOD(MailQueue_Internal, hasSecret)
{
    zend_string *text;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STR(text)
    ZEND_PARSE_PARAMETERS_END();

    RETURN_BOOL(mq_group_has_secret(mq_php_str(text)));
}

ZEND_METHOD(MailQueue_Internal, helo)
{
    zend_string *text;
    struct mq_dsn dsn;
    struct mq_error err;
    char name[256];

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STR(text)
    ZEND_PARSE_PARAMETERS_END();

    if (mq_php_ok(mq_dsn_parse(mq_php_str(text), &dsn, &err), &err)) {
        mq_hello_name(&dsn, name, sizeof name);
        mq_dsn_clear(&dsn);
        RETVAL_STRING(name);
    }
}

ZEND_METHOD(MailQueue_Internal, trace)
{
    bool on;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_BOOL(on)
    ZEND_PARSE_PARAMETERS_END();

    /* A run may be under way and goes on writing, so the buffer stays where it is. */
    struct mq_buffer *trace = &MAILQUEUE_G(trace);
    RETVAL_STRINGL(trace->data ? trace->data : "", trace->len);
    mq_buffer_clear(trace);
    MAILQUEUE_G(traces) = on;
}

/* ---- files ---- */

/* If a file has an ACL, stat() shows its mask instead of the group's rights. PHP cannot read it. */
ZEND_METHOD(MailQueue_Internal, hasAcl)
{
    zend_string *path;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_PATH_STR(path)
    ZEND_PARSE_PARAMETERS_END();
#ifdef __linux__
    RETURN_BOOL(getxattr(ZSTR_VAL(path), "system.posix_acl_access", NULL, 0) > 0);
#else
    RETURN_TRUE; /* unknown: take the careful answer */
#endif
}
