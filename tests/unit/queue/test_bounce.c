/* Bounces: each counts once, some suppress, and how long they are kept. */
#include "queue/suppress/bounce.h"
#include "queue/suppress/sender.h"
#include "queue_fixture.h"

#define DAY_S 86400

static struct mq_bounce bounce_of(const char *address, int64_t event, int least)
{
    return (struct mq_bounce){.what = {.address = mq_str_of(address),
                                       .reason = MQ_STR("hard_bounce"),
                                       .source = MQ_STR("report: 550")},
                              .event = event,
                              .kind = MQ_STR("soft"),
                              .least = least};
}

static enum mq_bounce_result record(struct fixture *fx, const struct mq_bounce *bounce)
{
    enum mq_bounce_result result = MQ_BOUNCE_KNOWN;
    if (mq_queue_bounce(fx->queue, bounce, &result, &fx->err) != MQ_OK) {
        fail_msg("bounce: %s", fx->err.text);
    }
    return result;
}

static enum mq_bounce_result bounce(struct fixture *fx, const char *address, int64_t event,
                                    int least)
{
    const struct mq_bounce one = bounce_of(address, event, least);
    return record(fx, &one);
}

static int64_t suppressed(struct fixture *fx)
{
    return fx_int(fx, "SELECT count(*) FROM mail_suppression");
}

static void test_hard(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    fx_mail(&fx, "Ann@Example.net");
    assert_int_equal(bounce(&fx, "ANN@example.net", 1, 1), MQ_BOUNCE_SUPPRESSED);
    fx_assert_text(&fx, "SELECT address || ' ' || reason || ' ' || source FROM mail_suppression",
                   "ann@example.net hard_bounce report: 550");
    assert_int_equal(fx_claim(&fx), 0);
    assert_int_equal(bounce(&fx, "ann@example.net", 1, 1), MQ_BOUNCE_KNOWN);
    assert_int_equal(bounce(&fx, "ann@example.net", 2, 1), MQ_BOUNCE_SUPPRESSED);
    assert_int_equal(suppressed(&fx), 1);
    fx_close(&fx);
}

static void test_soft(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    for (int i = 1; i <= 4; i++) {
        assert_int_equal(bounce(&fx, "a@b.example", i, 5), MQ_BOUNCE_COUNTED);
        assert_int_equal(bounce(&fx, "a@b.example", i, 5), MQ_BOUNCE_KNOWN);
        assert_int_equal(bounce(&fx, "c@b.example", i, 5), MQ_BOUNCE_COUNTED);
        assert_int_equal(bounce(&fx, "d@b.example", 100 + i, 0), MQ_BOUNCE_COUNTED);
    }
    assert_int_equal(bounce(&fx, "d@b.example", 1, 5),
                     MQ_BOUNCE_COUNTED); /* of others none counts */
    assert_int_equal(suppressed(&fx), 0);
    assert_int_equal(bounce(&fx, "A@B.example", 5, 5), MQ_BOUNCE_SUPPRESSED);
    assert_int_equal(suppressed(&fx), 1);
    fx_close(&fx);
}

/* After 30 days an event is gone. */
static void test_age(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    for (int i = 1; i <= 4; i++) {
        bounce(&fx, "a@b.example", i, 5);
    }
    fx.now_s += MQ_BOUNCE_DAYS * DAY_S;
    assert_int_equal(bounce(&fx, "x@b.example", 1, 5), MQ_BOUNCE_COUNTED);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_bounce"), 5);
    fx.now_s++;
    assert_int_equal(bounce(&fx, "a@b.example", 5, 5), MQ_BOUNCE_COUNTED);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_bounce"), 2);
    fx_close(&fx);
}

/* The time of an event is not later than now. */
static void test_times(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    struct mq_bounce one = bounce_of("a@b.example", 1, 0);
    one.what.created_at = fx.now_s + 1000;
    record(&fx, &one);
    assert_int_equal(fx_int(&fx, "SELECT at FROM mail_bounce"), fx.now_s);
    one.what.created_at = fx.now_s - 1000;
    one.event = 2;
    record(&fx, &one);
    assert_int_equal(fx_int(&fx, "SELECT at FROM mail_bounce WHERE event = 2"), fx.now_s - 1000);
    fx_close(&fx);
}

/* A stranger who has a token cannot fill the table, and cannot hide what suppresses either. */
static void test_many(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    for (int i = 0; i < MQ_BOUNCES_MAX + 20; i++) {
        assert_int_equal(bounce(&fx, "a@b.example", i, 0),
                         i < MQ_BOUNCES_MAX ? MQ_BOUNCE_COUNTED : MQ_BOUNCE_KNOWN);
    }
    assert_int_equal(suppressed(&fx), 0);
    assert_int_equal(bounce(&fx, "a@b.example", -1, 1), MQ_BOUNCE_SUPPRESSED);
    assert_int_equal(suppressed(&fx), 1);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_bounce"), MQ_BOUNCES_MAX);
    fx_close(&fx);
}

