/* Begins a delivery: its record in the intent file, its message, its hand-over. */
#include <stdlib.h>
#include <string.h>

#include "campaign/mailing.h"
#include "mime/dkim/sign.h"
#include "mime/header.h"
#include "mime/wire/repair.h"
#include "queue/suppress/sender.h"
#include "send/intent/intent.h"
#include "send/transport.h"
#include "worker/deliveries.h"
#include "worker/relay/route.h"
#include "worker/run.h"

/* After this time a mail is tried again that its relay only takes whole. */
#define WHOLE_AFTER_S 60
/* The same for one that this worker cannot compose. */
#define COMPOSE_AFTER_S 3600

/* ---- the guard ---- */

/* Returns what the intent record says of a target. While the body is on its way, a target of this
 * transaction is uncertain: if we die now, nobody knows. A RELEASED target with a 4xx or 5xx code
 * needs another transaction (send/transfer.h), and stays RELEASED. */
static enum mq_outcome recorded(const struct mq_target *target, enum mq_intent_phase phase)
{
    bool in_body =
        phase == MQ_INTENT_BODY && target->result == MQ_OUTCOME_RELEASED && target->code < 400;
    return in_body ? MQ_OUTCOME_UNCERTAIN : target->result;
}

/* Whether some have the mail already, or may have it: a mail API gets it in several requests. */
static bool was_handed_over(const struct mq_transfer *transfer)
{
    bool has = false;
    for (size_t i = 0; i < transfer->target_count; i++) {
        has = has || mq_outcomes[transfer->targets[i].result].handed_over;
    }
    return has;
}

/* MQ_INTENT_ENVELOPE says that nobody has the mail. */
static void write_intent(struct mq_delivery *delivery, enum mq_intent_phase phase)
{
    const struct mq_transfer *transfer = &delivery->transfer;
    if (phase == MQ_INTENT_ENVELOPE && was_handed_over(transfer)) {
        phase = MQ_INTENT_ACCEPTED;
    }
    struct mq_intent_entry entry = {.job_id = delivery->job.id, .phase = phase};
    size_t count = delivery->job.recipients.count;
    if (phase != MQ_INTENT_ENVELOPE) {
        entry.at_s = transfer->at_s ? transfer->at_s : mq_run_now_s(delivery->run);
        for (size_t i = 0; i < transfer->target_count; i++) {
            const struct mq_target *target = &delivery->targets[i];
            entry.handed_over += mq_outcomes[recorded(target, phase)].handed_over;
            entry.code = target->code ? target->code : entry.code;
        }
    }
    for (size_t i = 0; i < count && i < MQ_RECIPIENTS_MAX; i++) {
        int target = delivery->job.target_of[i];
        if (target >= 0) {
            entry.results[i] = (uint8_t)recorded(&delivery->targets[target], phase);
        }
    }
    mq_intent_write(delivery->run->intent, delivery->slot, &entry);
}

/* By two clocks: other runs judge the lease by the wall clock, which may have jumped ahead. */
static bool lease_is_over(const struct mq_delivery *delivery)
{
    return mq_run_now_ms(delivery->run) >= delivery->lease_end_ms ||
           mq_run_now_s(delivery->run) >= delivery->job.locked_until;
}

/* Writes the intent record first, then reads the clock. A worker that takes the job over reads the
 * record after the lease has ended, so one of the two notices the other. */
static bool enter(struct mq_transfer *transfer, enum mq_transfer_phase phase)
{
    _Static_assert((int)MQ_PHASE_ENVELOPE == MQ_INTENT_ENVELOPE &&
                       (int)MQ_PHASE_REFUSED == MQ_INTENT_REFUSED,
                   "the record has these phases");
    struct mq_delivery *delivery = transfer->context;
    write_intent(delivery, phase == MQ_PHASE_PARTLY ? MQ_INTENT_BODY : (enum mq_intent_phase)phase);
    if (phase > MQ_PHASE_BODY || !lease_is_over(delivery)) {
        return true;
    }
    write_intent(delivery, MQ_INTENT_ENVELOPE);
    return false;
}

