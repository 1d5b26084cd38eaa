/* The queue: its tables, enqueue, claim, settle, upkeep. Written once over db.h; the algorithms and
 * the invariants are described in docs/architecture.md.
 *
 * Ownership: a queue owns the connection it was opened with. Every function that fails leaves the
 * database as it was. Events are appended only for what was committed. */
#ifndef MQ_QUEUE_QUEUE_H
#define MQ_QUEUE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/clock.h"
#include "core/error.h"
#include "policy/backoff.h"
#include "queue/config/config.h"
#include "queue/event.h"
#include "queue/job.h"

struct mq_db; /* db/db.h */

struct mq_queue;

struct mq_queue_options {
    const char *table;            /* "mail_queue"; identifiers: [A-Za-z_][A-Za-z0-9_]{0,62} */
    const char *config_table;     /* "config" */
    const char *reference_column; /* "reference" */
    const char *orphan_table;     /* NULL: no orphan check */
    const char *orphan_column;
    struct mq_backoff backoff;
    struct mq_clock clock;
    struct mq_random random;
};

void mq_queue_options_init(struct mq_queue_options *options); /* the defaults */

/* Takes `db` over in any case (closes it on failure). Creates or migrates the tables. */
enum mq_status mq_queue_open(struct mq_db *db, const struct mq_queue_options *options,
                             struct mq_queue **out, struct mq_error *err);
void mq_queue_close(struct mq_queue *queue); /* NULL is allowed */
/* For those who made it; the worker asks the queue. */
struct mq_db *mq_queue_db(struct mq_queue *queue);
/* Opens the database again where it was replaced or its server was lost. MQ_CONFIG: that can never
 * be, for the connection is the application's. */
enum mq_status mq_queue_reopen(struct mq_queue *queue, struct mq_error *err);
/* Upkeep of the database's files between transactions. */
void mq_queue_maintain(struct mq_queue *queue);
/* The time that the queue's dates go by, also for what is written into them from outside (when a
 * mail was handed over, until when to wait): valid as long as the queue. On a file it is the clock
 * of the options. On a server, whose clients' clocks differ and jump, it is what the server said
 * last and what CLOCK_BOOTTIME has counted since: never behind the server's clock, and ahead of it
 * by a second and the question's way at most, for the server tells whole seconds. Every transaction
 * asks anew; before the first answer it is the clock of the options. */
const struct mq_clock *mq_queue_clock(const struct mq_queue *queue);
/* Asks a server for its time, outside of a transaction. */
enum mq_status mq_queue_ask_time(struct mq_queue *queue, struct mq_error *err);
/* Whether machines may share the database: there is no file beside which anything could lie. */
bool mq_queue_is_shared(const struct mq_queue *queue);
/* Which tables these are, wherever they are seen from: the server, its database, the table. A text
 * without secrets for making other names from. NULL on a file, and where err says why. Owned by
 * the queue. */
const char *mq_queue_identity(struct mq_queue *queue, struct mq_error *err);
/* Brings the schema to this version under the write lock; returns the version in *version. */
enum mq_status mq_queue_migrate(struct mq_queue *queue, int *version, struct mq_error *err);
/* The job table's columns, from 0 on; NULL past the last one. Owned by the queue. */
const char *mq_queue_column(const struct mq_queue *queue, size_t i);
/* "integer" (32 bits on a server), "bigint" or "text". */
const char *mq_queue_column_type(size_t i);

/* ---- enqueue.c ---- */

#define MQ_REFERENCE_MAX 190 /* octets */
#define MQ_TYPE_MAX      64

/* One mail to store; all borrowed. body NULL: composed when sent. */
struct mq_new_job {
    struct mq_str reference; /* data NULL: none */
    struct mq_str mail_type;
    int priority;                        /* -100 … 100 */
    int64_t send_at;                     /* 0: now */
    int64_t expires_at;                  /* 0: never */
    int max_attempts;                    /* 0: the policy's */
    const char *message_id;              /* required */
    const char *envelope_from;           /* NULL: compose says */
    const struct mq_strings *recipients; /* NULL or empty: compose says */
    struct mq_str body;                  /* wire form; data NULL: none */
    const struct mq_notify *notify;      /* NULL: as the relay does */
};

