/* The outcomes: their values in intent records, and whether the table's rows fit the states. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/consequence.h"

/* Intent records contain these values: they never change. */
static void test_values(void **state)
{
    (void)state;
    assert_int_equal(MQ_OUTCOME_RELEASED, 0);
    assert_int_equal(MQ_OUTCOME_DELIVERED, 1);
    assert_int_equal(MQ_OUTCOME_REFUSED, 2);
    assert_int_equal(MQ_OUTCOME_DEFERRED, 3);
    assert_int_equal(MQ_OUTCOME_DENIED, 4);
    assert_int_equal(MQ_OUTCOME_UNCERTAIN, 5);
    assert_int_equal(MQ_OUTCOME_UNEXPLAINED, 6);
}

static void test_table(void **state)
{
    (void)state;
    for (int i = 0; i < MQ_OUTCOME_COUNT; i++) {
        const struct mq_outcome_facts *facts = &mq_outcomes[i];
        const struct mq_outcome_facts *row = &mq_outcomes[facts->row];
        bool written = facts->row == (enum mq_outcome)i || i >= MQ_OUTCOME_RECIPIENTS;
        assert_int_equal(row->row, facts->row); /* what a row gets stands for itself */
        assert_true(facts->row < MQ_OUTCOME_RECIPIENTS);
        assert_int_equal(facts->event != MQ_EVENT_CLAIMED, written);
        if (written) {
            bool deleted = facts->state == MQ_STATE_COUNT;
            assert_true(deleted || mq_state_may(MQ_SENDING, facts->state));
            assert_true(!deleted || facts->parked_for == NULL);
            assert_true(facts->state != MQ_PARKED || facts->parked_for != NULL);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
