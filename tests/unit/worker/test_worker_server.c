/* A worker on a database that machines share: its time, its slot, its connection. The server is an
 * SQLite database in memory, behind a driver that has its own clock and loses connections. */
#include "db/db.h"
#include "queue/handle.h"
#include "worker/lock.h"
#include "worker_fake.h"

static struct {
    struct scene_worker *scene;
    const struct mq_db_driver *file;
    struct mq_db_driver driver;
    struct mq_sql_dialect dialect;
    const char *overrides[MQ_SQL_COUNT];
    int64_t ahead_s;      /* how far the server's clock is ahead of START + boot */
    int64_t ahead_ms;     /* and within the second */
    int commits;          /* so far */
    int cut_at;           /* the commit whose answer is lost; 0: none */
    bool undone;          /* … and which was not made */
    bool down;            /* the connection is lost */
    bool is_applications; /* cannot be reopened */
    int reopens_in_vain, reopened, asked, renewals, taken;
    int64_t heard_ms, silence_ms; /* the last statement; the longest time without one */
    int slots;                    /* that are free */
    int64_t slots_gone_ms;        /* for this long after a reopen, none is free */
    int64_t reopened_ms;
    enum mq_status slot_fails; /* of the next question for a slot; MQ_OK: it is answered */
} server;

static int64_t server_ms(void)
{
    return (START + server.ahead_s) * 1000 + server.ahead_ms + server.scene->boot_ms;
}

static enum mq_status lost(struct mq_error *err)
{
    return mq_error_set(err, MQ_IO, "database", "the connection is lost");
}

static enum mq_status server_begin(struct mq_db *db, struct mq_error *err)
{
    return server.down ? lost(err) : server.file->begin(db, err);
}

static enum mq_status server_commit(struct mq_db *db, struct mq_error *err)
{
    if (++server.commits != server.cut_at) {
        return server.file->commit(db, err);
    }
    server.down = true;
    if (server.undone) {
        server.file->rollback(db);
    } else {
        assert_int_equal(server.file->commit(db, err), MQ_OK);
    }
    return lost(err);
}

static enum mq_status server_run(struct mq_db *db, const struct mq_query *query,
                                 struct mq_error *err)
{
    char text[64];
    struct mq_query told = {.slot = -1, .sql = text};
    if (server.down) {
        return lost(err);
    }
    int64_t silence_ms = server.scene->boot_ms - server.heard_ms;
    server.silence_ms = silence_ms > server.silence_ms ? silence_ms : server.silence_ms;
    server.heard_ms = server.scene->boot_ms;
    server.renewals += query->slot == MQ_SQL_RENEW;
    server.asked += query->slot == MQ_SQL_NOW;
    if (query->slot == MQ_SQL_NOW) {
        snprintf(text, sizeof(text), "SELECT %lld", (long long)(server_ms() / 1000));
        return server.file->run(db, &told, err);
    }
    if (query->slot == MQ_SQL_SLOT_TAKE) {
        if (server.reopened > 0 && server.slot_fails != MQ_OK) {
            enum mq_status status = server.slot_fails;
            server.slot_fails = MQ_OK;
            server.down = status == MQ_IO;
            return mq_error_set(err, status, "database", "no answer");
        }
        bool gone = server.scene->boot_ms < server.reopened_ms + server.slots_gone_ms;
        snprintf(text, sizeof(text), "SELECT %d", !gone && query->params[1].i < server.slots);
        server.taken++;
        return server.file->run(db, &told, err);
    }
    return server.file->run(db, query, err);
}

static enum mq_status server_reopen(struct mq_db *db, struct mq_error *err)
{
    (void)db;
    if (server.is_applications) {
        return mq_error_set(err, MQ_CONFIG, "database", "the connection is the application's");
    }
    if (server.reopens_in_vain-- > 0) {
        return mq_error_set(err, MQ_CANTOPEN, "database", "connection refused");
    }
    server.reopened++;
    server.reopened_ms = server.scene->boot_ms;
    server.down = false;
    return MQ_OK;
}

