/* The hourly limit, over a week of the fake clock: four workers on one queue, more mail than the
 * week can carry, kills, stalls, releases, replies that take up to ten minutes, recipients refused,
 * jobs of several recipients.
 *
 * strict: the sink never takes more than N recipients in any half-open hour of its own clock, and
 * at least 95 % of what is possible when a recipient occupies its place from claim to settle and
 * for an hour and a second after. average: tokens paid less tokens given back, each at its own
 * time, are at most N + capacity in any hour.
 *
 * Each was seen to fail: strict with the ledger left out of the allowance, with leases under way
 * left out, with an hour of 3,600 s in the ledger, with a lost lease not written at recovery, and
 * with one written at the time at which its body began; average with a refill of one unit a second
 * too many, and with tokens given back twice; both yields with a resume time an hour late; stale
 * outcomes with a fence of the token alone.
 *
 * MQ_LIMIT_SEEDS sets the number of seeds (3). The largest limit has one, since its weeks take
 * longer than all the others together; none under a sanitizer, where 60 runs the same lines. */
#include "queue_fixture.h"

#include "limit_marks.h"

#define WEEK_MS    (INT64_C(7) * 24 * 3600 * 1000)
#define LEASE_S    900
#define WORKERS    4
#define SESSIONS   64
#define FLYING_MAX (WORKERS * SESSIONS * 4)
#define NEVER      INT64_MAX

enum fate { FATE_SENT, FATE_SOME_REFUSED, FATE_LATER, FATE_UNCERTAIN, FATE_RELEASE };

/* One claimed job. Times in milliseconds since START. */
struct delivery {
    struct mq_job job;
    int worker;  /* -1: its worker was killed */
    bool record; /* the killed worker's intent record can be read */
    enum fate fate;
    int64_t claimed_ms;
    int64_t handed_ms; /* the sink's time; NEVER: it was not accepted */
    int64_t reply_ms;  /* when the worker learns of it */
    int64_t settle_ms;
    unsigned char results[9];
    bool recovered; /* by another worker; what its own worker settles then is stale */
};

struct worker {
    char token[MQ_TOKEN_HEX + 1];
    int64_t wake_ms;
    int flying;
    bool alive;
};

struct week {
    struct fixture fx;
    int64_t limit;
    bool strict;
    uint64_t seed;
    int64_t now_ms;
    int64_t stock_ms; /* when the queue gets more mail */
    struct worker workers[WORKERS];
    struct delivery *deliveries; /* FLYING_MAX */
    size_t flying;
    char dead[MQ_TOKEN_HEX + 1]; /* a killed worker whose record can be read; "": none */
    struct marks sink;           /* recipients taken */
    struct marks tokens;         /* tokens paid; below zero: given back */
    int64_t occupied_ms;         /* recipients · time from claim to settle */
    int64_t paid;
    int64_t tokens_made;
    int stale;
};

static uint64_t next_random(struct week *w)
{
    w->seed ^= w->seed << 13;
    w->seed ^= w->seed >> 7;
    w->seed ^= w->seed << 17;
    return w->seed;
}

/* In [0, n). */
static int64_t below(struct week *w, int64_t n)
{
    return n > 0 ? (int64_t)(next_random(w) % (uint64_t)n) : 0;
}

static void set_now(struct week *w, int64_t now_ms)
{
    w->now_ms = now_ms;
    w->fx.now_s = START + now_ms / 1000;
}

static void new_token(struct week *w, char *token)
{
    snprintf(token, MQ_TOKEN_HEX + 1, "%032llx", (unsigned long long)++w->tokens_made);
}

/* ---- jobs ---- */

static void stock_up(struct week *w)
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
            jobs[i] = (struct mq_new_job){.mail_type = MQ_STR("mail"),
                                          .priority = (int)below(w, 3),
                                          .message_id = "<x@y>",
                                          .envelope_from = "f@a.x",
                                          .recipients = &lists[k]};
        }
        assert_int_equal(mq_queue_enqueue(w->fx.queue, jobs, 64, ids, &w->fx.err), MQ_OK);
    }
    w->stock_ms = w->now_ms + HOUR_MS;
}

/* ---- deliveries ---- */

/* The delivery ends: writes the sink's log, and adds the time that the recipient occupied its
 * place. */
