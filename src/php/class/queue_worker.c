/* MailQueue::runWorker() and checkTransport() */
#include "stubs/mailqueue_methods.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "SAPI.h"
#include "zend_closures.h"
#include "zend_enum.h"
#include "zend_exceptions.h"

#include "core/process_id.h"
#include "mime/dkim/sign.h"
#include "php/class/classes.h"
#include "php/class/conversion.h"
#include "php/class/exceptions.h"
#include "php/class/queue_object.h"
#include "php/class/queue_options.h"
#include "php/class/queue_run.h"
#include "php/class/value_objects.h"
#include "php/guard.h"
#include "php/ini.h"
#include "php/message/fields.h"
#include "php/paths.h"
#include "php/pdo/driver.h"
#include "php/verdict_file.h"
#include "php/worker/hooks.h"
#include "php/worker/relay_arguments.h"
#include "php_mailqueue.h"
#include "queue/body.h"
#include "queue/claim.h"
#include "worker/lock.h"
#include "worker/log.h"
#include "worker/worker.h"

enum argument {
    ARG_TRANSPORT = 1,
    ARG_COMPOSE,
    ARG_CONNECTIONS,
    ARG_BATCH,
    ARG_LEASE,
    ARG_TIME_LIMIT,
    ARG_MESSAGE_LIMIT,
    ARG_MAX_WORKERS,
    ARG_GRACE,
    ARG_DAEMON,
    ARG_ON_UNCERTAIN,
    ARG_LOG,
    ARG_ON_EVENT,
    ARG_DKIM,
    ARG_MAX_BYTES,
    ARG_COUNT
};

/* The arguments that are numbers, by their positions; then the limit of recipients. */
static const struct {
    const char *name;
    zend_long standard, min, max; /* standard -1: null, no limit */
} numbers[ARG_COUNT + 1] = {
    [ARG_CONNECTIONS] = {"connections", 10, 1, MQ_CONNECTIONS_MAX},
    [ARG_BATCH] = {"batch", 100, 1, MQ_CLAIM_MAX},
    [ARG_LEASE] = {"lease", MQ_LEASE_S, MQ_LEASE_MIN_S, MQ_LEASE_MAX_S},
    [ARG_TIME_LIMIT] = {"timeLimit", -1, 1, MQ_PHP_SPAN_MAX_S},
    [ARG_MESSAGE_LIMIT] = {"messageLimit", -1, 1, 1000000000},
    [ARG_MAX_WORKERS] = {"maxWorkers", 1, 1, MQ_WORKERS_MAX},
    [ARG_GRACE] = {"grace", 30, 0, 3600},
    [ARG_MAX_BYTES] = {"maxBytes", MQ_BODIES_BYTES, 1, ZEND_LONG_MAX / 4},
    [ARG_COUNT] = {"recipients", -1, 1, MQ_PHP_RECIPIENTS_MAX},
};

struct run {
    /* The arguments; borrowed from the call. */
    struct mq_php_callable compose, sign, on_event, on_finished;
    zend_long number[ARG_COUNT];
    bool is_null[ARG_COUNT];
    bool daemon, verbose;
    bool in_request;           /* runAfterResponse(): nothing is shown */
    zend_object *on_uncertain; /* NULL: retry */
    zend_string *log_name;     /* NULL: the default */
    zend_string *dkim_keys;    /* NULL: the ini setting */

    /* What the run opens. */
    struct mq_php_run php;
    struct mq_php_hooks hooks;
    struct mq_php_relays relays; /* its arguments, too */
    struct mq_queue *queue;      /* the run's own, whose connection does the checkpoints */
    struct mq_rules *verdicts;   /* NULL: none */
    char *log_path;
    char *run_dir;
};

static bool check_number(uint32_t arg, zend_long value)
{
    return mq_php_check_range(arg, value, numbers[arg].min, numbers[arg].max, "");
}

static bool check_arguments(struct run *run)
{
    for (uint32_t arg = 0; arg < ARG_COUNT; arg++) {
        if (run->is_null[arg]) {
            run->number[arg] = -1;
        } else if (numbers[arg].max && !check_number(arg, run->number[arg])) {
            return false;
        }
    }
    return true;
}

