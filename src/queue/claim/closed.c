/* What keeps a claim from beginning, or from going on; and mail that it puts back, as its hours
 * have not begun, or its relays are all paused or not known. */
#include "queue/claim/closed.h"

#include <string.h>

#include "queue/claim/taking.h"
#include "queue/config/kept_hours.h"
#include "queue/config/relays.h"
#include "queue/handle.h"
#include "queue/sql/transaction.h"
#include "queue/windows/payments.h"
#include "queue/windows/windows.h"

#define UNKNOWN_S 3600 /* mail whose relay is not known comes again then */

/* Looks up which relays are paused. *until_s: when the first of them can be used again; 0: one can.
 */
static enum mq_status look_up_pauses(struct mq_tx *tx, const struct mq_claim_request *request,
                                     int64_t *until_s, struct mq_error *err)
{
    *until_s = 0;
    for (size_t i = 0; i < request->relay_count; i++) {
        struct mq_relay_state *relay = &request->relays[i];
        struct mq_pause pause;
        bool found = false;
        MQ_TRY(mq_pause_find(tx->settings.pauses, relay->name, &pause, &found, err));
        relay->until_s = found && mq_pause_lasts(&pause, tx->now_s) ? pause.until_s : 0;
        memcpy(relay->reason, pause.reason, sizeof(relay->reason));
        if (i == 0 || relay->until_s < *until_s) {
            *until_s = relay->until_s;
        }
    }
    return MQ_OK;
}

enum mq_status mq_claim_closed(struct mq_tx *tx, const struct mq_claim_request *request,
                               struct mq_claim *claim, bool *is, struct mq_error *err)
{
    int64_t until_s;
    MQ_TRY(look_up_pauses(tx, request, &until_s, err)); /* also for a claim that is switched off */
    *is = !tx->settings.enabled;
    if (*is) {
        claim->end = MQ_CLAIM_DISABLED;
        return MQ_OK;
    }
    claim->resume_s = request->opens_more ? 0 : until_s;
    *is = claim->resume_s > 0;
    if (*is) {
        claim->end = MQ_CLAIM_PAUSED;
    }
    return MQ_OK;
}

enum mq_status mq_claim_look_again(struct mq_tx *tx, struct mq_claim *claim, bool *stop,
                                   struct mq_error *err)
{
    struct mq_settings settings = {0};
    if (!tx->queue->dialect->shared) {
        return MQ_OK;
    }
    enum mq_status status = mq_settings_load(tx->queue, tx->now_s, &settings, err);
    bool same = mq_settings_mark(&settings) == mq_settings_mark(&tx->settings);
    tx->settings.suppressed = status == MQ_OK ? settings.suppressed : tx->settings.suppressed;
    if (status == MQ_OK && !(settings.enabled && same)) {
        claim->end = settings.enabled ? MQ_CLAIM_MORE : MQ_CLAIM_DISABLED;
        *stop = true;
    }
    mq_settings_clear(&settings);
    return status;
}

/* ---- mail that is put back ---- */

/* Writes one opening to all jobs of the chunk that wait for it, beginning with the first of them.
 */
static enum mq_status write_opening(struct mq_taking *t, struct mq_put_back *first,
                                    struct mq_error *err)
{
    struct mq_queue *queue = t->tx->queue;
    struct mq_buffer text = {0};
    int64_t open_s = first->open_s;
    bool pause = first->pause;
    mq_buffer_printf(&text, "UPDATE {t} SET next_attempt_at = ?1, %s WHERE id IN (0",
                     pause ? "waits_for = '" MQ_FOR_PAUSE "'" : "parked_for = '" MQ_FOR_HOURS "'");
    for (; first < t->back + t->back_count; first++) {
        if (first->id && first->open_s == open_s && first->pause == pause) {
            mq_buffer_printf(&text, ",%lld", (long long)first->id);
            first->id = 0;
        }
    }
    mq_buffer_char(&text, ')');
    enum mq_status status = text.failed
                                ? mq_error_nomem(err)
                                : mq_sql_exec_text(queue, text.data, MQ_ARGS(mq_int(open_s)), err);
    mq_buffer_clear(&text);
    return status;
}

