/* For the worker's tests: a clock that moves only when the worker waits, and a relay without a
 * network, over a real queue in memory. */
#ifndef TESTS_WORKER_FAKE_H
#define TESTS_WORKER_FAKE_H

#include "queue_fixture.h"
#include "send/transport.h"
#include "worker/relay/relay_list.h"
#include "worker/worker.h"

struct scene_worker;

/* A relay with this many sessions. A delivery's body leaves after half the latency, or after
 * body_ms where that is set; its reply comes after all of it. */
struct fake_relay {
    struct mq_transport transport; /* first */
    struct scene_worker *scene;
    size_t sessions;
    int64_t latency_ms, body_ms;
    bool down;    /* no connection works: there is trouble as soon as a mail is submitted */
    bool silent;  /* QUIT is not answered */
    bool bounces; /* sessions end before a mail is through: every mail comes back untouched */
    int64_t retry_after_s; /* named with the trouble */
    /* The result of one target; NULL: accepted. Sets result, code and reply. */
    void (*answer)(struct fake_relay *relay, struct mq_transfer *transfer,
                   struct mq_target *target);
    /* Whether this mail causes a 421; NULL: none does. */
    bool (*turns_away)(const struct mq_transfer *transfer);
    /* Called when a body is about to leave, before the guard. */
    void (*on_body)(struct fake_relay *relay, struct mq_transfer *transfer);
    /* Called at the beginning of each step. */
    enum mq_status (*on_step)(struct fake_relay *relay, struct mq_error *err);
    struct mq_transfer *under_way[64];
    int64_t submitted_ms[64];
    bool body_out[64];
    size_t under_way_count;
    int steps, recalls, wind_downs, aborts, quits, submits;
    int bodies;        /* that left */
    int64_t quit_ms;   /* how long the last quit() could take */
    int64_t *accepted; /* ids of jobs, in order, once for each accepted target */
    size_t accepted_count;
    size_t most_under_way;
};

struct scene_worker {
    struct fixture fx;
    int64_t boot_ms; /* the wall clock is START + boot_ms / 1000 + wall_ahead_s */
    int64_t wall_ahead_s;
    char directory[64];
    char run_dir[80];
    struct fake_relay relay;
    struct mq_worker_options options;
    struct mq_worker_hooks hooks;
    struct fake_relay other; /* "b", where the relay above is "a"; used if `dsn` is set */
    struct fake_relay third; /* "c"; used if `dsn` names it behind others */
    const char *dsn;         /* such as "failover(a b)"; NULL: only the relay above */
    struct mq_relays relays;
    void (*on_relays)(struct scene_worker *scene); /* adds to them before a run */
    struct mq_worker worker;
    struct mq_report report;
    struct mq_events events; /* all events reported */
    int64_t waited_ms;       /* through the hook */
    void (*on_wait)(struct scene_worker *scene);
    enum mq_status (*on_event)(struct scene_worker *scene, const struct mq_event *event,
                               struct mq_error *err);
    enum mq_compose_end (*on_compose)(struct scene_worker *scene, const struct mq_job *job,
                                      struct mq_composed *out, struct mq_error *err);
    int counter; /* the test's own */
    struct mq_error err;
};

int scene_worker_setup(void **state);
int scene_worker_teardown(void **state);
/* Opens the queue on a file instead of memory. */
void scene_worker_on_file(struct scene_worker *scene);

/* No connection works any more. */
void fake_trouble(struct fake_relay *relay);
enum mq_status run_worker(struct scene_worker *scene);
/* The same; asserts that the run succeeds and ends as expected. */
void run_until(struct scene_worker *scene, enum mq_run_end end);
void enqueue_mails(struct scene_worker *scene, int count);
/* Starts a run each minute for this long, as cron does; none while another still runs. */
void cron_for(struct scene_worker *scene, int64_t seconds);
int count_events(const struct scene_worker *scene, enum mq_event_type type);
/* The last event of that type; fails the test if there is none. */
const struct mq_event *last_event(const struct scene_worker *scene, enum mq_event_type type);
/* The number of files in the run directory whose names end with this. */
int count_files(const struct scene_worker *scene, const char *suffix);
int64_t count_jobs(struct scene_worker *scene, const char *status);
void set_result(struct mq_target *target, enum mq_outcome result, const char *reply);
void deny_all(struct fake_relay *relay, struct mq_transfer *transfer, struct mq_target *target);

#endif
