/* Opens the relays of a run: its transport, the map of relays, and what a function of the
 * application names. */
#include "php/worker/relay_arguments.h"

#include <stdio.h>
#include <stdlib.h>

#include "build-defs.h"
#include "zend_closures.h"
#include "zend_exceptions.h"

#include "php/class/classes.h"
#include "php/class/conversion.h"
#include "php/class/exceptions.h"
#include "php/class/job_object.h"
#include "php/ini.h"
#include "php/paths.h"
#include "php/worker/hooks.h"
#include "php_mailqueue.h"
#include "queue/job.h"
#include "send/dsn.h"
#include "send/factory.h"
#include "send/group.h"

/* The positions of runWorker()'s arguments. */
enum { ARG_TRANSPORT = 1, ARG_RELAYS = 18 };

/* Checks the path that a DSN names on this host against open_basedir. As in mail(), open_basedir
 * does not apply to sendmail_path of php.ini, which the administrator has chosen. */
static enum mq_status check_path_of(const struct mq_dsn *dsn, struct mq_error *err)
{
    const char *path = mq_dsn_local_path(dsn);
    if (path && !mq_php_is_allowed(path)) {
        return mq_error_set(err, MQ_CONFIG, "transport",
                            "transport: open_basedir does not allow %s; name one that it allows",
                            path);
    }
    return MQ_OK;
}

/* `options` has the clock, the number of connections and the rules. */
static enum mq_status open_dsn(struct mq_dsn *dsn, struct mq_transport_options options,
                               struct mq_transport **out, struct mq_error *err)
{
    char *accounts = NULL;
    MQ_TRY(dsn->account ? mq_php_accounts_path(&accounts, err) : MQ_OK);
    options.sendmail_path = MQ_PHP_INI("sendmail_path");
    options.own_program = PHP_BINDIR "/mailqueue";
    options.accounts = accounts;
    options.trace = MAILQUEUE_G(traces) ? &MAILQUEUE_G(trace) : NULL;
    options.no_command = !zend_hash_str_exists(CG(function_table), ZEND_STRL("proc_open"));
    enum mq_status status = mq_transport_open(dsn, &options, out, err);
    free(accounts);
    return status;
}

/* ---- the application's choice ---- */

struct choose_call {
    struct mq_php_relays *relays;
    const struct mq_job *job;
    char **dsn;
    struct mq_error *err;
    enum mq_status status;
};

static void choose_body(void *context)
{
    struct choose_call *call = context;
    zval job, result;
    mq_php_job_show(&job, call->job, MQ_PHP_JOB_ROW);
    mq_php_call(&call->relays->choose, 1, &job, &result);
    if (!EG(exception) && Z_TYPE(result) == IS_STRING) {
        *call->dsn = mq_str_dup(mq_php_str(Z_STR(result)));
        call->status = *call->dsn ? MQ_OK : mq_error_nomem(call->err);
    } else if (!EG(exception)) {
        call->status = mq_error_set(call->err, MQ_MESSAGE, "relays",
                                    "relays: must return a DSN as a string; \"\" is the transport");
    }
    zval_ptr_dtor(&result);
    if (EG(exception)) {
        call->status = mq_php_take_exception("relays", call->err);
    }
}

/* For struct mq_relays. */
static enum mq_status choose(void *context, const struct mq_job *job, char **dsn,
                             struct mq_error *err)
{
    struct mq_php_relays *relays = context;
    struct choose_call call = {.relays = relays, .job = job, .dsn = dsn, .err = err};
    struct mq_error why;
    enum mq_status status = mq_php_call_out(relays->run, "relays", choose_body, &call, &why);
    if (status != MQ_OK) {
        *err = why;
        return status;
    }
    return call.status;
}

/* ---- the relays ---- */

static void init_callable(struct mq_php_callable *callable, zend_object *closure)
{
    zval value;
    ZVAL_OBJ(&value, closure);
    zend_fcall_info_init(&value, 0, &callable->info, &callable->cache, NULL, NULL);
}