enum mq_status mq_taking_write_back(struct mq_taking *t, struct mq_error *err)
{
    const struct mq_tx *tx = t->tx;
    int64_t mark = mq_settings_mark(&tx->settings);
    bool first =
        mark && !t->marked && (t->puts_back || t->claim->pays_later); /* payments put back, too */
    for (size_t i = 0; i < t->back_count; i++) {
        if (t->back[i].id) {
            MQ_TRY(write_opening(t, &t->back[i], err));
        }
    }
    t->back_count = 0;
    t->marked = first ? mark : t->marked;
    return first ? mq_mark_put(tx->queue, tx->queue->names.table, mark, err) : MQ_OK;
}

bool mq_taking_puts_back(struct mq_taking *t, const struct mq_job *job,
                         const struct mq_relay_list *relays)
{
    const struct mq_tx *tx = t->tx;
    int64_t open_s = mq_hours_opening(tx->queue, &tx->settings, job->mail_type, tx->now_s);
    bool pause = open_s <= tx->now_s && relays->count == 0 && relays->opens_s > 0;
    if (pause) {
        open_s = relays->opens_s > tx->now_s ? relays->opens_s : tx->now_s + 1;
    }
    if (open_s <= tx->now_s) {
        return false;
    }
    t->back[t->back_count++] = (struct mq_put_back){job->id, open_s, pause};
    t->dropped.rows++;
    t->puts_back = true;
    return true;
}

enum mq_status mq_taking_has_no_relay(struct mq_taking *t, const struct mq_job *job, bool *does,
                                      struct mq_error *err)
{
    const struct mq_claim_request *request = t->request;
    char why[MQ_CLAIM_WHY_MAX];
    *does = request->has_no_relay && request->has_no_relay(request->relays_context, job, why);
    if (!*does) {
        return MQ_OK;
    }
    t->dropped.rows++;
    t->puts_back = true;
    return mq_sql_exec_text(
        t->tx->queue,
        "UPDATE {t} SET next_attempt_at = ?1, last_error = ?2, waits_for = NULL, "
        "parked_for = NULL WHERE id = ?3",
        MQ_ARGS(mq_int(t->tx->now_s + UNKNOWN_S), mq_cstr(why), mq_int(job->id)), err);
}

enum mq_status mq_taking_forward(struct mq_taking *t, bool *more, struct mq_error *err)
{
    struct mq_tx *tx = t->tx;
    struct mq_queue *queue = tx->queue;
    int64_t mark = mq_settings_mark(&tx->settings), end = 0;
    int64_t walk = mark ^ t->marked; /* from which rules to which */
    int64_t after = queue->forward_mark == walk ? queue->forward_after : 0;
    struct mq_args range = MQ_ARGS(mq_int(after), mq_int(MQ_ROWS_A_CYCLE));
    if (t->marked == 0 || t->marked == mark) {
        t->claim->forward_after = 0; /* another run can have ended what this one had begun */
        return MQ_OK;
    }
    MQ_TRY(after ? MQ_OK : mq_lines_forget(tx, err));
    MQ_TRY(mq_sql_int(queue, MQ_SQL_WALK_END, range, &end, err));
    t->claim->forward_after = end;
    t->claim->forward_mark = walk;
    *more = end != 0;
    if (!*more) {
        t->marked = mark;
        return mq_mark_put(queue, queue->names.table, mark, err);
    }
    return mq_sql_exec_text(queue,
                            "UPDATE {t} SET next_attempt_at = ?1, parked_for = NULL, "
                            "waits_for = NULL WHERE id > ?2 AND id <= ?3 AND " MQ_CLAIMABLE_SQL
                            " AND (parked_for = '" MQ_FOR_HOURS "' OR waits_for IS NOT NULL) "
                            "AND next_attempt_at > ?1",
                            MQ_ARGS(mq_int(tx->now_s), mq_int(after), mq_int(end)), err);
}
