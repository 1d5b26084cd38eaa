/* Stats, Report and Backoff: their properties are filled in the order of the stub. */
#include "php/class/value_objects.h"

#include <math.h>

#include "php/class/classes.h"
#include "php/class/exceptions.h"
#include "php/class/methods.h"
#include "php/message/fill.h"
#include "queue/manage.h"

#define DELAY_MAX_S (366 * 86400)

/* Only the factories make these objects. */
ZEND_METHOD(MailQueue_Stats, __construct)
{
    ZEND_PARSE_PARAMETERS_NONE();
    (void)return_value;
}

ZEND_METHOD(MailQueue_Report, __construct)
{
    ZEND_PARSE_PARAMETERS_NONE();
    (void)return_value;
}

ZEND_METHOD(MailQueue_Backoff, __construct)
{
    ZEND_PARSE_PARAMETERS_NONE();
    (void)return_value;
}

void mq_php_stats_new(zval *out, const struct mq_stats *stats)
{
    bool limited = stats->limit > 0;
    object_init_ex(out, mq_ce_stats);
    struct mq_php_fill fill = mq_php_fill_begin(Z_OBJ_P(out));
    mq_php_fill_int(&fill, stats->counts[MQ_PENDING]);
    mq_php_fill_int(&fill, stats->counts[MQ_SENDING]);
    mq_php_fill_int(&fill, stats->counts[MQ_FAILED]);
    mq_php_fill_int(&fill, stats->counts[MQ_PARKED]);
    mq_php_fill_int(&fill, stats->counts[MQ_HELD]);
    mq_php_fill_int(&fill, stats->due);
    mq_php_fill_int_or_null(&fill, stats->oldest_waiting_s);
    mq_php_fill_int_or_null(&fill, stats->next_due_s);
    mq_php_fill_bool(&fill, stats->enabled);
    mq_php_fill_int(&fill, stats->limit);
    mq_php_fill_int(&fill, stats->burst);
    mq_php_fill_string(&fill, stats->rate_mode == MQ_RATE_STRICT ? "strict" : "average");
    if (limited) {
        mq_php_fill_double(&fill, stats->tokens);
    } else {
        mq_php_fill_null(&fill);
    }
    if (stats->empty_in_s >= 0) {
        mq_php_fill_int(&fill, stats->empty_in_s);
    } else {
        mq_php_fill_null(&fill);
    }
    mq_php_fill_int_or_null(&fill, stats->last_run_s);
    mq_php_fill_int_or_null(&fill, stats->paused_until_s);
    mq_php_fill_string(&fill, stats->paused);
    mq_php_fill_string(&fill, stats->paused_relay);
    mq_php_fill_string(&fill, stats->redirect_to);
}

void mq_php_report_new(zval *out, const struct mq_report *report)
{
    object_init_ex(out, mq_ce_report);
    struct mq_php_fill fill = mq_php_fill_begin(Z_OBJ_P(out));
    mq_php_fill_string(&fill, mq_run_end_name(report->end));
    mq_php_fill_string(&fill, report->reason[0] ? report->reason : NULL);
    mq_php_fill_int_or_null(&fill, report->resume_s);
    mq_php_fill_int(&fill, report->claimed);
    mq_php_fill_int(&fill, report->sent);
    mq_php_fill_int(&fill, report->recipients);
    mq_php_fill_int(&fill, report->try_later);
    mq_php_fill_int(&fill, report->refused);
    mq_php_fill_int(&fill, report->parked);
    mq_php_fill_int(&fill, report->uncertain);
    mq_php_fill_int(&fill, report->expired);
    mq_php_fill_int(&fill, report->orphans);
    mq_php_fill_int(&fill, report->stale);
    mq_php_fill_int(&fill, report->released);
    mq_php_fill_int(&fill, report->recovered);
    mq_php_fill_int(&fill, report->cut);
    mq_php_fill_double(&fill, (double)report->ms / 1000.0);
}

/* ---- Backoff ---- */

struct backoff_object {
    struct mq_backoff backoff;
    zend_object std;
};

/* Set once when the module starts. */
static zend_object_handlers backoff_handlers;

static struct backoff_object *backoff_from(zend_object *object)
{
    return (struct backoff_object *)(void *)((char *)object - offsetof(struct backoff_object, std));
}

static zend_object *backoff_create(zend_class_entry *ce)
{
    struct backoff_object *self = zend_object_alloc(sizeof *self, ce);
    zend_object_std_init(&self->std, ce);
    object_properties_init(&self->std, ce);
    self->backoff = mq_backoff_steps();
    self->std.handlers = &backoff_handlers;
    return &self->std;
}