/* ---- composing ---- */

static bool take_envelope(struct mq_delivery *delivery)
{
    struct mq_job *job = &delivery->job;
    struct mq_composed *composed = &delivery->composed;
    struct mq_error error = {0};
    bool lost = false;
    if (!job->envelope_from) {
        job->envelope_from = composed->envelope_from;
        composed->envelope_from = NULL;
    }
    if (!job->relay) {
        job->relay = composed->relay;
        composed->relay = NULL;
    }
    if (job->recipients.count > 0 && (job->from_paid || !delivery->run->claim.limited)) {
        return true; /* an earlier attempt stored them: they override what composing returns now */
    }
    if (job->recipients.count == 0 && composed->recipients.count == 0) {
        mq_delivery_end(delivery, MQ_OUTCOME_DEFERRED, "the composed message has no recipients");
        return false;
    }
    if (job->recipients.count == 0) {
        job->recipients = composed->recipients;
        composed->recipients = (struct mq_strings){0};
    }
    enum mq_status status =
        mq_queue_set_envelope(delivery->run->queue, job, &delivery->run->events, &lost, &error);
    if (status != MQ_OK) {
        mq_delivery_end(delivery, MQ_OUTCOME_RELEASED, NULL);
        mq_run_database_failed(delivery->run, status, &error);
        return false;
    }
    if (lost) {
        delivery->lease_end_ms = 0;
        mq_delivery_end(delivery, MQ_OUTCOME_RELEASED, NULL); /* its settle will report STALE */
        return false;
    }
    if (job->suppressed) {
        mq_delivery_end(delivery, MQ_OUTCOME_SUPPRESSED, job->suppressed[0]);
        return false;
    }
    return true;
}

/* Renders a campaign's mail. One that cannot be rendered is parked: its data stay as they are. */
static bool render(struct mq_delivery *delivery)
{
    struct mq_run *run = delivery->run;
    struct mq_error error = {0};
    struct mq_buffer out = {0};
    run->mailings = run->mailings ? run->mailings : calloc(1, sizeof(*run->mailings));
    enum mq_status status =
        run->mailings ? mq_mailings_render(run->mailings, run->queue, &delivery->job, &out, &error)
                      : mq_error_nomem(&error);
    if (status == MQ_OK) {
        delivery->composed.message_len = out.len;
        delivery->composed.message = mq_buffer_take(&out);
        mq_run_count_message(run, delivery->composed.message_len);
        return true;
    }
    mq_buffer_clear(&out);
    if (status == MQ_MESSAGE || status == MQ_INVALID || status == MQ_CORRUPT) {
        mq_delivery_end(delivery, MQ_OUTCOME_UNREADABLE, error.text);
        return false;
    }
    mq_delivery_end(delivery, MQ_OUTCOME_RELEASED, NULL);
    if (status == MQ_NOMEM || status == MQ_CONFIG) {
        mq_run_fail(run, status, &error);
    } else {
        mq_run_database_failed(run, status, &error);
    }
    return false;
}

/* False: the delivery has ended with an outcome. */
static bool compose(struct mq_delivery *delivery)
{
    if (delivery->job.campaign_id) {
        return render(delivery);
    }
    struct mq_run *run = delivery->run;
    const struct mq_worker_hooks *hooks = run->worker->hooks;
    struct mq_error error = {0};
    if (!hooks->compose) {
        /* A worker that was started without its bootstrap file must not use up the attempts. */
        mq_delivery_put_back(delivery, COMPOSE_AFTER_S,
                             "the job has no message and the worker no compose function; give one");
        return false;
    }
    enum mq_compose_end end =
        hooks->compose(hooks->context, &delivery->job, &delivery->composed, &error);
    if (delivery->composed.message) {
        mq_run_count_message(run, delivery->composed.message_len);
    }
    switch (end) {
    case MQ_COMPOSED:
        return take_envelope(delivery);
    case MQ_COMPOSE_GONE:
        mq_delivery_end(delivery, MQ_OUTCOME_ORPHAN, NULL);
        return false;
    case MQ_COMPOSE_FAILED:
        mq_delivery_end(delivery, MQ_OUTCOME_DEFERRED, error.text);
        return false;
    case MQ_COMPOSE_STOP:
        break;
    }
    mq_delivery_end(delivery, MQ_OUTCOME_RELEASED, NULL);
    mq_run_fail(run, error.status == MQ_OK ? MQ_THROWN : error.status, &error);
    return false;
}

