/* The simulation of queues with limits. */
#include "limit_scene.h"

#include "queue/sql/statements.h"
#include "queue/windows/payments.h"

#define LEASE_S       900
#define SESSIONS      64
#define UNDER_WAY_MAX (WORKERS * SESSIONS * 4)
#define NEVER         INT64_MAX

enum fate { FATE_SENT, FATE_SOME_REFUSED, FATE_LATER, FATE_UNCERTAIN, FATE_RELEASE };

/* One claimed job. Times in milliseconds since START. */
struct delivery {
    struct mq_job job;
    int worker;  /* -1: its worker was killed */
    int relay;   /* where it is sent, or was to be when that one failed; -1: not known yet */
    bool waits;  /* for a payment; it has not begun */
    bool record; /* the killed worker's intent record can be read */
    enum fate fate;
    int64_t claimed_ms;
    int64_t handed_ms; /* the sink's time; NEVER: it was not accepted */
    int64_t reply_ms;  /* when the worker learns of it */
    int64_t settle_ms;
    unsigned char results[9];
    bool settled;
    bool recovered; /* by another worker; what its own worker settles then is stale */
};

static char *const relays[RELAYS_MAX] = {"smtp://one.example:25", "smtp://two.example:25"};
static char *const senders[SENDERS_MAX] = {"f@a.x", "g@a.x", "h@a.x"};

