/* A transport that hands each mail to a closure. An exception that the closure throws says what
 * became of the mail. */
#include "php/worker/hooks.h"

#include <stdlib.h>
#include <string.h>

#include "zend_exceptions.h"

#include "php/class/classes.h"
#include "php/class/exceptions.h"
#include "php/class/job_object.h"
#include "send/transport.h"

struct closure_transport {
    struct mq_transport base; /* must be first */
    struct mq_php_run *run;
    struct mq_php_callable *closure;
    struct mq_transfer *called; /* the transfer whose call is under way */
};

static struct closure_transport *self_of(struct mq_transport *transport)
{
    return (struct closure_transport *)(void *)transport;
}

/* A closure takes one mail at a time. */
static size_t closure_capacity(const struct mq_transport *transport, bool just_in_time)
{
    const struct closure_transport *self = (const void *)transport;
    (void)just_in_time;
    return self->called || transport->pending.count + transport->done.count > 0 ? 0 : 1;
}

static void finish(struct closure_transport *self, enum mq_transfer_end end)
{
    struct mq_transfer *transfer = self->called;
    self->called = NULL;
    mq_transport_give_back(&self->base, transfer, end);
}

struct closure_call {
    struct closure_transport *self;
    struct mq_transfer *transfer;
    enum mq_outcome outcome; /* MQ_OUTCOME_RELEASED: the relay is in trouble */
    bool exited;
    int code;
    char text[MQ_TARGET_REPLY_MAX];
};

static void make_arguments(const struct mq_transfer *transfer, zval arguments[4])
{
    const char *prefix = transfer->prefix.len > 0 ? transfer->prefix.data : "";
    mq_php_job_show(&arguments[0], transfer->job, MQ_PHP_JOB_WIRE);
    ZVAL_STR(&arguments[1], zend_string_concat2(prefix, transfer->prefix.len,
                                                transfer->message.data, transfer->message.len));
    ZVAL_STRING(&arguments[2], transfer->from);
    array_init_size(&arguments[3], (uint32_t)transfer->target_count);
    for (size_t i = 0; i < transfer->target_count; i++) {
        add_next_index_string(&arguments[3], transfer->targets[i].address);
    }
}

static void judge_exception(struct closure_call *call)
{
    zend_class_entry *ce = EG(exception)->ce;
    call->outcome = instanceof_function(ce, mq_ce_refused_exception)     ? MQ_OUTCOME_REFUSED
                    : instanceof_function(ce, mq_ce_transport_exception) ? MQ_OUTCOME_RELEASED
                                                                         : MQ_OUTCOME_DEFERRED;
    call->code = mq_php_exception_code();
    mq_php_exception_text(call->text, sizeof call->text);
    zend_clear_exception();
}

static void call_body(void *context)
{
    struct closure_call *call = context;
    zval arguments[4], result;
    make_arguments(call->transfer, arguments);
    mq_php_call(call->self->closure, 4, arguments, &result);
    if (EG(exception) && !mq_php_exiting()) {
        judge_exception(call);
    }
    zval_ptr_dtor(&result);
    if (EG(exception) && mq_php_exiting()) {
        call->exited = true;
    } else if (EG(exception)) { /* thrown by a destructor: the mail was handed over */
        zend_clear_exception();
    }
}

static void settle_call(struct closure_transport *self, const struct closure_call *call)
{
    struct mq_transfer *transfer = call->transfer;
    bool accepted = call->outcome == MQ_OUTCOME_DELIVERED;
    if (call->outcome == MQ_OUTCOME_RELEASED) {
        mq_transport_set_results(&self->base, transfer, MQ_OUTCOME_DEFERRED, 0, "");
        transfer->enter(transfer, MQ_PHASE_REFUSED);
        mq_transport_set_results(&self->base, transfer, MQ_OUTCOME_RELEASED, 0, "");
        mq_transport_in_trouble(&self->base, call->text, 0);
        finish(self, MQ_TRANSFER_UNTOUCHED);
        return;
    }
    mq_transport_set_results(&self->base, transfer, call->outcome, call->code, call->text);
    transfer->enter(transfer, accepted ? MQ_PHASE_ACCEPTED : MQ_PHASE_REFUSED);
    finish(self, MQ_TRANSFER_DONE);
}

static enum mq_status closure_step(struct mq_transport *transport, int64_t timeout_ms,
                                   struct mq_error *err)
{
    struct closure_transport *self = self_of(transport);
    (void)timeout_ms; /* a closure cannot be interrupted */
    if (transport->pending.count == 0) {
        return MQ_OK;
    }
    if (!mq_php_may_call(self->run)) {
        return mq_error_set(err, self->run->bailed ? MQ_BAILOUT : MQ_THROWN, "", "PHP code ended");
    }
    struct mq_transfer *transfer = mq_transfer_take(&transport->pending, NULL);
    struct closure_call call = {
        .self = self, .transfer = transfer, .outcome = MQ_OUTCOME_DELIVERED};
    mq_transport_set_results(&self->base, transfer, MQ_OUTCOME_RELEASED, 0, "");
    if (!transfer->enter(transfer, MQ_PHASE_ENVELOPE) ||
        !transfer->enter(transfer, MQ_PHASE_BODY)) {
        mq_transport_give_back(transport, transfer, MQ_TRANSFER_LEASE_OVER);
        return MQ_OK;
    }
    int64_t began_us = mq_transport_now_us(transport);
    self->called = transfer;
    struct mq_error why = {.status = MQ_OK};
    bool is_within = getenv("MAILQUEUE_TRANSPORT_DEPTH") != NULL;
    setenv("MAILQUEUE_TRANSPORT_DEPTH", "1", 1); /* `mailqueue sendmail` refuses what comes back */
    enum mq_status left = mq_php_call_out(self->run, "the transport", call_body, &call, &why);
    if (!is_within) {
        unsetenv("MAILQUEUE_TRANSPORT_DEPTH");
    }
    if (left == MQ_BAILOUT) {
        return mq_error_set(err, MQ_BAILOUT, "", "PHP stopped with a fatal error");
    }
    transfer->ms = (mq_transport_now_us(transport) - began_us) / 1000;
    if (call.exited) { /* nobody knows how far it came: closure_abort() says so */
        return mq_error_set(err, MQ_THROWN, "", "the transport ended the script");
    }
    settle_call(self, &call);
    if (left != MQ_OK && err) {
        *err = why; /* the mail's outcome stands, and the run ends */
    }
    return left;
}

/* If a call did not return because it ended the script, its mail is uncertain. */
static void closure_abort(struct mq_transport *transport)
{
    struct closure_transport *self = self_of(transport);
    if (self->called) {
        mq_transport_set_results(&self->base, self->called, MQ_OUTCOME_UNCERTAIN, 0,
                                 "the transport ended the script");
        finish(self, MQ_TRANSFER_DONE);
    }
}

static const struct mq_transport_ops closure_ops = {
    .capacity = closure_capacity,
    .step = closure_step,
    .abort = closure_abort,
};

enum mq_status mq_closure_transport_new(struct mq_php_run *run, struct mq_php_callable *closure,
                                        const struct mq_clock *clock, struct mq_transport **out,
                                        struct mq_error *err)
{
    struct closure_transport *self = calloc(1, sizeof *self);
    char *name = mq_str_dup(mq_str_of("closure"));
    if (self == NULL || name == NULL) {
        free(self);
        free(name);
        return mq_error_nomem(err);
    }
    self->base = (struct mq_transport){.ops = &closure_ops, .clock = *clock, .name = name};
    self->run = run;
    self->closure = closure;
    *out = &self->base;
    return MQ_OK;
}