/* ---- the delivery ---- */

/* Returns "X-Original-To: a@b, c@d", folded between addresses. NULL without memory. */
static char *original_to_header(const char *addresses)
{
    struct mq_buffer out = {0};
    size_t column = sizeof("X-Original-To:") - 1;
    mq_buffer_cstr(&out, "X-Original-To:");
    while (*addresses) {
        size_t len = strcspn(addresses, ",");
        len += addresses[len] == ',';
        mq_encode_token(&out, &column, (struct mq_str){addresses, len});
        addresses += len;
        addresses += strspn(addresses, " ");
    }
    mq_buffer_cstr(&out, "\r\n");
    char *result = mq_buffer_take(&out);
    mq_buffer_clear(&out);
    return result;
}

static struct mq_str message_of(const struct mq_delivery *delivery)
{
    if (delivery->changed.len > 0) {
        return mq_buffer_view(&delivery->changed);
    }
    return delivery->job.body
               ? (struct mq_str){delivery->job.body, delivery->job.body_len}
               : (struct mq_str){delivery->composed.message, delivery->composed.message_len};
}

/* From now on, this form of the message is sent. */
static void change_message(struct mq_delivery *delivery, const struct mq_buffer *form)
{
    delivery->run->memory.bytes += (int64_t)form->len - (int64_t)delivery->changed.len;
    mq_buffer_clear(&delivery->changed);
    delivery->changed = *form;
}

static enum mq_status allocate(struct mq_delivery *delivery, struct mq_error *err)
{
    const struct mq_job *job = &delivery->job;
    delivery->targets = calloc(job->targets.count, sizeof(*delivery->targets));
    delivery->results = calloc(job->recipients.count, sizeof(*delivery->results));
    delivery->replies = calloc(job->recipients.count, 2 * sizeof(*delivery->replies));
    delivery->phases = delivery->replies ? delivery->replies + job->recipients.count : NULL;
    if (job->original_to) {
        delivery->original_to = original_to_header(job->original_to);
    }
    return delivery->targets && delivery->results && delivery->replies &&
                   (delivery->original_to || !job->original_to)
               ? MQ_OK
               : mq_error_nomem(err);
}

/* Has the application sign or encrypt the message. */
static enum mq_status seal(struct mq_delivery *delivery, struct mq_error *err)
{
    const struct mq_worker_hooks *hooks = delivery->run->worker->hooks;
    struct mq_buffer sealed = {0};
    if (!hooks->seal) {
        return MQ_OK;
    }
    enum mq_status status =
        hooks->seal(hooks->context, &delivery->job, message_of(delivery), &sealed, err);
    if (status == MQ_OK) {
        change_message(delivery, &sealed);
    } else {
        mq_buffer_clear(&sealed);
    }
    return status;
}

static bool signs(const struct mq_run *run)
{
    return run->worker->hooks->sign != NULL;
}

/* Puts the signatures before the worker's own header lines. The signatures cover exactly
 * this text, so it stays unchanged until the delivery ends, even if the mail is begun again. It is
 * converted to 7 bits before (RFC 6376, 5.3): a server on the way that has to convert it would
 * break the signatures. What must not be converted is signed as it is. */
static enum mq_status sign(struct mq_delivery *delivery, struct mq_error *err)
{
    const struct mq_worker_hooks *hooks = delivery->run->worker->hooks;
    struct mq_dkim_mail mail = {mq_str_of(delivery->original_to), message_of(delivery),
                                mq_run_now_s(delivery->run)};
    struct mq_buffer out = {0}, converted = {0};
    enum mq_status status = MQ_OK;

