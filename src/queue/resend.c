/* Mail that went wrong and that a person settles: sent again as a new job, or counted as sent. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "mime/address.h"
#include "mime/idn.h"
#include "mime/wire/correct.h"
#include "queue/body.h"
#include "queue/enqueue.h"
#include "queue/event.h"
#include "queue/job.h"
#include "queue/manage.h"
#include "queue/sql/columns.h"
#include "queue/sql/transaction.h"

/* ---- sent again ---- */

/* The job that is sent again, and what it becomes. */
struct resend {
    struct mq_job *old;
    char *right;   /* the new address; NULL: none is replaced */
    char *instead; /* the recipient that is to be replaced; NULL: the only candidate */
    char *wrong;   /* the one that was */
    char *message_id;
    struct mq_buffer body;
};

static enum mq_status refuse(struct mq_error *err, const char *field, int64_t id, const char *why)
{
    return mq_error_set(err, MQ_MESSAGE, field, "mail %lld %s", (long long)id, why);
}

/* Whether the job can be sent again now. */
static enum mq_status check(const struct mq_tx *tx, const struct mq_job *old, struct mq_error *err)
{
    const char *why = old->state == MQ_SENDING ? "is being sent at the moment: wait for the outcome"
                      : old->unreadable ? "has recipients or a sender that cannot be read: correct "
                                          "the row, or delete it"
                      : mq_job_expired(old, tx->now_s)
                          ? "has expired, so it would be deleted, not sent: enqueue it again"
                      : old->campaign_id ? "is made from its campaign's message: retry it"
                                         : NULL;
    return why ? refuse(err, "id", old->id, why) : MQ_OK;
}

/* Finds the recipient to be replaced: the one that is named, or the only one that was refused, or
 * the only one that is left. The refused ones are behind `left` others. */
static enum mq_status choose(struct resend *resend, size_t left, struct mq_error *err)
{
    const char *instead = resend->instead;
    struct mq_strings *all = &resend->old->recipients;
    size_t first = instead || left == all->count ? 0 : left;
    size_t found = 0, wrong = 0;
    for (size_t i = first; i < all->count; i++) {
        if (!instead || mq_str_equal_nocase(mq_str_of(instead), mq_str_of(all->items[i]))) {
            wrong = i;
            found++;
        }
    }
    if (found != 1) {
        return refuse(err, instead ? "instead" : "to", resend->old->id,
                      all->count == 0 ? "is composed when it is sent, and its recipients are not "
                                        "known yet: correct the address in the application"
                      : found ? "has several recipients that could be meant: name the one that the "
                                "address replaces (instead)"
                              : "is not for this recipient, or not any more");
    }
    char *right = mq_str_dup(mq_str_of(resend->right));
    if (!right) {
        return mq_error_nomem(err);
    }
    resend->wrong = all->items[wrong];
    all->items[wrong] = right;
    return mq_addresses_once(all) ? MQ_OK : mq_error_nomem(err);
}

/* When the old job was to be sent, as it was enqueued; 0: at once, also if a run has put it back
 * until then, for a limit, a pause or its hours. */
static int64_t asked_for(const struct mq_job *old)
{
    bool expires = old->expires_at > 0 && old->expires_at <= old->next_attempt_at;
    bool was_put_back = old->put_back || old->parked_for || old->last_error || expires;
    return old->state == MQ_PENDING && !was_put_back ? old->next_attempt_at : 0;
}

