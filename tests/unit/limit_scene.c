/* The simulation of queues with limits. */
#include "limit_scene.h"

#include "queue/sql/statements.h"

#define LEASE_S    900
#define SESSIONS   64
#define FLYING_MAX (WORKERS * SESSIONS * 4)
#define NEVER      INT64_MAX

enum fate { FATE_SENT, FATE_SOME_REFUSED, FATE_LATER, FATE_UNCERTAIN, FATE_RELEASE };

/* One claimed job. Times in milliseconds since START. */
struct delivery {
    struct mq_job job;
    int worker; /* -1: its worker was killed */
    int relay;
    bool record; /* the killed worker's intent record can be read */
    enum fate fate;
    int64_t claimed_ms;
    int64_t handed_ms; /* the sink's time; NEVER: it was not accepted */
    int64_t reply_ms;  /* when the worker learns of it */
    int64_t settle_ms;
    unsigned char results[9];
    bool recovered; /* by another worker; what its own worker settles then is stale */
};

static char *const relays[RELAYS_MAX] = {"smtp://one.example:25", "smtp://two.example:25"};
static char *const senders[SENDERS_MAX] = {"f@a.x", "g@a.x", "h@a.x"};

static void mark(struct marks *marks, int64_t at_ms, int64_t n)
{
    if (n == 0) {
        return;
    }
    if (marks->count == marks->room) {
        marks->room = marks->room ? marks->room * 2 : 1024;
        marks->items = realloc(marks->items, marks->room * sizeof(*marks->items));
        assert_non_null(marks->items);
    }
    marks->items[marks->count++] = (struct mark){at_ms, n};
}

static int by_time(const void *a, const void *b)
{
    const struct mark *x = a;
    const struct mark *y = b;
    return (x->at_ms > y->at_ms) - (x->at_ms < y->at_ms);
}

int64_t most_in(struct marks *marks, int64_t length_ms, bool sorted)
{
    int64_t most = 0;
    if (!sorted) {
        qsort(marks->items, marks->count, sizeof(*marks->items), by_time);
    }
    for (size_t i = 0; i < marks->count; i++) {
        int64_t sum = 0;
        int64_t end = marks->items[i].at_ms + length_ms;
        for (size_t j = i; j < marks->count && marks->items[j].at_ms < end; j++) {
            sum += marks->items[j].n;
            most = sum > most ? sum : most;
        }
    }
    return most;
}

int64_t total(const struct marks *marks)
{
    int64_t sum = 0;
    for (size_t i = 0; i < marks->count; i++) {
        sum += marks->items[i].n;
    }
    return sum;
}

void add_marks(struct marks *to, const struct marks *from)
{
    for (size_t i = 0; i < from->count; i++) {
        mark(to, from->items[i].at_ms, from->items[i].n);
    }
}

double mean_s(const struct limit_scene *w)
{
    return (double)w->occupied_ms / 1000.0 / (double)w->paid;
}

static uint64_t next_random(struct limit_scene *w)
{
    w->seed ^= w->seed << 13;
    w->seed ^= w->seed >> 7;
    w->seed ^= w->seed << 17;
    return w->seed;
}

/* In [0, n). */
static int64_t below(struct limit_scene *w, int64_t n)
{
    return n > 0 ? (int64_t)(next_random(w) % (uint64_t)n) : 0;
}

static void set_now(struct limit_scene *w, int64_t now_ms)
{
    w->now_ms = now_ms;
    w->fx.now_s = START + now_ms / 1000;
}

static void new_token(struct limit_scene *w, char *token)
{
    snprintf(token, MQ_TOKEN_HEX + 1, "%032llx", (unsigned long long)++w->tokens_made);
}

/* ---- jobs ---- */

static void stock_up(struct limit_scene *w)
{
    static char *people[] = {"0@a.x", "1@a.x", "2@a.x", "3@a.x", "4@a.x",
                             "5@a.x", "6@a.x", "7@a.x", "8@a.x"};
    struct mq_new_job jobs[64];
    struct mq_strings lists[9];
    int64_t ids[64];
    int64_t waiting = fx_int(&w->fx, "SELECT count(*) FROM mail_queue WHERE "
                                     "status IN ('pending','failed')");
    for (size_t i = 0; i < 9; i++) {
        lists[i] = (struct mq_strings){people, i + 1, 9};
    }
    for (; waiting < 2 * w->limit + 100; waiting += 64) {
        for (int i = 0; i < 64; i++) {
            int64_t k = w->limit > 60 || below(w, 5) == 0 ? below(w, 9) : 0;
            jobs[i] =
                (struct mq_new_job){.mail_type = MQ_STR("mail"),
                                    .priority = (int)below(w, 3),
                                    .message_id = "<x@y>",
                                    .envelope_from = senders[w->senders ? below(w, w->senders) : 0],
                                    .recipients = &lists[k]};
        }
        assert_int_equal(mq_queue_enqueue(w->fx.queue, jobs, 64, ids, &w->fx.err), MQ_OK);
    }
    w->stock_ms = w->now_ms + HOUR_MS;
}

