/* A transport to the test's own relay, and mails for it. */
#ifndef MQ_TESTS_TRANSPORT_BENCH_H
#define MQ_TESTS_TRANSPORT_BENCH_H

#include "relay.h"
#include "smtp_fake.h"

#define MAILS_MAX 64

struct one_mail {
    struct mq_transfer transfer; /* first */
    struct mq_target target;
    int rounds; /* times it was submitted */
};

struct bench {
    struct relay relay;
    struct mq_transport *transport;
    struct one_mail mails[MAILS_MAX];
    size_t submitted, accepted, untouched, others;
};

extern int64_t bench_ahead_ms; /* added to boot time */

int64_t bench_now_ms(void); /* boot time, ahead */
/* user: "" or "name:password@" */
struct bench *bench_new(relay_function serve, const char *user, int connections);
void bench_free(struct bench *bench);
void bench_submit(struct bench *bench, size_t count);
/* Steps until all are back; submits untouched mails again, at most `again` times. */
void bench_run(struct bench *bench, int again);
/* Steps until the relay has reached this count. */
void bench_until(struct bench *bench, bool (*is_so)(const struct relay_counts *counts));
/* Waits until connections that are no longer needed have opened: the relay has heard from each. */
void bench_settle(struct bench *bench);
const char *bench_trouble(struct bench *bench); /* the reason, "" none */

#endif