static bool check_may_run(const struct mq_php_queue *self)
{
    if (strcmp(sapi_module.name, "cli") != 0) {
        zend_throw_exception_ex(mq_ce_exception, 0,
                                "MailQueue::runWorker() runs on the command line only, this is "
                                "PHP's \"%s\": start bin/mailqueue work by cron",
                                sapi_module.name);
        return false;
    }
    if (self->working) {
        zend_throw_error(NULL, "MailQueue::runWorker() is running already on this object: do not "
                               "call it from its own callbacks");
        return false;
    }
    return true;
}

/* A lease must outlast the wait for the reply to the final dot: else a mail that the relay is
 * taking would be sent again. */
static bool check_lease(uint32_t arg, zend_long lease, int64_t final_timeout_ms)
{
    if (lease * INT64_C(1000) > final_timeout_ms) {
        return true;
    }
    zend_argument_value_error(arg,
                              "must be longer than the transport waits for the reply to the final "
                              "dot (%d seconds): raise it, or lower final_timeout in the DSN",
                              (int)(final_timeout_ms / 1000));
    return false;
}

/* Returns MQ_THROWN if the lease is too short, too. */
static enum mq_status open_relays(struct run *run, struct mq_error *err)
{
    zend_long lease = run->number[ARG_LEASE];
    run->relays.run = &run->php;
    run->relays.clock = *mq_queue_clock(run->queue);
    run->relays.connections = run->number[ARG_CONNECTIONS];
    run->relays.lease_s = lease;
    run->relays.verdicts = run->verdicts;
    run->relays.in_request = run->in_request;
    MQ_TRY(mq_php_relays_open(&run->relays, err));
    bool is_long_enough =
        run->in_request || check_lease(ARG_LEASE, lease, run->relays.final_timeout_ms);
    return is_long_enough ? MQ_OK : MQ_THROWN;
}

static enum mq_status open_dkim(struct run *run, struct mq_error *err)
{
    struct mq_str keys = run->dkim_keys ? mq_php_str(run->dkim_keys) : mq_str_of(MAILQUEUE_G(dkim));
    if (keys.len == 0) {
        return MQ_OK;
    }
    if (memchr(keys.data, '\0', keys.len)) {
        return mq_error_set(err, MQ_CONFIG, "dkim", "dkim: there is a NUL in it; remove it");
    }
    MQ_TRY(mq_dkim_new(&run->hooks.dkim, mq_php_is_allowed, err));
    return mq_dkim_add_list(run->hooks.dkim, keys, err);
}

static enum mq_status open_log(struct run *run, struct mq_error *err)
{
    const zend_string *name = run->log_name;
    if (name && ZSTR_LEN(name) == 0) {
        return MQ_OK;
    }
    run->log_path = name ? mq_str_dup(mq_php_str(name)) : mq_php_log_path(run->queue, run->run_dir);
    if (run->log_path == NULL) {
        return mq_error_nomem(err);
    }
    if (!mq_php_is_allowed(run->log_path)) {
        return mq_error_set(err, MQ_CONFIG, "log", "%s: open_basedir does not allow this log file",
                            run->log_path);
    }
    return mq_log_open(run->log_path, run->verbose, &run->hooks.log, err);
}

static enum mq_status open_run(struct run *run, struct mq_php_queue *self, struct mq_error *err)
{
    MQ_TRY(mq_php_verdicts_read(&run->verdicts, err));
    MQ_TRY(mq_php_queue_open(self, true, &run->queue, err));
    MQ_TRY(open_relays(run, err));
    run->php.pdo = mq_php_pdo_of_run(mq_queue_db(run->queue));
    MQ_TRY(mq_php_run_dir(run->queue, &run->run_dir, err));
    MQ_TRY(mq_php_run_dir_prepare(run->queue, run->run_dir, err));
    MQ_TRY(open_log(run, err));
    return open_dkim(run, err);
}

