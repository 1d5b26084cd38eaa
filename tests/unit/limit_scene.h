/* A queue over days of a fake clock: four workers on one queue, more mail than the limits let go,
 * kills, stalls, releases, replies that take up to ten minutes, recipients refused, jobs of several
 * recipients. test_limit.c and test_windows_month.c check what the relays saw. */
#ifndef TESTS_LIMIT_SCENE_H
#define TESTS_LIMIT_SCENE_H

#include "limit_marks.h"
#include "queue_fixture.h"

#define HOUR_MS     INT64_C(3600000)
#define DAY_MS      (24 * HOUR_MS)
#define WORKERS     4
#define RELAYS_MAX  2
#define SENDERS_MAX 3

struct delivery;

struct limit_worker {
    char token[MQ_TOKEN_HEX + 1];
    int64_t wake_ms;
    int under_way;
};

struct limit_scene {
    struct fixture fx;
    /* set by the test */
    int64_t limit;      /* mailMaxPerHour; without one, how much mail waits */
    const char *limits; /* mailLimits; NULL: unset */
    bool strict;
    int relays;  /* 0: none is named; worker i sends to relay i modulo relays, … */
    bool routes; /* … or to both, with payments before mails begin: of four mails, one is for each
                    relay alone, and two for any */
    int senders; /* 0: one */
    int64_t span_ms;
    uint64_t seed;
    /* the scene's own */
    int64_t now_ms;
    int64_t stock_ms; /* when the queue gets more mail */
    struct limit_worker workers[WORKERS];
    struct delivery *deliveries; /* UNDER_WAY_MAX */
    size_t under_way;
    char dead[MQ_TOKEN_HEX + 1]; /* a killed worker whose record can be read; "": none */
    struct marks sink[RELAYS_MAX][SENDERS_MAX]; /* recipients taken */
    struct marks tokens;                        /* tokens paid; below zero: given back */
    struct marks relay_tokens[RELAYS_MAX];      /* the same at a relay; with `routes` */
    int64_t occupied_ms;                        /* recipients · time from claim to settle */
    int64_t paid;
    int64_t tokens_made;
    int stale;
};

void limit_scene_run(struct limit_scene *w);
void limit_scene_end(struct limit_scene *w);
double mean_s(const struct limit_scene *w); /* from claim to settle */

#endif
