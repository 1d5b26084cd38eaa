/* MailQueue\Job. A claimed Job owns its C job; settling uses that one, not the properties. */
#include "php/class/job_object.h"

#include <stdlib.h>

#include "zend_enum.h"
#include "zend_smart_str.h"

#include "core/json.h"
#include "php/class/classes.h"
#include "php/class/conversion.h"
#include "queue/job.h"
#include "stubs/mailqueue_methods.h"

struct job_object {
    struct mq_job job; /* without its message, which a property holds */
    bool claimed;
    zend_object std;
};

/* Set once when the module starts. */
static zend_object_handlers handlers;

static struct job_object *job_from(zend_object *object)
{
    return (struct job_object *)(void *)((char *)object - offsetof(struct job_object, std));
}

/* Private: only the extension creates Jobs. */
ZEND_METHOD(MailQueue_Job, __construct)
{
    ZEND_PARSE_PARAMETERS_NONE();
    (void)return_value;
}

static zend_object *job_create(zend_class_entry *ce)
{
    struct job_object *self = zend_object_alloc(sizeof *self, ce);
    self->job = (struct mq_job){0};
    zend_object_std_init(&self->std, ce);
    object_properties_init(&self->std, ce);
    self->std.handlers = &handlers;
    return &self->std;
}

static void job_free(zend_object *object)
{
    mq_job_clear(&job_from(object)->job);
    zend_object_std_dtor(object);
}

void mq_php_job_register(zend_class_entry *ce)
{
    memcpy(&handlers, zend_get_std_object_handlers(), sizeof handlers);
    handlers.offset = offsetof(struct job_object, std);
    handlers.free_obj = job_free;
    handlers.clone_obj = NULL;
    ce->create_object = job_create;
}

static void fill_status(zval *property, enum mq_state state)
{
    static const char *const cases[MQ_STATE_COUNT] = {
        [MQ_PENDING] = "Pending", [MQ_SENDING] = "Sending", [MQ_FAILED] = "Failed",
        [MQ_PARKED] = "Parked",   [MQ_HELD] = "Held",
    };
    ZVAL_OBJ_COPY(property, zend_enum_get_case_cstr(mq_ce_status, cases[state]));
}

/* Shows a column that is not valid JSON as empty, because only people read it. */
static void fill_refused(zval *property, const char *json)
{
    struct mq_strings pairs = {0};
    array_init(property);
    mq_json_read(mq_str_of(json), '{', &pairs);
    for (size_t i = 0; i < pairs.count; i += 2) {
        add_assoc_string(property, pairs.items[i], pairs.items[i + 1]);
    }
    mq_strings_clear(&pairs);
}

static void fill_uncertain(zval *property, const char *json)
{
    struct mq_strings list = {0};
    mq_json_read(mq_str_of(json), '[', &list);
    mq_php_set_list(property, &list);
    mq_strings_clear(&list);
}

/* On the wire, a redirected mail begins with a line that names its original recipients. The line is
 * folded after each address (RFC 5322, section 2.2.3). */
static void fill_message(zval *property, const struct mq_job *job, enum mq_php_job_view view)
{
    smart_str message = {0};
    if (job->body == NULL) {
        ZVAL_NULL(property);
        return;
    }
    if (view == MQ_PHP_JOB_WIRE && job->original_to) {
        smart_str_appends(&message, "X-Original-To: ");
        for (const char *c = job->original_to; *c; c++) {
            smart_str_appendc(&message, *c);
            smart_str_appends(&message, *c == ',' ? "\r\n" : "");
        }
        smart_str_appends(&message, "\r\n");
    }
    smart_str_appendl(&message, job->body, job->body_len);
    ZVAL_STR(property, smart_str_extract(&message));
}

void mq_php_job_show(zval *out, const struct mq_job *job, enum mq_php_job_view view)
{
    bool wire = view == MQ_PHP_JOB_WIRE && job->targets.count > 0;
    const struct mq_strings *recipients = wire ? &job->targets : &job->recipients;
    object_init_ex(out, mq_ce_job);
    zval *next = OBJ_PROP_NUM(Z_OBJ_P(out), 0);
    ZVAL_LONG(next++, job->id);
    mq_php_set_text(next++, job->reference);
    mq_php_set_text(next++, job->mail_type ? job->mail_type : "");
    fill_status(next++, job->state);
    ZVAL_LONG(next++, job->priority);
    ZVAL_LONG(next++, job->attempts);
    mq_php_set_int(next++, job->max_attempts != 0, job->max_attempts);
    ZVAL_LONG(next++, job->uncertain);
    fill_uncertain(next++, job->uncertain_to);
    ZVAL_LONG(next++, job->next_attempt_at);
    mq_php_set_int(next++, job->expires_at != 0, job->expires_at);
    mq_php_set_int(next++, job->locked_until != 0, job->locked_until);
    mq_php_set_text(next++, job->locked_by[0] ? job->locked_by : NULL);
    mq_php_set_int(next++, job->last_attempt_at != 0, job->last_attempt_at);
    mq_php_set_text(next++, job->last_error);
    mq_php_set_text(next++, job->state == MQ_PARKED ? job->parked_for : NULL);
    ZVAL_LONG(next++, job->created_at);
    mq_php_set_int(next++, job->resent_of != 0, job->resent_of);
    mq_php_set_int(next++, job->expected_at != 0, job->expected_at);
    bool waits = job->state == MQ_PENDING || job->state == MQ_FAILED;
    mq_php_set_text(next++, job->waits_for ? job->waits_for : waits ? job->put_back : NULL);
    mq_php_set_text(next++, job->message_id ? job->message_id : "");
    mq_php_set_text(next++, job->subject);
    mq_php_set_text(next++, job->envelope_from);
    if (recipients->count > 0) {
        mq_php_set_list(next, recipients);
    } else {
        ZVAL_NULL(next);
    }
    next++;
    fill_refused(next++, job->refused);
    mq_php_set_text(next++, job->relay);
    fill_message(next, job, view);
}

void mq_php_job_take(zval *out, struct mq_job *job)
{
    mq_php_job_show(out, job, MQ_PHP_JOB_WIRE);
    struct job_object *self = job_from(Z_OBJ_P(out));
    self->job = *job;
    self->claimed = true;
    *job = (struct mq_job){0};
    free(self->job.body);
    self->job.body = NULL;
    self->job.body_len = 0;
}

struct mq_job *mq_php_job_claimed(zend_object *job)
{
    struct job_object *self = job_from(job);
    return self->claimed ? &self->job : NULL;
}
