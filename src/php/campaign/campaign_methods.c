/* MailQueue::campaign() and campaigns(), and the methods of Campaign that change or show it. */
#include "stubs/mailqueue_methods.h"

#include "ext/date/php_date.h"

#include "php/campaign/campaign_object.h"
#include "php/class/classes.h"
#include "php/class/conversion.h"
#include "php/class/exceptions.h"
#include "php/class/job_object.h"
#include "php/class/queue_object.h"
#include "php/message/holder.h"
#include "queue/campaign/progress.h"
#include "queue/job.h"

#define FAILURES_MAX  10000
#define CAMPAIGNS_MAX 1000
#define HOUR_S        3600

ZEND_METHOD(MailQueue, campaign)
{
    zend_string *name;
    int64_t id = 0;
    struct mq_error err;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STR(name)
    ZEND_PARSE_PARAMETERS_END();

    struct mq_queue *queue = mq_php_queue_use(ZEND_THIS);
    if (queue &&
        mq_php_queue_ok(ZEND_THIS, mq_campaign_open(queue, mq_php_str(name), &id, &err), &err)) {
        mq_php_campaign_new(return_value, ZEND_THIS, id);
    }
}

/* ---- states ---- */

static void act(zval *object, enum mq_campaign_act what, int64_t start_at)
{
    struct mq_php_campaign self;
    struct mq_error err;
    if (mq_php_campaign_use(object, &self)) {
        mq_php_campaign_ok(&self, mq_campaign_do(self.queue, self.id, what, start_at, &err), &err);
    }
}

ZEND_METHOD(MailQueue_Campaign, start)
{
    zval none, *at = &none;
    int64_t start_at = 0;
    bool given;
    struct mq_error err;

    (void)return_value;
    ZVAL_NULL(&none);
    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(at)
    ZEND_PARSE_PARAMETERS_END();

    if (mq_php_ok(mq_php_time_of(at, "at", &start_at, &given, &err), &err) &&
        mq_php_campaign_fits(ZEND_THIS)) {
        act(ZEND_THIS, MQ_CAMPAIGN_START, start_at);
    }
}

ZEND_METHOD(MailQueue_Campaign, pause)
{
    ZEND_PARSE_PARAMETERS_NONE();
    (void)return_value;
    act(ZEND_THIS, MQ_CAMPAIGN_PAUSE, 0);
}

ZEND_METHOD(MailQueue_Campaign, resume)
{
    ZEND_PARSE_PARAMETERS_NONE();
    (void)return_value;
    act(ZEND_THIS, MQ_CAMPAIGN_RESUME, 0);
}

ZEND_METHOD(MailQueue_Campaign, cancel)
{
    ZEND_PARSE_PARAMETERS_NONE();
    (void)return_value;
    act(ZEND_THIS, MQ_CAMPAIGN_CANCEL, 0);
}

/* ---- progress ---- */

/* Adds the rate, the end that follows from it and from the limits, and when its mails expire. */
static void add_expectation(zval *out, const struct mq_campaign_progress *p, int64_t left)
{
    const struct mq_campaign *campaign = &p->campaign;
    int64_t until_s = campaign->finished_at ? campaign->finished_at : p->now_s;
    int64_t span_s = campaign->started_at ? until_s - campaign->started_at : 0;
    int64_t rate = span_s > 0 ? campaign->sent * HOUR_S / span_s : 0;
    bool known = span_s > 0 && campaign->sent > 0;
    bool ends = campaign->state == MQ_CAMPAIGN_RUNNING && (known || p->limits_s >= 0);
    int64_t from_s = campaign->start_at > p->now_s ? campaign->start_at : p->now_s;
    int64_t in_s = known ? (int64_t)((double)left * (double)span_s / (double)campaign->sent) : 0;
    in_s = in_s > p->limits_s ? in_s : p->limits_s;
    int64_t last_s = p->expires_at > from_s ? p->expires_at : from_s;
    int64_t at_s = p->expires_at && last_s < from_s + in_s ? last_s : from_s + in_s;
    mq_php_add_int(out, "perHour", span_s > 0, rate);
    mq_php_add_int(out, "endsAt", ends, ends ? at_s : 0);
    mq_php_add_int(out, "expiresAt", p->expires_at != 0, p->expires_at);
}