    if ((mq_message_flags(mail.message) & MQ_MESSAGE_8BIT) != 0) {
        status = mq_repair_7bit(mail.message, &converted, err);
        mail.message = status == MQ_OK ? mq_buffer_view(&converted) : mail.message;
    }
    if (status != MQ_NOMEM) {
        status = hooks->sign(hooks->context, &mail, &out, err);
    }
    if (status == MQ_OK && out.len > 0 && converted.len > 0) {
        change_message(delivery, &converted);
        converted = (struct mq_buffer){0};
    }
    if (status == MQ_OK && (out.len > 0 || out.failed)) {
        mq_buffer_str(&out, mail.prefix);
        free(delivery->prefix);
        delivery->prefix = mq_buffer_take(&out);
        status = delivery->prefix ? MQ_OK : mq_error_nomem(err);
    }
    mq_buffer_clear(&converted);
    mq_buffer_clear(&out);
    return status;
}

/* Gives the envelope's sender its token, if it asks for one. False: the delivery has ended. */
static bool name_sender(struct mq_delivery *delivery)
{
    const struct mq_job *job = &delivery->job;
    const char *recipient = job->targets.count == 1 ? job->targets.items[0] : NULL;
    struct mq_buffer out = {0};
    struct mq_error error = {0};
    enum mq_status status =
        mq_suppress_sender(delivery->run->queue, job->envelope_from, recipient, &out, &error);
    delivery->sender = status == MQ_OK ? mq_buffer_take(&out) : NULL;
    mq_buffer_clear(&out);
    if (status == MQ_CONFIG) {
        mq_delivery_end(delivery, MQ_OUTCOME_DEFERRED, error.text);
    } else if (status != MQ_OK) {
        mq_delivery_end(delivery, MQ_OUTCOME_RELEASED, NULL);
        mq_run_database_failed(delivery->run, status, &error);
    }
    return status == MQ_OK;
}

static bool reaches_all(const struct mq_job *job)
{
    bool all = true;
    for (size_t i = 0; i < job->recipients.count; i++) {
        all = all && job->target_of[i] >= 0;
    }
    return all;
}

/* Whether the mail goes to all recipients, or its relay need not send to all at once. If it does
 * not, the mail goes to another relay of its route, or its relay was not known when it was claimed.
 */
static bool goes_whole(struct mq_delivery *delivery)
{
    struct mq_job *job = &delivery->job;
    if (!job->whole || reaches_all(job)) {
        return true;
    }
    if (mq_delivery_moves(delivery)) {
        return false;
    }
    if (job->recipients.count > MQ_RECIPIENTS_MAX && mq_delivery_other_s(delivery) == 0) {
        mq_strings_clear(&job->targets); /* so that the outcome is that of all recipients */
        mq_delivery_end(delivery, MQ_OUTCOME_REFUSED,
                        "recipients: this relay sends to all of them at once, and they are more "
                        "than 100; send it to fewer, or over SMTP");
        return false;
    }
    mq_delivery_put_back(delivery, WHOLE_AFTER_S,
                         "recipients: this relay sends to all of them at once, and a limit lets "
                         "only some go now");
    return false;
}

/* False: the delivery has ended with an outcome, or goes to another relay. */
static bool prepare(struct mq_delivery *delivery)
{
    const struct mq_job *job = &delivery->job;
    struct mq_error error = {0};
    if (!job->envelope_from) {
        mq_delivery_end(delivery, MQ_OUTCOME_DEFERRED, "the message has no envelope sender");
        return false;
    }
    if (job->targets.count == 0) { /* the tokens reached none of its recipients */
        mq_delivery_end(delivery, MQ_OUTCOME_RELEASED, NULL);
        return false;
    }
    if (!goes_whole(delivery)) {
        return false;
    }
    /* Other programs can write into the table. */
    if (job->body && mq_message_check_wire(message_of(delivery), &error) != MQ_OK) {
        mq_delivery_end(delivery, MQ_OUTCOME_UNREADABLE, error.text);
        return false;
    }
    if (!name_sender(delivery)) {
        return false;
    }
    enum mq_status status = allocate(delivery, &error);
    if (status == MQ_OK) {
        status = seal(delivery, &error);
    }
    if (status == MQ_OK && signs(delivery->run)) {
        status = sign(delivery, &error);
    }
    if (status == MQ_NOMEM || status == MQ_THROWN || status == MQ_BAILOUT) {
        mq_delivery_end(delivery, MQ_OUTCOME_RELEASED, NULL);
        mq_run_fail(delivery->run, status, &error);
    } else if (status != MQ_OK) {
        mq_delivery_end(delivery, MQ_OUTCOME_DEFERRED, error.text);
    }
    return status == MQ_OK;
}

