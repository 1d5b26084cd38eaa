/* The methods that show the queue, and those that change jobs by hand. */
#include "stubs/mailqueue_methods.h"

#include "zend_enum.h"

#include "php/class/classes.h"
#include "php/class/conversion.h"
#include "php/class/exceptions.h"
#include "php/class/job_object.h"
#include "php/class/queue_object.h"
#include "php/class/value_objects.h"
#include "php/message/holder.h"
#include "queue/job.h"
#include "queue/manage.h"

#define JOBS_LIMIT_MAX 10000
#define EXACT_MAX      1000000000

static void show_stats(zval *object, int64_t exact_up_to, zval *return_value)
{
    struct mq_stats stats;
    struct mq_error err;
    struct mq_queue *queue = mq_php_queue_opened(object);
    if (queue && mq_php_queue_ok(object, mq_queue_stats(queue, exact_up_to, &stats, &err), &err)) {
        mq_php_stats_new(return_value, &stats);
        mq_stats_clear(&stats);
    }
}

ZEND_METHOD(MailQueue, stats)
{
    zend_long exact = 0;
    bool all = true;

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_LONG_OR_NULL(exact, all)
    ZEND_PARSE_PARAMETERS_END();

    if (all || mq_php_check_range(1, exact, 1, EXACT_MAX, " or null")) {
        show_stats(ZEND_THIS, all ? INT64_MAX : exact, return_value);
    }
}

/* The state of a Status; -1 (any state) for NULL. */
static int state_of(const zval *status)
{
    enum mq_state state;
    zval *value = status ? zend_enum_fetch_case_value(Z_OBJ_P(status)) : NULL;
    return value && mq_state_parse(mq_php_str(Z_STR_P(value)), &state) ? (int)state : -1;
}

static void clear_list(void *list)
{
    mq_job_list_clear(list);
}

/* Shows a list of the filter's jobs. */
typedef void show_list(const struct mq_job_filter *filter, const struct mq_job_list *list,
                       zval *out);

static void show_all(const struct mq_job_filter *filter, const struct mq_job_list *list, zval *out)
{
    (void)filter;
    array_init_size(out, (uint32_t)list->count);
    for (size_t i = 0; i < list->count; i++) {
        zval job;
        mq_php_job_show(&job, &list->jobs[i], MQ_PHP_JOB_ROW);
        add_next_index_zval(out, &job);
    }
}

static void list_jobs(zval *object, const struct mq_job_filter *filter, show_list *show, zval *out)
{
    struct mq_error err;
    zval holder;
    struct mq_queue *queue = mq_php_queue_use(object);
    if (queue == NULL) {
        return;
    }
    struct mq_job_list *list = mq_php_holder_new(&holder, sizeof *list, clear_list);
    if (mq_php_queue_ok(object, mq_queue_jobs(queue, filter, list, &err), &err)) {
        show(filter, list, out);
    }
    zval_ptr_dtor(&holder);
}

/* The arguments of jobs(), as zend_parse_parameters() takes and gives them. */
struct filter_arguments {
    zval *status;
    zend_long limit, after, before, until;
    bool any_time, uncertain, expected, to_end;
    zend_string *type, *reference, *recipient, *error, *subject, *campaign;
};
#define FILTER_DEFAULTS                               \
    {                                                 \
        .limit = 50, .any_time = true, .to_end = true \
    }
#define FILTER_TYPES "|O!llS!S!S!S!S!l!bbl!S!"
#define FILTER_TO(a)                                                                              \
    &(a).status, mq_ce_status, &(a).limit, &(a).after, &(a).type, &(a).reference, &(a).recipient, \
        &(a).error, &(a).subject, &(a).before, &(a).any_time, &(a).uncertain, &(a).expected,      \
        &(a).until, &(a).to_end, &(a).campaign

/* Makes a filter of the arguments, of which the first one is number `first`. False with an
 * exception. */
