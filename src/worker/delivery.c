/* A claimed job under way: its record in the intent file, its message, its delivery. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mime/wire/repair.h"
#include "worker/run.h"

void mq_composed_init(struct mq_composed *composed)
{
    memset(composed, 0, sizeof(*composed));
    mq_strings_init(&composed->recipients);
}

void mq_composed_clear(struct mq_composed *composed)
{
    free(composed->message);
    free(composed->envelope_from);
    mq_strings_clear(&composed->recipients);
    mq_composed_init(composed);
}

void mq_flights_add(struct mq_flights *list, struct mq_flight *flight)
{
    flight->prev = list->tail;
    flight->next = NULL;
    if (list->tail) {
        list->tail->next = flight;
    } else {
        list->head = flight;
    }
    list->tail = flight;
    list->count++;
}

void mq_flights_remove(struct mq_flights *list, struct mq_flight *flight)
{
    if (flight->prev) {
        flight->prev->next = flight->next;
    } else {
        list->head = flight->next;
    }
    if (flight->next) {
        flight->next->prev = flight->prev;
    } else {
        list->tail = flight->prev;
    }
    flight->prev = flight->next = NULL;
    list->count--;
}

static struct mq_flight **bucket_of(struct mq_run *run, int64_t job_id)
{
    return &run->buckets[(uint64_t)job_id % MQ_FLIGHT_BUCKETS];
}

struct mq_flight *mq_flight_find(struct mq_run *run, int64_t job_id)
{
    struct mq_flight *flight = *bucket_of(run, job_id);
    while (flight && flight->job.id != job_id) {
        flight = flight->chain;
    }
    return flight;
}

struct mq_flight *mq_flight_new(struct mq_run *run, struct mq_job *job, int64_t lease_end_ms)
{
    struct mq_flight *flight = calloc(1, sizeof(*flight));
    if (!flight) {
        return NULL;
    }
    flight->run = run;
    flight->job = *job;
    mq_job_init(job);
    flight->slot = -1;
    flight->back_after_s = -1;
    flight->lease_end_ms = lease_end_ms;
    mq_composed_init(&flight->composed);
    struct mq_flight **bucket = bucket_of(run, flight->job.id);
    flight->chain = *bucket;
    *bucket = flight;
    run->held++;
    mq_flights_add(&run->waiting, flight);
    return flight;
}

void mq_flight_free(struct mq_flight *flight)
{
    struct mq_flight **link = bucket_of(flight->run, flight->job.id);
    while (*link != flight) {
        link = &(*link)->chain;
    }
    *link = flight->chain;
    flight->run->held--;
    mq_flight_drop_message(flight);
    mq_job_clear(&flight->job);
    free(flight->original_to);
    free(flight->prefix);
    free(flight->targets);
    free(flight->results);
    free(flight->replies);
    free(flight);
}

void mq_flight_settled(struct mq_flight *flight)
{
    if (flight->slot >= 0) {
        mq_intent_release(flight->run->intent, flight->slot);
        flight->run->no_slot = false;
    }
    mq_flight_free(flight);
}

void mq_flight_done(struct mq_flight *flight)
{
    struct mq_run *run = flight->run;
    mq_flight_drop_message(flight);
    if (run->done.count == 0) {
        run->first_done_ms = mq_run_now_ms(run);
    }
    mq_flights_add(&run->done, flight);
}

void mq_flight_end(struct mq_flight *flight, enum mq_settle_kind kind, const char *error)
{
    flight->kind = kind;
    flight->handed_over = 0;
    snprintf(flight->error, sizeof(flight->error), "%s", error ? error : "");
    mq_flight_done(flight);
}

/* ---- the guard ---- */

/* Whether a target is in the body that is on its way: its RCPT was not answered with "another
 * transaction" (an UNTRIED target's code, send/transport.h). */
static bool in_body(const struct mq_target *target, enum mq_intent_phase phase)
{
    return phase == MQ_INTENT_BODY && target->result == MQ_TARGET_UNTRIED && target->code < 400;
}