static void add_times(zval *out, const struct mq_campaign *campaign)
{
    add_assoc_long(out, "createdAt", (zend_long)campaign->created_at);
    mq_php_add_int(out, "startAt", campaign->start_at != 0, campaign->start_at);
    mq_php_add_int(out, "startedAt", campaign->started_at != 0, campaign->started_at);
    mq_php_add_int(out, "finishedAt", campaign->finished_at != 0, campaign->finished_at);
    mq_php_add_text(out, "onFinished", campaign->on_finished);
}

/* Those that are in none of the other states were deleted: as expired, or by a person. */
static void show_progress(const struct mq_campaign_progress *p, zval *out)
{
    const struct mq_campaign *campaign = &p->campaign;
    const int64_t *jobs = p->jobs;
    int64_t waiting = campaign->recipients - campaign->fed;
    int64_t gone =
        campaign->fed - p->live - jobs[MQ_PARKED] - campaign->sent - campaign->suppressed;
    array_init(out);
    add_assoc_long(out, "id", (zend_long)campaign->id);
    mq_php_add_text(out, "name", campaign->name);
    mq_php_add_text(out, "state", mq_campaign_state_name(campaign->state));
    add_assoc_long(out, "recipients", (zend_long)campaign->recipients);
    add_assoc_long(out, "waiting", (zend_long)waiting);
    add_assoc_long(out, "pending", (zend_long)jobs[MQ_PENDING]);
    add_assoc_long(out, "sending", (zend_long)jobs[MQ_SENDING]);
    add_assoc_long(out, "failed", (zend_long)jobs[MQ_FAILED]);
    add_assoc_long(out, "held", (zend_long)jobs[MQ_HELD]);
    add_assoc_long(out, "sent", (zend_long)campaign->sent);
    add_assoc_long(out, "refused", (zend_long)p->refused);
    add_assoc_long(out, "parked", (zend_long)(jobs[MQ_PARKED] - p->refused));
    add_assoc_long(out, "suppressed", (zend_long)campaign->suppressed);
    add_assoc_long(out, "gone", (zend_long)(gone > 0 ? gone : 0));
    add_assoc_long(out, "uncertain", (zend_long)campaign->uncertain);
    add_expectation(out, p, waiting + p->live);
    add_times(out, campaign);
}

ZEND_METHOD(MailQueue_Campaign, progress)
{
    struct mq_php_campaign self;
    struct mq_campaign_progress progress;
    struct mq_error err;

    ZEND_PARSE_PARAMETERS_NONE();

    if (mq_php_campaign_use(ZEND_THIS, &self) &&
        mq_php_campaign_ok(&self, mq_campaign_look(self.queue, self.id, &progress, &err), &err)) {
        show_progress(&progress, return_value);
        mq_campaign_clear(&progress.campaign);
    }
}

static void clear_campaigns(void *list)
{
    mq_campaign_list_clear(list);
}

static void show_list(const struct mq_campaign_list *list, zval *out)
{
    array_init_size(out, (uint32_t)list->count);
    for (size_t i = 0; i < list->count; i++) {
        zval progress;
        show_progress(&list->items[i], &progress);
        add_next_index_zval(out, &progress);
    }
}

/* What Internal::campaigns() returns. */
static void show_part(const struct mq_campaign_list *list, zval *out)
{
    zval all;
    array_init(out);
    show_list(list, &all);
    add_assoc_zval(out, "campaigns", &all);
    add_assoc_bool(out, "isPart", list->is_part);
}

