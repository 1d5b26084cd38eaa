/* MailQueue::runWorker() and checkTransport() */
#include "stubs/mailqueue_methods.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "SAPI.h"
#include "build-defs.h"
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
#include "php/verdicts.h"
#include "php/worker/hooks.h"
#include "php_mailqueue.h"
#include "queue/body.h"
#include "queue/claim.h"
#include "send/factory.h"
#include "send/group.h"
#include "worker/lock.h"
#include "worker/log.h"
#include "worker/relay/relays.h"
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
    [ARG_TIME_LIMIT] = {"timeLimit", -1, 1, 366 * 86400},
    [ARG_MESSAGE_LIMIT] = {"messageLimit", -1, 1, 1000000000},
    [ARG_MAX_WORKERS] = {"maxWorkers", 1, 1, MQ_WORKERS_MAX},
    [ARG_GRACE] = {"grace", 30, 0, 3600},
    [ARG_MAX_BYTES] = {"maxBytes", MQ_BODIES_BYTES, 1, ZEND_LONG_MAX / 4},
    [ARG_COUNT] = {"recipients", -1, 1, MQ_PHP_RECIPIENTS_MAX},
};

struct run {
    /* The arguments; borrowed from the call. */
    zend_object *transport_closure;
    zend_string *dsn; /* NULL: the ini setting */
    struct mq_php_callable compose, sign, on_event;
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
    struct mq_php_callable closure;
    struct mq_queue *queue; /* the run's own, whose connection does the checkpoints */
    struct mq_relays relays;
    struct mq_transport *closure_transport; /* NULL: the transport is a DSN */
    struct mq_rules *verdicts;              /* NULL: none */
    char *log_path;
    char *run_dir;
    int64_t final_timeout_ms; /* the longest; 0: no transport waits for something after a message */
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

static bool is_allowed(const char *path)
{
    return php_check_open_basedir_ex(path, 0) == 0;
}

/* Checks the path that a DSN names on this host against open_basedir. As in mail(), open_basedir
 * does not apply to sendmail_path of php.ini, which the administrator has chosen. */
static enum mq_status check_path_of(const struct mq_dsn *dsn, struct mq_error *err)
{
    const char *path = mq_dsn_local_path(dsn);
    if (path && !is_allowed(path)) {
        return mq_error_set(err, MQ_CONFIG, "transport",
                            "transport: open_basedir does not allow %s; name one that it allows",
                            path);
    }
    return MQ_OK;
}

static enum mq_status open_dsn(struct mq_dsn *dsn, zend_long connections, struct mq_clock clock,
                               const struct mq_rules *verdicts, struct mq_transport **out,
                               struct mq_error *err)
{
    char *accounts = NULL;
    MQ_TRY(dsn->account ? mq_php_accounts_path(&accounts, err) : MQ_OK);
    const struct mq_transport_options options = {
        .clock = clock,
        .connections = (int)connections,
        .sendmail_path = MQ_PHP_INI("sendmail_path"),
        .own_program = PHP_BINDIR "/mailqueue",
        .accounts = accounts,
        .trace = MAILQUEUE_G(traces) ? &MAILQUEUE_G(trace) : NULL,
        .verdicts = verdicts,
        .no_command = !zend_hash_str_exists(CG(function_table), ZEND_STRL("proc_open")),
    };
    enum mq_status status = mq_transport_open(dsn, &options, out, err);
    free(accounts);
    return status;
}

static enum mq_status open_closure(struct run *run, struct mq_error *err)
{
    zval closure;
    ZVAL_OBJ(&closure, run->transport_closure);
    zend_fcall_info_init(&closure, 0, &run->closure.info, &run->closure.cache, NULL, NULL);
    MQ_TRY(mq_closure_transport_new(&run->php, &run->closure, mq_queue_clock(run->queue),
                                    &run->closure_transport, err));
    const char *name = run->closure_transport->name;
    MQ_TRY(mq_relays_add_transport(&run->relays, name, run->closure_transport, 0, err));
    struct mq_route *route;
    return mq_relays_add(&run->relays, mq_str_of(name), &route, err);
}

/* For struct mq_relays. */
static enum mq_status open_relay(void *context, struct mq_str text, struct mq_transport **out,
                                 int *connections, struct mq_error *err)
{
    struct run *run = context;
    struct mq_dsn dsn = {0};
    MQ_TRY(mq_dsn_parse(text, &dsn, err));
    enum mq_status status = check_path_of(&dsn, err);
    if (status == MQ_OK) {
        int64_t final_ms = dsn.final_timeout_ms;
        run->final_timeout_ms = final_ms > run->final_timeout_ms ? final_ms : run->final_timeout_ms;
        *connections = (int)dsn.connections;
        status = open_dsn(&dsn, *connections > 0 ? *connections : run->number[ARG_CONNECTIONS],
                          *mq_queue_clock(run->queue), run->verdicts, out, err);
    }
    mq_dsn_clear(&dsn);
    return status;
}

/* Returns MQ_THROWN also if the lease is too short. */
static enum mq_status open_transport(struct run *run, struct mq_error *err)
{
    if (run->transport_closure) {
        return open_closure(run, err);
    }
    const char *set = MAILQUEUE_G(transport);
    bool is_default = run->dsn == NULL && (set == NULL || *set == '\0');
    struct mq_str dsn = mq_str_of(is_default ? "sendmail://default" : set);
    struct mq_route *route;
    enum mq_status status =
        mq_relays_add(&run->relays, run->dsn ? mq_php_str(run->dsn) : dsn, &route, err);
    if (status != MQ_OK && run->dsn) {
        mq_php_throw_argument(ARG_TRANSPORT, err);
        return MQ_THROWN;
    }
    if (is_default && status == MQ_CONFIG) {
        zend_throw_exception_ex(
            mq_ce_exception, 0,
            "No transport: give one, such as \"smtp://user:password@host:587\", or set the ini "
            "setting mailqueue.transport; php.ini's sendmail_path cannot be it (%s)",
            err->text);
        return MQ_THROWN;
    }
    MQ_TRY(status);
    return check_lease(ARG_LEASE, run->number[ARG_LEASE], run->final_timeout_ms) ? MQ_OK
                                                                                 : MQ_THROWN;
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
    MQ_TRY(mq_dkim_new(&run->hooks.dkim, is_allowed, err));
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
    if (!is_allowed(run->log_path)) {
        return mq_error_set(err, MQ_CONFIG, "log", "%s: open_basedir does not allow this log file",
                            run->log_path);
    }
    return mq_log_open(run->log_path, run->verbose, &run->hooks.log, err);
}

static enum mq_status open_run(struct run *run, struct mq_php_queue *self, struct mq_error *err)
{
    MQ_TRY(mq_php_verdicts_read(&run->verdicts, err));
    MQ_TRY(mq_php_queue_open(self, true, &run->queue, err));
    MQ_TRY(open_transport(run, err));
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
    mq_relays_clear(&run->relays);
    if (run->closure_transport) {
        mq_transport_free(run->closure_transport);
    }
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
        .final_timeout_s = (run->final_timeout_ms + 999) / 1000,
        .daemon = run->daemon,
        .in_request = run->in_request,
        .on_uncertain = is_hold(run->on_uncertain) ? MQ_UNCERTAIN_HOLD : MQ_UNCERTAIN_RETRY,
        .run_dir = run->run_dir,
    };
    run->hooks.compose = ZEND_FCI_INITIALIZED(run->compose.info) ? &run->compose : NULL;
    run->hooks.sign = ZEND_FCI_INITIALIZED(run->sign.info) ? &run->sign : NULL;
    run->hooks.on_event = ZEND_FCI_INITIALIZED(run->on_event.info) ? &run->on_event : NULL;
    struct mq_worker_hooks hooks;
    mq_php_worker_hooks(&run->hooks, &hooks);
    struct mq_worker worker = {run->queue, &run->relays, &options, &hooks};
    return mq_worker_run(&worker, report, err);
}