static void write_intent(struct mq_flight *flight, enum mq_intent_phase phase)
{
    struct mq_intent_entry entry = {.job_id = flight->job.id, .phase = phase};
    const struct mq_delivery *delivery = &flight->delivery;
    size_t count = flight->job.recipients.count;

    if (phase != MQ_INTENT_ENVELOPE) {
        entry.at_s = delivery->at_s ? delivery->at_s : mq_run_now_s(flight->run);
        for (size_t i = 0; i < delivery->target_count; i++) {
            enum mq_target_result result = flight->targets[i].result;
            if (result == MQ_TARGET_ACCEPTED || result == MQ_TARGET_UNCERTAIN ||
                in_body(&flight->targets[i], phase)) {
                entry.handed_over++;
            }
            if (flight->targets[i].code) {
                entry.code = flight->targets[i].code;
            }
        }
    }
    for (size_t i = 0; i < count && i < MQ_INTENT_RECIPIENTS; i++) {
        if (flight->job.target_of[i] < 0) {
            continue;
        }
        const struct mq_target *target = &flight->targets[flight->job.target_of[i]];
        /* A body on its way has no verdict yet: should we die now, nobody knows. */
        enum mq_target_result result =
            in_body(target, phase) ? MQ_TARGET_UNCERTAIN : target->result;
        entry.results[i] = (uint8_t)result;
    }
    mq_intent_write(flight->run->intent, flight->slot, &entry);
}

static bool lease_is_over(const struct mq_flight *flight)
{
    return mq_run_now_ms(flight->run) >= flight->lease_end_ms;
}

/* First the record, then the look at the clock: whoever takes the job over looks at the record
 * after the lease's end, so one of the two sees the other. */
static bool enter(struct mq_delivery *delivery, enum mq_delivery_phase phase)
{
    struct mq_flight *flight = delivery->context;
    switch (phase) {
    case MQ_PHASE_ENVELOPE:
        write_intent(flight, MQ_INTENT_ENVELOPE);
        return !lease_is_over(flight);
    case MQ_PHASE_BODY:
        write_intent(flight, MQ_INTENT_BODY);
        if (!lease_is_over(flight)) {
            return true;
        }
        write_intent(flight, MQ_INTENT_ENVELOPE);
        return false;
    case MQ_PHASE_ACCEPTED:
        write_intent(flight, MQ_INTENT_ACCEPTED);
        return true;
    case MQ_PHASE_REFUSED:
        write_intent(flight, MQ_INTENT_REFUSED);
        return true;
    }
    return false;
}

/* ---- composing ---- */

static bool take_envelope(struct mq_flight *flight)
{
    struct mq_job *job = &flight->job;
    struct mq_composed *composed = &flight->composed;
    struct mq_error error = {0};
    bool lost = false;

    if (!job->envelope_from) {
        job->envelope_from = composed->envelope_from;
        composed->envelope_from = NULL;
    }
    if (job->recipients.count > 0) {
        return true; /* written by an earlier attempt: they count, whatever composing says now */
    }
    if (composed->recipients.count == 0) {
        mq_flight_end(flight, MQ_SETTLE_LATER, "the composed message has no recipients");
        return false;
    }
    job->recipients = composed->recipients;
    mq_strings_init(&composed->recipients);
    enum mq_status status = mq_queue_set_envelope(flight->run->queue, job, &lost, &error);
    if (status != MQ_OK) {
        mq_flight_end(flight, MQ_SETTLE_RELEASE, NULL);
        mq_run_database_failed(flight->run, status, &error);
        return false;
    }
    if (lost) {
        flight->lease_end_ms = 0;
        mq_flight_end(flight, MQ_SETTLE_RELEASE, NULL); /* comes back as stale */
        return false;
    }
    return true;
}

/* False: the flight has its outcome. */
static bool compose(struct mq_flight *flight)
{
    struct mq_run *run = flight->run;
    const struct mq_worker_hooks *hooks = run->worker->hooks;
    struct mq_error error = {0};

    if (!hooks || !hooks->compose) {
        mq_flight_end(flight, MQ_SETTLE_LATER,
                      "the job has no message and the worker no compose function; give one");
        return false;
    }
    enum mq_compose_end end =
        hooks->compose(hooks->context, &flight->job, &flight->composed, &error);
    if (flight->composed.message) {
        mq_run_count_message(run, flight->composed.message_len);
    }
    switch (end) {
    case MQ_COMPOSED:
        if (flight->composed.message) {
            return take_envelope(flight);
        }
        mq_flight_end(flight, MQ_SETTLE_LATER, "composing gave no message");
        return false;
    case MQ_COMPOSE_GONE:
        mq_flight_end(flight, MQ_SETTLE_ORPHAN, NULL);
        return false;
    case MQ_COMPOSE_FAILED:
        mq_flight_end(flight, MQ_SETTLE_LATER, error.text);
        return false;
    case MQ_COMPOSE_STOP:
        break;
    }
    mq_flight_end(flight, MQ_SETTLE_RELEASE, NULL);
    mq_run_fail(run, error.status == MQ_OK ? MQ_THROWN : error.status, &error);
    return false;
}

