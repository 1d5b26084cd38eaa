/* The methods for config keys, tables and diagnosis. */
#include "stubs/mailqueue_methods.h"

#include <stdlib.h>
#include <string.h>

#include "db/sqlite/sqlite.h"
#include "php/class/classes.h"
#include "php/class/conversion.h"
#include "php/class/exceptions.h"
#include "php/class/queue_object.h"
#include "php/paths.h"
#include "php/pdo/driver.h"
#include "php/pdo/server_about.h"
#include "queue/config/keys.h"
#include "queue/queue.h"
#include "send/factory.h"
#include "worker/lock.h"
#include "worker/worker.h"

ZEND_METHOD(MailQueue, config)
{
    char *key, *value = NULL;
    size_t len;
    struct mq_error err;

    if (zend_parse_parameters(ZEND_NUM_ARGS(), "p", &key, &len) == FAILURE) {
        RETURN_THROWS();
    }
    struct mq_queue *queue = mq_php_queue_use(ZEND_THIS);
    if (queue && mq_php_queue_ok(ZEND_THIS, mq_queue_config(queue, key, &value, &err), &err)) {
        mq_php_set_text(return_value, value);
    }
    free(value);
}

ZEND_METHOD(MailQueue, setConfig)
{
    zend_string *key;
    zval *value;
    struct mq_error err;

    ZEND_PARSE_PARAMETERS_START(2, 2)
        Z_PARAM_PATH_STR(key)
        Z_PARAM_ZVAL(value)
    ZEND_PARSE_PARAMETERS_END();

    if (Z_TYPE_P(value) > IS_STRING) {
        zend_argument_type_error(2, "must be of type string|int|float|bool|null, %s given",
                                 zend_zval_type_name(value));
        RETURN_THROWS();
    }
    zend_string *text = Z_TYPE_P(value) == IS_FALSE ? ZSTR_CHAR('0') : zval_get_string(value);
    struct mq_queue *queue = mq_php_check_text(2, text) ? mq_php_queue_use(ZEND_THIS) : NULL;
    if (queue) {
        const char *set = Z_TYPE_P(value) == IS_NULL ? NULL : ZSTR_VAL(text);
        mq_php_queue_ok(ZEND_THIS, mq_queue_set_config(queue, ZSTR_VAL(key), set, &err), &err);
    }
    zend_string_release(text);
}

ZEND_METHOD(MailQueue, migrate)
{
    int version = 0;
    struct mq_error err;

    ZEND_PARSE_PARAMETERS_NONE();

    struct mq_queue *queue = mq_php_queue_opened(ZEND_THIS);
    if (queue && mq_php_queue_ok(ZEND_THIS, mq_queue_migrate(queue, &version, &err), &err)) {
        RETVAL_LONG(version);
    }
}

/* Reads the journal mode; "" if it is unknown. */
static void read_journal(struct mq_db *db, char out[16])
{
    struct mq_value mode = mq_null();
    struct mq_row row = {&mode, 1, false};
    struct mq_query query = {.slot = -1, .sql = "PRAGMA journal_mode"};
    if (db->driver->dialect != MQ_SQLITE || !mq_php_pdo_is(db)) {
        snprintf(out, 16, "%s", db->driver->dialect == MQ_SQLITE ? mq_sqlite_journal(db) : "");
        return;
    }
    bool read = mq_db_row(db, &query, &row, NULL) == MQ_OK && mode.type == MQ_TEXT;
    snprintf(out, 16, "%.*s", read ? (int)mode.s.len : 0, read ? mode.s.data : "");
    mq_db_finish(db);
}

/* Sets *run_dir too, which the caller frees, also after a failure. */
static enum mq_status count_workers(struct mq_queue *queue, char **run_dir, int *workers,
                                    struct mq_error *err)
{
    *run_dir = NULL;
    MQ_TRY(mq_php_run_dir(queue, run_dir, err));
    return mq_slots_held(queue, *run_dir, MQ_WORKERS_MAX, workers, err);
}

ZEND_METHOD(MailQueue_Internal, workers)
{
    zval *object;
    struct mq_error err;
    char *run_dir = NULL;
    int workers = 0;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_OBJECT_OF_CLASS(object, mq_ce_queue)
    ZEND_PARSE_PARAMETERS_END();

    struct mq_queue *queue = mq_php_queue_opened(object);
    if (queue && mq_php_queue_ok(object, count_workers(queue, &run_dir, &workers, &err), &err)) {
        RETVAL_LONG(workers);
    }
    free(run_dir);
}

static enum mq_status describe(struct mq_queue *queue, zval *out, struct mq_error *err)
{
    struct mq_db *db = mq_queue_db(queue);
    const char *path = mq_queue_path(queue);
    char journal[16], *run_dir = NULL;
    int workers = 0;
    read_journal(db, journal);
    enum mq_status status = count_workers(queue, &run_dir, &workers, err);
    char *log = mq_php_log_path(queue, run_dir);
    if (status == MQ_OK) {
        array_init(out);
        add_assoc_string(out, "sqlite", mq_sqlite_version());
        add_assoc_string(out, "libcurl", mq_curl_version());
        add_assoc_bool(out, "walSafe", mq_sqlite_wal_safe());
        add_assoc_string(out, "database", path ? path : "");
        add_assoc_string(out, "journal", journal);
        add_assoc_string(out, "runDirectory", run_dir ? run_dir : "");
        add_assoc_string(out, "log", log ? log : "");
        add_assoc_long(out, "workers", workers);
        status = mq_php_server_about(db, out, err);
    }
    free(run_dir);
    free(log);
    return status;
}

ZEND_METHOD(MailQueue, diagnostics)
{
    struct mq_error err;

    ZEND_PARSE_PARAMETERS_NONE();

    struct mq_queue *queue = mq_php_queue_opened(ZEND_THIS);
    if (queue) {
        mq_php_queue_ok(ZEND_THIS, describe(queue, return_value, &err), &err);
    }
}

static void add_config_key(zval *out, const struct mq_config_key *key)
{
    zval entry;
    array_init(&entry);
    add_assoc_string(&entry, "type", key->kind->type);
    add_assoc_string(&entry, "range", key->kind->range);
    add_assoc_string(&entry, "default", key->standard);
    add_assoc_string(&entry, "meaning", key->meaning);
    add_assoc_bool(&entry, "internal", key->internal);
    mq_php_add_text(&entry, "aliasOf", key->alias ? mq_config_keys[key->alias_of].name : NULL);
    add_assoc_zval(out, key->name, &entry);
}

ZEND_METHOD(MailQueue, configKeys)
{
    ZEND_PARSE_PARAMETERS_NONE();

    array_init_size(return_value, MQ_KEY_COUNT);
    for (size_t i = 0; i < MQ_KEY_COUNT; i++) {
        add_config_key(return_value, &mq_config_keys[i]);
    }
}