/* Delays are no properties. */
static int backoff_compare(zval *one, zval *other)
{
    ZEND_COMPARE_OBJECTS_FALLBACK(one, other);
    if (Z_OBJCE_P(one) != Z_OBJCE_P(other)) {
        return ZEND_UNCOMPARABLE;
    }
    const struct mq_backoff *a = &backoff_from(Z_OBJ_P(one))->backoff;
    const struct mq_backoff *b = &backoff_from(Z_OBJ_P(other))->backoff;
    bool same = a->policy == b->policy && a->max_attempts == b->max_attempts &&
                a->base_s == b->base_s && a->max_s == b->max_s && a->jitter == b->jitter;
    return same ? 0 : ZEND_UNCOMPARABLE;
}

void mq_php_backoff_register(zend_class_entry *ce)
{
    memcpy(&backoff_handlers, zend_get_std_object_handlers(), sizeof backoff_handlers);
    backoff_handlers.offset = offsetof(struct backoff_object, std);
    backoff_handlers.clone_obj = NULL;
    backoff_handlers.compare = backoff_compare;
    ce->create_object = backoff_create;
}

struct mq_backoff mq_php_backoff_of(zend_object *backoff)
{
    return backoff_from(backoff)->backoff;
}

static void backoff_new(zval *out, const char *policy, struct mq_backoff backoff)
{
    object_init_ex(out, mq_ce_backoff);
    backoff_from(Z_OBJ_P(out))->backoff = backoff;
    struct mq_php_fill fill = mq_php_fill_begin(Z_OBJ_P(out));
    mq_php_fill_string(&fill, policy);
    mq_php_fill_int(&fill, backoff.max_attempts);
}

static bool check_delay(uint32_t arg, zend_long delay)
{
    return mq_php_check_range(arg, delay, 1, DELAY_MAX_S, "");
}

static bool check_attempts(uint32_t arg, zend_long attempts)
{
    return mq_php_check_range(arg, attempts, 1, MQ_ATTEMPTS_MAX, "");
}

static bool check_jitter(uint32_t arg, double jitter)
{
    if (jitter >= 0 && jitter <= 1) {
        return true;
    }
    zend_argument_value_error(arg, "must be between 0 and 1");
    return false;
}

ZEND_METHOD(MailQueue_Backoff, steps)
{
    struct mq_backoff backoff = mq_backoff_steps();
    zend_long max_attempts = backoff.max_attempts;

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_LONG(max_attempts)
    ZEND_PARSE_PARAMETERS_END();

    if (check_attempts(1, max_attempts)) {
        backoff.max_attempts = (int)max_attempts;
        backoff_new(return_value, "steps", backoff);
    }
}

ZEND_METHOD(MailQueue_Backoff, exponential)
{
    struct mq_backoff backoff = mq_backoff_exponential();
    zend_long base = backoff.base_s;
    zend_long max = backoff.max_s;
    zend_long max_attempts = backoff.max_attempts;

    ZEND_PARSE_PARAMETERS_START(0, 4)
        Z_PARAM_OPTIONAL
        Z_PARAM_LONG(base)
        Z_PARAM_LONG(max)
        Z_PARAM_DOUBLE(backoff.jitter)
        Z_PARAM_LONG(max_attempts)
    ZEND_PARSE_PARAMETERS_END();

    if (check_delay(1, base) && check_delay(2, max) && check_attempts(4, max_attempts) &&
        check_jitter(3, backoff.jitter)) {
        backoff.base_s = base;
        backoff.max_s = max;
        backoff.max_attempts = (int)max_attempts;
        backoff_new(return_value, "exponential", backoff);
    }
}

ZEND_METHOD(MailQueue_Backoff, fixed)
{
    struct mq_backoff backoff = mq_backoff_fixed();
    zend_long delay = backoff.base_s;
    zend_long max_attempts = backoff.max_attempts;

    ZEND_PARSE_PARAMETERS_START(0, 2)
        Z_PARAM_OPTIONAL
        Z_PARAM_LONG(delay)
        Z_PARAM_LONG(max_attempts)
    ZEND_PARSE_PARAMETERS_END();

    if (check_delay(1, delay) && check_attempts(2, max_attempts)) {
        backoff.base_s = delay;
        backoff.max_attempts = (int)max_attempts;
        backoff_new(return_value, "fixed", backoff);
    }
}