static enum mq_status open_closure(struct mq_php_relays *relays, struct mq_error *err)
{
    struct mq_route *route;
    init_callable(&relays->transport, relays->closure);
    MQ_TRY(mq_closure_transport_new(relays->run, &relays->transport, &relays->clock,
                                    &relays->closure_transport, err));
    const char *name = relays->closure_transport->name;
    MQ_TRY(mq_relays_add_transport(&relays->all, name, relays->closure_transport, 0, err));
    return mq_relays_add(&relays->all, mq_str_of(name), &route, err);
}

/* Checks the lease where no argument can be blamed: in a request, and for a relay that the function
 * names during the run. */
static enum mq_status check_lease(const struct mq_php_relays *relays, int64_t final_timeout_ms,
                                  struct mq_error *err)
{
    bool is_checked_later = !relays->in_request && !relays->all.run;
    return is_checked_later || relays->lease_s * INT64_C(1000) > final_timeout_ms
               ? MQ_OK
               : mq_error_set(err, MQ_CONFIG, "transport",
                              "the transport waits %d seconds for the reply to the final dot, but "
                              "a lease ends after %d: lower final_timeout in the DSN",
                              (int)(final_timeout_ms / 1000), (int)relays->lease_s);
}

/* For struct mq_relays. */
static enum mq_status open_relay(void *context, struct mq_str text, struct mq_transport **out,
                                 int *connections, struct mq_error *err)
{
    struct mq_php_relays *relays = context;
    struct mq_dsn dsn = {0};
    MQ_TRY(mq_dsn_parse(text, &dsn, err));
    int64_t final_ms = dsn.final_timeout_ms;
    enum mq_status status = check_path_of(&dsn, err);
    if (status == MQ_OK) {
        status = check_lease(relays, final_ms, err);
    }
    if (status == MQ_OK) {
        relays->final_timeout_ms =
            final_ms > relays->final_timeout_ms ? final_ms : relays->final_timeout_ms;
        *connections = (int)dsn.connections;
        struct mq_transport_options options = {
            .clock = relays->clock,
            .connections = *connections > 0 ? *connections : (int)relays->connections,
            .verdicts = relays->verdicts,
        };
        status = open_dsn(&dsn, options, out, err);
    }
    mq_dsn_clear(&dsn);
    return status;
}