static void become_server(struct scene_worker *scene)
{
    struct mq_queue *queue = scene->fx.queue;
    struct mq_db *db = mq_queue_db(queue);
    memset(&server, 0, sizeof(server));
    server.scene = scene;
    server.slots = 64;
    server.file = db->driver;
    server.driver = *db->driver;
    server.driver.begin = server_begin;
    server.driver.commit = server_commit;
    server.driver.run = server_run;
    server.driver.reopen = server_reopen;
    db->driver = &server.driver;
    server.dialect = *queue->dialect;
    memcpy(server.overrides, server.dialect.overrides, sizeof(server.overrides));
    server.overrides[MQ_SQL_NOW] = "SELECT 0";
    server.overrides[MQ_SQL_IDENTITY] = "SELECT 'a server/a database/{T}'";
    server.overrides[MQ_SQL_SLOT_TAKE] = "SELECT 0";
    server.overrides[MQ_SQL_SLOT_FREE] = "SELECT ?1 + ?2";
    server.overrides[MQ_SQL_SLOTS_HELD] = "SELECT 3 WHERE ?1 + ?2 > 0";
    server.dialect.overrides = server.overrides;
    server.dialect.shared = true;
    queue->dialect = &server.dialect;
    mq_queue_set_clock(queue, &scene->fx.options.clock);
}

/* The answer to the n-th commit from now is lost. */
static void cut_commit(int n, bool undone)
{
    server.commits = 0;
    server.cut_at = n;
    server.undone = undone;
}

/* Like run_until(), for a run that cannot know whether a claim was stored: its record stays. */
static void run_cut(struct scene_worker *scene, enum mq_run_end end)
{
    if (run_worker(scene) != MQ_OK) {
        fail_msg("run: %s", scene->err.text);
    }
    assert_string_equal(mq_run_end_name(scene->report.end), mq_run_end_name(end));
    assert_int_equal(count_files(scene, ".intent"), 1);
}

static int setup(void **state)
{
    scene_worker_setup(state);
    become_server(*state);
    return 0;
}

static int teardown(void **state)
{
    struct scene_worker *scene = *state;
    mq_queue_db(scene->fx.queue)->driver = server.file;
    server.down = false;
    return scene_worker_teardown(state);
}

/* ---- time ---- */

static void test_time_between_answers(void **state)
{
    struct scene_worker *scene = *state;
    const struct mq_clock *clock = mq_queue_clock(scene->fx.queue);
    int64_t now_s = 0;
    server.ahead_s = 90;
    assert_int_equal(mq_clock_now_s(clock), START + scene->boot_ms / 1000); /* its own */
    for (int i = 0; i < 100; i++) {
        server.ahead_ms = i * 37 % 1000;
        assert_int_equal(mq_queue_now(scene->fx.queue, &now_s, &scene->err), MQ_OK);
        for (int jump = -300; jump <= 300; jump += 100) {
            scene->wall_ahead_s = jump;
            scene->boot_ms += 770;
            int64_t ms = clock->now_us(clock->context) / 1000;
            assert_in_range(ms, server_ms(), server_ms() + 999);
            assert_in_range(mq_clock_now_s(clock), server_ms() / 1000, server_ms() / 1000 + 1);
        }
    }
}

/* With different clocks, a lease is renewed only after a third of it, mail is in the hour's ledger
 * at the server's time, and a run waits for a token only as long as it takes. */