/* MQ_INVALID / MQ_MESSAGE with the field for arguments out of range (reference and type: 1 …
 * octets as above, valid UTF-8, no control characters). */
enum mq_status mq_new_job_check(const struct mq_new_job *job, struct mq_error *err);
/* Durable when it returns MQ_OK. *id is the new id, or 0 where (reference, mail_type) is queued
 * already. A parked job of the pair is replaced. */
enum mq_status mq_queue_enqueue(struct mq_queue *queue, const struct mq_new_job *job, int64_t *id,
                                struct mq_error *err);
/* The same for many in one transaction: all or none. *stored counts the new ones. */
enum mq_status mq_queue_enqueue_many(struct mq_queue *queue, const struct mq_new_job *jobs,
                                     size_t count, int64_t *stored, struct mq_error *err);

/* ---- settle.c ---- */

enum mq_on_uncertain { MQ_UNCERTAIN_RETRY, MQ_UNCERTAIN_HOLD };

enum mq_recipient_result {
    MQ_RECIPIENT_UNTRIED = 0, /* stays, nothing counted */
    MQ_RECIPIENT_ACCEPTED,
    MQ_RECIPIENT_REFUSED,
    MQ_RECIPIENT_LATER,
    MQ_RECIPIENT_UNCERTAIN
};

enum mq_settle_kind {
    MQ_SETTLE_RESULTS,   /* by recipient; a job without recipients: results[0] is for all of it */
    MQ_SETTLE_RELEASE,   /* as before the claim: attempt and tokens back */
    MQ_SETTLE_LATER,     /* the whole job failed: backoff or parked */
    MQ_SETTLE_REFUSED,   /* the whole job is refused: parked */
    MQ_SETTLE_ORPHAN,    /* what it refers to is gone: deleted */
    MQ_SETTLE_UNREADABLE /* nobody could be sent it as it is in the row: parked, nothing counted */
};

/* One outcome. All borrowed until the settle returns. */
struct mq_settlement {
    const struct mq_job *job;
    enum mq_settle_kind kind;
    const unsigned char *results; /* job->recipients.count (at least 1) values, or NULL */
    const char *const *replies;   /* per recipient, for refused ones; may be NULL */
    int handed_over;              /* tokens that are spent: targets accepted or uncertain */
    int64_t at_s;                 /* when they were handed over */
    int64_t taken_by_s;           /* until when the relay may take what is uncertain; 0: at_s */
    const char *error;            /* last_error; NULL: none */
    int64_t retry_after_s; /* instead of the backoff; -1: none. A job that goes back as it was
                              is not due again before, when above 0 */
    int64_t relay_wait_s;  /* what the relay asked for: the backoff is no shorter; 0: nothing */
    enum mq_on_uncertain on_uncertain;
    const char *relay; /* for the event */
    int64_t ms;        /* for the event; -1 none */
    bool stale;        /* out: the lease was lost, nothing was touched */
};

/* ---- claim.c, recover.c ---- */

#define MQ_FINAL_TIMEOUT_S 600 /* RFC 5321, 4.5.3.2.6 */

/* What a worker's intent record says of one of its jobs. */
enum mq_evidence {
    MQ_EVIDENCE_NONE,  /* no readable record: uncertain */
    MQ_EVIDENCE_FREE,  /* never begun: safe, the attempt does not count */
    MQ_EVIDENCE_BEGUN, /* begun, no body went out: safe, the attempt counts */
    MQ_EVIDENCE_BODY,  /* the end of the body may have gone out: uncertain */
    MQ_EVIDENCE_DONE   /* a reply to the dot was read: results are known */
};

