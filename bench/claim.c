/* Claims and settles N jobs of a queue, 100 a transaction, as the worker does, and prints the CPU
 * time per job in microseconds: claim FILE N */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "db/sqlite/sqlite.h"
#include "queue/body.h"
#include "queue/claim.h"
#include "queue/job.h"
#include "queue/queue.h"

#define BATCH 100

static double cpu_us(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void die(const char *what, const struct mq_error *err)
{
    fprintf(stderr, "%s: %s\n", what, err->text);
    exit(1);
}

static struct mq_queue *open_queue(const char *path)
{
    struct mq_sqlite_options file = {.path = path, .worker = true, .must_exist = true};
    struct mq_queue_options options;
    struct mq_queue *queue = NULL;
    struct mq_db *db = NULL;
    struct mq_error err;

    file.busy_timeout_ms = 5000;
    mq_queue_options_init(&options);
    if (mq_sqlite_open(&file, &db, &err) != MQ_OK ||
        mq_queue_open(db, &options, &queue, &err) != MQ_OK) {
        die(path, &err);
    }
    return queue;
}

/* Everything that the last cycle claimed counts as accepted. */
static size_t settle_all(const struct mq_claim *claim, struct mq_settlement *out)
{
    static const unsigned char accepted[1] = {MQ_OUTCOME_DELIVERED};

    for (size_t i = 0; i < claim->count; i++) {
        out[i] = (struct mq_settlement){.job = &claim->jobs[i],
                                        .results = accepted,
                                        .handed_over = 1,
                                        .retry_after_s = -1,
                                        .ms = -1};
    }
    return claim->count;
}

int main(int argc, char **argv)
{
    struct mq_claim claims[2];
    struct mq_settlement outcomes[BATCH];
    struct mq_job *jobs[BATCH];
    struct mq_claim_request request = {.limit = BATCH, .lease_s = 900};
    struct mq_error err;
    long wanted = argc == 3 ? atol(argv[2]) : 0;
    long done = 0;

    if (wanted <= 0) {
        fprintf(stderr, "Usage: claim FILE N\n");
        return 64;
    }
    struct mq_queue *queue = open_queue(argv[1]);
    request.token = "0123456789abcdef0123456789abcdef";
    claims[0] = (struct mq_claim){0};
    claims[1] = (struct mq_claim){0};
    double begun = cpu_us();
    for (int cycle = 0; done < wanted; cycle++) {
        struct mq_claim *last = &claims[cycle & 1], *next = &claims[(cycle + 1) & 1];
        struct mq_cycle work = {.outcomes = outcomes, .request = &request, .claim = next};

        work.outcome_count = settle_all(last, outcomes);
        if (mq_queue_cycle(queue, &work, &err) != MQ_OK || next->status != MQ_OK) {
            die("cycle", next->status != MQ_OK ? &next->error : &err);
        }
        for (size_t i = 0; i < next->count; i++) {
            jobs[i] = &next->jobs[i];
        }
        if (mq_queue_read_bodies(queue, jobs, next->count, MQ_BODY_SMALL, &err) != MQ_OK) {
            die("bodies", &err);
        }
        done += (long)last->count;
        mq_claim_clear(last);
        if (next->count == 0 && next->end == MQ_CLAIM_EMPTY) {
            break;
        }
    }
    printf("%.3f\n", (cpu_us() - begun) / (double)done);
    mq_claim_clear(&claims[0]);
    mq_claim_clear(&claims[1]);
    mq_queue_close(queue);
    return 0;
}
