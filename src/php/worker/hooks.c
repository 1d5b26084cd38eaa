/* The worker's callbacks into PHP: compose, sign, onEvent. A fatal error in a callback ends the
 * run; it never jumps over the core's frames. */
#include "php/worker/hooks.h"

#include <stdlib.h>
#include <unistd.h>

#include "zend_exceptions.h"

#include "core/process_id.h"
#include "mime/dkim/sign.h"
#include "mime/wire/repair.h"
#include "php/campaign/campaign_object.h"
#include "php/class/conversion.h"
#include "php/class/exceptions.h"
#include "php/class/job_object.h"
#include "php/message/given_message.h"
#include "php/message/mail.h"
#include "php/pdo/driver.h"
#include "php_mailqueue.h"
#include "queue/event.h"
#include "queue/job.h"
#include "worker/log.h"
#include "worker/worker.h"

enum mq_status mq_php_call_out(struct mq_php_run *run, const char *name,
                               void (*body)(void *context), void *context, struct mq_error *err)
{
    if (!mq_php_may_call(run)) {
        return mq_error_set(err, run->bailed ? MQ_BAILOUT : MQ_THROWN, "", "PHP code ended");
    }
    run->bailed = !mq_php_survives(body, context);
    if (mq_process_id() != run->pid) {
        _exit(EG(exit_status) & 0xff);
    }
    if (run->bailed) {
        return mq_error_set(err, MQ_BAILOUT, "", "PHP stopped with a fatal error");
    }
    return mq_php_pdo_after(run, name, err);
}

static enum mq_status failure(const char *name, const char *text, struct mq_error *err)
{
    return mq_error_set(err, MQ_MESSAGE, name, "%s: %s", name, text);
}

enum mq_status mq_php_take_exception(const char *name, struct mq_error *err)
{
    char text[MQ_ERROR_TEXT_MAX];
    if (mq_php_exiting()) {
        return mq_error_set(err, MQ_THROWN, "", "PHP code ended the script");
    }
    mq_php_exception_text(text, sizeof text);
    zend_clear_exception();
    return failure(name, text, err);
}

/* ---- compose ---- */

struct compose_call {
    struct mq_php_hooks *hooks;
    const struct mq_job *job;
    struct mq_composed *out;
    struct mq_php_mail mail; /* composed so far */
    struct mq_error *err;
    enum mq_compose_end end;
};

static enum mq_compose_end failed(struct compose_call *call, const char *text)
{
    failure("compose", text, call->err);
    return MQ_COMPOSE_FAILED;
}

static enum mq_compose_end failed_by_exception(struct compose_call *call)
{
    enum mq_status status = mq_php_take_exception("compose", call->err);
    return status == MQ_THROWN ? MQ_COMPOSE_STOP : MQ_COMPOSE_FAILED;
}

static enum mq_status take_message(struct compose_call *call, const zval *message)
{
    struct mq_php_mail *mail = &call->mail;
    struct mq_composed *out = call->out;
    MQ_TRY(mq_php_mail_compose(mail, message, call->job, call->err));
    out->message_len = mail->body.len;
    out->message = mq_buffer_take(&mail->body);
    if (out->message == NULL) {
        return mq_error_nomem(call->err);
    }
    out->envelope_from = mail->envelope_from;
    out->relay = mail->relay;
    out->recipients = mail->recipients;
    mail->envelope_from = mail->relay = NULL;
    mail->recipients = (struct mq_strings){0};
    return MQ_OK;
}

static enum mq_compose_end judge_result(struct compose_call *call, zval *result)
{
    zval message;
    if (Z_TYPE_P(result) == IS_NULL) {
        return MQ_COMPOSE_GONE;
    }
    if (Z_TYPE_P(result) != IS_ARRAY && Z_TYPE_P(result) != IS_STRING &&
        !mq_php_is_message_object(result)) {
        return failed(call, "must return " MQ_PHP_MESSAGE_TYPES);
    }
    enum mq_status status = mq_php_message_read(result, &message, call->err);
    if (status == MQ_OK) {
        status = take_message(call, &message);
        zval_ptr_dtor(&message);
    }
    return status == MQ_OK       ? MQ_COMPOSED
           : status == MQ_THROWN ? failed_by_exception(call)
                                 : failed(call, call->err->text);
}