static void land(struct week *w, struct delivery *f)
{
    if (f->handed_ms <= w->now_ms) {
        int64_t refused = f->fate == FATE_SOME_REFUSED;
        mark(&w->sink, f->handed_ms, (int64_t)f->job.targets.count - refused);
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

static enum fate draw_fate(struct week *w)
{
    int64_t dice = below(w, 100);
    return dice < 3    ? FATE_RELEASE
           : dice < 6  ? FATE_LATER
           : dice < 8  ? FATE_UNCERTAIN
           : dice < 11 ? FATE_SOME_REFUSED
                       : FATE_SENT;
}

static void take_off(struct week *w, int worker, struct mq_job *job)
{
    assert_true(w->flying < FLYING_MAX);
    struct delivery *f = &w->deliveries[w->flying++];
    int64_t delay = below(w, 4) ? below(w, 600001) : below(w, 2);
    *f = (struct delivery){.job = *job, .worker = worker, .claimed_ms = w->now_ms};
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
    struct week *w = context;
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

static void clear_recovered(struct week *w)
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
static void work(struct week *w, int number)
{
    struct worker *me = &w->workers[number];
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
    struct mq_claim_request request = {.limit = SESSIONS - me->flying + (int)n,
                                       .lease_s = LEASE_S,
                                       .token = me->token,
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
        me->wake_ms = w->now_ms + 1;
    }
}

static void kill_worker(struct week *w, int number)
{
    struct worker *me = &w->workers[number];
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

/* ---- the week ---- */

/* The next moment at which a worker has something to do, and that worker. */
static int next_event(const struct week *w, int64_t *at_ms)
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

static void run_week(struct week *w)
{
    int64_t kill_ms = below(w, 4 * HOUR_MS);
    fx_open(&w->fx);
    char text[24];
    snprintf(text, sizeof(text), "%lld", (long long)w->limit);
    fx_set(&w->fx, "mailMaxPerHour", text);
    fx_set(&w->fx, "mailRateMode", w->strict ? "strict" : "average");
    w->deliveries = calloc(FLYING_MAX, sizeof(*w->deliveries));
    for (int i = 0; i < WORKERS; i++) {
        new_token(w, w->workers[i].token);
        w->workers[i].wake_ms = below(w, 60000);
    }
    for (;;) {
        int64_t at_ms;
        int worker = next_event(w, &at_ms);
        if (at_ms >= WEEK_MS) {
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
    set_now(w, WEEK_MS);
    while (w->flying > 0) {
        land(w, &w->deliveries[0]);
    }
}

static void end_week(struct week *w)
{
    fx_close(&w->fx);
    free(w->deliveries);
    free(w->sink.items);
    free(w->tokens.items);
}

static const int64_t limits[] = {1, 2, 5, 6, 40, 60, 600};

static int seeds(int64_t limit)
{
    const char *text = getenv("MQ_LIMIT_SEEDS");
#ifdef MAILQUEUE_SANITIZE
    int unset = limit < 600 ? 1 : 0;
#else
    int unset = limit < 600 ? 3 : 1;
#endif
    return text && atoi(text) > 0 ? atoi(text) : unset;
}

static void check_strict(int64_t limit, int seed)
{
    struct week w = {
        .limit = limit, .strict = true, .seed = 88172645463325252u + (uint64_t)seed * 7919u};
    run_week(&w);
    int64_t most = most_in_an_hour(&w.sink, false);
    double mean_s = (double)w.occupied_ms / 1000.0 / (double)w.paid;
    double possible = (double)limit * (double)(WEEK_MS / 1000) / (3601 + mean_s);
    double yield = (double)total(&w.sink) / possible;
    print_message("strict %lld, seed %d: %lld recipients, at most %lld an hour, mean %.0f s, "
                  "yield %.3f, %d stale\n",
                  (long long)limit, seed, (long long)total(&w.sink), (long long)most, mean_s, yield,
                  w.stale);
    assert_true(most <= limit);
    assert_true(yield >= 0.95);
    end_week(&w);
}

static void check_average(int64_t limit, int seed)
{
    struct week w = {.limit = limit, .seed = 88172645463325252u + (uint64_t)seed * 104729u};
    run_week(&w);
    int64_t most = most_in_an_hour(&w.tokens, true); /* in the order of the transactions */
    int64_t cap = mq_bucket_default_cap(limit);
    print_message("average %lld, seed %d: %lld recipients, at most %lld tokens an hour\n",
                  (long long)limit, seed, (long long)total(&w.sink), (long long)most);
    assert_true(most <= limit + cap);
    assert_true(total(&w.tokens) <= limit * 7 * 24 + cap);
    assert_true(total(&w.tokens) >= limit * 7 * 24 * 95 / 100); /* the least yield */
    end_week(&w);
}

static void check_all(void (*check)(int64_t limit, int seed))
{
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        for (int seed = 1; seed <= seeds(limits[i]); seed++) {
            check(limits[i], seed);
        }
    }
}

static void test_strict(void **state)
{
    (void)state;
    check_all(check_strict);
}

static void test_average(void **state)
{
    (void)state;
    check_all(check_average);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strict),
        cmocka_unit_test(test_average),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