static enum mq_status make_message(struct resend *resend, int64_t now_s, struct mq_error *err)
{
    const struct mq_job *old = resend->old;
    struct mq_str body = {old->body, old->body_len};
    bool fixed = body.data && mq_message_is_signed(body);
    if (resend->right && fixed) {
        return refuse(err, "to", old->id,
                      "has a DKIM-Signature, which a corrected address would break: enqueue it "
                      "again, with the right address");
    }
    if (resend->right && body.data && old->scope && mq_message_has_token(body)) {
        return refuse(err, "to", old->id,
                      "has a link to unsubscribe that names the old address: enqueue it again, "
                      "with the right address");
    }
    resend->message_id =
        fixed ? mq_str_dup(mq_str_of(old->message_id)) : mq_message_new_id(old->envelope_from);
    if (!resend->message_id) {
        return mq_error_nomem(err);
    }
    int64_t send_s = asked_for(old);
    const struct mq_correction correction = {mq_str_of(resend->wrong), mq_str_of(resend->right),
                                             resend->message_id, send_s > now_s ? send_s : now_s};
    return !body.data || fixed ? MQ_OK : mq_message_correct(body, &correction, &resend->body, err);
}

/* Stores the new job in the place of the old one, whose reference and type it has. */
static enum mq_status replace(struct mq_tx *tx, const struct resend *resend, int64_t *id,
                              struct mq_error *err)
{
    const struct mq_job *old = resend->old;
    struct mq_str same = {old->body, old->body_len};
    char as[40];
    struct mq_new_job job = {
        .reference = mq_str_of(old->reference),
        .mail_type = mq_str_of(old->mail_type),
        .priority = old->priority,
        .send_at = asked_for(old),
        .expires_at = old->expires_at,
        .max_attempts = old->max_attempts,
        .message_id = resend->message_id,
        .envelope_from = old->envelope_from,
        .recipients = &old->recipients,
        .body = resend->body.len ? mq_buffer_view(&resend->body) : same,
        .notify = &old->notify,
        .subject = mq_str_of(old->subject),
        .relay = mq_str_of(old->relay),
        .scope = mq_str_of(old->scope),
        .resent_of = old->id,
    };
    MQ_TRY(mq_new_job_check(&job, err));
    MQ_TRY(mq_job_drop(tx->queue, old->id, NULL, err));
    MQ_TRY(mq_job_store(tx, &job, id, err));
    if (*id == 0) {
        return refuse(err, "id", old->id, "has the reference of another mail by now");
    }
    snprintf(as, sizeof(as), "as mail %lld", (long long)*id);
    mq_tx_event(tx, old, &(struct mq_event){.type = MQ_EVENT_RESENT, .ms = -1, .reply = as});
    return MQ_OK;
}

static enum mq_status resend_job(struct mq_tx *tx, struct resend *resend,
                                 const struct mq_resend *how, int64_t *id, struct mq_error *err)
{
    struct mq_job *old = resend->old;
    size_t left = old->recipients.count;
    MQ_TRY(check(tx, old, err));
    MQ_TRY(mq_job_bring_back(old, err));
    MQ_TRY(mq_job_load_body(tx->queue, old, true, err));
    if (how->to) {
        MQ_TRY(mq_idn_address(mq_str_of(how->to), "to", &resend->right, err));
        if (how->instead) {
            MQ_TRY(mq_idn_address(mq_str_of(how->instead), "instead", &resend->instead, err));
        }
        MQ_TRY(choose(resend, left, err));
    }
    MQ_TRY(make_message(resend, tx->now_s, err));
    return replace(tx, resend, id, err);
}

static enum mq_status resend_in(struct mq_tx *tx, const struct mq_resend *how, int64_t *id,
                                struct mq_error *err)
{
    struct mq_job_list list = {0};
    struct mq_args args = MQ_ARGS(mq_int(how->id));
    enum mq_status status = mq_jobs_read(tx->queue, MQ_SQL_JOB_CHANGE, args, &list, err);
    struct resend resend = {.old = list.jobs};
    if (status == MQ_OK && list.count == 0) {
        status = refuse(err, "id", how->id, "does not exist, or has left the queue");
    }
    if (status == MQ_OK) {
        status = resend_job(tx, &resend, how, id, err);
    }
    free(resend.right);
    free(resend.instead);
    free(resend.wrong);
    free(resend.message_id);
    mq_buffer_clear(&resend.body);
    mq_job_list_clear(&list);
    return status;
}

