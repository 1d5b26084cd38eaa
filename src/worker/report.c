/* Records why a run ends, counts its events in the report, and reports them after each commit. */
#include <inttypes.h>
#include <stddef.h>

#include "core/buffer.h"
#include "worker/run.h"

void mq_run_stop(struct mq_run *run, enum mq_run_end end)
{
    if (!run->stop.begun) {
        run->stop.begun = true;
        run->stop.begun_ms = mq_run_now_ms(run);
        run->report->end = end;
        /* The grace period is for mails that are being sent. A mail that begins now could be cut
         * off after its dot, and then arrive twice. */
        mq_run_wind_down(run);
    }
}

void mq_run_fail(struct mq_run *run, enum mq_status status, const struct mq_error *err)
{
    /* A bailout replaces an earlier failure: PHP must unwind. */
    if (run->stop.status == MQ_OK || (status == MQ_BAILOUT && run->stop.status != MQ_BAILOUT)) {
        run->stop.status = status;
        run->stop.error = *err;
        run->stop.error.status = status;
    }
    mq_run_stop(run, MQ_RUN_EMPTY);
}

const char *mq_run_end_name(enum mq_run_end end)
{
    static const char *const names[] = {
        [MQ_RUN_EMPTY] = "empty",       [MQ_RUN_TOKENS] = "tokens",     [MQ_RUN_TIME] = "time",
        [MQ_RUN_MESSAGES] = "messages", [MQ_RUN_SIGNAL] = "signal",     [MQ_RUN_RELAY] = "relay",
        [MQ_RUN_LOCKED] = "locked",     [MQ_RUN_DISABLED] = "disabled",
    };
    return names[end];
}

/* What the report counts, and the event that counts it. */
#define COUNT(member) offsetof(struct mq_report, member)
static const struct {
    const char *name;
    size_t at;
    enum mq_event_type event; /* MQ_EVENT_RUN: counted elsewhere */
} counts[] = {
    {"claimed", COUNT(claimed), MQ_EVENT_CLAIMED},
    {"sent", COUNT(sent), MQ_EVENT_SENT},
    {"recipients", COUNT(recipients), MQ_EVENT_RUN},
    {"try_later", COUNT(try_later), MQ_EVENT_TRY_LATER},
    {"refused", COUNT(refused), MQ_EVENT_REFUSED},
    {"parked", COUNT(parked), MQ_EVENT_PARKED},
    {"uncertain", COUNT(uncertain), MQ_EVENT_UNCERTAIN},
    {"expired", COUNT(expired), MQ_EVENT_EXPIRED},
    {"orphans", COUNT(orphans), MQ_EVENT_ORPHAN},
    {"suppressed", COUNT(suppressed), MQ_EVENT_SUPPRESSED},
    {"stale", COUNT(stale), MQ_EVENT_STALE},
    {"released", COUNT(released), MQ_EVENT_RELEASED},
    {"recovered", COUNT(recovered), MQ_EVENT_RECOVERED},
    {"cut_off", COUNT(cut), MQ_EVENT_RUN},
};
#define COUNTS (sizeof(counts) / sizeof(counts[0]))

static int64_t *count_at(struct mq_report *report, size_t i)
{
    return (int64_t *)((char *)report + counts[i].at);
}

static void count(struct mq_report *report, const struct mq_event *event)
{
    for (size_t i = 0; i < COUNTS && event->type != MQ_EVENT_RUN; i++) {
        if (counts[i].event == event->type) {
            (*count_at(report, i))++;
        }
    }
    if (event->type == MQ_EVENT_SENT) {
        report->recipients += event->recipients;
    }
}

void mq_run_tell(struct mq_run *run)
{
    const struct mq_worker_hooks *hooks = run->worker->hooks;
    for (size_t i = 0; i < run->events.count; i++) {
        const struct mq_event *event = &run->events.items[i];
        struct mq_error error = {0};
        count(run->report, event);
        /* After an exception the hook is still called, so that the log is complete. After a bailout
         * no PHP code may run any more. */
        if (!hooks->event || run->stop.status == MQ_BAILOUT) {
            continue;
        }
        enum mq_status status = hooks->event(hooks->context, event, &error);
        if (status != MQ_OK) {
            mq_run_fail(run, status, &error);
        }
    }
    if (run->events.count > 0 && hooks->told) {
        hooks->told(hooks->context);
    }
    mq_events_truncate(&run->events, 0);
}

void mq_run_tell_end(struct mq_run *run)
{
    struct mq_report *report = run->report;
    bool failed = run->stop.status != MQ_OK;
    struct mq_buffer text = {0};
    mq_buffer_printf(&text, "end=%s",
                     failed ? mq_status_name(run->stop.status) : mq_run_end_name(report->end));
    for (size_t i = 0; i < COUNTS; i++) {
        int64_t value = *count_at(report, i);
        if (value) {
            mq_buffer_printf(&text, " %s=%" PRId64, counts[i].name, value);
        }
    }
    if ((report->end == MQ_RUN_RELAY || report->end == MQ_RUN_TOKENS) && report->reason[0]) {
        mq_buffer_printf(&text, " reason=%s", report->reason);
    }
    struct mq_event event = {
        .type = MQ_EVENT_RUN,
        .at_s = mq_run_now_s(run),
        .relay = (char *)mq_run_relay(run), /* copied by mq_events_add() */
        .reply = text.data,
        .ms = report->ms,
        .next_attempt_at = report->resume_s,
    };
    mq_events_add(&run->events, &event);
    mq_buffer_clear(&text);
    mq_run_tell(run);
}