/* `parked_most` as in struct mq_campaign_list; unless it is 0, this shows a part. */
static void list_campaigns(zval *object, int64_t before, int limit, int64_t parked_most, zval *out)
{
    struct mq_error err;
    zval holder;
    struct mq_queue *queue = mq_php_queue_use(object);
    if (queue == NULL) {
        return;
    }
    struct mq_campaign_list *list = mq_php_holder_new(&holder, sizeof *list, clear_campaigns);
    list->parked_most = parked_most;
    enum mq_status status = mq_campaigns_look(queue, before, limit, list, &err);
    if (mq_php_queue_ok(object, status, &err)) {
        (parked_most ? show_part : show_list)(list, out);
    }
    zval_ptr_dtor(&holder);
}

ZEND_METHOD(MailQueue, campaigns)
{
    zend_long limit = 50, before = 0;

    ZEND_PARSE_PARAMETERS_START(0, 2)
        Z_PARAM_OPTIONAL
        Z_PARAM_LONG(limit)
        Z_PARAM_LONG(before)
    ZEND_PARSE_PARAMETERS_END();

    if (before < 0) {
        zend_argument_value_error(2, "must be an id, or 0 to begin");
    } else if (mq_php_check_range(1, limit, 1, CAMPAIGNS_MAX, "")) {
        list_campaigns(ZEND_THIS, before ? before : INT64_MAX, (int)limit, 0, return_value);
    }
}

ZEND_METHOD(MailQueue_Internal, campaigns)
{
    zval *object;
    zend_long limit, before, most;

    ZEND_PARSE_PARAMETERS_START(4, 4)
        Z_PARAM_OBJECT_OF_CLASS(object, mq_ce_queue)
        Z_PARAM_LONG(limit)
        Z_PARAM_LONG(before)
        Z_PARAM_LONG(most)
    ZEND_PARSE_PARAMETERS_END();

    if (mq_php_check_range(2, limit, 1, CAMPAIGNS_MAX, "") &&
        mq_php_check_range(4, most, 1, FAILURES_MAX, "")) {
        list_campaigns(object, before > 0 ? before : INT64_MAX, (int)limit, most, return_value);
    }
}

/* ---- failures ---- */

static void clear_list(void *list)
{
    mq_job_list_clear(list);
}

static void list_failures(zval *object, int64_t after, int limit, zval *out)
{
    struct mq_php_campaign self;
    struct mq_error err;
    zval holder;
    if (!mq_php_campaign_use(object, &self)) {
        return;
    }
    struct mq_job_list *list = mq_php_holder_new(&holder, sizeof *list, clear_list);
    const struct mq_campaign_page page = {self.id, after, limit};
    enum mq_status status = mq_campaign_failures(self.queue, &page, list, &err);
    if (mq_php_campaign_ok(&self, status, &err)) {
        array_init_size(out, (uint32_t)list->count);
        for (size_t i = 0; i < list->count; i++) {
            zval job;
            mq_php_job_show(&job, &list->jobs[i], MQ_PHP_JOB_ROW);
            add_next_index_zval(out, &job);
        }
    }
    zval_ptr_dtor(&holder);
}

ZEND_METHOD(MailQueue_Campaign, failures)
{
    zend_long limit = 50, after = 0;

    ZEND_PARSE_PARAMETERS_START(0, 2)
        Z_PARAM_OPTIONAL
        Z_PARAM_LONG(limit)
        Z_PARAM_LONG(after)
    ZEND_PARSE_PARAMETERS_END();

    if (mq_php_check_range(1, limit, 1, FAILURES_MAX, "")) {
        list_failures(ZEND_THIS, after, (int)limit, return_value);
    }
}

ZEND_METHOD(MailQueue_Campaign, retryFailed)
{
    struct mq_php_campaign self;
    int64_t changed = 0;
    struct mq_error err;

    ZEND_PARSE_PARAMETERS_NONE();

    if (mq_php_campaign_use(ZEND_THIS, &self) &&
        mq_php_campaign_ok(&self, mq_campaign_retry(self.queue, self.id, &changed, &err), &err)) {
        RETVAL_LONG((zend_long)changed);
    }
}