/* ---- deliveries ---- */

static int sender_of(const struct mq_job *job)
{
    int i = 0;
    while (strcmp(job->envelope_from, senders[i]) != 0) {
        i++;
    }
    return i;
}

/* The delivery ends: writes the sink's log, and adds the time that the recipient occupied its
 * place. */
static void land(struct limit_scene *w, struct delivery *f)
{
    if (f->handed_ms <= w->now_ms) {
        int64_t refused = f->fate == FATE_SOME_REFUSED;
        mark(&w->sink[f->relay][sender_of(&f->job)], f->handed_ms,
             (int64_t)f->job.targets.count - refused);
    }
    if (!f->recovered) {
        w->occupied_ms += f->job.paid * (w->now_ms - f->claimed_ms);
        w->paid += f->job.paid;
    }
    if (f->worker >= 0) {
        w->workers[f->worker].flying--;
    }
    mq_job_clear(&f->job);
    *f = w->deliveries[--w->flying];
}

static enum fate draw_fate(struct limit_scene *w)
{
    int64_t dice = below(w, 100);
    return dice < 3    ? FATE_RELEASE
           : dice < 6  ? FATE_LATER
           : dice < 8  ? FATE_UNCERTAIN
           : dice < 11 ? FATE_SOME_REFUSED
                       : FATE_SENT;
}

static void take_off(struct limit_scene *w, int worker, struct mq_job *job)
{
    assert_true(w->flying < FLYING_MAX);
    struct delivery *f = &w->deliveries[w->flying++];
    int64_t delay = below(w, 4) ? below(w, 600001) : below(w, 2);
    *f = (struct delivery){.job = *job,
                           .worker = worker,
                           .relay = w->relays ? worker % w->relays : 0,
                           .claimed_ms = w->now_ms};
    *job = (struct mq_job){0};
    assert_true(f->job.paid >= 1 && (size_t)f->job.paid == f->job.targets.count);
    mark(&w->tokens, w->now_ms, f->job.paid);
    f->fate = draw_fate(w);
    if (f->fate == FATE_RELEASE) {
        delay = below(w, 5000);
    } else if (f->fate == FATE_SENT && below(w, 400) == 0) {
        delay = (LEASE_S + below(w, 300)) * 1000; /* a stall that outlasts the lease */
    }
    f->reply_ms = w->now_ms + delay;
    f->settle_ms = f->reply_ms + below(w, 1500);
    int64_t latest = delay < LEASE_S * 1000 ? delay : LEASE_S * 1000;
    bool reaches = f->fate == FATE_SENT || f->fate == FATE_SOME_REFUSED ||
                   (f->fate == FATE_UNCERTAIN && below(w, 2));
    /* Often at the very end or beginning, close to the limits. */
    int64_t dice = below(w, 4);
    int64_t after = dice == 0 ? latest : dice == 1 ? 0 : below(w, latest + 1);
    f->handed_ms = reaches ? w->now_ms + after : NEVER;
    w->workers[worker].flying++;
}

/* Reads the killed worker's record; called for each row that is recovered. */
static void find(void *context, const char *token, int64_t id, struct mq_evidence *out)
{
    struct limit_scene *w = context;
    for (size_t i = 0; i < w->flying; i++) {
        struct delivery *f = &w->deliveries[i];
        if (f->job.id != id || strcmp(f->job.locked_by, token) != 0) {
            continue;
        }
        bool reached = f->handed_ms <= w->now_ms;
        int k = (int)f->job.targets.count;
        int64_t handed = f->job.paid;
        if (f->record) {
            out->outcome = MQ_OUTCOME_DEFERRED;
            out->by_recipient = reached;
            out->handed_over = reached ? k : 0;
            handed = out->handed_over;
            out->at_s = START + f->claimed_ms / 1000; /* when the body began: too early to use */
            for (size_t r = 0; r < f->job.recipients.count; r++) {
                out->results[r] = f->job.target_of[r] >= 0 && reached ? MQ_OUTCOME_UNCERTAIN : 0;
            }
        }
        mark(&w->tokens, w->now_ms, handed - f->job.paid);
        w->occupied_ms += f->job.paid * (w->now_ms - f->claimed_ms);
        w->paid += f->job.paid;
        f->recovered = true;
        return;
    }
    fail_msg("a row was recovered that nobody had claimed");
}