static bool read_filter(const struct filter_arguments *a, uint32_t first, struct mq_job_filter *out)
{
    *out = (struct mq_job_filter){.state = state_of(a->status),
                                  .limit = (int)a->limit,
                                  .after = a->after,
                                  .type = mq_php_str(a->type),
                                  .reference = mq_php_str(a->reference),
                                  .recipient = mq_php_str(a->recipient),
                                  .error = mq_php_str(a->error),
                                  .subject = mq_php_str(a->subject),
                                  .campaign = mq_php_str(a->campaign),
                                  .created_before_s = a->before,
                                  .until = a->until,
                                  .uncertain = a->uncertain,
                                  .expected = a->expected};
    if (a->after < 0) {
        zend_argument_value_error(first + 2, "must be an id, or 0 to begin");
    } else if (!a->any_time && a->before < 1) {
        zend_argument_value_error(first + 8, "must be a time after 1970");
    } else if (!a->to_end && a->until < 1) {
        zend_argument_value_error(first + 11, "must be an id, or null for all");
    } else {
        return mq_php_check_range(first + 1, a->limit, 1, JOBS_LIMIT_MAX, "");
    }
    return false;
}

ZEND_METHOD(MailQueue, jobs)
{
    struct filter_arguments arguments = FILTER_DEFAULTS;
    struct mq_job_filter filter;
    if (zend_parse_parameters(ZEND_NUM_ARGS(), FILTER_TYPES, FILTER_TO(arguments)) == SUCCESS &&
        read_filter(&arguments, 1, &filter)) {
        list_jobs(ZEND_THIS, &filter, show_all, return_value);
    }
}

static void list_ids(zval *object, const struct mq_job_filter *filter, zval *out)
{
    struct mq_error err;
    size_t count = 0;
    int64_t *items = safe_emalloc((size_t)filter->limit, sizeof *items, 0);
    struct mq_queue *queue = mq_php_queue_use(object);
    if (queue &&
        mq_php_queue_ok(object, mq_queue_job_ids(queue, filter, items, &count, &err), &err)) {
        array_init_size(out, (uint32_t)count);
        for (size_t i = 0; i < count; i++) {
            add_next_index_long(out, (zend_long)items[i]);
        }
    }
    efree(items);
}

ZEND_METHOD(MailQueue_Internal, jobIds)
{
    zval *object;
    struct filter_arguments arguments = FILTER_DEFAULTS;
    struct mq_job_filter filter;
    if (zend_parse_parameters(ZEND_NUM_ARGS(), "O" FILTER_TYPES, &object, mq_ce_queue,
                              FILTER_TO(arguments)) == SUCCESS &&
        read_filter(&arguments, 2, &filter)) {
        list_ids(object, &filter, return_value);
    }
}

ZEND_METHOD(MailQueue, strays)
{
    struct mq_strays strays;
    struct mq_error err;

    ZEND_PARSE_PARAMETERS_NONE();

    struct mq_queue *queue = mq_php_queue_use(ZEND_THIS);
    if (queue && mq_php_queue_ok(ZEND_THIS, mq_queue_strays(queue, &strays, &err), &err)) {
        array_init(return_value);
        for (size_t i = 0; i < strays.count; i++) {
            add_index_string(return_value, strays.items[i].id, strays.items[i].status);
        }
    }
}

static void clear_job(void *job)
{
    mq_job_clear(job);
}

ZEND_METHOD(MailQueue, job)
{
    zend_long id;
    bool found = false;
    struct mq_error err;
    zval holder;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_LONG(id)
    ZEND_PARSE_PARAMETERS_END();

    struct mq_queue *queue = mq_php_queue_use(ZEND_THIS);
    if (queue == NULL) {
        RETURN_THROWS();
    }
    struct mq_job *job = mq_php_holder_new(&holder, sizeof *job, clear_job);
    if (mq_php_queue_ok(ZEND_THIS, mq_queue_job(queue, id, job, &found, &err), &err) && found) {
        mq_php_job_show(return_value, job, MQ_PHP_JOB_ROW);
    }
    zval_ptr_dtor(&holder);
}