double mean_s(const struct limit_scene *w)
{
    return (double)w->occupied_ms / 1000.0 / (double)w->paid;
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
            int64_t k = w->limit > 60 || draw(&w->seed, 5) == 0 ? draw(&w->seed, 9) : 0;
            jobs[i] = (struct mq_new_job){.mail_type = MQ_STR("mail"),
                                          .priority = (int)draw(&w->seed, 3),
                                          .message_id = "<x@y>",
                                          .envelope_from =
                                              senders[w->senders ? draw(&w->seed, w->senders) : 0],
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

/* Notes what is paid now beside the job's relay, and what was before. */
static void mark_relay(struct limit_scene *w, const struct delivery *f, int64_t n)
{
    if (w->routes && f->relay >= 0) {
        add_mark(&w->relay_tokens[f->relay], w->now_ms, n);
    }
}

/* The delivery ends: writes the sink's log, and adds the time that the recipient occupied its
 * place. */
static void land(struct limit_scene *w, struct delivery *f)
{
    if (f->handed_ms <= w->now_ms) {
        int64_t refused = f->fate == FATE_SOME_REFUSED;
        add_mark(&w->sink[f->relay][sender_of(&f->job)], f->handed_ms,
                 (int64_t)f->job.targets.count - refused);
    }
    if (!f->recovered && !f->waits) {
        w->occupied_ms += f->job.paid * (w->now_ms - f->claimed_ms);
        w->paid += f->job.paid;
    }
    if (f->worker >= 0) {
        w->workers[f->worker].under_way--;
    }
    mq_job_clear(&f->job);
    *f = w->deliveries[--w->under_way];
}

static enum fate draw_fate(struct limit_scene *w)
{
    int64_t dice = draw(&w->seed, 100);
    return dice < 3    ? FATE_RELEASE
           : dice < 6  ? FATE_LATER
           : dice < 8  ? FATE_UNCERTAIN
           : dice < 11 ? FATE_SOME_REFUSED
                       : FATE_SENT;
}

/* It is handed to the relay's transport. */
static void begin(struct limit_scene *w, struct delivery *f)
{
    int64_t delay = draw(&w->seed, 4) ? draw(&w->seed, 600001) : draw(&w->seed, 2);
    f->waits = false;
    f->claimed_ms = w->now_ms;
    f->fate = draw_fate(w);
    if (f->fate == FATE_RELEASE) {
        delay = draw(&w->seed, 5000);
    } else if (f->fate == FATE_SENT && draw(&w->seed, 400) == 0) {
        delay = (LEASE_S + draw(&w->seed, 300)) * 1000; /* a stall that outlasts the lease */
    }
    f->reply_ms = w->now_ms + delay;
    f->settle_ms = f->reply_ms + draw(&w->seed, 1500);
    int64_t latest = delay < LEASE_S * 1000 ? delay : LEASE_S * 1000;
    bool reaches = f->fate == FATE_SENT || f->fate == FATE_SOME_REFUSED ||
                   (f->fate == FATE_UNCERTAIN && draw(&w->seed, 2));
    /* Often at the very end or beginning, close to the limits. */
    int64_t dice = draw(&w->seed, 4);
    int64_t after = dice == 0 ? latest : dice == 1 ? 0 : draw(&w->seed, latest + 1);
    f->handed_ms = reaches ? w->now_ms + after : NEVER;
}

static void take_off(struct limit_scene *w, int worker, struct mq_job *job)
{
    assert_true(w->under_way < UNDER_WAY_MAX);
    struct delivery *f = &w->deliveries[w->under_way++];
    *f = (struct delivery){.job = *job,
                           .worker = worker,
                           .relay = -1,
                           .waits = true,
                           .handed_ms = NEVER,
                           .settle_ms = NEVER};
    *job = (struct mq_job){0};
    assert_true(f->job.paid >= 1 && (size_t)f->job.paid == f->job.targets.count);
    add_mark(&w->tokens, w->now_ms, f->job.paid);
    w->workers[worker].under_way++;
    if (!w->routes) {
        f->relay = w->relays ? worker % w->relays : 0;
        begin(w, f);
    }
}

/* ---- payments ---- */

/* The relays for a job: in random order, if it can go to any. */
static void relays_of(void *context, const struct mq_job *job, struct mq_relay_list *out)
{
    struct limit_scene *w = context;
    int64_t kind = job->id % 4;
    int64_t first = kind < 2 ? kind : draw(&w->seed, 2);
    out->names[out->count++] = relays[first];
    if (kind >= 2) {
        out->names[out->count++] = relays[1 - first];
    }
}

/* Those for a delivery: without the one that failed. */
static void relays_for(struct limit_scene *w, const struct delivery *f, struct mq_relay_list *out)
{
    relays_of(w, &f->job, out);
    if (f->relay >= 0 && out->count == 2) {
        out->names[0] = relays[1 - f->relay];
        out->count = 1;
    }
}

static size_t ask_payments(struct limit_scene *w, int worker, struct mq_payment *payments)
{
    size_t n = 0;
    for (size_t i = 0; i < w->under_way && n < MQ_PAYMENTS_MAX; i++) {
        struct delivery *f = &w->deliveries[i];
        if (f->worker == worker && f->waits) {
            payments[n] = (struct mq_payment){.job = &f->job};
            relays_for(w, f, &payments[n++].relays);
        }
    }
    return n;
}

static void take_payment(struct limit_scene *w, struct delivery *f, struct mq_payment *payment)
{
    add_mark(&w->tokens, w->now_ms, payment->paid - f->job.paid);
    mark_relay(w, f, -f->job.paid);
    assert_int_equal(mq_payment_take(payment, &w->fx.err), MQ_OK);
    f->relay = f->job.paid_to == NULL || strcmp(f->job.paid_to, relays[0]) != 0;
    assert_int_equal((size_t)f->job.paid, f->job.targets.count);
    mark_relay(w, f, f->job.paid);
    if (f->job.id % 4 < 2 || draw(&w->seed, 20)) { /* else that relay fails at once */
        begin(w, f);
    }
}

/* What became of the payments; some deliveries leave. */
static void take_payments(struct limit_scene *w, int worker, struct mq_payment *payments, size_t n)
{
    for (size_t i = w->under_way; i-- > 0 && n > 0;) {
        struct delivery *f = &w->deliveries[i];
        if (f->worker != worker || !f->waits || payments[n - 1].job != &f->job) {
            continue;
        }
        struct mq_payment *payment = &payments[--n];
        assert_true(payment->end != MQ_PAYMENT_NONE);
        if (payment->end == MQ_PAYMENT_DONE) {
            take_payment(w, f, payment);
            continue;
        }
        assert_true(payment->end == MQ_PAYMENT_BACK || f->recovered);
        if (!f->recovered) {
            add_mark(&w->tokens, w->now_ms, -f->job.paid);
            mark_relay(w, f, -f->job.paid);
        }
        land(w, f);
    }
}

/* Reads the killed worker's record; called for each row that is recovered. */
static void find(void *context, const char *token, int64_t id, struct mq_recorded *out)
{
    struct limit_scene *w = context;
    for (size_t i = 0; i < w->under_way; i++) {
        struct delivery *f = &w->deliveries[i];
        if (f->job.id != id || strcmp(f->job.locked_by, token) != 0) {
            continue;
        }
        bool reached = f->handed_ms <= w->now_ms;
        int k = (int)f->job.targets.count;
        int64_t handed = f->job.paid;
        if (f->record && f->waits) {
            out->outcome = MQ_OUTCOME_RELEASED;
            handed = 0;
        } else if (f->record) {
            out->outcome = MQ_OUTCOME_DEFERRED;
            out->by_recipient = reached;
            out->handed_over = reached ? k : 0;
            handed = out->handed_over;
            out->at_s = START + f->claimed_ms / 1000; /* when the body began: too early to use */
            for (size_t r = 0; r < f->job.recipients.count; r++) {
                out->results[r] = f->job.target_of[r] >= 0 && reached ? MQ_OUTCOME_UNCERTAIN : 0;
            }
        }
        add_mark(&w->tokens, w->now_ms, handed - f->job.paid);
        mark_relay(w, f, handed - f->job.paid);
        f->recovered = true;
        if (f->waits) {
            return;
        }
        w->occupied_ms += f->job.paid * (w->now_ms - f->claimed_ms);
        w->paid += f->job.paid;
        return;
    }
    fail_msg("a row was recovered that nobody had claimed");
}

/* Ends what its worker has settled, and what another one has recovered. */
static void land_settled(struct limit_scene *w)
{
    for (size_t i = 0; i < w->under_way;) {
        struct delivery *f = &w->deliveries[i];
        if (f->settled || (f->worker < 0 && f->recovered)) {
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
    struct mq_record_source source = {find, w};
    for (size_t i = 0; i < w->under_way && n < SESSIONS; i++) {
        if (w->deliveries[i].worker == number && w->deliveries[i].settle_ms <= w->now_ms) {
            landing[n] = &w->deliveries[i];
            make_outcome(landing[n], &settlements[n]);
            n++;
        }
    }
    struct mq_relay_state all[RELAYS_MAX] = {{.name = relays[0]}, {.name = relays[1]}};
    struct mq_payment payments[MQ_PAYMENTS_MAX] = {0};
    size_t paying = ask_payments(w, number, payments);
    struct mq_claim_request request = {.limit = SESSIONS - me->under_way + (int)n,
                                       .lease_s = LEASE_S,
                                       .token = me->token,
                                       .relays =
                                           w->relays && !w->routes ? &all[number % w->relays] : all,
                                       .relay_count = w->routes ? RELAYS_MAX : w->relays > 0,
                                       .relays_of = w->routes ? relays_of : NULL,
                                       .relays_context = w,
                                       .dead_tokens = &dead,
                                       .dead_count = w->dead[0] != '\0',
                                       .records = &source};
    struct mq_cycle cycle = {.outcomes = settlements,
                             .outcome_count = n,
                             .payments = payments,
                             .payment_count = paying,
                             .request = &request,
                             .claim = &w->fx.claim};
    assert_int_equal(mq_queue_cycle(w->fx.queue, &cycle, &w->fx.err), MQ_OK);
    assert_int_equal(w->fx.claim.status, MQ_OK);
    w->dead[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(settlements[i].row == MQ_ROW_LOST, landing[i]->recovered);
        w->stale += settlements[i].row == MQ_ROW_LOST;
        if (settlements[i].row != MQ_ROW_LOST) {
            int64_t change = settlements[i].handed_over - settlements[i].job->paid;
            add_mark(&w->tokens, w->now_ms, change);
            mark_relay(w, landing[i], change);
        }
        landing[i]->settled = true;
    }
    take_payments(w, number, payments, paying);
    land_settled(w);
    for (size_t i = 0; i < w->fx.claim.count; i++) {
        take_off(w, number, &w->fx.claim.jobs[i]);
    }
    int64_t resume = (w->fx.claim.resume_s - START) * 1000;
    assert_true(w->fx.claim.end != MQ_CLAIM_TOKENS || resume > w->now_ms);
    bool soon = resume <= w->now_ms + 1000; /* leases under way: asking each second gains little */
    bool late = w->limit > 60 || draw(&w->seed, 2); /* others are awake meanwhile */
    me->wake_ms = (soon ? w->now_ms + 10000 : resume) + (late ? draw(&w->seed, 160000) : 0);
    if (w->fx.claim.end == MQ_CLAIM_EMPTY) {
        stock_up(w);
        bool waits = w->fx.claim.resume_s > 0; /* for limits of their senders */
        me->wake_ms = waits && resume > w->now_ms ? resume : w->now_ms + 1;
    }
    if (w->fx.claim.end == MQ_CLAIM_MORE) {
        me->wake_ms = w->now_ms + 1;
    }
    if (ask_payments(w, number, payments) > 0) {
        me->wake_ms = w->now_ms + 1 + draw(&w->seed, 1500);
    }
}

static void kill_worker(struct limit_scene *w, int number)
{
    struct limit_worker *me = &w->workers[number];
    bool record = draw(&w->seed, 2) && w->dead[0] == '\0';
    if (record) {
        strcpy(w->dead, me->token);
    }
    for (size_t i = 0; i < w->under_way; i++) {
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
    me->under_way = 0;
    me->wake_ms = w->now_ms + 1000 + draw(&w->seed, 60000);
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
    for (size_t i = 0; i < w->under_way; i++) {
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
    fx_sql(&w->fx, "CREATE TABLE put_back (id INTEGER)");
    enum mq_status status =
        mq_sql_query_text(w->fx.queue,
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
    int64_t kill_ms = draw(&w->seed, 4 * HOUR_MS);
    fx_open(&w->fx);
    char text[24];
    snprintf(text, sizeof(text), "%lld", (long long)w->limit);
    fx_set(&w->fx, w->limits ? "mailLimits" : "mailMaxPerHour", w->limits ? w->limits : text);
    count_put_back(w);
    fx_set(&w->fx, "mailRateMode", w->strict ? "strict" : "average");
    w->deliveries = calloc(UNDER_WAY_MAX, sizeof(*w->deliveries));
    for (int i = 0; i < WORKERS; i++) {
        new_token(w, w->workers[i].token);
        w->workers[i].wake_ms = draw(&w->seed, 60000);
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
            kill_worker(w, (int)draw(&w->seed, WORKERS));
            kill_ms = w->now_ms + draw(&w->seed, 8 * HOUR_MS);
            continue;
        }
        work(w, worker);
    }
    set_now(w, w->span_ms);
    while (w->under_way > 0) {
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
    for (int i = 0; i < RELAYS_MAX; i++) {
        free(w->relay_tokens[i].items);
    }
}