static void run_with_clocks(struct scene_worker *scene, int64_t server_s, int64_t wall_s)
{
    server.ahead_s = server_s;
    scene->wall_ahead_s = wall_s;
    server.renewals = 0;
    scene->relay.latency_ms = 20000;
    scene->relay.sessions = 1;
    scene->options.lease_s = 90;
    scene->options.time_limit_s = 600;
    fx_set(&scene->fx, "mailMaxPerHour", "120");
    fx_set(&scene->fx, "mailRateMode", "strict");
    fx_set(&scene->fx, "mailBurst", "1");
    fx_set_raw(&scene->fx, "mailTokens", "0");
    fx_set_raw(&scene->fx, "mailLastRefill", "");
    fx_sql(&scene->fx, "DELETE FROM mail_spent");
    size_t before = scene->relay.accepted_count;
    enqueue_mails(scene, 5);
    int64_t start_ms = server_ms();
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 5);
    assert_int_equal(scene->report.stale, 0);
    assert_int_equal(scene->relay.accepted_count, before + 5);
    assert_int_equal(server.renewals, 0);
    assert_int_equal(fx_int(&scene->fx, "SELECT SUM(n) FROM mail_spent"), 5);
    int64_t first_s = fx_int(&scene->fx, "SELECT MIN(at) FROM mail_spent");
    /* The first token comes after 30 s at the latest, the mail 20 s later. */
    assert_in_range(first_s, start_ms / 1000 + 20, start_ms / 1000 + 52);
    assert_in_range(fx_int(&scene->fx, "SELECT MAX(at) FROM mail_spent"), server_ms() / 1000 - 2,
                    server_ms() / 1000);
    /* Five tokens, 30 s each. */
    assert_in_range(server_ms() - start_ms, 120000, 190000);
}

static void test_clocks_differ(void **state)
{
    static const int64_t offsets[][2] = {{0, 0}, {90, 0}, {-90, 0}, {0, 90}, {0, -90}, {90, -90}};
    for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
        run_with_clocks(*state, offsets[i][0], offsets[i][1]);
    }
}

static void wall_jumps(struct scene_worker *scene)
{
    scene->wall_ahead_s += scene->counter++ % 2 ? 4000 : -4000;
}

static enum mq_status jump(struct fake_relay *relay, struct mq_error *err)
{
    (void)err;
    wall_jumps(relay->scene);
    return MQ_OK;
}

/* Jumps of this machine's clock while a mail is under way do not matter. */
static void test_wall_clock_jumps(void **state)
{
    struct scene_worker *scene = *state;
    scene->relay.latency_ms = 100000;
    scene->relay.on_step = jump;
    scene->options.lease_s = 90;
    enqueue_mails(scene, 1);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 1);
    assert_int_equal(scene->report.stale, 0);
    assert_in_range(server.renewals, 3, 4); /* each 30 s */
}

/* A server ends a session that is silent for long, and the run's slot is a lock of that session. */
static void test_waits_for_a_token_not_in_silence(void **state)
{
    struct scene_worker *scene = *state;
    fx_set(&scene->fx, "mailMaxPerHour", "2");
    fx_set(&scene->fx, "mailRateMode", "strict");
    scene->options.time_limit_s = 7200;
    enqueue_mails(scene, 4);
    server.heard_ms = scene->boot_ms;
    server.silence_ms = 0;
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 4);
    assert_in_range(server.silence_ms, 4000, 6000);
    scene->options.time_limit_s = 1000; /* none comes before */
    enqueue_mails(scene, 1);
    int64_t start_ms = scene->boot_ms;
    run_until(scene, MQ_RUN_TOKENS);
    assert_in_range(scene->boot_ms - start_ms, 0, 1000);
}

/* ---- slots ---- */

static void test_slots(void **state)
{
    struct scene_worker *scene = *state;
    int held = 0;
    enqueue_mails(scene, 1);
    server.slots = 0;
    scene->options.max_workers = 3;
    run_until(scene, MQ_RUN_LOCKED);
    assert_int_equal(server.taken, 3);
    assert_int_equal(count_files(scene, ".lock"), 0);
    assert_int_equal(mq_slots_held(scene->fx.queue, scene->run_dir, 64, &held, &scene->err), MQ_OK);
    assert_int_equal(held, 3);
    server.slots = 3;
    server.taken = 0;
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 1);
    assert_int_equal(server.taken, 1);
}

/* The slot was lost with the connection: the run takes one again. */
static void test_slot_is_taken_again(void **state)
{
    struct scene_worker *scene = *state;
    scene->options.batch = 2;
    scene->relay.sessions = 1;
    enqueue_mails(scene, 6);
    cut_commit(2, true);
    run_cut(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 6);
    assert_int_equal(server.taken, 2);
}

