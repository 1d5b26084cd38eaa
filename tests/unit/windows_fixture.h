/* For tests of limits in windows. */
#ifndef MQ_TESTS_WINDOWS_FIXTURE_H
#define MQ_TESTS_WINDOWS_FIXTURE_H

#include "queue_fixture.h"

/* Opens a queue with these limits. */
static inline void begin(struct fixture *fx, const char *limits, const char *mode)
{
    fx_open(fx);
    fx_set(fx, "mailLimits", limits);
    fx_set(fx, "mailRateMode", mode);
}

/* Stores mails from a sender. */
static inline void from(struct fixture *fx, const char *sender, int count)
{
    struct mq_strings to = {(char *[]){(char *)"a@b.c"}, 1, 1};
    for (int i = 0; i < count; i++) {
        int64_t id;
        struct mq_new_job job = {.mail_type = MQ_STR("mail"),
                                 .message_id = "<x@y>",
                                 .envelope_from = sender,
                                 .recipients = &to,
                                 .body = MQ_STR("x")};
        assert_int_equal(mq_queue_enqueue(fx->queue, &job, 1, &id, &fx->err), MQ_OK);
    }
}

static inline void settle_all(struct fixture *fx)
{
    for (size_t i = 0; i < fx->claim.count; i++) {
        fx_settle(fx, i, "a");
    }
}

/* Claims three mails that are composed when they are sent, from one sender to one recipient. The
 * limits leave room for two of them in an hour. */
static inline void pay_when_composed(struct fixture *fx)
{
    bool lost;
    for (int i = 0; i < 3; i++) {
        fx_enqueue(fx, &(struct mail){.reference = (char[]){(char)('a' + i), 0}});
    }
    assert_int_equal(fx_claim(fx), 3);
    for (int i = 0; i < 3; i++) {
        struct mq_job *job = &fx->claim.jobs[i];
        job->envelope_from = strdup("full@a.x");
        assert_true(mq_strings_add(&job->recipients, MQ_STR("a@b.c")));
        assert_int_equal(mq_queue_set_envelope(fx->queue, job, NULL, &lost, &fx->err), MQ_OK);
        assert_int_equal(job->targets.count, i < 2);
        assert_int_equal(job->paid, i < 2);
    }
    fx_settle(fx, 0, "a");
    fx_settle(fx, 1, "l");
    fx_kind(fx, 2, MQ_OUTCOME_RELEASED, NULL);
    assert_int_equal(fx_claim(fx), 1); /* the deferred one gave its token back */
    assert_int_equal(fx->claim.jobs[0].id, 3);
    fx->now_s += 60;
    assert_int_equal(fx_claim(fx), 0);
    assert_int_equal(fx_int(fx, "SELECT count(*) FROM mail_queue WHERE waits_for IS NOT NULL"), 1);
}

#endif