static void compose_body(void *context)
{
    struct compose_call *call = context;
    zval job, result;
    mq_php_job_show(&job, call->job, MQ_PHP_JOB_ROW);
    mq_php_call(call->hooks->compose, 1, &job, &result);
    if (!EG(exception)) {
        call->end = judge_result(call, &result);
    }
    zval_ptr_dtor(&result);
    if (EG(exception)) { /* perhaps thrown by a destructor */
        call->end = failed_by_exception(call);
    }
}

static enum mq_compose_end compose(void *context, const struct mq_job *job, struct mq_composed *out,
                                   struct mq_error *err)
{
    struct mq_php_hooks *hooks = context;
    struct compose_call call = {.hooks = hooks, .job = job, .out = out, .err = err};
    struct mq_error why;
    enum mq_status status = mq_php_call_out(hooks->run, "it", compose_body, &call, &why);
    if (status == MQ_BAILOUT || status == MQ_THROWN) {
        mq_error_set(err, status, "", "PHP code ended");
        call.end = MQ_COMPOSE_STOP;
    } else if (status != MQ_OK && call.end != MQ_COMPOSE_STOP) {
        call.end = failed(&call, why.text);
    }
    mq_php_mail_clear(&call.mail);
    if (call.end != MQ_COMPOSED) {
        mq_composed_clear(out);
    }
    return call.end;
}

/* ---- sign ---- */

struct sign_call {
    struct mq_php_hooks *hooks;
    const struct mq_job *job;
    struct mq_str message;
    struct mq_buffer *out;
    struct mq_error *err;
    enum mq_status status;
};

/* The Message-ID tells the mail from others, so it stays. */
static enum mq_status accept_signed(const struct sign_call *call, struct mq_str text,
                                    const char *message_id, struct mq_error *err)
{
    struct mq_message_options options = {.max_size = (size_t)MAILQUEUE_G(max_message_size),
                                         .message_id = message_id,
                                         .date_s = call->job->created_at};
    struct mq_message_info info = {0};
    MQ_TRY(mq_repair_accept(text, &options, call->out, &info, err));
    return mq_str_equal(info.message_id, mq_str_of(message_id))
               ? MQ_OK
               : mq_error_set(err, MQ_MESSAGE, "sign",
                              "the message has another Message-ID; keep the one that it had");
}

/* Takes a complete message in any form, as enqueue() does. */
static enum mq_status take_signed(const struct sign_call *call, const zval *result)
{
    struct mq_error why;
    if (Z_TYPE_P(result) != IS_STRING) {
        return failure("sign", "must return the message as a string", call->err);
    }
    struct mq_str id = mq_message_id(call->message);
    char *message_id = mq_str_dup(id.len ? id : mq_str_of(call->job->message_id));
    enum mq_status status =
        message_id ? accept_signed(call, mq_php_str(Z_STR_P(result)), message_id, &why) : MQ_NOMEM;
    free(message_id);
    return status == MQ_OK      ? MQ_OK
           : status == MQ_NOMEM ? mq_error_nomem(call->err)
                                : failure("sign", why.text, call->err);
}

static void sign_body(void *context)
{
    struct sign_call *call = context;
    zval arguments[2], result;
    mq_php_job_show(&arguments[0], call->job, MQ_PHP_JOB_WIRE);
    ZVAL_STRINGL(&arguments[1], call->message.data, call->message.len);
    mq_php_call(call->hooks->sign, 2, arguments, &result);
    if (!EG(exception)) {
        call->status = take_signed(call, &result);
    }
    zval_ptr_dtor(&result);
    if (EG(exception)) { /* perhaps thrown by a destructor */
        call->status = mq_php_take_exception("sign", call->err);
    }
}

static enum mq_status seal(void *context, const struct mq_job *job, struct mq_str message,
                           struct mq_buffer *out, struct mq_error *err)
{
    struct mq_php_hooks *hooks = context;
    struct sign_call call = {hooks, job, message, out, err, MQ_OK};
    struct mq_error why;
    enum mq_status status = mq_php_call_out(hooks->run, "it", sign_body, &call, &why);
    if (status == MQ_BAILOUT || status == MQ_THROWN) {
        return mq_error_set(err, status, "", "PHP code ended");
    }
    return status == MQ_OK || call.status == MQ_THROWN ? call.status
                                                       : failure("sign", why.text, err);
}

/* ---- DKIM ---- */

