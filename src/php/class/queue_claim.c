/* Claims and settles jobs for applications that have their own loop. */
#include "stubs/mailqueue_methods.h"

#include <stdlib.h>
#include <string.h>

#include "campaign/mailing.h"
#include "core/clock.h"
#include "php/class/classes.h"
#include "php/class/exceptions.h"
#include "php/class/job_object.h"
#include "php/class/queue_object.h"
#include "php/message/holder.h"
#include "php/paths.h"
#include "queue/body.h"
#include "queue/claim.h"
#include "queue/job.h"
#include "worker/dead_runs.h"

#define TAKE_TOKENS_MAX 1000000000

static bool check_lease(uint32_t arg, zend_long lease)
{
    return mq_php_check_range(arg, lease, MQ_LEASE_MIN_S, MQ_LEASE_MAX_S, " (seconds)");
}

/* What the intent records of dead runs say about leases that are over. */
struct dead_runs {
    struct mq_recovery recovery;
    char *run_dir;
};

static const struct mq_record_source *open_dead_runs(struct dead_runs *dead, struct mq_queue *queue)
{
    struct mq_error err; /* ignored: without the directory there are no intent records */
    dead->run_dir = NULL;
    mq_php_run_dir(queue, &dead->run_dir, &err);
    mq_recovery_init(&dead->recovery, dead->run_dir);
    return dead->run_dir ? &dead->recovery.source : NULL;
}

static void close_dead_runs(struct dead_runs *dead)
{
    mq_recovery_clear(&dead->recovery);
    free(dead->run_dir);
}

/* Renders the mails of campaigns, as the worker does it. One that cannot be rendered has no
 * message: the caller decides. */
static enum mq_status render_campaigns(struct mq_queue *queue, struct mq_claim *claim,
                                       struct mq_error *err)
{
    struct mq_mailings all = {0};
    struct mq_buffer out = {0};
    enum mq_status status = MQ_OK;
    for (size_t i = 0; i < claim->count && status == MQ_OK; i++) {
        struct mq_job *job = &claim->jobs[i];
        status = job->campaign_id ? mq_mailings_render(&all, queue, job, &out, err) : MQ_OK;
        if (status == MQ_OK && job->campaign_id) {
            job->body_len = out.len;
            job->body = mq_buffer_take(&out);
            job->body_state = MQ_BODY_LOADED;
        }
        bool is_bad = status == MQ_MESSAGE || status == MQ_INVALID || status == MQ_CORRUPT;
        status = is_bad ? MQ_OK : status;
        mq_buffer_clear(&out);
    }
    mq_mailings_clear(&all);
    return status;
}

static void clear_claim(void *claim)
{
    mq_claim_clear(claim);
}

/* Returns claimed Jobs. If a fatal error ends the request, the recovery takes their leases back. */
static void claim(zval *object, struct mq_claim_request *request, zval *return_value)
{
    struct dead_runs dead;
    struct mq_error err;
    char token[MQ_TOKEN_HEX + 1];
    zval holder;
    struct mq_queue *queue = mq_php_queue_use(object);
    if (queue == NULL) {
        return;
    }
    /* Each call has its own claim token, so the Job of an earlier claim cannot settle the row, even
     * if the row has the same number of attempts again. */
    mq_random_hex(token, MQ_TOKEN_HEX / 2);
    request->token = token;
    request->records = open_dead_runs(&dead, queue);
    struct mq_claim *claim = mq_php_holder_new(&holder, sizeof *claim, clear_claim);
    enum mq_status status = mq_queue_claim(queue, request, MQ_BODIES_BYTES, claim, &err);
    close_dead_runs(&dead);
    if (status == MQ_OK) {
        status = render_campaigns(queue, claim, &err);
    }
    if (mq_php_queue_ok(object, status, &err)) {
        array_init_size(return_value, (uint32_t)claim->count);
        for (size_t i = 0; i < claim->count; i++) {
            zval job;
            mq_php_job_take(&job, &claim->jobs[i]);
            add_next_index_zval(return_value, &job);
        }
    }
    zval_ptr_dtor(&holder);
}

ZEND_METHOD(MailQueue, claim)
{
    zend_long limit = 1, lease = MQ_LEASE_S;

    if (zend_parse_parameters(ZEND_NUM_ARGS(), "|ll", &limit, &lease) == FAILURE ||
        !mq_php_check_range(1, limit, 1, MQ_CLAIM_MAX, "") || !check_lease(2, lease)) {
        RETURN_THROWS();
    }
    struct mq_claim_request request = {.limit = (int)limit, .lease_s = lease};
    claim(ZEND_THIS, &request, return_value);
}

/* The claimed job of argument 1, or NULL with an exception. */
static struct mq_job *claimed_job(zval *object)
{
    struct mq_job *job = mq_php_job_claimed(Z_OBJ_P(object));
    if (job == NULL) {
        zend_argument_value_error(1, "must be a job returned by claim() of this object's queue");
    }
    return job;
}

