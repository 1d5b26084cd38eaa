/* Large messages that have expired: a transaction deletes a few of them. */
#include "queue_fixture.h"

#define LARGE (3 << 20)

static void three_expired(struct fixture *fx)
{
    char *body = malloc(LARGE + 1);
    assert_non_null(body);
    memset(body, 'x', LARGE);
    body[LARGE] = '\0';
    for (int i = 0; i < 3; i++) {
        fx_enqueue(fx, &(struct mail){.expires_at = START + 5, .body = body});
    }
    free(body);
    fx->now_s = START + 5;
}

static void test_claim(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    three_expired(&fx);
    assert_int_equal(fx_claim(&fx), 0);
    assert_int_equal(fx.claim.end, MQ_CLAIM_MORE);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_body"), 1);
    assert_int_equal(fx_claim(&fx), 0);
    assert_int_equal(fx.claim.end, MQ_CLAIM_EMPTY);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_body"), 0);
    fx_close(&fx);
}

static void test_sweep(void **state)
{
    (void)state;
    struct fixture fx;
    int64_t cursor = 0;
    bool done = true;
    fx_open(&fx);
    three_expired(&fx);
    assert_int_equal(mq_queue_sweep(fx.queue, &cursor, &done, &fx.events, &fx.err), MQ_OK);
    assert_false(done);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_body"), 1);
    assert_int_equal(mq_queue_sweep(fx.queue, &cursor, &done, &fx.events, &fx.err), MQ_OK);
    assert_true(done);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_body"), 0);
    fx_close(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_claim), cmocka_unit_test(test_sweep)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