/* A warning, not an exception: logging never stops the mail. */
static void warn_of_log(const struct run *run)
{
    if (run->hooks.log) {
        mq_log_flush(run->hooks.log);
    }
    int reason = run->hooks.log && !run->in_request ? mq_log_failed(run->hooks.log) : 0;
    if (reason != 0) {
        php_error_docref(NULL, E_WARNING,
                         "the log %s could not be written: %s; lines of this run are missing in "
                         "it. Make room, or name another file (MAIL_QUEUE_LOG or the option log)",
                         run->log_path, strerror(reason));
    }
}

static void close_run(struct run *run)
{
    mq_php_relays_close(&run->relays);
    mq_rules_free(run->verdicts);
    mq_queue_close(run->queue);
    if (run->hooks.log) {
        mq_log_close(run->hooks.log);
    }
    mq_dkim_free(run->hooks.dkim);
    free(run->log_path);
    free(run->run_dir);
}

static bool is_hold(zend_object *on_uncertain)
{
    return on_uncertain &&
           zend_string_equals_literal(Z_STR_P(zend_enum_fetch_case_value(on_uncertain)), "hold");
}

/* How long a relay may need for its reply to the final dot. Those that a function names are not
 * known yet; none needs longer than a lease. */
static int64_t final_timeout_s(const struct run *run)
{
    return run->relays.all.choose ? run->number[ARG_LEASE]
                                  : (run->relays.final_timeout_ms + 999) / 1000;
}

static enum mq_status work(struct run *run, struct mq_report *report, struct mq_error *err)
{
    const zend_long *number = run->number;
    const struct mq_worker_options options = {
        .connections = (int)number[ARG_CONNECTIONS],
        .batch = (int)number[ARG_BATCH],
        .lease_s = number[ARG_LEASE],
        .time_limit_s = number[ARG_TIME_LIMIT],
        .message_limit = number[ARG_MESSAGE_LIMIT],
        .max_workers = (int)number[ARG_MAX_WORKERS],
        .max_bytes = number[ARG_MAX_BYTES],
        .grace_s = number[ARG_GRACE],
        .final_timeout_s = final_timeout_s(run),
        .daemon = run->daemon,
        .in_request = run->in_request,
        .on_uncertain = is_hold(run->on_uncertain) ? MQ_UNCERTAIN_HOLD : MQ_UNCERTAIN_RETRY,
        .run_dir = run->run_dir,
    };
    run->hooks.compose = ZEND_FCI_INITIALIZED(run->compose.info) ? &run->compose : NULL;
    run->hooks.sign = ZEND_FCI_INITIALIZED(run->sign.info) ? &run->sign : NULL;
    run->hooks.on_event = ZEND_FCI_INITIALIZED(run->on_event.info) ? &run->on_event : NULL;
    run->hooks.on_finished = ZEND_FCI_INITIALIZED(run->on_finished.info) ? &run->on_finished : NULL;
    struct mq_worker_hooks hooks;
    mq_php_worker_hooks(&run->hooks, &hooks);
    struct mq_worker worker = {run->queue, &run->relays.all, &options, &hooks};
    return mq_worker_run(&worker, report, err);
}

/* False with an exception. */
static bool do_run(struct mq_php_queue *self, struct run *run, struct mq_report *report)
{
    struct mq_error err;
    run->php.pid = mq_process_id();
    run->hooks.run = &run->php;
    self->working = true;
    enum mq_status status = open_run(run, self, &err);
    if (status == MQ_OK) {
        mq_php_queue_let_go(self);
        status = work(run, report, &err);
    }
    self->working = false;
    if (status == MQ_OK) {
        warn_of_log(run);
    }
    close_run(run);
    /* An error handler may have thrown. */
    return mq_php_ok(status, &err) && !EG(exception);
}

static void run_worker(zval *object, struct run *run, zval *return_value)
{
    struct mq_php_queue *self = mq_php_queue_from(Z_OBJ_P(object));
    struct mq_report report = {0};
    run->hooks.queue = object;
    if (check_may_run(self) && check_arguments(run) && mq_php_queue_opened(object) &&
        do_run(self, run, &report)) {
        mq_php_report_new(return_value, &report);
    }
}

static void set_defaults(struct run *run)
{
    for (int arg = 0; arg < ARG_COUNT; arg++) {
        run->number[arg] = numbers[arg].standard;
        run->is_null[arg] = numbers[arg].standard < 0;
    }
}