static void fill_message(struct mq_delivery *delivery)
{
    struct mq_transfer *transfer = &delivery->transfer;
    transfer->prefix = mq_str_of(delivery->prefix ? delivery->prefix : delivery->original_to);
    transfer->message = message_of(delivery);
    transfer->flags = mq_message_flags(transfer->message);
    if (!mq_str_ascii(transfer->prefix)) {
        transfer->flags |= MQ_MESSAGE_UTF8_HEADERS;
    }
}

/* Converts the message to 7 bits. One with signatures is converted already: see sign(). */
static enum mq_status to_7bit(struct mq_transfer *transfer, struct mq_error *err)
{
    struct mq_delivery *delivery = transfer->context;
    struct mq_buffer converted = {0};
    enum mq_status status = mq_repair_7bit(message_of(delivery), &converted, err);
    if (status != MQ_OK) {
        mq_buffer_clear(&converted);
        return status;
    }
    change_message(delivery, &converted);
    fill_message(delivery);
    return MQ_OK;
}

static void fill_transfer(struct mq_delivery *delivery)
{
    struct mq_transfer *transfer = &delivery->transfer;
    const struct mq_job *job = &delivery->job;
    transfer->job_id = job->id;
    transfer->from = delivery->sender ? delivery->sender : job->envelope_from;
    transfer->targets = delivery->targets;
    transfer->target_count = job->targets.count;
    fill_message(delivery);
    transfer->utf8_address = !mq_str_ascii(mq_str_of(job->envelope_from));
    for (size_t i = 0; i < job->targets.count; i++) {
        delivery->targets[i].address = job->targets.items[i];
        if (!mq_str_ascii(mq_str_of(job->targets.items[i]))) {
            transfer->utf8_address = true;
        }
    }
    transfer->notify = job->notify;
    transfer->job = job;
    transfer->refused = job->refused;
    transfer->enter = enter;
    transfer->to_7bit = to_7bit;
    transfer->context = delivery;
    transfer->ms = -1;
}

bool mq_delivery_start(struct mq_delivery *delivery, struct mq_lane *lane)
{
    struct mq_run *run = delivery->run;
    struct mq_job *job = &delivery->job;
    bool composing = !job->body && !delivery->composed.message;
    if (lease_is_over(delivery)) {
        mq_delivery_end(delivery, MQ_OUTCOME_RELEASED, NULL);
        return true;
    }
    if (delivery->slot < 0) { /* else it was composed, and waited for another relay then */
        delivery->slot = mq_intent_begin(run->intent, job->id);
    }
    if (delivery->slot < 0) {
        run->no_slot = true;
        return false;
    }
    delivery->lane = lane;
    job->whole = lane->transport->whole;
    delivery->transfer.phase = composing ? "compose" : "check";
    if (composing && (!compose(delivery) || mq_delivery_reroutes(delivery))) {
        return false;
    }
    mq_delivery_tries(delivery);
    if (!prepare(delivery)) {
        return false;
    }
    fill_transfer(delivery);
    mq_delivery_move(delivery, &run->under_way);
    lane->under_way++;
    lane->moved_ms = mq_run_now_ms(run);
    mq_transport_submit(lane->transport, &delivery->transfer);
    return true;
}