struct mq_evidence_record {
    enum mq_evidence evidence;
    unsigned char results[MQ_JOB_RECIPIENTS_MAX]; /* mq_recipient_result, for BODY and DONE */
    int code;                                     /* last reply code, 0 when unknown */
    int handed_over;
    int64_t at_s;
};

/* Asked inside the transaction; must not touch the database and must be quick. */
struct mq_evidence_source {
    void (*find)(void *context, const char *token, int64_t job_id, struct mq_evidence_record *out);
    void *context;
};

struct mq_claim_request {
    int limit; /* jobs, at most; 0: only settle and recover */
    int64_t lease_s;
    const int *below;               /* only jobs of a lower priority; NULL: of any */
    const char *token;              /* MQ_TOKEN_HEX digits */
    const char *relay;              /* whose pause is asked for; NULL: none */
    const char *const *dead_tokens; /* their workers are known dead: recovered at once */
    size_t dead_count;
    const struct mq_evidence_source *evidence; /* NULL: none */
    enum mq_on_uncertain on_uncertain;
    int64_t final_timeout_s; /* how long a relay may take for a dead run's dot */
};

enum mq_claim_end {
    MQ_CLAIM_LIMIT,    /* as many as were asked for; more may be due */
    MQ_CLAIM_MORE,     /* stopped after 1,000 expired, orphaned or recovered rows, or 4 MiB of
                          their messages: claim again */
    MQ_CLAIM_EMPTY,    /* nothing more is due */
    MQ_CLAIM_TOKENS,   /* something is due, no token is left */
    MQ_CLAIM_DISABLED, /* mailQueueEnabled = 0 */
    MQ_CLAIM_PAUSED    /* the relay is paused */
};

struct mq_claim {
    struct mq_job *jobs;
    size_t count;
    enum mq_claim_end end;
    bool limited;          /* an hourly limit is set: claim no more than can leave at once */
    int64_t resume_s;      /* TOKENS: UTC second of the next token; PAUSED: end of the pause;
                              EMPTY: when the next job is due, 0 when none waits */
    char reason[256];      /* PAUSED: why */
    enum mq_status status; /* the claim part's own failure; the settle part stands */
    struct mq_error error;
    int64_t dropped_bytes; /* messages of expired and orphaned rows that were deleted */
};

void mq_claim_init(struct mq_claim *claim);
void mq_claim_clear(struct mq_claim *claim);

/* What one transaction does. */
struct mq_cycle {
    struct mq_settlement *outcomes; /* borrowed */
    size_t outcome_count;
    const struct mq_claim_request *request; /* NULL: only settle */
    struct mq_claim *claim;                 /* filled when there is a request; initialised */
    struct mq_events *events;               /* appended to after the commit; NULL: not wanted */
    int64_t begun_ms;                       /* set: CLOCK_BOOTTIME when it had the write lock */
    bool joined;                            /* set: it was within the application's transaction */
};

/* One transaction: settles the outcomes, then recovers and claims. Where the claim part fails, all
 * is undone and the settling done again alone, and claim->status says why. All leases of the dead
 * tokens are recovered for certain when claim->status is MQ_OK and claim->end is not
 * MQ_CLAIM_MORE: only then may their intent records go. */
enum mq_status mq_queue_cycle(struct mq_queue *queue, struct mq_cycle *cycle, struct mq_error *err);

/* ---- body.c: messages of claimed jobs, which a cycle does not read ---- */

#define MQ_BODY_SMALL (INT64_C(64) << 10) /* octets: of these many are read at a time */
#define MQ_BODIES_BYTES                                                      \
    (INT64_C(64) << 20) /* of messages in memory, where nothing else is said \
                         */

/* Looks where the messages are and loads those of `most` octets at the most. All jobs are of one
 * claim token and UNKNOWN. On failure what is still UNKNOWN was not looked at. */
enum mq_status mq_queue_read_bodies(struct mq_queue *queue, struct mq_job *const *jobs,
                                    size_t count, int64_t most, struct mq_error *err);