/* ---- the delivery ---- */

/* "X-Original-To: a@b, c@d", folded between addresses (RFC 5322, section 2.2.3). NULL without
 * memory. */
static char *original_to_header(const char *addresses)
{
    struct mq_buffer out;
    size_t column = sizeof("X-Original-To:") - 1;

    mq_buffer_init(&out);
    mq_buffer_cstr(&out, "X-Original-To:");
    for (const char *p = addresses; *p;) {
        size_t n = strcspn(p, ",");
        size_t with_comma = n + (p[n] == ',');
        if (column + 1 + with_comma > 78 && p != addresses) {
            mq_buffer_cstr(&out, "\r\n");
            column = 0;
        }
        mq_buffer_char(&out, ' ');
        for (size_t i = 0; i < with_comma; i++) {
            mq_buffer_char(&out, (unsigned char)p[i] < 0x20 || p[i] == 0x7f ? '?' : p[i]);
        }
        column += 1 + with_comma;
        p += with_comma;
        p += strspn(p, " ");
    }
    mq_buffer_cstr(&out, "\r\n");
    char *result = mq_buffer_take(&out);
    mq_buffer_clear(&out);
    return result;
}

static struct mq_str message_of(const struct mq_flight *flight)
{
    if (flight->converted.len > 0) {
        return mq_buffer_view(&flight->converted);
    }
    return flight->job.body
               ? (struct mq_str){flight->job.body, flight->job.body_len}
               : (struct mq_str){flight->composed.message, flight->composed.message_len};
}

static enum mq_status allocate(struct mq_flight *flight, struct mq_error *err)
{
    const struct mq_job *job = &flight->job;
    flight->targets = calloc(job->targets.count, sizeof(*flight->targets));
    flight->results = calloc(job->recipients.count, sizeof(*flight->results));
    flight->replies = calloc(job->recipients.count, sizeof(*flight->replies));
    if (job->original_to) {
        flight->original_to = original_to_header(job->original_to);
    }
    return flight->targets && flight->results && flight->replies &&
                   (flight->original_to || !job->original_to)
               ? MQ_OK
               : mq_error_nomem(err);
}

static bool signs(const struct mq_run *run)
{
    return run->worker->hooks && run->worker->hooks->sign;
}

/* Puts the signatures before the worker's own lines. They are over this very text, which stays as
 * it is until the flight ends, also when the transport begins it anew. */
static enum mq_status sign(struct mq_flight *flight, struct mq_error *err)
{
    const struct mq_worker_hooks *hooks = flight->run->worker->hooks;
    struct mq_outgoing mail = {mq_str_of(flight->original_to), message_of(flight),
                               mq_run_now_s(flight->run)};
    struct mq_buffer out;

    mq_buffer_init(&out);
    enum mq_status status = hooks->sign(hooks->context, &mail, &out, err);
    if (status == MQ_OK && (out.len > 0 || out.failed)) {
        mq_buffer_str(&out, mail.prefix);
        char *prefix = mq_buffer_take(&out);
        if (prefix) {
            free(flight->prefix);
            flight->prefix = prefix;
        } else {
            status = mq_error_nomem(err);
        }
    }
    mq_buffer_clear(&out);
    return status;
}

/* False: the flight has its outcome. */
static bool prepare(struct mq_flight *flight)
{
    struct mq_error error = {0};
    enum mq_status status = allocate(flight, &error);

    if (status == MQ_OK && signs(flight->run)) {
        status = sign(flight, &error);
    }
    if (status == MQ_OK) {
        return true;
    }
    if (status != MQ_NOMEM) {
        mq_flight_end(flight, MQ_SETTLE_LATER, error.text);
        return false;
    }
    mq_flight_end(flight, MQ_SETTLE_RELEASE, NULL);
    mq_run_fail(flight->run, status, &error);
    return false;
}