/* The server holds the lock until it notices that the old connection is gone. */
static void test_slot_is_free_later(void **state)
{
    struct scene_worker *scene = *state;
    scene->options.batch = 2;
    scene->relay.sessions = 1;
    for (int undone = 0; undone <= 1; undone++) {
        enqueue_mails(scene, 6);
        server.slots_gone_ms = 3000;
        cut_commit(2, undone);
        int64_t start_ms = scene->boot_ms;
        run_cut(scene, MQ_RUN_EMPTY);
        assert_in_range(scene->boot_ms - start_ms, 3000, 4500);
        assert_in_range(scene->report.sent, undone ? 6 : 4,
                        6); /* a claim that this run may not know of */
        assert_int_equal(scene->report.uncertain, 0);
        server.slots_gone_ms = 0;
        run_until(scene, MQ_RUN_EMPTY);
        assert_int_equal(scene->relay.accepted_count, 6 * (undone + 1));
    }
}

static enum mq_status server_reopen_without_slot(struct mq_db *db, struct mq_error *err)
{
    server.slots = 0;
    return server_reopen(db, err);
}

static void test_run_without_its_slot(void **state)
{
    struct scene_worker *scene = *state;
    scene->options.batch = 2;
    scene->relay.sessions = 1;
    enqueue_mails(scene, 6);
    server.driver.reopen = server_reopen_without_slot;
    cut_commit(2, true);
    int64_t start_ms = scene->boot_ms;
    run_cut(scene, MQ_RUN_LOCKED); /* normally: sent mail is settled, the rest is released */
    assert_in_range(scene->boot_ms - start_ms, 5000, 7000);
    assert_int_equal(count_jobs(scene, "sending"), 0);
    assert_int_equal(scene->report.sent, (int64_t)scene->relay.accepted_count);
    assert_int_equal(count_jobs(scene, "pending"), 6 - scene->report.sent);
    server.slots = 1;
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->relay.accepted_count, 6);
}

/* However long the server was away, and however short the grace period is, sent mail is settled. */
static void test_no_slot_after_an_outage(void **state)
{
    static const int graces[] = {0, 2, 30};
    struct scene_worker *scene = *state;
    scene->options.batch = 2;
    scene->relay.sessions = 1;
    for (size_t i = 0; i < sizeof(graces) / sizeof(graces[0]); i++) {
        enqueue_mails(scene, 6);
        scene->options.grace_s = graces[i];
        server.slots_gone_ms = 60000;
        server.reopened_ms = 0;
        server.reopens_in_vain = graces[i] == 30 ? 22 : 0;
        cut_commit(2, true);
        run_cut(scene, MQ_RUN_LOCKED);
        assert_int_equal(count_jobs(scene, "sending"), 0);
        assert_int_equal(count_jobs(scene, "pending"), 6 - scene->report.sent);
        server.slots_gone_ms = 0;
        run_until(scene, MQ_RUN_EMPTY);
        assert_int_equal(scene->relay.accepted_count, 6 * (i + 1));
    }
}

/* The new connection is lost too, or does not answer yet: nothing is claimed without a slot. */
static void test_slot_cannot_be_asked_for(void **state)
{
    static const enum mq_status fails[] = {MQ_IO, MQ_BUSY, MQ_DATABASE};
    struct scene_worker *scene = *state;
    for (size_t i = 0; i < sizeof(fails) / sizeof(fails[0]); i++) {
        for (int at = 1; at <= 2; at++) { /* nothing is held; mails are */
            enqueue_mails(scene, 6);
            server.slot_fails = fails[i];
            server.reopened = server.taken = 0;
            cut_commit(at, true);
            run_cut(scene, MQ_RUN_EMPTY);
            assert_int_equal(server.taken, 2);
            run_until(scene, MQ_RUN_EMPTY);
            assert_int_equal(count_jobs(scene, "pending"), 0);
        }
    }
}

