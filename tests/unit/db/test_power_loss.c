/* After a power failure: each row whose commit() was reported is there, in a sound file. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "db/sqlite/internal.h"
#include "power_bench.h"
#include "power_vfs.h"
#include "sqlite_peer.h"

enum { STEPS = 14, LIVES = 3 };

static const struct power_variant variants[] = {
    {"new wal", "wal", NULL},
    {"new truncate", "truncate", NULL},
    {"new delete", "delete", NULL},
    {"application's wal", NULL, "wal"},
    {"application's delete", NULL, "delete"},
    {"application's delete, as it is", "delete", "delete"},
};
enum { VARIANTS = sizeof(variants) / sizeof(variants[0]) };

static enum mq_status step(struct power_bench *bench)
{
    int which = (int)bench_chance(bench, POWER_CONNECTIONS);
    int action = (int)bench_chance(bench, 8);
    enum mq_status status;

    bench->active = which;
    bench->active_key = 0;
    if (bench->reopens)
        bench_close(bench, which);
    status = bench_open(bench, which);
    if (status != MQ_OK)
        return status;
    if (action == 0 && which == POWER_WORKER)
        return bench_maintain(bench);
    if (action == 0) {
        status = bench_insert(bench, which, bench->next);
        bench->dbs[which]->driver->rollback(bench->dbs[which]);
        bench->promises[bench->next++] = PROMISED_UNDONE;
        return status;
    }
    if (action == 1 && bench->next > 1 && bench->promises[bench->next - 1] == PROMISED_STORED)
        return bench_store(bench, which, bench->next - 1);
    bench->active_key = bench->next++;
    return bench_store(bench, which, bench->active_key);
}

/* The other connection's calls during a sync; locks may prevent them. */
static void meddle(void *context, enum power_kind kind)
{
    struct power_bench *bench = context;
    int other = !bench->active;
    int action = (int)bench_chance(bench, 6);

    if (kind != POWER_WAL || !bench->dbs[other])
        return;
    if (action == 0 && other == POWER_WORKER)
        bench_maintain(bench);
    else if (action <= 2 && bench->active_key > 0)
        bench_store(bench, other, bench->active_key);
    else if (action == 3 && bench->next < POWER_KEYS - STEPS)
        bench_store(bench, other, bench->next++);
}

static void live(struct power_bench *bench, const char *when)
{
    enum mq_status status = MQ_OK;

    bench->reopens = bench_chance(bench, 2);
    for (int i = 0; i < STEPS && status == MQ_OK; i++)
        status = step(bench);
    if (status != MQ_OK && !power_is_off())
        fail_msg("%s: %s: %s", when, mq_status_name(status), bench->err.text);
}

/* --- power failures at any operation --- */

/* One file through several power failures; each time the driver finds the file that the last one
 * left. */
static int suffer(struct power_bench *bench, uint32_t random, int cuts)
{
    int lives = cuts < LIVES ? cuts : LIVES;

    for (int i = 0; i < lives; i++) {
        int operation = (int)bench_chance(bench, i == 0 ? 160 : 80) + 1;
        uint32_t seed = bench_chance(bench, 3) == 0 ? 0 : 1 + bench_chance(bench, 1000000);
        char when[160];

        snprintf(when, sizeof(when), "%s, random %u, power failure %d at operation %d, seed %u",
                 bench->variant->name, random, i + 1, operation, seed);
        power_off_at(operation);
        power_on_sync(meddle, bench);
        live(bench, when);
        power_off();
        bench_close_all(bench);
        power_restore(seed);
        bench_check(bench, when);
    }
    return lives;
}

static void test_acknowledged_is_there(void **state)
{
    struct power_bench *bench = *state;
    const char *wanted = getenv("MAILQUEUE_TEST_CUTS");
    int cuts = wanted ? atoi(wanted) : 600;

    for (uint32_t i = 0; cuts > 0; i++) {
        bench_restart(bench, &variants[i % VARIANTS], i + 1);
        cuts -= suffer(bench, i + 1, cuts);
    }
}

#define POWER_TEST(function) cmocka_unit_test_setup_teardown(function, bench_setup, bench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        POWER_TEST(test_acknowledged_is_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