/* Loads one that is STORED: it is LOADED then, or LOST. Failures leave it as it was, MQ_NOMEM also
 * the queue. */
enum mq_status mq_queue_read_body(struct mq_queue *queue, struct mq_job *job, struct mq_error *err);
void mq_job_drop_body(struct mq_job *job); /* frees it; LOADED becomes STORED */
/* A cycle of nothing but a claim, with the messages: as many jobs as have about max_bytes of them,
 * and fit into memory, but one at least; the others go back as they were. */
enum mq_status mq_queue_claim(struct mq_queue *queue, const struct mq_claim_request *request,
                              int64_t max_bytes, struct mq_claim *claim, struct mq_error *err);

/* After composing: writes job->envelope_from and job->recipients (which the caller has set) to the
 * row, where they override what composing returns from then on, pays for what the tokens reach and
 * fills job->targets. *lost: the lease was lost. */
enum mq_status mq_queue_set_envelope(struct mq_queue *queue, struct mq_job *job, bool *lost,
                                     struct mq_error *err);
/* Extends the leases of those jobs that are still held by the token in them (job->locked_by): sets
 * job->locked_until, or 0 where the lease was lost. */
enum mq_status mq_queue_renew(struct mq_queue *queue, struct mq_job *const *jobs, size_t count,
                              int64_t lease_s, struct mq_error *err);
/* Recovers leases that were over at now_s (0: now) without claiming; *count says how many.
 * evidence NULL: none. */
enum mq_status mq_queue_recover(struct mq_queue *queue, int64_t now_s,
                                const struct mq_evidence_source *evidence, int64_t *count,
                                struct mq_error *err);
/* Takes up to `wanted` tokens for something outside the queue; without a limit, all of them. */
enum mq_status mq_queue_take_tokens(struct mq_queue *queue, int64_t wanted, int64_t *taken,
                                    struct mq_error *err);

/* ---- manage.c ---- */

struct mq_stats {
    int64_t counts[MQ_STATE_COUNT];
    int64_t due;              /* claimable now */
    int64_t oldest_waiting_s; /* created_at of the oldest pending or failed job; 0: none */
    int64_t next_due_s;       /* 0: none */
    int64_t limit;            /* recipients an hour; 0: none */
    int64_t burst;
    enum mq_rate_mode rate_mode;
    double tokens;           /* there now; limit 0: 0 */
    int64_t spent_last_hour; /* strict mode's ledger */
    int64_t empty_in_s;      /* expected, at the limit; -1: unknown (no limit set) */
    bool enabled;
    int64_t last_run_s;     /* end of the last worker run; 0: never */
    char *paused;           /* why a relay is paused; NULL: none is */
    int64_t paused_until_s; /* 0: not paused */
    char *paused_relay;     /* redacted; NULL: none is */
    char *redirect_to;      /* test mode: "a@b" or "@domain"; NULL: off now */
};
enum mq_status mq_queue_stats(struct mq_queue *queue, struct mq_stats *out, struct mq_error *err);
void mq_stats_clear(struct mq_stats *stats);

struct mq_job_list {
    struct mq_job *jobs;
    size_t count;
};
struct mq_job_filter {
    int state; /* enum mq_state, or -1: any */
    int limit;
    int64_t after; /* id */
};
/* Jobs by id, ascending; bodies not loaded. Without those of mq_queue_strays() that have no state.
 */
enum mq_status mq_queue_jobs(struct mq_queue *queue, const struct mq_job_filter *filter,
                             struct mq_job_list *out, struct mq_error *err);
void mq_job_list_clear(struct mq_job_list *list);
/* A row that no run takes up, for its status is none, or "sending" without a lease: a newer version
 * wrote it, or another program. */
struct mq_stray {
    int64_t id;
    char status[64];
};
/* The first of them by id, at most `room`. Reads the whole table. */
enum mq_status mq_queue_strays(struct mq_queue *queue, struct mq_stray *out, size_t room,
                               size_t *count, struct mq_error *err);