void mq_php_run_in_request(zval *object, const struct mq_php_request_run *given)
{
    struct mq_php_queue *self = mq_php_queue_from(Z_OBJ_P(object));
    struct mq_report report;
    struct run run = {.in_request = true,
                      .compose = given->compose,
                      .sign = given->sign,
                      .relays.given = given->relays};
    set_defaults(&run);
    run.number[ARG_TIME_LIMIT] = run.number[ARG_GRACE] = given->seconds;
    run.number[ARG_MESSAGE_LIMIT] = given->mails;
    if (!self->working && mq_php_queue_opened(object)) {
        do_run(self, &run, &report);
    }
}

ZEND_METHOD(MailQueue, runWorker)
{
    struct run run = {0};
    zend_long *number = run.number;
    set_defaults(&run);
    ZEND_PARSE_PARAMETERS_START(0, 19)
        Z_PARAM_OPTIONAL
        Z_PARAM_OBJ_OF_CLASS_OR_STR_OR_NULL(run.relays.closure, zend_ce_closure, run.relays.dsn)
        Z_PARAM_FUNC_OR_NULL(run.compose.info, run.compose.cache)
        Z_PARAM_LONG(number[ARG_CONNECTIONS])
        Z_PARAM_LONG(number[ARG_BATCH])
        Z_PARAM_LONG(number[ARG_LEASE])
        Z_PARAM_LONG_OR_NULL(number[ARG_TIME_LIMIT], run.is_null[ARG_TIME_LIMIT])
        Z_PARAM_LONG_OR_NULL(number[ARG_MESSAGE_LIMIT], run.is_null[ARG_MESSAGE_LIMIT])
        Z_PARAM_LONG(number[ARG_MAX_WORKERS])
        Z_PARAM_LONG(number[ARG_GRACE])
        Z_PARAM_BOOL(run.daemon)
        Z_PARAM_OBJ_OF_CLASS(run.on_uncertain, mq_ce_on_uncertain)
        Z_PARAM_PATH_STR_OR_NULL(run.log_name)
        Z_PARAM_FUNC_OR_NULL(run.on_event.info, run.on_event.cache)
        Z_PARAM_STR_OR_NULL(run.dkim_keys)
        Z_PARAM_LONG(number[ARG_MAX_BYTES])
        Z_PARAM_BOOL(run.verbose)
        Z_PARAM_FUNC_OR_NULL(run.sign.info, run.sign.cache)
        Z_PARAM_ZVAL(run.relays.given)
        Z_PARAM_FUNC_OR_NULL(run.on_finished.info, run.on_finished.cache)
    ZEND_PARSE_PARAMETERS_END();

    run_worker(ZEND_THIS, &run, return_value);
}

ZEND_METHOD(MailQueue_Internal, limits)
{
    ZEND_PARSE_PARAMETERS_NONE();
    array_init(return_value);
    for (int i = 0; i <= ARG_COUNT; i++) {
        zval range;
        if (numbers[i].name) {
            array_init(&range);
            add_next_index_long(&range, numbers[i].min);
            add_next_index_long(&range, numbers[i].max);
            add_assoc_zval(return_value, numbers[i].name, &range);
        }
    }
}

ZEND_METHOD(MailQueue, checkTransport)
{
    zend_string *dsn;
    zend_long lease = numbers[ARG_LEASE].standard;
    int64_t final_timeout_ms = 0;
    struct mq_buffer redacted = {0};
    struct mq_error err;

    if (zend_parse_parameters(ZEND_NUM_ARGS(), "S|l", &dsn, &lease) == FAILURE ||
        !mq_php_check_range(2, lease, numbers[ARG_LEASE].min, numbers[ARG_LEASE].max, "")) {
        RETURN_THROWS();
    }
    if (mq_php_try_transport(mq_php_str(dsn), &final_timeout_ms, &redacted, &err) != MQ_OK) {
        mq_php_throw_argument(1, &err);
    } else if (check_lease(2, lease, final_timeout_ms)) {
        RETVAL_STRINGL(redacted.data, redacted.len);
    }
    mq_buffer_clear(&redacted);
}
