/* Stats, Report and Backoff: their properties are filled in the order of the stub. */
#include "php/class/value_objects.h"

#include "php/class/classes.h"
#include "php/class/conversion.h"
#include "php/class/exceptions.h"
#include "queue/manage.h"
#include "stubs/mailqueue_methods.h"
#include "worker/worker.h"

/* The names of the counts that are estimated. */
static void list_estimated(zval *out, const struct mq_stats *stats)
{
    array_init(out);
    for (int i = 0; i < MQ_STATE_COUNT; i++) {
        if (stats->estimated[i]) {
            add_next_index_string(out, mq_state_name((enum mq_state)i));
        }
    }
    if (stats->due_estimated) {
        add_next_index_string(out, "due");
    }
}

static void list_limits(zval *out, const struct mq_stats *stats)
{
    array_init(out);
    for (size_t i = 0; i < stats->limit_count; i++) {
        const struct mq_limit_state *state = &stats->limits[i];
        zval limit;
        array_init(&limit);
        add_assoc_string(&limit, "limit", state->text);
        mq_php_add_int(&limit, "left", state->left >= 0, state->left);
        mq_php_add_int(&limit, "fullUntil", state->full_until_s != 0, state->full_until_s);
        add_next_index_zval(out, &limit);
    }
}

void mq_php_stats_new(zval *out, const struct mq_stats *stats)
{
    object_init_ex(out, mq_ce_stats);
    zval *next = OBJ_PROP_NUM(Z_OBJ_P(out), 0);
    ZVAL_LONG(next++, stats->counts[MQ_PENDING]);
    ZVAL_LONG(next++, stats->counts[MQ_SENDING]);
    ZVAL_LONG(next++, stats->counts[MQ_FAILED]);
    ZVAL_LONG(next++, stats->counts[MQ_PARKED]);
    ZVAL_LONG(next++, stats->counts[MQ_HELD]);
    ZVAL_LONG(next++, stats->due);
    list_estimated(next++, stats);
    mq_php_set_int(next++, stats->oldest_waiting_s != 0, stats->oldest_waiting_s);
    mq_php_set_int(next++, stats->next_due_s != 0, stats->next_due_s);
    ZVAL_BOOL(next++, stats->enabled);
    ZVAL_LONG(next++, stats->limit);
    ZVAL_LONG(next++, stats->burst);
    ZVAL_LONG(next++, stats->reserve);
    mq_php_set_text(next++, stats->rate_mode == MQ_RATE_STRICT ? "strict" : "average");
    if (stats->limit > 0) {
        ZVAL_DOUBLE(next, stats->tokens);
    } else {
        ZVAL_NULL(next);
    }
    next++;
    mq_php_set_int(next++, stats->token_s != 0, stats->token_s);
    list_limits(next++, stats);
    mq_php_set_int(next++, stats->empty_in_s >= 0, stats->empty_in_s);
    mq_php_set_int(next++, stats->last_run_s != 0, stats->last_run_s);
    mq_php_set_int(next++, stats->paused_until_s != 0, stats->paused_until_s);
    mq_php_set_text(next++, stats->paused);
    mq_php_set_text(next++, stats->paused_relay);
    mq_php_set_text(next++, stats->redirect_to);
    array_init(next);
    for (size_t i = 0; i < stats->closed_count; i++) {
        add_assoc_long(next, stats->closed[i].types, stats->closed[i].open_s);
    }
}

void mq_php_report_new(zval *out, const struct mq_report *report)
{
    object_init_ex(out, mq_ce_report);
    zval *next = OBJ_PROP_NUM(Z_OBJ_P(out), 0);
    mq_php_set_text(next++, mq_run_end_name(report->end));
    mq_php_set_text(next++, report->reason[0] ? report->reason : NULL);
    mq_php_set_int(next++, report->resume_s != 0, report->resume_s);
    ZVAL_LONG(next++, report->claimed);
    ZVAL_LONG(next++, report->sent);
    ZVAL_LONG(next++, report->recipients);
    ZVAL_LONG(next++, report->try_later);
    ZVAL_LONG(next++, report->refused);
    ZVAL_LONG(next++, report->parked);
    ZVAL_LONG(next++, report->uncertain);
    ZVAL_LONG(next++, report->expired);
    ZVAL_LONG(next++, report->orphans);
    ZVAL_LONG(next++, report->suppressed);
    ZVAL_LONG(next++, report->stale);
    ZVAL_LONG(next++, report->released);
    ZVAL_LONG(next++, report->recovered);
    ZVAL_LONG(next++, report->cut);
    ZVAL_DOUBLE(next++, (double)report->ms / 1000.0);
}

