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
#include "limit_scene.h"

#define WEEK_MS (7 * DAY_MS)

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
    struct limit_scene w = {.limit = limit,
                            .strict = true,
                            .span_ms = WEEK_MS,
                            .seed = 88172645463325252u + (uint64_t)seed * 7919u};
    limit_scene_run(&w);
    int64_t most = most_in(&w.sink[0][0], HOUR_MS, false);
    double possible = (double)limit * (double)(WEEK_MS / 1000) / (3601 + mean_s(&w));
    double yield = (double)total(&w.sink[0][0]) / possible;
    print_message("strict %lld, seed %d: %lld recipients, at most %lld an hour, mean %.0f s, "
                  "yield %.3f, %d stale\n",
                  (long long)limit, seed, (long long)total(&w.sink[0][0]), (long long)most,
                  mean_s(&w), yield, w.stale);
    assert_true(most <= limit);
    assert_true(yield >= 0.95);
    limit_scene_end(&w);
}

static void check_average(int64_t limit, int seed)
{
    struct limit_scene w = {
        .limit = limit, .span_ms = WEEK_MS, .seed = 88172645463325252u + (uint64_t)seed * 104729u};
    limit_scene_run(&w);
    int64_t most = most_in(&w.tokens, HOUR_MS, true); /* in the order of the transactions */
    int64_t cap = mq_bucket_default_cap(limit);
    print_message("average %lld, seed %d: %lld recipients, at most %lld tokens an hour\n",
                  (long long)limit, seed, (long long)total(&w.sink[0][0]), (long long)most);
    assert_true(most <= limit + cap);
    assert_true(total(&w.tokens) <= limit * 7 * 24 + cap);
    assert_true(total(&w.tokens) >= limit * 7 * 24 * 95 / 100); /* the least yield */
    limit_scene_end(&w);
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
