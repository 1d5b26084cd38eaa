/* A file on the disk of power_vfs.h, two connections of the driver, and the rows that they
 * acknowledged. */
#ifndef MQ_TESTS_POWER_BENCH_H
#define MQ_TESTS_POWER_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "db/sqlite/sqlite.h"

enum { POWER_CONNECTIONS = 2, POWER_WORKER = 1, POWER_KEYS = 128 };

enum power_promise { PROMISED_NOTHING, PROMISED_STORED, PROMISED_UNDONE };

/* How the file is created. */
struct power_variant {
    const char *name;
    const char *journal; /* the driver's option */
    const char *made;    /* the application's journal mode; NULL: the driver creates the file */
};

struct power_bench {
    char directory[64];
    char path[96];
    const struct power_variant *variant;
    struct mq_db *dbs[POWER_CONNECTIONS]; /* NULL: not open */
    bool requests;                        /* both are requests; otherwise the second is a worker */
    struct mq_error err;
    enum power_promise promises[POWER_KEYS];
    int next;     /* keys from 1 to below this one were used */
    bool reopens; /* open, store, close, as requests do */
    uint32_t random;
    int active;     /* the connection that acts */
    int active_key; /* the key that it stores; 0: nothing */
};

int bench_setup(void **state);
int bench_teardown(void **state);
/* No file, or the application's; NULL: the driver creates one with a WAL. */
void bench_restart(struct power_bench *bench, const struct power_variant *variant, uint32_t random);
uint32_t bench_chance(struct power_bench *bench, uint32_t below);

enum mq_status bench_open(struct power_bench *bench, int which);
/* A new file with a WAL; both connections are requests, and have stored the keys 1 and 2. */
void bench_open_both(struct power_bench *bench);
void bench_close(struct power_bench *bench, int which);
void bench_close_all(struct power_bench *bench);
/* begin and insert into t(k, filler); stores nothing if the key exists. */
enum mq_status bench_insert(struct power_bench *bench, int which, int key);
/* The same and commit; MQ_OK is a promise, unless a worker has found the key there. */
enum mq_status bench_store(struct power_bench *bench, int which, int key);

/* A checkpoint by the second connection. */
enum mq_status bench_maintain(struct power_bench *bench);

/* After the power came back: fails unless the file is sound and has every promised row. */
void bench_check(struct power_bench *bench, const char *when);

#endif