/* ---- Backoff ---- */

static const char *const policies[] = {
    [MQ_BACKOFF_STEPS] = "steps",
    [MQ_BACKOFF_EXPONENTIAL] = "exponential",
    [MQ_BACKOFF_FIXED] = "fixed",
};

/* In the order of the stub: policy, maxAttempts, base, max, jitter. */
static void backoff_new(zval *out, const struct mq_backoff *backoff)
{
    object_init_ex(out, mq_ce_backoff);
    zval *next = OBJ_PROP_NUM(Z_OBJ_P(out), 0);
    ZVAL_STRING(next++, policies[backoff->policy]);
    ZVAL_LONG(next++, backoff->max_attempts);
    ZVAL_LONG(next++, (zend_long)backoff->base_s);
    ZVAL_LONG(next++, (zend_long)backoff->max_s);
    ZVAL_DOUBLE(next, backoff->jitter);
}

struct mq_backoff mq_php_backoff_of(zend_object *object)
{
    struct mq_backoff backoff = mq_backoffs[MQ_BACKOFF_STEPS];
    const zval *next = OBJ_PROP_NUM(object, 0);
    if (Z_TYPE_P(next) != IS_STRING) {
        return backoff; /* made without its constructor */
    }
    while (strcmp(Z_STRVAL_P(next), policies[backoff.policy]) != 0) {
        backoff.policy++;
    }
    backoff.max_attempts = (int)Z_LVAL(next[1]);
    backoff.base_s = Z_LVAL(next[2]);
    backoff.max_s = Z_LVAL(next[3]);
    backoff.jitter = Z_DVAL(next[4]);
    return backoff;
}

static bool check_delay(uint32_t arg, zend_long delay)
{
    return mq_php_check_range(arg, delay, 1, MQ_PHP_SPAN_MAX_S, "");
}

static bool check_attempts(uint32_t arg, zend_long attempts)
{
    return mq_php_check_range(arg, attempts, 1, MQ_ATTEMPTS_MAX, "");
}

ZEND_METHOD(MailQueue_Backoff, steps)
{
    struct mq_backoff backoff = mq_backoffs[MQ_BACKOFF_STEPS];
    zend_long max_attempts = backoff.max_attempts;

    if (zend_parse_parameters(ZEND_NUM_ARGS(), "|l", &max_attempts) == FAILURE ||
        !check_attempts(1, max_attempts)) {
        RETURN_THROWS();
    }
    backoff.max_attempts = (int)max_attempts;
    backoff_new(return_value, &backoff);
}

ZEND_METHOD(MailQueue_Backoff, exponential)
{
    struct mq_backoff backoff = mq_backoffs[MQ_BACKOFF_EXPONENTIAL];
    zend_long base = backoff.base_s;
    zend_long max = backoff.max_s;
    zend_long max_attempts = backoff.max_attempts;

    if (zend_parse_parameters(ZEND_NUM_ARGS(), "|lldl", &base, &max, &backoff.jitter,
                              &max_attempts) == FAILURE ||
        !check_delay(1, base) || !check_delay(2, max) || !check_attempts(4, max_attempts)) {
        RETURN_THROWS();
    }
    if (!(backoff.jitter >= 0 && backoff.jitter <= 1)) {
        zend_argument_value_error(3, "must be between 0 and 1");
        RETURN_THROWS();
    }
    backoff.base_s = base;
    backoff.max_s = max;
    backoff.max_attempts = (int)max_attempts;
    backoff_new(return_value, &backoff);
}

ZEND_METHOD(MailQueue_Backoff, fixed)
{
    struct mq_backoff backoff = mq_backoffs[MQ_BACKOFF_FIXED];
    zend_long delay = backoff.base_s;
    zend_long max_attempts = backoff.max_attempts;

    if (zend_parse_parameters(ZEND_NUM_ARGS(), "|ll", &delay, &max_attempts) == FAILURE ||
        !check_delay(1, delay) || !check_attempts(2, max_attempts)) {
        RETURN_THROWS();
    }
    backoff.base_s = delay;
    backoff.max_attempts = (int)max_attempts;
    backoff_new(return_value, &backoff);
}
