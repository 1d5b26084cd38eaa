/* Recovers jobs whose worker is gone: settles what its intent record says. */
#include <stdio.h>
#include <string.h>

#include "queue/all_limits.h"
#include "queue/claim.h"
#include "queue/job.h"
#include "queue/recover.h"
#include "queue/sql/columns.h"
#include "queue/steps.h"

static const char died_before[] = "the worker died before the message was sent";
static const char died_within[] =
    "the worker died while the message was being sent: it may have arrived";

/* How many recipients, from the first one, the claim can have reached: at most as many as one SMTP
 * transaction takes and, unless a test redirect replaced the addresses, as the claim paid for. */
static size_t reach(const struct mq_tx *tx, const struct mq_job *job)
{
    size_t n = job->recipients.count ? job->recipients.count : 1;
    bool direct = tx->config == MQ_OK && !tx->settings.redirect_to;
    if (direct && job->paid > 0 && n > (size_t)job->paid) {
        n = (size_t)job->paid;
    }
    return n < MQ_RECIPIENTS_MAX ? n : MQ_RECIPIENTS_MAX;
}

static bool says_uncertain(const struct mq_recorded *said)
{
    return memchr(said->results, MQ_OUTCOME_UNCERTAIN, MQ_RECIPIENTS_MAX) != NULL;
}

/* Sets the outcome of each recipient if the body may have gone out. `reply` is room for a text. */
static void settle_each(struct mq_settlement *s, struct mq_recorded *said, size_t reached,
                        char reply[64])
{
    if (!said->by_recipient || (!said->replied && !says_uncertain(said))) {
        /* The intent record says too little: each recipient of the claim may have got the mail. */
        memset(said->results, MQ_OUTCOME_UNCERTAIN, reached);
        said->handed_over = s->job->paid;
    }
    s->results = said->results;
    s->handed_over = said->handed_over;
    if (!said->replied) {
        /* Leaves at_s unset: the relay can have accepted the mail long after the record's time. */
        s->error = died_within;
        return;
    }
    s->at_s = said->at_s;
    if (said->code > 0) {
        snprintf(reply, 64, "%d (as the worker's record says)", said->code);
        s->error = reply;
    }
}

/* Settles the outcome. If this deletes the message, adds its octets to *octets. */
static enum mq_status settle(struct mq_tx *tx, struct mq_settlement *s, int64_t *octets,
                             struct mq_error *err)
{
    int64_t body = 0;
    if (mq_settle_deletes(s)) {
        struct mq_args id = MQ_ARGS(mq_int(s->job->id));
        MQ_TRY(mq_sql_int(tx->queue, MQ_SQL_BODY_OCTETS, id, &body, err));
    }
    *octets += body;
    return mq_settle_one(tx, s, MQ_EVENT_RECOVERED, err);
}

static enum mq_status recover_one(struct mq_tx *tx, const struct mq_claim_request *request,
                                  const struct mq_job *job, int64_t *octets, struct mq_error *err)
{
    struct mq_recorded said = {.outcome = MQ_OUTCOME_UNCERTAIN};
    struct mq_settlement s = {
        .job = job, .retry_after_s = -1, .ms = -1, .on_uncertain = request->on_uncertain};
    char reply[64];
    if (request->records) {
        request->records->find(request->records->context, job->locked_by, job->id, &said);
    }
    if (said.by_recipient || said.outcome == MQ_OUTCOME_UNCERTAIN) {
        settle_each(&s, &said, reach(tx, job), reply);
        s.taken_by_s = says_uncertain(&said) ? tx->now_s + request->final_timeout_s : 0;
    } else {
        s.outcome = said.outcome;
        s.error = said.outcome == MQ_OUTCOME_DEFERRED ? died_before : NULL;
    }
    return settle(tx, &s, octets, err);
}

/* Parks a row whose recipients cannot be read: a person must look at it. */
static enum mq_status park_unreadable(struct mq_tx *tx, const struct mq_job *job,
                                      struct mq_error *err)
{
    struct mq_outlay outlay = {.party = mq_job_party(job),
                               .paid = job->paid,
                               .handed = job->paid,
                               .at_s = tx->now_s + MQ_FINAL_TIMEOUT_S};
    MQ_TRY(mq_job_park_unreadable(tx, job, err));
    return mq_limit_return(tx, &outlay, err);
}

static enum mq_status read_rows(struct mq_tx *tx, const struct mq_claim_request *request,
                                int64_t now_s, struct mq_job_list *rows, struct mq_error *err)
{
    struct mq_args over = MQ_ARGS(mq_int(now_s), mq_int(MQ_ROWS_A_CYCLE));
    MQ_TRY(mq_jobs_read(tx->queue, MQ_SQL_LEASE_OVER, over, rows, err));
    for (size_t i = 0; i < request->dead_count; i++) {
        struct mq_args dead = MQ_ARGS(mq_int(now_s), mq_cstr(request->dead_tokens[i]),
                                      mq_int(MQ_ROWS_A_CYCLE - (int64_t)rows->count));
        MQ_TRY(mq_jobs_read(tx->queue, MQ_SQL_LEASE_DEAD, dead, rows, err));
    }
    return MQ_OK;
}

enum mq_status mq_recover(struct mq_tx *tx, const struct mq_claim_request *request, int64_t now_s,
                          struct mq_recovered *recovered, struct mq_error *err)
{
    struct mq_job_list rows = {0};
    size_t done = 0;
    int64_t octets = 0;
    enum mq_status status = read_rows(tx, request, now_s, &rows, err);
    while (status == MQ_OK && done < rows.count && octets < MQ_DROPPED_BYTES) {
        const struct mq_job *job = &rows.jobs[done++];
        status = job->unreadable ? park_unreadable(tx, job, err)
                                 : recover_one(tx, request, job, &octets, err);
    }
    recovered->count = (int64_t)done;
    recovered->more = rows.count == MQ_ROWS_A_CYCLE || done < rows.count;
    mq_job_list_clear(&rows);
    return status;
}

/* Recovers in one transaction, without a claim; now_s 0: now. */
static enum mq_status recover_some(struct mq_tx *tx, const struct mq_claim_request *request,
                                   int64_t now_s, struct mq_recovered *recovered,
                                   struct mq_error *err)
{
    MQ_TRY(mq_tx_settings(tx, err));
    MQ_TRY(mq_recover(tx, request, now_s ? now_s : tx->now_s, recovered, err));
    return recovered->count > 0 ? mq_limit_store(tx, err) : MQ_OK;
}

enum mq_status mq_queue_recover(struct mq_queue *queue, int64_t now_s,
                                const struct mq_record_source *records, int64_t *count,
                                struct mq_error *err)
{
    const struct mq_claim_request nobody = {.on_uncertain = MQ_UNCERTAIN_RETRY,
                                            .final_timeout_s = MQ_FINAL_TIMEOUT_S,
                                            .records = records};
    struct mq_recovered recovered = {0};
    int64_t sum = 0;
    do {
        struct mq_tx tx = {.queue = queue};
        enum mq_status status = MQ_OK;
        while (mq_tx_next(&tx, &status, err)) {
            status = recover_some(&tx, &nobody, now_s, &recovered, err);
        }
        MQ_TRY(status);
        sum += recovered.count;
    } while (recovered.more);
    *count = sum;
    return MQ_OK;
}