static void clear_recovered(struct limit_scene *w)
{
    for (size_t i = 0; i < w->flying;) {
        struct delivery *f = &w->deliveries[i];
        if (f->worker < 0 && f->recovered) {
            land(w, f);
        } else {
            i++;
        }
    }
}

/* ---- workers ---- */

static void make_outcome(struct delivery *f, struct mq_settlement *s)
{
    static const unsigned char result[] = {MQ_OUTCOME_DELIVERED, MQ_OUTCOME_DELIVERED,
                                           MQ_OUTCOME_DEFERRED, MQ_OUTCOME_UNCERTAIN, 0};
    int k = (int)f->job.targets.count;
    bool refused = f->fate == FATE_SOME_REFUSED;
    for (size_t i = 0; i < f->job.recipients.count; i++) {
        f->results[i] = f->job.target_of[i] >= 0 ? result[f->fate] : 0;
    }
    if (refused) {
        f->results[0] = MQ_OUTCOME_REFUSED;
    }
    *s = (struct mq_settlement){.job = &f->job,
                                .results = f->fate == FATE_RELEASE ? NULL : f->results,
                                .at_s = START + f->reply_ms / 1000,
                                .retry_after_s = -1,
                                .ms = -1};
    if (f->fate == FATE_SENT || f->fate == FATE_UNCERTAIN || refused) {
        s->handed_over = k - refused;
    }
}

/* One transaction of a worker: settles what is due, and claims as much as it has free sessions. */
static void work(struct limit_scene *w, int number)
{
    struct limit_worker *me = &w->workers[number];
    struct mq_settlement settlements[SESSIONS];
    struct delivery *landing[SESSIONS];
    size_t n = 0;
    const char *dead = w->dead;
    struct mq_evidence_source source = {find, w};
    for (size_t i = 0; i < w->flying && n < SESSIONS; i++) {
        if (w->deliveries[i].worker == number && w->deliveries[i].settle_ms <= w->now_ms) {
            landing[n] = &w->deliveries[i];
            make_outcome(landing[n], &settlements[n]);
            n++;
        }
    }
    struct mq_relay_state relay = {.name = w->relays ? relays[number % w->relays] : NULL};
    struct mq_claim_request request = {.limit = SESSIONS - me->flying + (int)n,
                                       .lease_s = LEASE_S,
                                       .token = me->token,
                                       .relays = &relay,
                                       .relay_count = w->relays > 0,
                                       .dead_tokens = &dead,
                                       .dead_count = w->dead[0] != '\0',
                                       .evidence = &source};
    struct mq_cycle cycle = {settlements, n, &request, &w->fx.claim, NULL, 0};
    assert_int_equal(mq_queue_cycle(w->fx.queue, &cycle, &w->fx.err), MQ_OK);
    assert_int_equal(w->fx.claim.status, MQ_OK);
    w->dead[0] = '\0';
    for (size_t i = n; i-- > 0;) { /* backwards, because landing moves the last one into the gap */
        assert_int_equal(settlements[i].row == MQ_ROW_LOST, landing[i]->recovered);
        w->stale += settlements[i].row == MQ_ROW_LOST;
        if (settlements[i].row != MQ_ROW_LOST) {
            mark(&w->tokens, w->now_ms, settlements[i].handed_over - settlements[i].job->paid);
        }
        land(w, landing[i]);
    }
    clear_recovered(w);
    for (size_t i = 0; i < w->fx.claim.count; i++) {
        take_off(w, number, &w->fx.claim.jobs[i]);
    }
    int64_t resume = (w->fx.claim.resume_s - START) * 1000;
    assert_true(w->fx.claim.end != MQ_CLAIM_TOKENS || resume > w->now_ms);
    bool soon = resume <= w->now_ms + 1000; /* leases under way: asking each second gains little */
    bool late = w->limit > 60 || below(w, 2); /* others are awake meanwhile */
    me->wake_ms = (soon ? w->now_ms + 10000 : resume) + (late ? below(w, 160000) : 0);
    if (w->fx.claim.end == MQ_CLAIM_EMPTY) {
        stock_up(w);
        bool waits = w->fx.claim.resume_s > 0; /* for limits of their senders */
        me->wake_ms = waits && resume > w->now_ms ? resume : w->now_ms + 1;
    }
    if (w->fx.claim.end == MQ_CLAIM_MORE) {
        me->wake_ms = w->now_ms + 1;
    }
}