enum mq_status mq_queue_resend(struct mq_queue *queue, const struct mq_resend *how, int64_t *id,
                               struct mq_error *err)
{
    struct mq_tx tx = {.queue = queue};
    enum mq_status status = MQ_OK;
    while (mq_tx_next(&tx, &status, err)) {
        status = resend_in(&tx, how, id, err);
    }
    return status;
}

/* ---- counted as sent ---- */

/* Writes what is left of a job: recipients to be tried, or only refused ones. */
static enum mq_status keep_rest(struct mq_tx *tx, const struct mq_job *job,
                                const struct mq_strings *rest, struct mq_error *err)
{
    bool waited = job->parked_for && strcmp(job->parked_for, "uncertain") == 0;
    enum mq_state to = rest->count == 0 ? MQ_PARKED : waited ? MQ_PENDING : job->state;
    const char *why = rest->count == 0 ? "refused" : waited ? NULL : job->parked_for;
    struct mq_buffer list = {0};
    mq_json_strings(&list, rest);
    struct mq_value values[] = {mq_cstr(mq_state_name(to)), mq_cstr(why),
                                mq_text(mq_buffer_view(&list)), mq_int(job->id)};
    struct mq_transition change = {job->state, to, MQ_SQL_ARRIVED, values, 4};
    enum mq_status status = list.failed        ? mq_error_nomem(err)
                            : to != job->state ? mq_job_transition(tx->queue, &change, err)
                                               : mq_sql_exec(tx->queue, MQ_SQL_ARRIVED,
                                                             (struct mq_args){values, 4}, err);
    mq_buffer_clear(&list);
    return status;
}

/* Counts as sent for those recipients that may have got it. */
static enum mq_status arrive(struct mq_tx *tx, const struct mq_job *job, int64_t *changed,
                             struct mq_error *err)
{
    struct mq_strings arrived = {0}, rest = {0};
    const struct mq_strings *all = &job->recipients;
    bool ok = mq_json_read(mq_str_of(job->uncertain_to), '[', &arrived) != MQ_NOMEM;
    for (size_t i = 0; i < all->count && ok; i++) {
        ok = mq_strings_contains(&arrived, all->items[i]) ||
             mq_strings_add(&rest, mq_str_of(all->items[i]));
    }
    int sent = (int)(all->count - rest.count);
    enum mq_status status = ok ? MQ_OK : mq_error_nomem(err);
    if (ok && (sent > 0 || all->count == 0)) {
        mq_tx_event(tx, job,
                    &(struct mq_event){.type = MQ_EVENT_SENT,
                                       .recipients = sent,
                                       .ms = -1,
                                       .reply = "counted as sent by a person"});
        status = rest.count || job->refused ? keep_rest(tx, job, &rest, err)
                                            : mq_job_drop(tx->queue, job->id, NULL, err);
        ++*changed;
    }
    mq_strings_clear(&arrived);
    mq_strings_clear(&rest);
    return status;
}

static enum mq_status count_one(struct mq_tx *tx, int64_t id, int64_t *changed,
                                struct mq_error *err)
{
    struct mq_job_list list = {0};
    struct mq_args args = MQ_ARGS(mq_int(id));
    enum mq_status status = mq_jobs_read(tx->queue, MQ_SQL_JOB_CHANGE, args, &list, err);
    const struct mq_job *job = list.jobs;
    if (status == MQ_OK && list.count && !job->unreadable && job->uncertain_to &&
        job->state != MQ_SENDING) {
        status = arrive(tx, job, changed, err);
    }
    mq_job_list_clear(&list);
    return status;
}

enum mq_status mq_queue_count_as_sent(struct mq_queue *queue, const struct mq_ids *ids,
                                      int64_t *changed, struct mq_error *err)
{
    struct mq_tx tx = {.queue = queue};
    enum mq_status status = MQ_OK;
    while (mq_tx_next(&tx, &status, err)) {
        *changed = 0;
        for (size_t i = 0; i < ids->count && status == MQ_OK; i++) {
            status = count_one(&tx, ids->items[i], changed, err);
        }
    }
    return status;
}
