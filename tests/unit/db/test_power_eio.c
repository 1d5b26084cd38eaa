/* EIO at each file operation in turn, during a request and a worker's cycles: each call that fails
 * says why, acknowledged mail is kept, the file stays sound, and later calls work. */
#include "db/sqlite/internal.h"
#include "power_bench.h"
#include "power_vfs.h"
#include "queue_fixture.h"
#include "sqlite_peer.h"

enum {
    MAILS = 4,
    BEFORE = 2
}; /* m0 and m1 are stored before the failure, m2 during it, m3 afterwards */

/* How long operations fail: one operation, until the calls are over, or until the connection is
 * closed. */
enum spell { ONCE, CALLS, CLOSE };

enum fate { UNKNOWN, STORED, NOT_STORED, SENT };

struct life {
    struct power_bench *bench;
    struct fixture fx;
    enum fate fates[MAILS];
    char when[120];
};

static const struct power_variant variants[] = {
    {"wal", "wal", NULL},
    {"truncate", "truncate", NULL},
    {"delete", "delete", "delete"},
};

static void says_why(struct life *life, const char *what, enum mq_status status,
                     const struct mq_error *err)
{
    if (!power_has_failed() || !strstr(err->text, life->bench->path) || strlen(err->text) < 40) {
        fail_msg("%s: %s: %s: %s", life->when, what, mq_status_name(status), err->text);
    }
}

static enum mq_status open_queue(struct life *life, bool worker)
{
    struct mq_sqlite_options options = {.path = life->bench->path,
                                        .journal = life->bench->variant->journal,
                                        .worker = worker,
                                        .busy_timeout_ms = 2};
    struct mq_db *db = NULL;
    enum mq_status status = mq_sqlite_open(&options, &db, &life->fx.err);
    return status == MQ_OK ? mq_queue_open(db, &life->fx.options, &life->fx.queue, &life->fx.err)
                           : status;
}

static void close_queue(struct life *life)
{
    mq_claim_clear(&life->fx.claim);
    mq_queue_close(life->fx.queue);
    life->fx.queue = NULL;
}

static enum mq_status store(struct life *life, int k)
{
    char name[] = {'m', (char)('0' + k), '\0'};
    int64_t id = 0;
    struct mq_strings to;
    to = (struct mq_strings){0};
    mq_strings_add(&to, MQ_STR("a@example.org"));
    struct mq_new_job job = {.reference = mq_str_of(name),
                             .mail_type = MQ_STR("mail"),
                             .message_id = "<x@example.org>",
                             .envelope_from = "from@example.org",
                             .recipients = &to,
                             .body = MQ_STR("Subject: x\r\n\r\nx\r\n")};
    enum mq_status status = mq_queue_enqueue(life->fx.queue, &job, 1, &id, &life->fx.err);
    bool nothing = status != MQ_OK && strstr(life->fx.err.text, "nothing was stored");
    assert_true(status == MQ_OK || !nothing || !life->fx.err.in_doubt);
    life->fates[k] = status == MQ_OK ? STORED : nothing ? NOT_STORED : UNKNOWN;
    mq_strings_clear(&to);
    return status;
}

/* ---- during the failure ---- */

static enum mq_status claim(struct life *life)
{
    struct mq_cycle cycle = {.request = &life->fx.request, .claim = &life->fx.claim};
    enum mq_status status = mq_queue_cycle(life->fx.queue, &cycle, &life->fx.err);
    if (status == MQ_OK && life->fx.claim.status != MQ_OK) {
        life->fx.err = life->fx.claim.error;
        return life->fx.claim.status;
    }
    return status;
}

/* One mail is sent, the others are released. */
static enum mq_status settle(struct life *life)
{
    unsigned char accepted = MQ_OUTCOME_DELIVERED;
    struct mq_settlement outcomes[MAILS];
    struct mq_claim *taken = &life->fx.claim;
    for (size_t i = 0; i < taken->count; i++) {
        outcomes[i] = (struct mq_settlement){.job = &taken->jobs[i],
                                             .results = i ? NULL : &accepted,
                                             .handed_over = !i,
                                             .at_s = START,
                                             .retry_after_s = -1,
                                             .ms = -1};
    }
    struct mq_cycle cycle = {.outcomes = outcomes, .outcome_count = taken->count};
    enum mq_status status = mq_queue_cycle(life->fx.queue, &cycle, &life->fx.err);
    if (taken->count > 0) {
        life->fates[taken->jobs[0].reference[1] - '0'] = status == MQ_OK ? SENT : UNKNOWN;
    }
    return status;
}

