/* The n-th allocation fails, for every n: each call reports it or does without, and nothing leaks
 * or crashes (ASan finds that). */
/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup */
#include "queue/config/relays.h"
#include "queue_fixture.h"

static long countdown = -1; /* the allocation that fails; below zero: none */
static bool ran_out;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
char *__real_strdup(const char *s);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__wrap_strdup(const char *s);

static bool fails(void)
{
    if (countdown < 0 || countdown-- > 0) {
        return false;
    }
    ran_out = true;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
    return fails() ? NULL : __real_realloc(p, size);
}

char *__wrap_strdup(const char *s)
{
    return fails() ? NULL : __real_strdup(s);
}

/* One pass over everything that a queue can do; ends at the first failure. */
struct pass {
    struct fixture fx;
    enum mq_status status;
};

static bool good(struct pass *p, enum mq_status status)
{
    p->status = status;
    return status == MQ_OK;
}

static bool cycle(struct pass *p, struct mq_settlement *outcomes, size_t count, bool claims)
{
    struct fixture *fx = &p->fx;
    struct mq_cycle what = {.outcomes = outcomes,
                            .outcome_count = count,
                            .request = claims ? &fx->request : NULL,
                            .claim = &fx->claim,
                            .events = &fx->events};
    return good(p, mq_queue_cycle(fx->queue, &what, &fx->err)) &&
           (!claims || good(p, fx->claim.status));
}

static bool store(struct pass *p)
{
    static char *people[] = {"a@example.org", "b@example.org", "c@example.org"};
    struct mq_strings three = {people, 3, 3};
    struct mq_new_job job = {.mail_type = MQ_STR("mail"),
                             .reference = MQ_STR("R"),
                             .message_id = "<x@y>",
                             .envelope_from = "f@example.org",
                             .recipients = &three,
                             .body = MQ_STR("x")};
    struct mq_new_job composed = {.mail_type = MQ_STR("mail"), .message_id = "<x@y>"};
    struct mq_queue *queue = p->fx.queue;
    struct mq_error *err = &p->fx.err;
    int64_t id;
    return good(p, mq_queue_set_config(queue, "mailMaxPerHour", "60", err)) &&
           good(p, mq_queue_set_config(queue, "mailRateMode", "strict", err)) &&
           good(p, mq_queue_set_config(queue, "mailRedirectTo", "@x.org", err)) &&
           good(p, mq_queue_set_config(queue, "mailRedirectTypes", "mail,x", err)) &&
           good(p, mq_queue_enqueue(queue, &job, 1, &id, err)) &&
           good(p, mq_queue_enqueue(queue, &composed, 1, &id, err));
}

static bool deliver(struct pass *p)
{
    struct fixture *fx = &p->fx;
    unsigned char mixed[] = {MQ_OUTCOME_DELIVERED, MQ_OUTCOME_REFUSED, MQ_OUTCOME_REFUSED};
    unsigned char later[] = {MQ_OUTCOME_DEFERRED};
    bool lost;
    if (!cycle(p, NULL, 0, true)) {
        return false;
    }
    struct mq_claim claim = fx->claim;
    fx->claim = (struct mq_claim){0};
    bool ok = claim.count == 2;
    struct mq_job *composed = &claim.jobs[1];
    countdown = countdown < 0 ? countdown : countdown + 2;
    composed->envelope_from = strdup("f@example.org");
    ok = ok && composed->envelope_from && mq_strings_add(&composed->recipients, MQ_STR("d@x.org"));
    if (!ok && ran_out) {
        p->status = MQ_NOMEM; /* the test's own */
    }
    ok = ok && good(p, mq_queue_set_envelope(fx->queue, composed, NULL, &lost, &fx->err)) &&
         good(p, mq_queue_renew(fx->queue, &composed, 1, 900, &fx->err));
    struct mq_settlement outcomes[] = {
        {.job = &claim.jobs[0], .results = mixed, .error = "550 no", .retry_after_s = -1},
        {.job = composed, .results = later, .error = "450 later", .retry_after_s = -1}};
    ok = ok && cycle(p, outcomes, 2, true);
    mq_claim_clear(&claim);
    return ok;
}

static bool manage(struct pass *p)
{
    struct fixture *fx = &p->fx;
    struct mq_stats stats;
    struct mq_job_list list;
    struct mq_job_filter filter = {.state = -1, .limit = 10, .after = 0};
    struct mq_relay_pause pause = {.relay = "r", .reason = "down"};
    int64_t n = 0;
    struct mq_sweep sweep = {0};
    if (!good(p, mq_queue_retry(fx->queue, NULL, true, &n, &fx->err)) ||
        !good(p, mq_queue_stats(fx->queue, INT64_MAX, &stats, &fx->err))) {
        return false;
    }
    mq_stats_clear(&stats);
    if (!good(p, mq_queue_jobs(fx->queue, &filter, &list, &fx->err))) {
        return false;
    }
    mq_job_list_clear(&list);
    fx->now_s += 1000;
    return cycle(p, NULL, 0, true) &&
           good(p, mq_queue_recover(fx->queue, START * 2, NULL, &n, &fx->err)) &&
           good(p, mq_queue_sweep(fx->queue, &sweep, &fx->events, &fx->err)) &&
           good(p, mq_queue_pause_relay(fx->queue, &pause, &fx->err)) &&
           good(p, mq_queue_clear_pause(fx->queue, "r", &fx->err)) &&
           good(p, mq_queue_note_run(fx->queue, &fx->err)) &&
           good(p, mq_queue_take_tokens(fx->queue, 1, &n, &fx->err));
}

/* The n-th allocation after the connection is open fails: opening is tested with the driver. */
static void run(struct pass *p, long n)
{
    struct mq_db *db = fx_memory();
    ran_out = false;
    countdown = n;
    p->status = mq_queue_open(db, &p->fx.options, &p->fx.queue, &p->fx.err);
    if (p->status == MQ_OK) {
        (void)(store(p) && deliver(p) && manage(p));
    }
    countdown = -1;
    fx_close(&p->fx);
}

static void test_every_allocation(void **state)
{
    (void)state;
    for (long n = 0;; n++) {
        struct pass p = {.status = MQ_OK};
        fx_init(&p.fx);
        run(&p, n);
        if (p.status != MQ_OK && p.status != MQ_NOMEM) {
            fail_msg("allocation %ld: %s: %s", n, mq_status_name(p.status), p.fx.err.text);
        }
        if (!ran_out) {
            assert_true(n > 200);
            return;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