static void show_expected(const struct mq_job_filter *filter, const struct mq_job_list *list,
                          zval *out)
{
    if (list->count && list->jobs[0].id == filter->after + 1) {
        mq_php_set_int(out, list->jobs[0].expected_at != 0, list->jobs[0].expected_at);
    }
}

ZEND_METHOD(MailQueue, expectedAt)
{
    zend_long id;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_LONG(id)
    ZEND_PARSE_PARAMETERS_END();

    /* A list of one does not have the message. */
    const struct mq_job_filter one = {.state = -1, .limit = 1, .after = id - 1, .expected = true};
    if (id > 0) {
        list_jobs(ZEND_THIS, &one, show_expected, return_value);
    }
}

enum deed { RETRY, RETRY_ONCE, HOLD, DELETE, COUNT };

static enum mq_status do_deed(struct mq_queue *queue, enum deed deed, const struct mq_ids *ids,
                              int64_t *changed, struct mq_error *err)
{
    return deed == HOLD     ? mq_queue_hold(queue, ids, changed, err)
           : deed == DELETE ? mq_queue_delete(queue, ids, changed, err)
           : deed == COUNT  ? mq_queue_count_as_sent(queue, ids, changed, err)
                            : mq_queue_retry(queue, ids, deed == RETRY, changed, err);
}

/* `list` may be NULL only for an action that then takes all jobs. */
static void act(zval *object, HashTable *list, enum deed deed, zval *return_value)
{
    struct mq_error err;
    int64_t changed = 0;
    int64_t *items = list ? mq_php_ids_read(1, list) : NULL;
    struct mq_queue *queue = list && items == NULL ? NULL : mq_php_queue_use(object);
    if (queue) {
        struct mq_ids ids = {items, list ? zend_hash_num_elements(list) : 0};
        enum mq_status status = do_deed(queue, deed, list ? &ids : NULL, &changed, &err);
        if (mq_php_queue_ok(object, status, &err)) {
            RETVAL_LONG((zend_long)changed);
        }
    }
    if (items) {
        efree(items);
    }
}

ZEND_METHOD(MailQueue, retryFailed)
{
    HashTable *list = NULL;
    bool reset = true;

    if (zend_parse_parameters(ZEND_NUM_ARGS(), "|h!b", &list, &reset) == FAILURE) {
        RETURN_THROWS();
    }
    act(ZEND_THIS, list, reset ? RETRY : RETRY_ONCE, return_value);
}

ZEND_METHOD(MailQueue, resend)
{
    zend_long id;
    int64_t new_id = 0;
    char *to = NULL, *instead = NULL;
    size_t to_len, instead_len;
    struct mq_error err;

    ZEND_PARSE_PARAMETERS_START(1, 3)
        Z_PARAM_LONG(id)
        Z_PARAM_OPTIONAL
        Z_PARAM_PATH_OR_NULL(to, to_len)
        Z_PARAM_PATH_OR_NULL(instead, instead_len)
    ZEND_PARSE_PARAMETERS_END();

    const struct mq_resend how = {.id = id, .to = to, .instead = instead};
    struct mq_queue *queue = mq_php_queue_use(ZEND_THIS);
    if (queue && mq_php_queue_ok(ZEND_THIS, mq_queue_resend(queue, &how, &new_id, &err), &err)) {
        RETURN_LONG((zend_long)new_id);
    }
}

static void act_on_ids(enum deed deed, INTERNAL_FUNCTION_PARAMETERS)
{
    HashTable *list;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ARRAY_HT(list)
    ZEND_PARSE_PARAMETERS_END();

    act(ZEND_THIS, list, deed, return_value);
}

ZEND_METHOD(MailQueue, hold)
{
    act_on_ids(HOLD, INTERNAL_FUNCTION_PARAM_PASSTHRU);
}

ZEND_METHOD(MailQueue, delete)
{
    act_on_ids(DELETE, INTERNAL_FUNCTION_PARAM_PASSTHRU);
}

ZEND_METHOD(MailQueue, countAsSent)
{
    act_on_ids(COUNT, INTERNAL_FUNCTION_PARAM_PASSTHRU);
}
