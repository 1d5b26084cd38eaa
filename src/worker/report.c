/* Events: counted into the report and told to whoever listens, after each commit. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "worker/run.h"

const char *mq_run_end_name(enum mq_run_end end)
{
    static const char *const names[] = {
        [MQ_RUN_EMPTY] = "empty",       [MQ_RUN_TOKENS] = "tokens",     [MQ_RUN_TIME] = "time",
        [MQ_RUN_MESSAGES] = "messages", [MQ_RUN_SIGNAL] = "signal",     [MQ_RUN_RELAY] = "relay",
        [MQ_RUN_LOCKED] = "locked",     [MQ_RUN_DISABLED] = "disabled",
    };
    return (size_t)end < sizeof(names) / sizeof(names[0]) ? names[end] : "unknown";
}

static int64_t *counter_of(struct mq_report *report, enum mq_event_type type)
{
    switch (type) {
    case MQ_EVENT_CLAIMED:
        return &report->claimed;
    case MQ_EVENT_SENT:
        return &report->sent;
    case MQ_EVENT_TRY_LATER:
        return &report->try_later;
    case MQ_EVENT_REFUSED:
        return &report->refused;
    case MQ_EVENT_PARKED:
        return &report->parked;
    case MQ_EVENT_UNCERTAIN:
        return &report->uncertain;
    case MQ_EVENT_EXPIRED:
        return &report->expired;
    case MQ_EVENT_ORPHAN:
        return &report->orphans;
    case MQ_EVENT_STALE:
        return &report->stale;
    case MQ_EVENT_RELEASED:
        return &report->released;
    case MQ_EVENT_RECOVERED:
        return &report->recovered;
    case MQ_EVENT_RELAY_TROUBLE:
    case MQ_EVENT_RUN:
    case MQ_EVENT_TYPE_COUNT:
        break;
    }
    return NULL;
}

void mq_run_tell(struct mq_run *run)
{
    const struct mq_worker_hooks *hooks = run->worker->hooks;
    for (size_t i = 0; i < run->events.count; i++) {
        const struct mq_event *event = &run->events.items[i];
        struct mq_error error = {0};
        int64_t *counter = counter_of(run->report, event->type);
        if (counter) {
            (*counter)++;
        }
        if (event->type == MQ_EVENT_SENT) {
            run->report->recipients += event->recipients;
        }
        /* After an exception the listener is still told, so that the log is whole; after a bailout
         * nothing of PHP may run any more. */
        if (!hooks || !hooks->event || run->status == MQ_BAILOUT) {
            continue;
        }
        enum mq_status status = hooks->event(hooks->context, event, &error);
        if (status != MQ_OK) {
            mq_run_fail(run, status, &error);
        }
    }
    if (run->events.count > 0 && hooks && hooks->told) {
        hooks->told(hooks->context);
    }
    mq_events_truncate(&run->events, 0);
}

void mq_run_happened(struct mq_run *run, enum mq_event_type type, const char *reply,
                     int64_t next_attempt_at)
{
    struct mq_event event = {
        .type = type,
        .at_s = mq_run_now_s(run),
        .relay = (char *)run->relay, /* copied by mq_events_add() */
        .reply = (char *)reply,
        .ms = -1,
        .next_attempt_at = next_attempt_at,
    };
    mq_events_add(&run->events, &event);
}

void mq_run_tell_end(struct mq_run *run)
{
    const struct mq_report *report = run->report;
    const struct {
        const char *name;
        int64_t value;
    } counts[] = {
        {"claimed", report->claimed},       {"sent", report->sent},
        {"recipients", report->recipients}, {"try_later", report->try_later},
        {"refused", report->refused},       {"parked", report->parked},
        {"uncertain", report->uncertain},   {"expired", report->expired},
        {"orphans", report->orphans},       {"stale", report->stale},
        {"released", report->released},     {"recovered", report->recovered},
        {"cut_off", report->cut},
    };
    struct mq_buffer text;
    struct mq_event event = {.type = MQ_EVENT_RUN, .at_s = mq_run_now_s(run)};

    mq_buffer_init(&text);
    if (run->status != MQ_OK) {
        mq_buffer_printf(&text, "end=%s", mq_status_name(run->status));
    } else {
        mq_buffer_printf(&text, "end=%s", mq_run_end_name(report->end));
    }
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        if (counts[i].value) {
            mq_buffer_printf(&text, " %s=%" PRId64, counts[i].name, counts[i].value);
        }
    }
    if (report->end == MQ_RUN_RELAY && report->reason[0]) {
        mq_buffer_printf(&text, " reason=%s", report->reason);
    }
    event.relay = (char *)run->relay;
    event.reply = mq_buffer_view(&text).len ? text.data : NULL;
    event.ms = report->ms;
    event.next_attempt_at = report->resume_s;
    mq_events_add(&run->events, &event);
    mq_buffer_clear(&text);
    mq_run_tell(run);
}
