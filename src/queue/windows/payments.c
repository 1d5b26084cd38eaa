/* Pays for the limits of relays after the claim. */
#include "queue/windows/payments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/consequence.h"
#include "queue/all_limits.h"
#include "queue/claim.h"
#include "queue/config/relays.h"
#include "queue/handle.h"
#include "queue/job.h"
#include "queue/redirect.h"
#include "queue/sql/statements.h"
#include "queue/steps.h"

_Static_assert(sizeof(((struct mq_relay_list *)NULL)->never) == MQ_WAITS_FOR_MAX, "the same text");

static bool is_paid(const struct mq_job *job, const char *relay)
{
    return job->paid_to && strcmp(job->paid_to, relay) == 0;
}

/* The rooms of relays, up to the first one with room. */
struct search {
    struct mq_room rooms[MQ_PAYMENT_RELAYS_MAX];
    size_t at; /* that one; the number of relays if none has room */
};

static enum mq_status find_relay(struct mq_tx *tx, const struct mq_job *job,
                                 struct mq_relay_list *relays, struct search *out,
                                 struct mq_error *err)
{
    for (out->at = 0; out->at < relays->count; out->at++) {
        struct mq_room *room = &out->rooms[out->at];
        const struct mq_party party = {.relay = relays->names[out->at],
                                       .only_relay = true,
                                       .leaves = job->priority < 0,
                                       .whole = relays->whole[out->at] ? mq_job_reach(job) : 0};
        if (is_paid(job, party.relay)) {
            *room = (struct mq_room){.party = party, .recipients = MQ_LIMIT_NONE};
            return MQ_OK;
        }
        MQ_TRY(mq_windows_room(tx, &party, room, err));
        relays->full_s[out->at] = room->free_s;
        relays->full_for[out->at] = room->in_part ? (size_t)party.whole : 0;
        if (room->recipients > 0) {
            return MQ_OK;
        }
    }
    return MQ_OK;
}

/* How many recipients a job pays for: one, until it is composed. */
static int64_t targets_of(const struct mq_job *job)
{
    return job->recipients.count ? (int64_t)job->targets.count : 1;
}

/* Puts a job back that all relays' limits keep. */
static enum mq_status keep_waiting(struct mq_tx *tx, const struct mq_relay_list *relays,
                                   const struct mq_room *rooms, const struct mq_job *job,
                                   struct mq_error *err)
{
    struct mq_kept kept = {rooms, relays->count, relays->opens_s ? relays->opens_s : INT64_MAX};
    return mq_windows_put_back(tx, &kept, job, err);
}

/* ---- at a claim ---- */

/* Whether no relay, also of those that are not used now, ever has room. */
static bool is_hopeless(const struct mq_tx *tx, struct mq_relay_list *relays,
                        const struct mq_room *rooms)
{
    bool is = relays->opens_s == 0 && !relays->busy;
    for (size_t i = 0; i < relays->count && is; i++) {
        is = mq_limit_forbids(tx, &rooms[i], relays->never);
    }
    relays->never[0] = is ? relays->never[0] : '\0';
    return is;
}

enum mq_status mq_relays_promise(struct mq_tx *tx, const struct mq_job *job,
                                 struct mq_relay_list *relays, int64_t *most, struct mq_error *err)
{
    struct search found;
    MQ_TRY(find_relay(tx, job, relays, &found, err));
    if (relays->count == 0) {
        return MQ_OK;
    }
    if (found.at == relays->count) {
        *most = 0;
        return is_hopeless(tx, relays, found.rooms)
                   ? MQ_OK
                   : keep_waiting(tx, relays, found.rooms, job, err);
    }
    const struct mq_room *room = &found.rooms[found.at];
    int64_t n = job->recipients.count ? (int64_t)job->recipients.count : 1;
    *most = room->recipients < *most ? room->recipients : *most;
    return mq_windows_promise(tx, &room->party, n < *most ? n : *most, err);
}

/* ---- before a mail begins ---- */

/* The same for a claimed job. */
static enum mq_status put_back(struct mq_tx *tx, struct mq_payment *p, const struct mq_room *rooms,
                               struct mq_error *err)
{
    char text[MQ_WAITS_FOR_MAX], why[MQ_WAITS_FOR_MAX + 24];
    struct mq_settlement s = {.job = p->job,
                              .outcome = MQ_OUTCOME_RELEASED,
                              .trouble = why,
                              .retry_after_s = -1,
                              .ms = -1};
    mq_room_text(&rooms[0], text);
    snprintf(why, sizeof(why), "the limit %s is full", text);
    MQ_TRY(mq_settle_one(tx, &s, mq_outcomes[s.outcome].event, err));
    p->end = MQ_PAYMENT_BACK;
    return s.row == MQ_ROW_LOST ? MQ_OK : keep_waiting(tx, &p->relays, rooms, p->job, err);
}