static enum mq_status sign(void *context, const struct mq_dkim_mail *mail, struct mq_buffer *out,
                           struct mq_error *err)
{
    const struct mq_php_hooks *hooks = context;
    return mq_dkim_sign(hooks->dkim, mail, out, err);
}

/* ---- events ---- */

static void event_to_array(zval *out, const struct mq_event *event)
{
    array_init_size(out, 12);
    add_assoc_string(out, "event", mq_event_type_name(event->type));
    add_assoc_long(out, "time", (zend_long)event->at_s);
    mq_php_add_int(out, "id", event->id != 0, event->id);
    mq_php_add_text(out, "reference", event->reference);
    mq_php_add_text(out, "type", event->mail_type);
    mq_php_add_int(out, "attempt", event->id != 0, event->attempt);
    mq_php_add_int(out, "uncertain", event->uncertain > 0, event->uncertain);
    mq_php_add_int(out, "recipients", event->recipients > 0, event->recipients);
    mq_php_add_text(out, "relay", event->relay);
    mq_php_add_text(out, "reply", event->reply);
    mq_php_add_int(out, "ms", event->ms >= 0, event->ms);
    mq_php_add_int(out, "nextAttemptAt", event->next_attempt_at != 0, event->next_attempt_at);
}

struct event_call {
    struct mq_php_hooks *hooks;
    const struct mq_event *event;
};

static void event_body(void *context)
{
    struct event_call *call = context;
    zval event, result;
    event_to_array(&event, call->event);
    mq_php_call(call->hooks->on_event, 1, &event, &result);
    zval_ptr_dtor(&result);
}

static enum mq_status tell(void *context, const struct mq_event *event, struct mq_error *err)
{
    struct mq_php_hooks *hooks = context;
    struct event_call call = {hooks, event};
    if (hooks->log && !event->recorded) {
        mq_log_add(hooks->log, event);
    }
    if (hooks->log && hooks->on_event) {
        mq_log_flush(hooks->log); /* PHP code may take long, or end the process */
    }
    if (hooks->on_event == NULL || !mq_php_may_call(hooks->run)) {
        return MQ_OK;
    }
    enum mq_status status = mq_php_call_out(hooks->run, "onEvent", event_body, &call, err);
    return status == MQ_BAILOUT || !EG(exception)
               ? status
               : mq_error_set(err, MQ_THROWN, "", "onEvent threw");
}

/* ---- campaigns that have finished ---- */

struct finished_call {
    struct mq_php_hooks *hooks;
    int64_t campaign_id;
};

static void finished_body(void *context)
{
    struct finished_call *call = context;
    zval campaign, result;
    mq_php_campaign_new(&campaign, call->hooks->queue, call->campaign_id);
    mq_php_call(call->hooks->on_finished, 1, &campaign, &result);
    zval_ptr_dtor(&result);
}

static enum mq_status finished(void *context, int64_t campaign_id, struct mq_error *err)
{
    struct mq_php_hooks *hooks = context;
    struct finished_call call = {hooks, campaign_id};
    enum mq_status status = mq_php_call_out(hooks->run, "onFinished", finished_body, &call, err);
    return status == MQ_BAILOUT || !EG(exception)
               ? status
               : mq_error_set(err, MQ_THROWN, "", "onFinished threw");
}

/* ---- the log ---- */

static void record(void *context, const struct mq_events *events)
{
    struct mq_php_hooks *hooks = context;
    for (size_t i = 0; i < events->count; i++) {
        if (events->items[i].recorded) {
            mq_log_add(hooks->log, &events->items[i]);
        }
    }
    mq_log_sync(hooks->log);
}

static void told(void *context)
{
    struct mq_php_hooks *hooks = context;
    mq_log_flush(hooks->log);
}

static void reopen(void *context)
{
    struct mq_php_hooks *hooks = context;
    mq_log_reopen(hooks->log);
}

void mq_php_worker_hooks(struct mq_php_hooks *hooks, struct mq_worker_hooks *out)
{
    *out = (struct mq_worker_hooks){
        .compose = hooks->compose ? compose : NULL,
        .seal = hooks->sign ? seal : NULL,
        .sign = hooks->dkim ? sign : NULL,
        .event = tell,
        .finished = hooks->on_finished ? finished : NULL,
        .record = hooks->log ? record : NULL,
        .told = hooks->log ? told : NULL,
        .reopen = hooks->log ? reopen : NULL,
        .context = hooks,
    };
}