/* Whether the row's message may go on the wire: other programs can write into the table. False: the
 * flight has its outcome. */
static bool is_sound(struct mq_flight *flight)
{
    struct mq_error error = {0};
    if (!flight->job.body || mq_message_check_wire(message_of(flight), &error) == MQ_OK) {
        return true;
    }
    mq_flight_end(flight, MQ_SETTLE_UNREADABLE, error.text);
    return false;
}

static void fill_message(struct mq_flight *flight)
{
    struct mq_delivery *delivery = &flight->delivery;
    delivery->prefix = mq_str_of(flight->prefix ? flight->prefix : flight->original_to);
    delivery->message = message_of(flight);
    delivery->flags = mq_message_flags(delivery->message);
    if (!mq_str_ascii(delivery->prefix)) {
        delivery->flags |= MQ_MESSAGE_UTF8_HEADERS;
    }
}

/* Signatures are made anew: they are over what goes out. */
static enum mq_status to_7bit(struct mq_delivery *delivery, struct mq_error *err)
{
    struct mq_flight *flight = delivery->context;
    struct mq_buffer converted;

    mq_buffer_init(&converted);
    enum mq_status status = mq_mend_7bit(message_of(flight), &converted, err);
    if (status != MQ_OK) {
        mq_buffer_clear(&converted);
        return status;
    }
    flight->run->bytes += (int64_t)converted.len;
    flight->converted = converted;
    if (signs(flight->run)) {
        status = sign(flight, err);
    }
    fill_message(flight);
    return status;
}

static void fill_delivery(struct mq_flight *flight)
{
    struct mq_delivery *delivery = &flight->delivery;
    const struct mq_job *job = &flight->job;

    delivery->job_id = job->id;
    delivery->from = job->envelope_from;
    delivery->targets = flight->targets;
    delivery->target_count = job->targets.count;
    fill_message(flight);
    delivery->utf8_address = !mq_str_ascii(mq_str_of(job->envelope_from));
    for (size_t i = 0; i < job->targets.count; i++) {
        flight->targets[i].address = job->targets.items[i];
        if (!mq_str_ascii(mq_str_of(job->targets.items[i]))) {
            delivery->utf8_address = true;
        }
    }
    delivery->notify = job->notify;
    delivery->subject = job;
    delivery->enter = enter;
    delivery->to_7bit = to_7bit;
    delivery->context = flight;
    delivery->ms = -1;
}

bool mq_run_can_start(const struct mq_run *run)
{
    return run->waiting.count > 0 && !run->stopping && !run->no_slot &&
           !mq_run_database_fails(run) && !mq_run_suspects_relay(run) && mq_run_fits_next(run) &&
           run->transport->ops->capacity(run->transport, run->limited) > 0;
}

bool mq_flight_start(struct mq_flight *flight)
{
    struct mq_run *run = flight->run;
    struct mq_job *job = &flight->job;
    bool composing = !job->body;

    if (lease_is_over(flight)) {
        mq_flights_remove(&run->waiting, flight);
        mq_flight_end(flight, MQ_SETTLE_RELEASE, NULL);
        return true;
    }
    flight->slot = mq_intent_begin(run->intent, job->id);
    if (flight->slot < 0) {
        run->no_slot = true;
        return false;
    }
    mq_flights_remove(&run->waiting, flight);
    if (composing && !compose(flight)) {
        return false;
    }
    if (!job->envelope_from) {
        mq_flight_end(flight, MQ_SETTLE_LATER, "the message has no envelope sender");
        return true;
    }
    if (job->targets.count == 0) {
        mq_flight_end(flight, MQ_SETTLE_RELEASE, NULL); /* no token reached its recipients */
        return true;
    }
    if (!is_sound(flight)) {
        return true;
    }
    if (!prepare(flight)) {
        return false;
    }
    fill_delivery(flight);
    mq_flights_add(&run->under_way, flight);
    run->transport->ops->submit(run->transport, &flight->delivery);
    return !composing && !signs(run);
}