/* Notes in the row which relay is paid. */
static enum mq_status write_row(struct mq_tx *tx, struct mq_payment *p, const char *relay,
                                struct mq_error *err)
{
    const struct mq_job *job = p->job;
    struct mq_args args = MQ_ARGS(mq_cstr(relay), mq_int(p->paid), mq_int(job->id),
                                  mq_cstr(job->locked_by), mq_int(job->attempts));
    MQ_TRY(mq_sql_exec(tx->queue, MQ_SQL_PAY_RELAY, args, err));
    p->end = mq_sql_changes(tx->queue) > 0 ? MQ_PAYMENT_DONE : MQ_PAYMENT_LOST;
    return MQ_OK;
}

/* Gives back what the job paid before for recipients that it does not reach now, and at another
 * relay. */
static enum mq_status give_back(struct mq_tx *tx, const struct mq_payment *p, struct mq_error *err)
{
    const struct mq_job *job = p->job;
    struct mq_outlay rest = {
        .party = mq_job_party(job), .paid = job->paid - p->paid, .in_part = true};
    rest.party.relay = NULL;
    rest.party.to = NULL; /* which of its recipients that are is not known any more */
    if (rest.paid > 0) {
        MQ_TRY(mq_limit_return(tx, &rest, err));
    }
    struct mq_outlay there = {.party = {.relay = job->paid_to, .only_relay = true},
                              .paid = job->paid};
    return job->paid_to ? mq_limit_return(tx, &there, err) : MQ_OK;
}

static enum mq_status pay(struct mq_tx *tx, struct mq_payment *p, const struct mq_room *room,
                          struct mq_error *err)
{
    struct mq_job *job = p->job;
    if (room->recipients < targets_of(job)) { /* the others go later */
        MQ_TRY(mq_job_set_targets(job, &tx->settings, room->recipients, err));
    }
    p->paid = (int)targets_of(job);
    if (is_paid(job, room->party.relay)) {
        p->end = MQ_PAYMENT_DONE;
        return MQ_OK;
    }
    MQ_TRY(write_row(tx, p, room->party.relay, err));
    if (p->end == MQ_PAYMENT_LOST) {
        return MQ_OK;
    }
    MQ_TRY(give_back(tx, p, err));
    return mq_limit_take(tx, &room->party, p->paid, true, err);
}

static enum mq_status make_one(struct mq_tx *tx, struct mq_payment *p, struct mq_error *err)
{
    struct search found;
    MQ_TRY(find_relay(tx, p->job, &p->relays, &found, err));
    p->relay = found.at;
    if (found.at < p->relays.count) {
        return pay(tx, p, &found.rooms[found.at], err);
    }
    p->end = MQ_PAYMENT_WAITS;
    return p->relays.busy ? MQ_OK : put_back(tx, p, found.rooms, err);
}

/* Writes the windows and reads them again, as rows have changed that count as under way. */
static enum mq_status renew(struct mq_tx *tx, struct mq_error *err)
{
    MQ_TRY(mq_windows_store(tx, err));
    MQ_TRY(mq_lines_store(tx, err));
    mq_windows_free(tx->windows);
    tx->windows = NULL;
    return MQ_OK;
}

enum mq_status mq_payments_make(struct mq_tx *tx, struct mq_payment *payments, size_t count,
                                struct mq_error *err)
{
    for (size_t i = 0; i < count; i++) { /* the transaction can run again */
        payments[i].end = MQ_PAYMENT_NONE;
    }
    if (tx->config != MQ_OK || count == 0) {
        return MQ_OK;
    }
    bool any_back = false;
    for (size_t i = 0; i < count; i++) {
        MQ_TRY(make_one(tx, &payments[i], err));
        any_back = any_back || payments[i].end == MQ_PAYMENT_BACK;
    }
    const char *table = tx->queue->names.table;
    if (any_back && mq_settings_marked(&tx->settings, table) == 0) {
        MQ_TRY(mq_mark_put(tx->queue, table, mq_settings_mark(&tx->settings), err));
    }
    return renew(tx, err);
}

enum mq_status mq_payment_take(const struct mq_payment *payment, struct mq_error *err)
{
    struct mq_job *job = payment->job;
    const char *relay = payment->relays.names[payment->relay];
    if (!is_paid(job, relay)) {
        free(job->paid_to);
        job->paid_to = mq_str_dup(mq_str_of(relay));
    }
    job->paid = payment->paid;
    return job->paid_to ? MQ_OK : mq_error_nomem(err);
}