/* One job with its body. *found. */
enum mq_status mq_queue_job(struct mq_queue *queue, int64_t id, struct mq_job *out, bool *found,
                            struct mq_error *err);
struct mq_ids {
    const int64_t *items;
    size_t count;
};
/* ids NULL: what is parked as refused or exhausted; else any of them that is parked or failed.
 * reset: attempts 0; otherwise the maximum less one. Refused recipients come back. */
enum mq_status mq_queue_retry(struct mq_queue *queue, const struct mq_ids *ids, bool reset,
                              int64_t *changed, struct mq_error *err);
/* Parks what is pending or failed. */
enum mq_status mq_queue_hold(struct mq_queue *queue, const struct mq_ids *ids, int64_t *changed,
                             struct mq_error *err);
/* Deletes what nobody is sending at the moment, about 4 MiB of messages a transaction. */
enum mq_status mq_queue_delete(struct mq_queue *queue, const struct mq_ids *ids, int64_t *changed,
                               struct mq_error *err);
/* How far a sweep has come; {0} before its first piece. */
struct mq_sweep {
    int64_t cursor;   /* the row behind which it goes on */
    int64_t begun_ms; /* CLOCK_BOOTTIME when its last piece had the write lock */
    bool done;        /* the end of the table was reached */
};
/* The next piece: deletes waiting jobs that are orphaned or expired, at most 1,000 rows looked at
 * in one short transaction, or 4 MiB of messages. The worker does this once a run. */
enum mq_status mq_queue_sweep(struct mq_queue *queue, struct mq_sweep *sweep,
                              struct mq_events *events, struct mq_error *err);

/* The relay's pause (config key mailRelayPause). Doubles from 60 s to 3,600 s, or retry_after_s
 * when above 0. It stays on record when it is over, until the relay accepts a mail. */
struct mq_relay_pause {
    const char *relay; /* the transport's name, redacted */
    const char *reason;
    int64_t retry_after_s; /* 0: none */
    bool only_noted;       /* over at once: on record is only that nothing was accepted since */
    int64_t until_s;       /* out */
};
enum mq_status mq_queue_pause_relay(struct mq_queue *queue, struct mq_relay_pause *pause,
                                    struct mq_error *err);
enum mq_status mq_queue_clear_pause(struct mq_queue *queue, const char *relay,
                                    struct mq_error *err);
/* 0: nothing is on record; else one more than the pauses since the last acceptance. */
enum mq_status mq_queue_count_pauses(struct mq_queue *queue, const char *relay, int64_t *count,
                                     struct mq_error *err);

/* What a run's transport found its relay to be able to do (send/transport.h), for later runs; *out
 * is malloc'ed, NULL: nothing is known. */
enum mq_status mq_queue_finding(struct mq_queue *queue, const char *relay, char **out,
                                struct mq_error *err);
enum mq_status mq_queue_keep_finding(struct mq_queue *queue, const char *relay, const char *finding,
                                     struct mq_error *err);

/* ---- slots.c: places of workers, on a server (mq_queue_is_shared()) ----
 *
 * Locks of the database's own, held by the session: they go with the connection, and a connection
 * that is opened anew has none. Behind a pooler that gives each transaction another session
 * (pgbouncer in transaction mode) they hold nothing. */

/* Takes one of the places 0 … max − 1 without waiting; *place is -1 where all are taken. */
enum mq_status mq_queue_take_slot(struct mq_queue *queue, int max, int *place,
                                  struct mq_error *err);
/* Gives it back. Where that fails the connection is gone, and the place with it. */
void mq_queue_free_slot(struct mq_queue *queue, int place);
/* How many of the places 0 … max − 1 are taken, by whatever machine. */
enum mq_status mq_queue_slots_held(struct mq_queue *queue, int max, int *held,
                                   struct mq_error *err);

/* Notes the end of a worker run (config key mailLastRun). */
enum mq_status mq_queue_note_run(struct mq_queue *queue, struct mq_error *err);

#endif
