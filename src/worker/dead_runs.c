/* Reads the intent records of dead runs. A record is kept until no row of its run is left. */
#include "worker/dead_runs.h"

#include <string.h>

#include "send/intent/intent.h"

#define SCAN_EVERY_MS 10000

static void judge(const struct mq_intent_record *record, int64_t job_id, struct mq_recorded *out)
{
    struct mq_intent_entry entry;
    if (record->owner == MQ_INTENT_OTHER) {
        return; /* the record proves nothing */
    }
    if (!mq_intent_find(record, job_id, &entry)) {
        out->outcome = MQ_OUTCOME_RELEASED;
        return;
    }
    out->code = entry.code;
    out->at_s = entry.at_s;
    if (entry.phase < MQ_INTENT_BODY) {
        out->outcome = MQ_OUTCOME_DEFERRED;
        return;
    }
    out->by_recipient = true;
    out->replied = entry.phase > MQ_INTENT_BODY;
    out->handed_over = entry.handed_over;
    memcpy(out->results, entry.results, sizeof(out->results));
}

static void find_recorded(void *context, const char *token, int64_t job_id, struct mq_recorded *out)
{
    struct mq_recovery *recovery = context;
    memset(out, 0, sizeof(*out));
    out->outcome = MQ_OUTCOME_UNCERTAIN;
    for (size_t i = 0; i < recovery->dead_count; i++) {
        if (strcmp(recovery->tokens[i], token) == 0) {
            recovery->dead[i].asked = true;
            judge(recovery->dead[i].record, job_id, out);
            return;
        }
    }
    /* The lease is over, but its run is not in `dead`: it is alive, or is this very run. */
    if (!recovery->open || strcmp(recovery->open->token, token) != 0) {
        mq_intent_record_close(recovery->open, false);
        recovery->open = NULL;
        mq_intent_open(recovery->directory, token, &recovery->open, NULL);
    }
    if (recovery->open) {
        judge(recovery->open, job_id, out);
    }
}

void mq_recovery_init(struct mq_recovery *recovery, const char *directory)
{
    *recovery = (struct mq_recovery){.source = {find_recorded, recovery}, .directory = directory};
}

void mq_recovery_clear(struct mq_recovery *recovery)
{
    for (size_t i = 0; i < recovery->dead_count; i++) {
        mq_intent_record_close(recovery->dead[i].record, false);
    }
    mq_intent_record_close(recovery->open, false);
}

static void found(void *context, struct mq_intent_record *record)
{
    struct mq_recovery *recovery = context;
    if (record->owner != MQ_INTENT_DEAD || recovery->dead_count == MQ_DEAD_MAX) {
        mq_intent_record_close(record, false);
        return;
    }
    size_t i = recovery->dead_count++;
    recovery->dead[i].record = record;
    recovery->dead[i].asked = false;
    recovery->tokens[i] = record->token;
}

void mq_recovery_scan(struct mq_recovery *recovery, const char *own_token, int64_t now_ms)
{
    if (now_ms < recovery->next_scan_ms) {
        return;
    }
    recovery->next_scan_ms = now_ms + SCAN_EVERY_MS;
    /* If the scan fails, the run goes on: leases of dead runs end by themselves. Records that we
     * hold already look locked, so the scan passes over them. */
    mq_intent_scan(recovery->directory, own_token, found, recovery, NULL);
}

void mq_recovery_end_cycle(struct mq_recovery *recovery, bool committed)
{
    size_t kept = 0;
    mq_intent_record_close(recovery->open, false);
    recovery->open = NULL;
    for (size_t i = 0; i < recovery->dead_count; i++) {
        /* A transaction recovers a limited number of rows. So the dead run's record is needed until
         * a transaction has met no row of that run. */
        if (committed && !recovery->dead[i].asked) {
            mq_intent_record_close(recovery->dead[i].record, true);
            continue;
        }
        recovery->dead[i].asked = false;
        recovery->dead[kept] = recovery->dead[i];
        recovery->tokens[kept++] = recovery->tokens[i];
    }
    recovery->dead_count = kept;
}