/* Settles the claimed job, and returns whether the lease still stood. */
static void settle(zval *object, zval *job, struct mq_settlement *outcome, zval *return_value)
{
    struct mq_error err;
    outcome->job = claimed_job(job);
    struct mq_queue *queue = outcome->job ? mq_php_queue_use(object) : NULL;
    if (queue == NULL) {
        return;
    }
    struct mq_cycle cycle = {.outcomes = outcome, .outcome_count = 1};
    outcome->ms = -1;
    if (outcome->outcome == MQ_OUTCOME_DELIVERED) {
        size_t given = outcome->job->targets.count;
        outcome->handed_over = given ? (int)given : 1;
    }
    if (mq_php_queue_ok(object, mq_queue_cycle(queue, &cycle, &err), &err)) {
        RETVAL_BOOL(outcome->row != MQ_ROW_LOST);
    }
}

static void settle_as(enum mq_outcome outcome, INTERNAL_FUNCTION_PARAMETERS)
{
    struct mq_settlement settlement = {.outcome = outcome, .retry_after_s = -1};
    zval *object;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_OBJECT_OF_CLASS(object, mq_ce_job)
    ZEND_PARSE_PARAMETERS_END();

    settle(ZEND_THIS, object, &settlement, return_value);
}

ZEND_METHOD(MailQueue, complete)
{
    settle_as(MQ_OUTCOME_DELIVERED, INTERNAL_FUNCTION_PARAM_PASSTHRU);
}

ZEND_METHOD(MailQueue, release)
{
    settle_as(MQ_OUTCOME_RELEASED, INTERNAL_FUNCTION_PARAM_PASSTHRU);
}

ZEND_METHOD(MailQueue, fail)
{
    zval *object;
    zend_string *error;
    bool permanent = false, retry_null = true;
    zend_long retry_after = -1;

    if (zend_parse_parameters(ZEND_NUM_ARGS(), "OS|bl!", &object, mq_ce_job, &error, &permanent,
                              &retry_after, &retry_null) == FAILURE ||
        !(retry_null ||
          mq_php_check_range(4, retry_after, 0, MQ_PHP_SPAN_MAX_S, " (seconds) or null"))) {
        RETURN_THROWS();
    }
    char text[MQ_ERROR_TEXT_MAX]; /* may not be UTF-8: a relay's words */
    mq_str_printable(text, sizeof(text), 0, (struct mq_str){ZSTR_VAL(error), ZSTR_LEN(error)});
    struct mq_settlement outcome = {
        .outcome = permanent ? MQ_OUTCOME_REFUSED : MQ_OUTCOME_DEFERRED,
        .error = text,
        .retry_after_s = retry_null ? -1 : retry_after,
    };
    settle(ZEND_THIS, object, &outcome, return_value);
}

ZEND_METHOD(MailQueue, renew)
{
    zval *object;
    zend_long lease = MQ_LEASE_S;
    struct mq_error err;

    if (zend_parse_parameters(ZEND_NUM_ARGS(), "O|l", &object, mq_ce_job, &lease) == FAILURE ||
        !check_lease(2, lease)) {
        RETURN_THROWS();
    }
    struct mq_job *job = claimed_job(object);
    struct mq_queue *queue = job ? mq_php_queue_use(ZEND_THIS) : NULL;
    if (queue && mq_php_queue_ok(ZEND_THIS, mq_queue_renew(queue, &job, 1, lease, &err), &err)) {
        RETVAL_BOOL(job->locked_until != 0);
    }
}

ZEND_METHOD(MailQueue, recoverStuckSending)
{
    zend_long now = 0;
    bool now_null = true;
    int64_t count = 0;
    struct dead_runs dead;
    struct mq_error err;

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_LONG_OR_NULL(now, now_null)
    ZEND_PARSE_PARAMETERS_END();

    if (!now_null && now < 1) {
        zend_argument_value_error(1, "must be seconds since 1970, or null for the clock");
        RETURN_THROWS();
    }
    struct mq_queue *queue = mq_php_queue_use(ZEND_THIS);
    if (queue == NULL) {
        RETURN_THROWS();
    }
    const struct mq_record_source *source = open_dead_runs(&dead, queue);
    enum mq_status status = mq_queue_recover(queue, now, source, &count, &err);
    close_dead_runs(&dead);
    if (mq_php_queue_ok(ZEND_THIS, status, &err)) {
        RETVAL_LONG((zend_long)count);
    }
}

ZEND_METHOD(MailQueue, takeTokens)
{
    zend_long wanted;
    int64_t n = 0;
    struct mq_error err;

    if (zend_parse_parameters(ZEND_NUM_ARGS(), "l", &wanted) == FAILURE ||
        !mq_php_check_range(1, wanted, 0, TAKE_TOKENS_MAX, "")) {
        RETURN_THROWS();
    }
    struct mq_queue *queue = mq_php_queue_use(ZEND_THIS);
    if (queue && mq_php_queue_ok(ZEND_THIS, mq_queue_take_tokens(queue, wanted, &n, &err), &err)) {
        RETVAL_LONG((zend_long)n);
    }
}
