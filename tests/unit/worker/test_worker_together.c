/* Groups and a map of relays, limits of relays and of recipients' domains, sessions of a domain, a
 * domain that defers its mail, and a relay that is down at first: all in one queue, by cron and in
 * a daemon. Nothing is sent too fast or left over. */
#include "worker_fake.h"

#define HOUR_S 3600
#define LIMITS "40/1h per relay, 12/10m to @full.x, 100/1h"
#define MAILS  240

static struct taken {
    int64_t at_ms;
    const struct fake_relay *relay;
    char domain[16];
} taken[1000];
static size_t taken_count;
static int64_t begun_ms;

static bool after_s(const struct scene_worker *scene, int64_t seconds)
{
    return scene->boot_ms - begun_ms > seconds * 1000;
}

static void take(struct fake_relay *relay, struct mq_transfer *transfer, struct mq_target *target)
{
    const char *domain = strchr(target->address, '@') + 1;
    (void)transfer;
    if (strcmp(domain, "bad.x") == 0 && !after_s(relay->scene, HOUR_S)) {
        set_result(target, MQ_OUTCOME_DEFERRED, "450 4.7.1 later");
        return;
    }
    set_result(target, MQ_OUTCOME_DELIVERED, "250 2.0.0 Ok");
    assert_true(taken_count < 1000);
    struct taken *one = &taken[taken_count++];
    *one = (struct taken){.at_ms = relay->scene->boot_ms, .relay = relay};
    snprintf(one->domain, sizeof(one->domain), "%s", domain);
}

/* The most that any window of this length has, of those that the relay or the domain took. */
static int64_t most_within(int64_t seconds, const struct fake_relay *relay, const char *domain)
{
    int64_t most = 0;
    for (size_t i = 0; i < taken_count; i++) {
        int64_t n = 0;
        for (size_t k = i; k < taken_count && taken[k].at_ms < taken[i].at_ms + seconds * 1000;
             k++) {
            n += (!relay || taken[k].relay == relay) &&
                 (!domain || strcmp(taken[k].domain, domain) == 0);
        }
        most = n > most ? n : most;
    }
    return most;
}

static void map(struct scene_worker *scene)
{
    struct mq_relays *relays = &scene->relays;
    assert_int_equal(mq_relays_map(relays, MQ_STR("@one.x"), MQ_STR("a"), &scene->err), MQ_OK);
    assert_int_equal(
        mq_relays_map(relays, MQ_STR("@two.x"), MQ_STR("roundrobin(b a)"), &scene->err), MQ_OK);
}

static void recovers(struct scene_worker *scene)
{
    scene->relay.down = !after_s(scene, 1200);
}

static int64_t begin(struct scene_worker *scene)
{
    static const char *const to[] = {
        "a@full.x b@full.x c@else.x", "a@else.x", "a@full.x", "a@bad.x",
        "a@else.x a@full.x",          "a@third.x"};
    int64_t recipients = 0;
    scene->dsn = "failover(a b)";
    scene->on_relays = map;
    scene->on_wait = recovers;
    scene->relay.answer = scene->other.answer = take;
    scene->relay.latency_ms = 2000;
    scene->relay.down = true;
    fx_set(&scene->fx, "mailRateMode", "strict");
    fx_set(&scene->fx, "mailLimits", LIMITS);
    fx_set(&scene->fx, "mailDomainSessions", "2 to @full.x");
    taken_count = 0;
    begun_ms = scene->boot_ms;
    for (int i = 0; i < MAILS; i++) {
        fx_mail(&scene->fx, to[i % 6]);
        recipients += 1 + (i % 6 == 4) + 2 * (i % 6 == 0);
    }
    fx_sql(&scene->fx, "UPDATE mail_queue SET priority = id % 3, envelope_from = "
                       "CASE id % 4 WHEN 0 THEN 'f@one.x' WHEN 1 THEN 'f@two.x' "
                       "ELSE envelope_from END");
    return recipients;
}

static void check(struct scene_worker *scene, int64_t recipients)
{
    print_message("%zu of %lld taken in %lld s; %lld and %lld an hour, %lld in ten minutes\n",
                  taken_count, (long long)recipients,
                  (long long)(taken[taken_count - 1].at_ms - begun_ms) / 1000,
                  (long long)most_within(HOUR_S, &scene->relay, NULL),
                  (long long)most_within(HOUR_S, &scene->other, NULL),
                  (long long)most_within(600, NULL, "full.x"));
    assert_in_range(most_within(HOUR_S, &scene->relay, NULL), 38, 40);
    assert_in_range(most_within(HOUR_S, &scene->other, NULL), 38, 40);
    assert_in_range(most_within(600, NULL, "full.x"), 10, 12);
    assert_in_range(most_within(HOUR_S, NULL, NULL), 70, 100);
    assert_int_equal(count_jobs(scene, NULL), 0);
    assert_int_equal(taken_count, recipients);
}

static void test_cron(void **state)
{
    struct scene_worker *scene = *state;
    int64_t recipients = begin(scene);
    scene->options.time_limit_s = 55;
    cron_for(scene, 12 * HOUR_S);
    check(scene, recipients);
}

static void test_daemon(void **state)
{
    struct scene_worker *scene = *state;
    int64_t recipients = begin(scene);
    scene->options.daemon = true;
    scene->options.time_limit_s = 12 * HOUR_S;
    run_until(scene, MQ_RUN_TIME);
    check(scene, recipients);
}

/* ---- other hours while it runs ---- */

/* Sets other hours each second. They are always open, but the worker has to load them. */
static enum mq_status change_hours(struct fake_relay *relay, struct mq_error *err)
{
    static const char *const hours[] = {"mail: Mo-Su 00:00-24:00 UTC", "*: Mo-Su 00:00-24:00 UTC"};
    static int64_t changed_s;
    int64_t now_s = relay->scene->boot_ms / 1000;
    (void)err;
    if (now_s != changed_s) {
        changed_s = now_s;
        fx_set(&relay->scene->fx, "mailHours", hours[now_s % 2]);
    }
    return MQ_OK;
}

static void test_hours_change(void **state)
{
    struct scene_worker *scene = *state;
    int64_t recipients = begin(scene);
    scene->relay.on_step = scene->other.on_step = change_hours;
    scene->relay.sessions = scene->other.sessions = 1;
    scene->options.daemon = true;
    scene->options.time_limit_s = 12 * HOUR_S;
    run_until(scene, MQ_RUN_TIME);
    check(scene, recipients);
}

/* A relay that is paused for a minute stays so. */
static void test_hours_change_in_a_pause(void **state)
{
    struct scene_worker *scene = *state;
    scene->dsn = "failover(a b)";
    scene->relay.down = true;
    scene->other.on_step = change_hours;
    scene->other.sessions = 1;
    scene->other.latency_ms = 1000;
    enqueue_mails(scene, 30);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->other.accepted_count, 30);
    assert_int_equal(count_events(scene, MQ_EVENT_RELAY_TROUBLE), 1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, scene_worker_setup, scene_worker_teardown)
    const struct CMUnitTest tests[] = {
        T(test_cron),
        T(test_daemon),
        T(test_hours_change),
        T(test_hours_change_in_a_pause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