/* Only the hash of the address is known. */
static void test_hash(void **state)
{
    (void)state;
    struct fixture fx;
    uint64_t hash = 0;
    fx_open(&fx);
    fx_mail(&fx, "a@b.example");
    assert_int_equal(mq_suppress_hash_of(fx.queue, MQ_STR("A@B.example"), &hash, &fx.err), MQ_OK);
    struct mq_bounce one = bounce_of(NULL, 1, 1);
    one.what.hash = hash;
    assert_int_equal(record(&fx, &one), MQ_BOUNCE_SUPPRESSED);
    assert_int_equal(fx_int(&fx, "SELECT address IS NULL FROM mail_suppression"), 1);
    assert_int_equal(fx_claim(&fx), 0);
    assert_int_equal(bounce(&fx, "a@b.example", 1, 1), MQ_BOUNCE_KNOWN);
    assert_int_equal(mq_suppress_hash_of(fx.queue, MQ_STR("no address"), &hash, &fx.err),
                     MQ_MESSAGE);
    fx_close(&fx);
}

/* An address that gets mail again has a new start, but the events counted before stay. */
static void test_unsuppress(void **state)
{
    (void)state;
    struct fixture fx;
    int64_t changed = 0;
    const struct mq_suppressed which = {.address = MQ_STR("a@b.example")};
    fx_open(&fx);
    for (int i = 1; i <= 5; i++) {
        bounce(&fx, "a@b.example", i, 5);
    }
    assert_int_equal(mq_queue_unsuppress(fx.queue, &which, &changed, &fx.err), MQ_OK);
    assert_int_equal(changed, 1);
    assert_int_equal(bounce(&fx, "a@b.example", 5, 5), MQ_BOUNCE_KNOWN);
    assert_int_equal(bounce(&fx, "a@b.example", 6, 5), MQ_BOUNCE_COUNTED);
    assert_int_equal(suppressed(&fx), 0);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_bounce"), 6);
    assert_int_equal(mq_queue_forget_suppressed(fx.queue, MQ_STR("A@b.example"), &changed, &fx.err),
                     MQ_OK);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_bounce"), 0);
    fx_close(&fx);
}

/* What cannot be suppressed is not counted either. */
static void test_refused(void **state)
{
    (void)state;
    struct fixture fx;
    enum mq_bounce_result result;
    fx_open(&fx);
    struct mq_bounce bad = bounce_of("a@b.example", 1, 1);
    bad.what.scope = MQ_STR("news");
    assert_int_equal(mq_queue_bounce(fx.queue, &bad, &result, &fx.err), MQ_INVALID);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_bounce"), 0);
    bad = bounce_of("no address", 1, 1);
    assert_int_equal(mq_queue_bounce(fx.queue, &bad, &result, &fx.err), MQ_MESSAGE);
    fx_sql(&fx, "DELETE FROM config WHERE key = 'mailSuppressionKey'");
    fx_sql(&fx, "UPDATE config SET value = '1' WHERE key = 'mailSuppressed'");
    bad = bounce_of("a@b.example", 1, 1);
    assert_int_equal(mq_queue_bounce(fx.queue, &bad, &result, &fx.err), MQ_CONFIG);
    fx_close(&fx);
}

static void test_sender(void **state)
{
    (void)state;
    struct fixture fx;
    struct mq_buffer out = {0};
    fx_open(&fx);
    static const char asks[] = "bounces+*@example.org";
    assert_int_equal(mq_suppress_sender(fx.queue, asks, "a@b.example", &out, &fx.err), MQ_OK);
    assert_int_equal(out.len, sizeof(asks) - 1 + 31);
    mq_buffer_reset(&out);
    assert_int_equal(mq_suppress_sender(fx.queue, asks, NULL, &out, &fx.err), MQ_OK);
    assert_string_equal(out.data, "bounces+many@example.org");
    mq_buffer_reset(&out);
    assert_int_equal(mq_suppress_sender(fx.queue, "a@b.example", "x", &out, &fx.err), MQ_OK);
    assert_int_equal(out.len, 0);
    mq_buffer_clear(&out);
    fx_close(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hard),       cmocka_unit_test(test_soft),
        cmocka_unit_test(test_age),        cmocka_unit_test(test_times),
        cmocka_unit_test(test_many),       cmocka_unit_test(test_hash),
        cmocka_unit_test(test_unsuppress), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_sender),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
