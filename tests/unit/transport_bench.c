/* Runs a transport against the test's relay, and collects the results of its mails. */
#include "transport_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

int64_t bench_ahead_ms;

static int64_t ahead_ms(void *context)
{
    struct mq_clock clock = mq_clock_system();
    (void)context;
    return clock.boot_ms(clock.context) + bench_ahead_ms;
}

int64_t bench_now_ms(void)
{
    return ahead_ms(NULL);
}

static bool enter(struct mq_transfer *transfer, enum mq_transfer_phase phase)
{
    (void)transfer;
    (void)phase;
    return true;
}

static void open_at(struct bench *bench, int port, const char *user, int connections)
{
    char dsn[200];
    int64_t final_ms = 0;
    struct mq_error err;
    struct mq_transport_options options = {.connections = connections, .clock = mq_clock_system()};
    options.clock.boot_ms = ahead_ms;
    snprintf(dsn, sizeof dsn, "smtp://%s127.0.0.1:%d?connect_timeout=5", user, port);
    assert_int_equal(fake_open(dsn, &options, &bench->transport, &final_ms, &err), MQ_OK);
    assert_int_equal(final_ms, 600000);
}

struct bench *bench_new(relay_function serve, const char *user, int connections)
{
    struct bench *bench = calloc(1, sizeof *bench);
    assert_non_null(bench);
    bench_ahead_ms = 0;
    relay_start(&bench->relay, serve);
    open_at(bench, bench->relay.port, user, connections);
    return bench;
}

void bench_free(struct bench *bench)
{
    mq_transport_free(bench->transport);
    relay_stop(&bench->relay);
    free(bench);
}

static void submit(struct bench *bench, struct one_mail *mail)
{
    mail->target = (struct mq_target){.address = "a@x"};
    mail->transfer.from = "s@y";
    mail->transfer.targets = &mail->target;
    mail->transfer.target_count = 1;
    if (mail->transfer.message.len == 0) {
        mail->transfer.message = MQ_STR("Subject: x\r\n\r\nhello\r\n");
    }
    mail->transfer.enter = enter;
    mail->rounds++;
    mq_transport_submit(bench->transport, &mail->transfer);
}

void bench_submit(struct bench *bench, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        submit(bench, &bench->mails[bench->submitted++]);
    }
}

void bench_run(struct bench *bench, int again)
{
    struct mq_transport *transport = bench->transport;
    struct mq_error err;
    int64_t until_ms = bench_now_ms() + 30000;
    while (bench->accepted + bench->untouched + bench->others < bench->submitted) {
        struct mq_transfer *transfer = NULL;
        assert_true(bench_now_ms() < until_ms);
        assert_int_equal(transport->ops->step(transport, 100, &err), MQ_OK);
        while ((transfer = mq_transport_take_done(transport)) != NULL) {
            struct one_mail *mail = (struct one_mail *)transfer;
            if (transfer->end == MQ_TRANSFER_UNTOUCHED && mail->rounds <= again &&
                !transport->troubled) {
                submit(bench, mail);
            } else if (transfer->end == MQ_TRANSFER_UNTOUCHED) {
                bench->untouched++;
            } else if (mail->target.result == MQ_OUTCOME_DELIVERED) {
                bench->accepted++;
            } else {
                bench->others++;
            }
        }
    }
}

void bench_until(struct bench *bench, bool (*is_so)(const struct relay_counts *counts))
{
    struct mq_error err;
    int64_t until_ms = bench_now_ms() + 20000;
    while (!is_so(bench->relay.counts)) {
        assert_true(bench_now_ms() < until_ms);
        assert_int_equal(bench->transport->ops->step(bench->transport, 5, &err), MQ_OK);
    }
}

static bool all_said_hello(const struct relay_counts *counts)
{
    return counts->hellos >= counts->connections;
}

void bench_settle(struct bench *bench)
{
    struct mq_error err;
    bench_until(bench, all_said_hello);
    for (int i = 0; i < 10; i++) {
        bench->transport->ops->step(bench->transport, 20, &err);
    }
}

const char *bench_trouble(struct bench *bench)
{
    const struct mq_transport *transport = bench->transport;
    assert_true(transport->troubled == (transport->trouble.reason[0] != '\0'));
    return transport->trouble.reason;
}