static enum mq_status open_transport(struct mq_php_relays *relays, struct mq_error *err)
{
    if (relays->closure) {
        return open_closure(relays, err);
    }
    const char *set = MAILQUEUE_G(transport);
    bool is_default = relays->dsn == NULL && (set == NULL || *set == '\0');
    struct mq_str dsn = mq_str_of(is_default ? "sendmail://default" : set);
    struct mq_route *route;
    enum mq_status status =
        mq_relays_add(&relays->all, relays->dsn ? mq_php_str(relays->dsn) : dsn, &route, err);
    if (status != MQ_OK && relays->dsn) {
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
    return status;
}

static enum mq_status add_key(struct mq_php_relays *relays, zend_string *key, zend_ulong number,
                              const zval *value, struct mq_error *err)
{
    char digits[24];
    snprintf(digits, sizeof digits, ZEND_ULONG_FMT, number);
    struct mq_str name = key ? mq_php_str(key) : mq_str_of(digits);
    if (Z_TYPE_P(value) != IS_STRING) {
        return mq_error_set(err, MQ_CONFIG, "relays",
                            "relays: \"%.80s\" is not a string; give a DSN, such as "
                            "smtp://user:password@host:587",
                            name.data);
    }
    return mq_relays_map(&relays->all, name, mq_php_str(Z_STR_P(value)), err);
}

static enum mq_status open_map(struct mq_php_relays *relays, HashTable *map, struct mq_error *err)
{
    zend_string *key;
    zend_ulong number;
    zval *value;
    ZEND_HASH_FOREACH_KEY_VAL (map, number, key, value) {
        ZVAL_DEREF(value);
        MQ_TRY(add_key(relays, key, number, value, err));
    }
    ZEND_HASH_FOREACH_END();
    return MQ_OK;
}

static bool is_closure(const zval *given)
{
    return given && Z_TYPE_P(given) == IS_OBJECT && Z_OBJCE_P(given) == zend_ce_closure;
}

bool mq_php_relays_are(uint32_t arg, const zval *given)
{
    if (!given || Z_TYPE_P(given) == IS_ARRAY || Z_TYPE_P(given) == IS_NULL || is_closure(given)) {
        return true;
    }
    zend_argument_type_error(arg, "must be of type Closure|array|null, %s given",
                             zend_zval_type_name(given));
    return false;
}

enum mq_status mq_php_relays_open(struct mq_php_relays *relays, struct mq_error *err)
{
    zval *given = relays->given;
    bool is_map = given && Z_TYPE_P(given) == IS_ARRAY;
    relays->all.open = open_relay;
    relays->all.context = relays;
    if (!mq_php_relays_are(ARG_RELAYS, given)) {
        return MQ_THROWN;
    }
    if (is_closure(given)) {
        init_callable(&relays->choose, Z_OBJ_P(given));
        relays->all.choose = choose;
    }
    if (!is_map || !zend_hash_str_exists(Z_ARRVAL_P(given), ZEND_STRL("default"))) {
        MQ_TRY(open_transport(relays, err));
    }
    enum mq_status status = is_map ? open_map(relays, Z_ARRVAL_P(given), err) : MQ_OK;
    if (status == MQ_CONFIG && !relays->in_request) {
        mq_php_throw_argument(ARG_RELAYS, err);
        return MQ_THROWN;
    }
    return status;
}

void mq_php_relays_close(struct mq_php_relays *relays)
{
    mq_relays_clear(&relays->all);
    if (relays->closure_transport) {
        mq_transport_free(relays->closure_transport);
    }
}

/* ---- checkTransport() ---- */

/* Whether runWorker() would accept the DSN. Opens no connection and creates no directory. */
static enum mq_status try_dsn(struct mq_str text, int64_t *final_timeout_ms, struct mq_error *err)
{
    struct mq_transport *transport = NULL;
    struct mq_dsn dsn;
    MQ_TRY(mq_dsn_parse(text, &dsn, err));
    int64_t final_ms = dsn.final_timeout_ms;
    *final_timeout_ms = final_ms > *final_timeout_ms ? final_ms : *final_timeout_ms;
    enum mq_status status = check_path_of(&dsn, err);
    if (status == MQ_OK && !mq_dsn_is(&dsn, "file")) {
        struct mq_transport_options options = {.clock = mq_clock_system(), .connections = 1};
        status = open_dsn(&dsn, options, &transport, err);
    }
    if (transport) {
        mq_transport_free(transport);
    }
    mq_dsn_clear(&dsn);
    return status;
}

/* The same for each relay of a group. */
static enum mq_status try_group(const struct mq_group *group, int *number,
                                int64_t *final_timeout_ms, struct mq_error *err)
{
    for (size_t i = 0; i < group->count; i++) {
        enum mq_status status = try_group(&group->members[i], number, final_timeout_ms, err);
        if (status != MQ_OK) {
            bool is_relay = group->members[i].kind == MQ_GROUP_RELAY;
            return is_relay ? mq_group_blame(*number, status, err) : status;
        }
    }
    if (group->kind != MQ_GROUP_RELAY) {
        return MQ_OK;
    }
    ++*number;
    return try_dsn(group->dsn, final_timeout_ms, err);
}

enum mq_status mq_php_try_transport(struct mq_str text, int64_t *final_timeout_ms,
                                    struct mq_buffer *redacted, struct mq_error *err)
{
    struct mq_group group;
    int number = 0;
    MQ_TRY(mq_group_parse(text, &group, err));
    enum mq_status status = try_group(&group, &number, final_timeout_ms, err);
    mq_group_clear(&group);
    return status == MQ_OK ? mq_group_redact(text, redacted, err) : status;
}
