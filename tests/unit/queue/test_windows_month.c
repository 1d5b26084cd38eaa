/* Limits in windows, over days of the fake clock: three limits at once on two relays, four
 * workers, and all that limit_scene.h says.
 *
 * strict: no relay, or sender, ever takes more than N recipients in any half-open window of its
 * own clock, and the tightest limit lets at least 95 % of what is possible through, when a
 * recipient occupies its place from claim to settle, and for the window and a second after.
 * average: tokens paid less tokens given back are at most N + capacity in any window.
 *
 * MQ_LIMIT_SEEDS sets the number of seeds (1), MQ_LIMIT_DAYS the days (3). tools/torture windows
 * runs 30 days, which take about seven minutes of the processor. */
#include "limit_scene.h"

static int64_t span_ms(void)
{
    const char *text = getenv("MQ_LIMIT_DAYS");
    return (text && atoi(text) > 0 ? atoi(text) : 3) * DAY_MS;
}

struct rule {
    int64_t n;
    int64_t length_s;
};

static int seeds(void)
{
    const char *text = getenv("MQ_LIMIT_SEEDS");
    return text && atoi(text) > 0 ? atoi(text) : 1;
}

/* Checks one relay's or sender's marks against its limits; returns the yield of the tightest. */
static double check_windows(const struct limit_scene *w, struct marks *marks, const char *whose,
                            const struct rule *rules, size_t count)
{
    double possible = 1e18;
    for (size_t i = 0; i < count; i++) {
        const struct rule *rule = &rules[i];
        int64_t most = most_in(marks, rule->length_s * 1000, false);
        double can =
            (double)rule->n * (span_ms() / 1000) / ((double)rule->length_s + 1 + mean_s(w));
        possible = can < possible ? can : possible;
        print_message("%s: at most %lld of %lld in %lld s\n", whose, (long long)most,
                      (long long)rule->n, (long long)rule->length_s);
        assert_true(most <= rule->n);
    }
    double yield = (double)total(marks) / possible;
    print_message("%s: %lld recipients, mean %.0f s, yield %.3f\n", whose, (long long)total(marks),
                  mean_s(w), yield);
    return yield;
}

/* Checks that mail is not put back again and again: 18 times each in 30 days of too much mail. */
static void check_put_back(struct limit_scene *w)
{
    int64_t times = fx_int(&w->fx, "SELECT count(*) FROM put_back");
    int64_t mails = fx_int(&w->fx, "SELECT count(DISTINCT id) FROM put_back");
    print_message("%lld mails put back %lld times\n", (long long)mails, (long long)times);
    assert_true(times <= 25 * mails);
}

static struct limit_scene month(const char *limits, int64_t stock, bool strict, int seed)
{
    return (struct limit_scene){.limit = stock,
                                .limits = limits,
                                .strict = strict,
                                .span_ms = span_ms(),
                                .seed = 88172645463325252u + (uint64_t)seed * 7919u};
}

/* Each relay has its own count of each limit. */
static void check_relays(const char *limits, const struct rule *rules, int seed)
{
    struct limit_scene w = month(limits, 120, true, seed);
    w.relays = 2;
    limit_scene_run(&w);
    for (int i = 0; i < 2; i++) {
        const char *whose = i ? "relay two" : "relay one";
        assert_true(check_windows(&w, &w.sink[i][0], whose, rules, 3) >= 0.95);
    }
    limit_scene_end(&w);
}

static void test_day_is_tightest(void **state)
{
    static const struct rule rules[] = {{60, 3600}, {200, 4 * 3600}, {500, 86400}};
    (void)state;
    for (int seed = 1; seed <= seeds(); seed++) {
        check_relays("60/1h per relay, 200/4h per relay, 500/1d per relay", rules, seed);
    }
}

static void test_hour_is_tightest(void **state)
{
    static const struct rule rules[] = {{20, 3600}, {90, 4 * 3600}, {600, 86400}};
    (void)state;
    for (int seed = 1; seed <= seeds(); seed++) {
        check_relays("600/1d per relay, 20/1h per relay, 90/4h per relay", rules, seed);
    }
}

