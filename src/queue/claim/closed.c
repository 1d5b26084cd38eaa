/* What keeps a claim from beginning, or from going on. */
#include "queue/claim/closed.h"

#include <string.h>

#include "queue/claim.h"
#include "queue/config/relays.h"
#include "queue/handle.h"
#include "queue/sql/transaction.h"

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
        relay->until_s = found && pause.until_s > tx->now_s ? pause.until_s : 0;
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
    *is = !tx->settings.enabled;
    if (*is) {
        claim->end = MQ_CLAIM_DISABLED;
        return MQ_OK;
    }
    MQ_TRY(look_up_pauses(tx, request, &claim->resume_s, err));
    claim->resume_s = request->opens_more ? 0 : claim->resume_s;
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
    if (status == MQ_OK && !(settings.enabled && same)) {
        claim->end = settings.enabled ? MQ_CLAIM_MORE : MQ_CLAIM_DISABLED;
        *stop = true;
    }
    mq_settings_clear(&settings);
    return status;
}
