/* Moving a queue into another database. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php/methods.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/process.h"
#include "php/classes.h"
#include "php/exceptions.h"
#include "php/guard.h"
#include "php/paths.h"
#include "php/queue_object.h"
#include "queue/copy.h"
#include "worker/recovery.h"

#define TIMEOUT_MAX_S 86400
#define LOOK_MS       200

/* Connections of our own: what the callback does to the objects does not matter then. */
struct both {
    struct mq_queue *source;
    struct mq_queue *target;
};

static void close_both(struct both *both)
{
    mq_queue_close(both->source);
    mq_queue_close(both->target);
}

/* false: an exception was thrown. */
static bool open_both(zval *source, zval *target, struct both *both)
{
    struct mq_error err;
    if (mq_php_queue_use(source) == NULL || mq_php_queue_use(target) == NULL) {
        return false;
    }
    enum mq_status status =
        mq_php_queue_open(mq_php_queue_from(Z_OBJ_P(source)), false, &both->source, &err);
    if (status == MQ_OK) {
        status = mq_php_queue_open(mq_php_queue_from(Z_OBJ_P(target)), false, &both->target, &err);
    }
    if (status != MQ_OK) {
        close_both(both);
    }
    return mq_php_ok(status, &err);
}

/* ---- progress ---- */

struct progress_call {
    struct mq_php_run run;
    struct mq_php_callable *callable;
    const struct mq_copy_progress *progress;
};

static void call_progress(void *context)
{
    struct progress_call *call = context;
    zval about, result;
    array_init(&about);
    add_assoc_string(&about, "phase", mq_copy_phase_name(call->progress->phase));
    add_assoc_long(&about, "done", (zend_long)call->progress->done);
    add_assoc_long(&about, "total", (zend_long)call->progress->total);
    mq_php_call(call->callable, 1, &about, &result);
    zval_ptr_dtor(&result);
}

static enum mq_status show_progress(void *context, const struct mq_copy_progress *progress,
                                    struct mq_error *err)
{
    struct progress_call *call = context;
    call->progress = progress;
    if (!mq_php_guarded(&call->run, call_progress, call)) {
        return mq_error_set(err, MQ_BAILOUT, "", "PHP stopped with a fatal error");
    }
    return EG(exception) ? mq_error_set(err, MQ_THROWN, "", "the callback threw") : MQ_OK;
}

/* ---- the report ---- */

static void add_names(zval *array, const char *key, const struct mq_strings *names)
{
    zval list;
    array_init(&list);
    for (size_t i = 0; i < names->count; i++) {
        add_next_index_string(&list, names->items[i]);
    }
    add_assoc_zval(array, key, &list);
}

struct shown_report {
    const struct mq_copy_report *report;
    zval *out;
};

static void show_report(void *context)
{
    const struct shown_report *shown = context;
    const struct mq_copy_report *report = shown->report;
    char hex[2 * MQ_SHA256_SIZE + 1];
    zval counts;
    array_init(&counts);
    for (int i = 0; i < MQ_STATE_COUNT; i++) {
        add_assoc_long(&counts, mq_state_name((enum mq_state)i), (zend_long)report->counts[i]);
    }
    for (size_t i = 0; i < MQ_SHA256_SIZE; i++) {
        snprintf(hex + 2 * i, 3, "%02x", report->checksum[i]);
    }
    array_init(shown->out);
    add_assoc_bool(shown->out, "late", report->late);
    add_assoc_long(shown->out, "copied", (zend_long)report->copied);
    add_assoc_long(shown->out, "deleted", (zend_long)report->removed);
    add_assoc_long(shown->out, "mails", (zend_long)report->mails);
    add_assoc_zval(shown->out, "counts", &counts);
    add_assoc_string(shown->out, "checksum", hex);
    add_names(shown->out, "ignoredColumns", &report->ignored);
    add_names(shown->out, "changedKeys", &report->changed);
    add_names(shown->out, "keptKeys", &report->kept);
}

/* ---- the methods ---- */

static enum mq_status move(struct both *both, struct mq_copy_options *options,
                           struct mq_copy_report *report, struct mq_error *err)
{
    struct mq_recovery recovery;
    char *run_dir = NULL;
    enum mq_status status = mq_php_run_dir(both->source, &run_dir, err);
    if (status != MQ_OK) {
        return status;
    }
    mq_recovery_init(&recovery, run_dir);
    options->evidence = run_dir ? &recovery.source : NULL;
    status = mq_queue_move(both->source, both->target, options, report, err);
    mq_recovery_clear(&recovery);
    free(run_dir);
    return status;
}

ZEND_METHOD(MailQueue, moveTo)
{
    zend_object *target;
    zend_string *names[2];
    zend_long timeout = 960;
    bool remove = false, dry_run = false;
    struct mq_php_callable callable = {.info = empty_fcall_info, .cache = empty_fcall_info_cache};
    struct both both = {NULL, NULL};
    struct mq_copy_report report;
    struct mq_error err;
    zval other;

    ZEND_PARSE_PARAMETERS_START(3, 7)
        Z_PARAM_OBJ_OF_CLASS(target, mq_ce_queue)
        Z_PARAM_STR(names[0])
        Z_PARAM_STR(names[1])
        Z_PARAM_OPTIONAL
        Z_PARAM_LONG(timeout)
        Z_PARAM_BOOL(remove)
        Z_PARAM_BOOL(dry_run)
        Z_PARAM_FUNC_OR_NULL(callable.info, callable.cache)
    ZEND_PARSE_PARAMETERS_END();

    if (timeout < 0 || timeout > TIMEOUT_MAX_S) {
        zend_argument_value_error(4, "must be between 0 and %d (seconds)", TIMEOUT_MAX_S);
        RETURN_THROWS();
    }
    ZVAL_OBJ(&other, target);
    if (!open_both(ZEND_THIS, &other, &both)) {
        RETURN_THROWS();
    }
    struct progress_call call = {.run = {.pid = mq_process_id()}, .callable = &callable};
    struct mq_copy_options options = {
        .source_name = ZSTR_VAL(names[0]),
        .target_name = ZSTR_VAL(names[1]),
        .timeout_s = timeout,
        .look_ms = LOOK_MS,
        .remove = remove,
        .dry_run = dry_run,
        .progress = ZEND_FCI_INITIALIZED(callable.info) ? show_progress : NULL,
        .context = &call,
    };
    mq_copy_report_init(&report);
    enum mq_status status = move(&both, &options, &report, &err);
    close_both(&both);
    struct shown_report shown = {&report, return_value};
    bool survived = status != MQ_OK || mq_php_survives(show_report, &shown);
    mq_copy_report_clear(&report);
    if (!survived) {
        zend_bailout();
    }
    mq_php_ok(status, &err);
}

ZEND_METHOD(MailQueue, abortMove)
{
    zend_object *target;
    zend_string *name;
    struct both both = {NULL, NULL};
    struct mq_error err;
    zval other;

    ZEND_PARSE_PARAMETERS_START(2, 2)
        Z_PARAM_OBJ_OF_CLASS(target, mq_ce_queue)
        Z_PARAM_STR(name)
    ZEND_PARSE_PARAMETERS_END();

    ZVAL_OBJ(&other, target);
    if (!open_both(ZEND_THIS, &other, &both)) {
        RETURN_THROWS();
    }
    enum mq_status status = mq_queue_move_abort(both.source, both.target, ZSTR_VAL(name), &err);
    close_both(&both);
    mq_php_ok(status, &err);
}