/* Limits of each kind at once: of each relay, of each sender, of all. */
static void test_kinds(void **state)
{
    static const struct rule relay = {40, 3600}, sender = {100, 4 * 3600}, all = {900, 86400};
    (void)state;
    struct limit_scene w = month("40/1h per relay, 100/4h per sender, 900/1d", 300, true, 5);
    struct marks every = {0};
    w.relays = 2;
    w.senders = SENDERS_MAX;
    limit_scene_run(&w);
    for (int i = 0; i < 2; i++) {
        struct marks one = {0};
        for (int k = 0; k < SENDERS_MAX; k++) {
            add_marks(&one, &w.sink[i][k]);
            add_marks(&every, &w.sink[i][k]);
        }
        check_windows(&w, &one, "a relay", &relay, 1);
        free(one.items);
    }
    for (int k = 0; k < SENDERS_MAX; k++) {
        struct marks one = {0};
        add_marks(&one, &w.sink[0][k]);
        add_marks(&one, &w.sink[1][k]);
        check_windows(&w, &one, "a sender", &sender, 1);
        free(one.items);
    }
    assert_true(check_windows(&w, &every, "all", &all, 1) >= 0.95);
    free(every.items);
    limit_scene_end(&w);
}

/* Both relays in each run: what is claimed pays at a relay before it begins there. A mail of each
 * fourth is for one relay alone; some move from a relay that fails to the other one. */
static void check_routes(const char *limits, const struct rule (*rules)[3], int seed)
{
    struct limit_scene w = month(limits, 600, true, seed);
    w.relays = 2;
    w.routes = true;
    limit_scene_run(&w);
    for (int i = 0; i < 2; i++) {
        const char *whose = i ? "relay two of a run" : "relay one of a run";
        assert_true(check_windows(&w, &w.sink[i][0], whose, rules[i], 3) >= 0.95);
    }
    check_put_back(&w);
    limit_scene_end(&w);
}

static void test_relays_of_a_run(void **state)
{
    static const struct rule same[2][3] = {{{60, 3600}, {200, 4 * 3600}, {500, 86400}},
                                           {{60, 3600}, {200, 4 * 3600}, {500, 86400}}};
    static const struct rule own[2][3] = {{{20, 3600}, {90, 4 * 3600}, {600, 86400}},
                                          {{60, 3600}, {200, 4 * 3600}, {300, 86400}}};
    (void)state;
    for (int seed = 1; seed <= seeds(); seed++) {
        check_routes("60/1h per relay, 200/4h per relay, 500/1d per relay", same, seed);
        check_routes("20/1h per relay one.example, 90/4h per relay one.example, "
                     "600/1d per relay one.example, 60/1h per relay two.example, "
                     "200/4h per relay two.example, 300/1d per relay two.example",
                     own, seed);
    }
}

/* Three mailboxes with a hoster's limits each; their mail is put back when they are full. */
static void test_senders(void **state)
{
    static const struct rule rules[] = {{60, 3600}, {200, 4 * 3600}, {500, 86400}};
    (void)state;
    for (int seed = 1; seed <= seeds(); seed++) {
        struct limit_scene w =
            month("60/1h per sender, 200/4h per sender, 500/1d per sender", 900, true, seed);
        w.senders = SENDERS_MAX;
        limit_scene_run(&w);
        for (int k = 0; k < SENDERS_MAX; k++) {
            assert_true(check_windows(&w, &w.sink[0][k], "a sender", rules, 3) >= 0.95);
        }
        check_put_back(&w);
        limit_scene_end(&w);
    }
}

/* Checks that in each window no more tokens are paid than N and a burst. */
static void check_tokens(struct marks *tokens, const char *whose)
{
    static const struct rule rules[] = {{60, 3600}, {200, 4 * 3600}, {500, 86400}};
    static const int64_t caps[] = {5, 5, 9}; /* max(min(N, 5), ceil(N / 60)) */
    for (int i = 0; i < 3; i++) {
        int64_t most = most_in(tokens, rules[i].length_s * 1000, true);
        print_message("average, %s: at most %lld tokens of %lld in %lld s\n", whose,
                      (long long)most, (long long)rules[i].n, (long long)rules[i].length_s);
        assert_true(most <= rules[i].n + caps[i]);
    }
    assert_true(total(tokens) >= 500 * (span_ms() / DAY_MS) * 95 / 100);
}

static void test_average(void **state)
{
    (void)state;
    struct limit_scene w = month("60/1h, 200/4h, 500/1d", 120, false, 3);
    w.relays = 2;
    limit_scene_run(&w);
    check_tokens(&w.tokens, "all");
    limit_scene_end(&w);
}

static void test_average_of_relays(void **state)
{
    (void)state;
    struct limit_scene w =
        month("60/1h per relay, 200/4h per relay, 500/1d per relay", 600, false, 3);
    w.relays = 2;
    w.routes = true;
    limit_scene_run(&w);
    check_tokens(&w.relay_tokens[0], "relay one of a run");
    check_tokens(&w.relay_tokens[1], "relay two of a run");
    limit_scene_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_day_is_tightest),
        cmocka_unit_test(test_hour_is_tightest),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_senders),
        cmocka_unit_test(test_relays_of_a_run),
        cmocka_unit_test(test_average),
        cmocka_unit_test(test_average_of_relays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