static void kill_worker(struct limit_scene *w, int number)
{
    struct limit_worker *me = &w->workers[number];
    bool record = below(w, 2) && w->dead[0] == '\0';
    if (record) {
        strcpy(w->dead, me->token);
    }
    for (size_t i = 0; i < w->flying; i++) {
        struct delivery *f = &w->deliveries[i];
        if (f->worker == number) {
            f->worker = -1;
            f->record = record;
            f->settle_ms = NEVER;
            if (f->handed_ms > w->now_ms) {
                f->handed_ms = NEVER;
            }
        }
    }
    me->flying = 0;
    me->wake_ms = w->now_ms + 1000 + below(w, 60000);
    new_token(w, me->token);
}

/* ---- the days ---- */

/* The next moment at which a worker has something to do, and that worker. */
static int next_event(const struct limit_scene *w, int64_t *at_ms)
{
    int worker = 0;
    *at_ms = NEVER;
    for (int i = 0; i < WORKERS; i++) {
        if (w->workers[i].wake_ms < *at_ms) {
            *at_ms = w->workers[i].wake_ms;
            worker = i;
        }
    }
    for (size_t i = 0; i < w->flying; i++) {
        if (w->deliveries[i].settle_ms < *at_ms && w->deliveries[i].worker >= 0) {
            *at_ms = w->deliveries[i].settle_ms;
            worker = w->deliveries[i].worker;
        }
    }
    return worker;
}

/* Writes the id of each mail that is put back for a limit into a table. */
static void count_put_back(struct limit_scene *w)
{
    enum mq_status status;
    fx_sql(&w->fx, "CREATE TABLE put_back (id INTEGER)");
    status = mq_sql_query_text(w->fx.queue,
                               "CREATE TRIGGER puts AFTER UPDATE OF waits_for ON mail_queue "
                               "WHEN new.waits_for IS NOT NULL BEGIN "
                               "INSERT INTO put_back VALUES (new.id); END",
                               MQ_NO_ARGS, &w->fx.err);
    while (mq_sql_next(w->fx.queue, &status, &w->fx.err)) {
    }
    assert_int_equal(status, MQ_OK);
}

void limit_scene_run(struct limit_scene *w)
{
    int64_t kill_ms = below(w, 4 * HOUR_MS);
    fx_open(&w->fx);
    char text[24];
    snprintf(text, sizeof(text), "%lld", (long long)w->limit);
    fx_set(&w->fx, w->limits ? "mailLimits" : "mailMaxPerHour", w->limits ? w->limits : text);
    count_put_back(w);
    fx_set(&w->fx, "mailRateMode", w->strict ? "strict" : "average");
    w->deliveries = calloc(FLYING_MAX, sizeof(*w->deliveries));
    for (int i = 0; i < WORKERS; i++) {
        new_token(w, w->workers[i].token);
        w->workers[i].wake_ms = below(w, 60000);
    }
    for (;;) {
        int64_t at_ms;
        int worker = next_event(w, &at_ms);
        if (at_ms >= w->span_ms) {
            break;
        }
        set_now(w, at_ms > w->now_ms ? at_ms : w->now_ms);
        if (w->now_ms >= w->stock_ms) {
            stock_up(w);
        }
        if (w->now_ms >= kill_ms) {
            kill_worker(w, (int)below(w, WORKERS));
            kill_ms = w->now_ms + below(w, 8 * HOUR_MS);
            continue;
        }
        work(w, worker);
    }
    set_now(w, w->span_ms);
    while (w->flying > 0) {
        land(w, &w->deliveries[0]);
    }
}

void limit_scene_end(struct limit_scene *w)
{
    fx_close(&w->fx);
    free(w->deliveries);
    for (int i = 0; i < RELAYS_MAX * SENDERS_MAX; i++) {
        free(w->sink[i / SENDERS_MAX][i % SENDERS_MAX].items);
    }
    free(w->tokens.items);
}
