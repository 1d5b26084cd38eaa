/* The states' names, and every transition against a second list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/buffer.h"
#include "policy/job_state.h"

static void test_names(void **state)
{
    static const char *const names[] = {"pending", "sending", "failed", "parked", "held"};
    (void)state;
    assert_int_equal(MQ_STATE_COUNT, sizeof names / sizeof *names);
    for (int i = 0; i < MQ_STATE_COUNT; i++) {
        enum mq_state parsed = MQ_STATE_COUNT;
        assert_string_equal(mq_state_name((enum mq_state)i), names[i]);
        assert_true(mq_state_parse(mq_str_of(names[i]), &parsed));
        assert_int_equal(parsed, i);
    }
    enum mq_state untouched = MQ_HELD;
    assert_false(mq_state_parse(MQ_STR("Pending"), &untouched));
    assert_false(mq_state_parse(MQ_STR("pend"), &untouched));
    assert_false(mq_state_parse(MQ_STR(""), &untouched));
    assert_int_equal(untouched, MQ_HELD);
}

static void test_moves(void **state)
{
    /* from, then every state that a job may change to */
    static const char *const moves[] = {
        "pending sending parked held", "sending pending failed parked",
        "failed sending pending parked held", "parked pending", "held pending failed"};
    (void)state;
    for (int from = 0; from < MQ_STATE_COUNT; from++) {
        for (int to = 0; to < MQ_STATE_COUNT; to++) {
            const char *list = moves[from] + strlen(mq_state_name((enum mq_state)from));
            bool expected = strstr(list, mq_state_name((enum mq_state)to)) != NULL;
            assert_int_equal(mq_state_may((enum mq_state)from, (enum mq_state)to), expected);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_moves),
    };
    return cmocka_run_group_tests_name("states", tests, NULL, NULL);
}
