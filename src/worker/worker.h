/* The worker: it claims due jobs, has them composed, hands them to a transport, settles them and
 * ends in order. It contains no PHP: what needs PHP comes in as hooks. Only the hook `record` is
 * called inside a transaction. */
#ifndef MQ_WORKER_WORKER_H
#define MQ_WORKER_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"
#include "policy/outcome.h"

struct mq_dkim_mail;
struct mq_event;
struct mq_events;
struct mq_job;
struct mq_queue;
struct mq_relays;

#define MQ_CONNECTIONS_MAX 1000

struct mq_worker_options {
    int connections; /* sessions of a relay that says nothing else, 1 … MQ_CONNECTIONS_MAX */
    int batch;       /* jobs per claim, 1 … MQ_CLAIM_MAX */
    int64_t lease_s;
    int64_t time_limit_s;  /* no new claims after this long; -1: none */
    int64_t message_limit; /* jobs claimed at most; -1: none */
    int max_workers;       /* 1 … MQ_WORKERS_MAX (worker/lock.h), on all machines together */
    int64_t max_bytes;     /* of messages in memory at a time, 1 or more; one alone may be larger */
    int64_t grace_s; /* how long the run waits at its end: after SIGTERM or SIGINT for all mails
                        under way, otherwise for those without a body out */
    int64_t final_timeout_s; /* how long the transport waits to hear whether a mail was taken */
    bool daemon;             /* wait for more instead of ending when nothing is due */
    bool in_request;         /* within a web server's process, whose signals stay as they are */
    enum mq_on_uncertain on_uncertain;
    const char *run_dir; /* locks and intent files; created 0700 when missing */
};

/* The result of composing, owned by the caller of compose(). Zeros: none. */
struct mq_composed {
    char *message; /* wire form, malloc'ed */
    size_t message_len;
    char *envelope_from;
    char *relay; /* a name of the map of relays */
    struct mq_strings recipients;
};
void mq_composed_clear(struct mq_composed *composed);

enum mq_compose_end {
    MQ_COMPOSED,
    MQ_COMPOSE_GONE,   /* its reference is gone: delete the job */
    MQ_COMPOSE_FAILED, /* err says why: try later */
    MQ_COMPOSE_STOP    /* err->status is MQ_THROWN or MQ_BAILOUT: end the run */
};

struct mq_worker_hooks {
    /* NULL: jobs without a message go back for an hour, without an attempt. */
    enum mq_compose_end (*compose)(void *context, const struct mq_job *job, struct mq_composed *out,
                                   struct mq_error *err);
    /* Appends the message that is sent instead of `message`, in wire form. Called for each attempt,
     * before `sign`. MQ_MESSAGE: the mail is tried later, err says why. MQ_THROWN, MQ_BAILOUT and
     * MQ_NOMEM end the run. NULL: none. */
    enum mq_status (*seal)(void *context, const struct mq_job *job, struct mq_str message,
                           struct mq_buffer *out, struct mq_error *err);
    /* Appends signatures: header lines, ASCII and CRLF-ended, that go before all others. Called for
     * each attempt, just before the transport gets the mail, with the message in 7 bits if that is
     * possible. If it appends nothing, the message is sent as it was. On failure the mail is tried
     * later, err says why; MQ_NOMEM ends the run. NULL: none. */
    enum mq_status (*sign)(void *context, const struct mq_dkim_mail *mail, struct mq_buffer *out,
                           struct mq_error *err);
    /* Called for each event after its commit. MQ_THROWN or MQ_BAILOUT end the run. NULL: none. */
    enum mq_status (*event)(void *context, const struct mq_event *event, struct mq_error *err);
    /* Called before a commit with events that must not all be lost, see struct mq_events. `event`
     * gets them again. NULL: none. */
    void (*record)(void *context, const struct mq_events *events);
    /* Called after the events of one commit. NULL: none. */
    void (*told)(void *context);
    /* Called once for a campaign that has finished. Failures as of `event`. NULL: none. */
    enum mq_status (*finished)(void *context, int64_t campaign_id, struct mq_error *err);
    /* Called after a SIGHUP to a daemon: the log may have been renamed. NULL: none. */
    void (*reopen)(void *context);
    /* Waits up to ms, less if a signal comes. NULL: poll(2). Fake clocks have their own. */
    void (*wait)(void *context, int64_t ms);
    void *context;
};

enum mq_run_end {
    MQ_RUN_EMPTY,    /* nothing is due */
    MQ_RUN_TOKENS,   /* a limit is reached for now */
    MQ_RUN_TIME,     /* the time limit */
    MQ_RUN_MESSAGES, /* the message limit */
    MQ_RUN_SIGNAL,   /* SIGTERM or SIGINT */
    MQ_RUN_RELAY,    /* relay trouble, or the relay is paused */
    MQ_RUN_LOCKED,   /* max_workers runs are active already */
    MQ_RUN_DISABLED  /* mailQueueEnabled = 0 */
};
const char *mq_run_end_name(enum mq_run_end end); /* "empty", "tokens", … */

struct mq_report {
    enum mq_run_end end;
    int64_t claimed, sent, recipients, try_later, refused, parked, uncertain, expired, orphans,
        suppressed, stale, released, recovered; /* counts of events; recipients: accepted ones */
    int64_t cut;      /* uncertain mails that the run itself cut off, as after the grace period */
    int64_t ms;       /* length of the run */
    int64_t resume_s; /* TOKENS, RELAY: UTC second from which a new run can do more; 0: unknown */
    char reason[256]; /* RELAY: why */
};

struct mq_worker {
    struct mq_queue *queue;
    struct mq_relays *relays;
    const struct mq_worker_options *options;
    const struct mq_worker_hooks *hooks;
};

/* Runs until there is a reason to end (enum mq_run_end). MQ_OK also for relay trouble and if all
 * slots are taken: the report says so. Errors: the database, the run directory, MQ_THROWN and
 * MQ_BAILOUT from hooks. Before it returns MQ_THROWN, it settles or releases all that is claimed;
 * before MQ_BAILOUT it only frees memory and descriptors, and recovery takes the leases back. While
 * it runs, unless in a request, it handles SIGTERM and SIGINT, as a daemon SIGHUP, and ignores
 * SIGPIPE and SIGXFSZ. */
enum mq_status mq_worker_run(const struct mq_worker *worker, struct mq_report *report,
                             struct mq_error *err);

#endif