/* ---- the connection ---- */

/* At each commit of a run in turn, stored or not: no mail is sent twice or lost, and no token is
 * given back twice. */
static void cut(struct scene_worker *scene, int at, bool undone)
{
    char spent[32];
    size_t before = scene->relay.accepted_count;
    fx_set(&scene->fx, "mailMaxPerHour", "3600");
    fx_set(&scene->fx, "mailBurst", "100");
    fx_set_raw(&scene->fx, "mailTokens", "100");
    fx_sql(&scene->fx, "DELETE FROM mail_spent");
    enqueue_mails(scene, 9);
    cut_commit(at, undone);
    server.reopens_in_vain = 2;
    server.reopened = 0;
    enum mq_status status = run_worker(scene);
    assert_int_equal(status, MQ_OK);
    assert_int_equal(server.reopened, 1);
    assert_int_equal(scene->report.uncertain, 0);
    server.cut_at = 0;
    for (int i = 0; i < 2 && count_jobs(scene, "sending") + count_jobs(scene, "pending") > 0; i++) {
        run_until(scene, MQ_RUN_EMPTY); /* from the first run's record, so nothing waits */
        assert_int_equal(scene->report.uncertain, 0);
    }
    assert_int_equal(fx_int(&scene->fx, "SELECT count(*) FROM mail_queue"), 0);
    assert_int_equal(scene->relay.accepted_count, before + 9);
    snprintf(spent, sizeof(spent), "SELECT SUM(n) FROM mail_spent");
    assert_int_equal(fx_int(&scene->fx, spent), 9);
    assert_true(fx_tokens(&scene->fx) < 92.5); /* a refill of seconds beside what was taken */
}

static void test_lost_at_a_commit(void **state)
{
    struct scene_worker *scene = *state;
    scene->options.batch = 3;
    scene->relay.sessions = 3;
    for (int at = 1; at <= 3; at++) {
        cut(scene, at, true);
        cut(scene, at, false);
    }
}

/* Without mail under way, the run waits for the server, too. */
static void test_server_is_away(void **state)
{
    struct scene_worker *scene = *state;
    cut_commit(1, true);
    server.reopens_in_vain = 10;
    run_cut(scene, MQ_RUN_EMPTY);
    assert_int_equal(server.reopened, 1);
    cut_commit(1, true);
    server.reopens_in_vain = 1000000;
    int64_t start_ms = scene->boot_ms;
    assert_int_equal(run_worker(scene), MQ_IO);
    assert_in_range(scene->boot_ms - start_ms, 30000, 35000);
    assert_non_null(strstr(scene->err.text, "connection is lost"));
}

static void test_applications_connection(void **state)
{
    struct scene_worker *scene = *state;
    scene->options.batch = 3;
    scene->relay.sessions = 3;
    enqueue_mails(scene, 30);
    scene->relay.latency_ms = 200;
    server.is_applications = true;
    cut_commit(6, true);
    int64_t start_ms = scene->boot_ms;
    assert_int_equal(run_worker(scene), MQ_IO);
    assert_in_range(scene->boot_ms - start_ms, 0, 2000); /* nothing to wait for */
    size_t accepted = scene->relay.accepted_count;
    assert_in_range(accepted, 1, 29);
    server.down = false;
    assert_true(count_jobs(scene, "sending") > 0);
    server.cut_at = 0;
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.uncertain, 0);
    assert_int_equal(scene->relay.accepted_count, 30);
    assert_int_equal(fx_int(&scene->fx, "SELECT count(*) FROM mail_queue"), 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_time_between_answers),
        T(test_clocks_differ),
        T(test_wall_clock_jumps),
        T(test_waits_for_a_token_not_in_silence),
        T(test_slots),
        T(test_slot_is_taken_again),
        T(test_run_without_its_slot),
        T(test_slot_is_free_later),
        T(test_no_slot_after_an_outage),
        T(test_slot_cannot_be_asked_for),
        T(test_lost_at_a_commit),
        T(test_server_is_away),
        T(test_applications_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