/* False with an exception. */
static bool do_run(struct mq_php_queue *self, struct run *run, struct mq_report *report)
{
    struct mq_error err;
    run->php.pid = mq_process_id();
    run->hooks.run = &run->php;
    run->relays.open = open_relay;
    run->relays.context = run;
    self->working = true;
    enum mq_status status = open_run(run, self, &err);
    if (status == MQ_OK) {
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

void mq_php_run_in_request(zval *object, zend_long seconds, zend_long mails,
                           const struct mq_php_callable *compose,
                           const struct mq_php_callable *sign)
{
    struct mq_php_queue *self = mq_php_queue_from(Z_OBJ_P(object));
    struct mq_report report;
    struct run run = {.in_request = true, .compose = *compose, .sign = *sign};
    set_defaults(&run);
    run.number[ARG_TIME_LIMIT] = run.number[ARG_GRACE] = seconds;
    run.number[ARG_MESSAGE_LIMIT] = mails;
    if (!self->working && mq_php_queue_opened(object)) {
        do_run(self, &run, &report);
    }
}

ZEND_METHOD(MailQueue, runWorker)
{
    struct run run = {0};
    zend_long *number = run.number;
    bool *is_null = run.is_null;

    set_defaults(&run);
    ZEND_PARSE_PARAMETERS_START(0, 17)
        Z_PARAM_OPTIONAL
        Z_PARAM_OBJ_OF_CLASS_OR_STR_OR_NULL(run.transport_closure, zend_ce_closure, run.dsn)
        Z_PARAM_FUNC_OR_NULL(run.compose.info, run.compose.cache)
        Z_PARAM_LONG(number[ARG_CONNECTIONS])
        Z_PARAM_LONG(number[ARG_BATCH])
        Z_PARAM_LONG(number[ARG_LEASE])
        Z_PARAM_LONG_OR_NULL(number[ARG_TIME_LIMIT], is_null[ARG_TIME_LIMIT])
        Z_PARAM_LONG_OR_NULL(number[ARG_MESSAGE_LIMIT], is_null[ARG_MESSAGE_LIMIT])
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

/* Whether runWorker() would accept the DSN. Opens no connection and creates no directory. */
static enum mq_status try_dsn(struct mq_str text, int64_t *final_timeout_ms, char **redacted,
                              struct mq_error *err)
{
    struct mq_transport *transport = NULL;
    struct mq_dsn dsn;
    MQ_TRY(mq_dsn_parse(text, &dsn, err));
    enum mq_status status = check_path_of(&dsn, err);
    if (status == MQ_OK) { /* before the transport takes over the DSN's texts */
        *final_timeout_ms = dsn.final_timeout_ms;
        *redacted = mq_dsn_redacted(&dsn);
        status = *redacted ? MQ_OK : mq_error_nomem(err);
    }
    if (status == MQ_OK && !mq_dsn_is(&dsn, "file")) {
        status = open_dsn(&dsn, 1, mq_clock_system(), NULL, &transport, err);
    }
    if (transport) {
        mq_transport_free(transport);
    }
    mq_dsn_clear(&dsn);
    return status;
}

/* The same for each relay of a group, whose member `relay` is then the redacted text. */
static enum mq_status try_group(struct mq_group *group, int *number, int64_t *final_timeout_ms,
                                struct mq_error *err)
{
    char *redacted = NULL;
    int64_t final_ms = 0;
    for (size_t i = 0; i < group->count; i++) {
        enum mq_status status = try_group(&group->members[i], number, final_timeout_ms, err);
        if (status != MQ_OK) {
            bool is_relay = group->members[i].kind == MQ_GROUP_RELAY;
            return is_relay ? mq_group_blame(*number, status, err) : status;
        }
    }
    if (group->kind == MQ_GROUP_RELAY) {
        ++*number;
        MQ_TRY(try_dsn(group->dsn, &final_ms, &redacted, err));
        group->relay = redacted;
        *final_timeout_ms = final_ms > *final_timeout_ms ? final_ms : *final_timeout_ms;
    }
    return MQ_OK;
}

static const char *redacted_of(const struct mq_group *relay)
{
    return relay->relay;
}

static void free_redacted(struct mq_group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        free_redacted(&group->members[i]);
    }
    free(group->relay);
}

static enum mq_status try_transport(struct mq_str text, int64_t *final_timeout_ms,
                                    struct mq_buffer *redacted, struct mq_error *err)
{
    struct mq_group group;
    int number = 0;
    MQ_TRY(mq_group_parse(text, &group, err));
    enum mq_status status = try_group(&group, &number, final_timeout_ms, err);
    if (status == MQ_OK) {
        mq_group_write(&group, redacted, redacted_of);
        status = redacted->failed ? mq_error_nomem(err) : MQ_OK;
    }
    free_redacted(&group);
    mq_group_clear(&group);
    return status;
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
    if (try_transport(mq_php_str(dsn), &final_timeout_ms, &redacted, &err) != MQ_OK) {
        mq_php_throw_argument(1, &err);
    } else if (check_lease(2, lease, final_timeout_ms)) {
        RETVAL_STRINGL(redacted.data, redacted.len);
    }
    mq_buffer_clear(&redacted);
}