static enum mq_status maintain(struct life *life)
{
    struct mq_db *db = mq_queue_db(life->fx.queue);
    mq_sqlite_of(db)->due_frames = 0; /* otherwise it waits for a long WAL */
    return db->driver->maintain(db, &life->fx.err);
}

static enum mq_status enqueue(struct life *life)
{
    return store(life, BEFORE);
}

static void live(struct life *life)
{
    static const struct {
        const char *name;
        enum mq_status (*run)(struct life *life);
    } steps[] = {
        {"enqueue", enqueue}, {"claim", claim}, {"settle", settle}, {"maintain", maintain}};
    enum mq_status status = open_queue(life, true);
    if (status != MQ_OK) {
        says_why(life, "open", status, &life->fx.err);
        return;
    }
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        status = steps[i].run(life);
        if (status != MQ_OK) {
            says_why(life, steps[i].name, status, &life->fx.err);
        }
    }
}

/* ---- after the failure ---- */

static void look(struct life *life, const char *what)
{
    for (int k = 0; k < MAILS; k++) {
        char sql[80];
        snprintf(sql, sizeof(sql), "SELECT count(*) FROM mail_queue WHERE reference = 'm%d'", k);
        int64_t count = fx_int(&life->fx, sql);
        bool expected = life->fates[k] == UNKNOWN || count == (life->fates[k] == STORED);
        if (!expected) {
            fail_msg("%s: %s: m%d is %s", life->when, what, k, count ? "there" : "lost");
        }
    }
    fx_assert_text(&life->fx, "PRAGMA integrity_check", "ok");
    assert_int_equal(fx_int(&life->fx, "SELECT count(*) FROM mail_body WHERE id NOT IN "
                                       "(SELECT id FROM mail_queue)"),
                     0);
}

static void must_open(struct life *life)
{
    if (!life->fx.queue && open_queue(life, false) != MQ_OK) {
        fail_msg("%s: opening: %s", life->when, life->fx.err.text);
    }
}

/* The disk works again: the same connection continues, and a power failure loses nothing. */
static void go_on(struct life *life)
{
    must_open(life);
    if (store(life, MAILS - 1) != MQ_OK) {
        fail_msg("%s: later: %s", life->when, life->fx.err.text);
    }
    look(life, "later");
    power_off();
    close_queue(life);
    power_restore(0);
    must_open(life);
    look(life, "after a power failure");
    close_queue(life);
}

static void prepare(struct life *life, const struct power_variant *variant, const char *kept)
{
    bench_restart(life->bench, variant, 1);
    assert_int_equal(open_queue(life, true), MQ_OK); /* a worker leaves no WAL */
    for (int k = 0; k < BEFORE; k++) {
        assert_int_equal(store(life, k), MQ_OK);
    }
    close_queue(life);
    copy_file(life->bench->path, kept);
}

static void suffer(struct life *life, const struct power_variant *variant, enum spell spell)
{
    char kept[128];
    bool failed = true;
    snprintf(kept, sizeof(kept), "%s/kept", life->bench->directory);
    snprintf(life->when, sizeof(life->when), "%s", variant->name);
    prepare(life, variant, kept);
    int n = 0;
    while (failed) {
        n++;
        bench_restart(life->bench, variant, 1);
        copy_file(kept, life->bench->path);
        power_settle();
        snprintf(life->when, sizeof(life->when), "%s, EIO at operation %d%s", variant->name, n,
                 spell == ONCE ? "" : " and all that follow");
        life->fates[0] = life->fates[1] = STORED;
        life->fates[2] = life->fates[3] = NOT_STORED;
        power_fail_at(n, spell != ONCE);
        live(life);
        if (spell == CLOSE) {
            close_queue(life);
        }
        failed = power_has_failed();
        power_heal();
        go_on(life);
    }
    assert_true(n > 40);
}

static void all_variants(void **state, enum spell spell)
{
    struct life life = {.bench = *state};
    fx_init(&life.fx);
    for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
        suffer(&life, &variants[i], spell);
    }
    mq_events_clear(&life.fx.events);
}

static void test_once(void **state)
{
    all_variants(state, ONCE);
}

static void test_for_a_while(void **state)
{
    all_variants(state, CALLS);
}

static void test_until_closed(void **state)
{
    all_variants(state, CLOSE);
}

#define POWER_TEST(function) cmocka_unit_test_setup_teardown(function, bench_setup, bench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {POWER_TEST(test_once), POWER_TEST(test_for_a_while),
                                       POWER_TEST(test_until_closed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
