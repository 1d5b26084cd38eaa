/* Stores N recipients of a campaign with the statements of Campaign::add(), and nothing else: what
 * SQLite takes for them. FILE has the tables, and the campaign ID. CHUNK recipients a transaction;
 * with BATCH, so many are collected and stored in the order of their hashes:
 * campaign FILE ID N CHUNK BATCH. Prints seconds, and the CPU time in seconds. */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "core/siphash.h"

struct row {
    int64_t hash;
    long number;
};

static sqlite3 *db;
static sqlite3_stmt *insert;
static int64_t campaign, last;

static void check(int code, const char *what)
{
    if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW) {
        fprintf(stderr, "%s: %s\n", what, sqlite3_errmsg(db));
        exit(1);
    }
}

static void run(const char *sql)
{
    check(sqlite3_exec(db, sql, NULL, NULL, NULL), sql);
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double cpu_s(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static int64_t hash_of(long number)
{
    static const unsigned char key[MQ_SIPHASH_KEY] = "0123456789abcde";
    char address[64];
    int n = snprintf(address, sizeof(address), "person%ld@example.com", number);
    return (int64_t)mq_siphash(key, (struct mq_str){address, (size_t)n});
}

static void bind_text(int index, const char *text, int len)
{
    check(sqlite3_bind_text(insert, index, text, len, SQLITE_STATIC), "bind");
}

static void store(const struct row *row)
{
    char address[80], name[40], fields[120];
    int address_len =
        snprintf(address, sizeof(address), "[\"person%ld@example.com\"]", row->number);
    int name_len = snprintf(name, sizeof(name), "Person %ld", row->number);
    int fields_len = snprintf(fields, sizeof(fields),
                              "{\"first_name\":\"Ann\",\"code\":\"SPRING%ld\",\"points\":%ld}",
                              row->number, row->number);
    sqlite3_bind_int64(insert, 1, last + 1);
    sqlite3_bind_int64(insert, 2, campaign);
    sqlite3_bind_int64(insert, 3, row->hash);
    sqlite3_bind_null(insert, 4);
    bind_text(5, address, address_len);
    bind_text(6, name, name_len);
    bind_text(7, fields, fields_len);
    check(sqlite3_step(insert), "insert");
    last += sqlite3_changes(db);
    sqlite3_reset(insert);
}

/* One transaction. */
static void store_chunk(const struct row *rows, long count)
{
    char sql[160];
    int64_t before = last;
    run("BEGIN IMMEDIATE");
    for (long i = 0; i < count; i++) {
        store(&rows[i]);
    }
    snprintf(sql, sizeof(sql),
             "UPDATE mail_campaign SET recipients = recipients + %" PRId64 ", last_id = %" PRId64
             " WHERE id = %" PRId64,
             last - before, last, campaign);
    run(sql);
    run("COMMIT");
}

static int compare(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

static void store_all(long count, long chunk, long batch)
{
    long most = batch ? batch : chunk;
    struct row *rows = calloc((size_t)most, sizeof(*rows));
    for (long done = 0, n; rows && done < count; done += n) {
        n = count - done < most ? count - done : most;
        for (long i = 0; i < n; i++) {
            rows[i] = (struct row){hash_of(done + i), done + i};
        }
        if (batch) {
            qsort(rows, (size_t)n, sizeof(*rows), compare);
        }
        for (long i = 0; i < n; i += chunk) {
            store_chunk(rows + i, n - i < chunk ? n - i : chunk);
        }
    }
    free(rows);
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        fprintf(stderr, "Usage: campaign FILE ID N CHUNK BATCH\n");
        return 64;
    }
    campaign = atoll(argv[2]);
    last = campaign << 40;
    check(sqlite3_open(argv[1], &db), argv[1]);
    run("PRAGMA synchronous = FULL");
    check(sqlite3_prepare_v2(db,
                             "INSERT INTO mail_recipient(id, campaign_id, hash, cleared, address, "
                             "name, fields) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) "
                             "ON CONFLICT DO NOTHING",
                             -1, &insert, NULL),
          "prepare");
    double begun = now_s(), cpu = cpu_s();
    store_all(atol(argv[3]), atol(argv[4]), atol(argv[5]));
    printf("%.3f %.3f\n", now_s() - begun, cpu_s() - cpu);
    sqlite3_finalize(insert);
    sqlite3_close(db);
    return 0;
}
