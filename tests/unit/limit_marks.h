/* Records what happened when, and computes the maximum in any hour. */
#ifndef TESTS_LIMIT_MARKS_H
#define TESTS_LIMIT_MARKS_H

#include "queue_fixture.h"

#define HOUR_MS INT64_C(3600000)

/* n of something at a time, in milliseconds. */
struct mark {
    int64_t at_ms;
    int64_t n;
};

struct marks {
    struct mark *items;
    size_t count;
    size_t room;
};

static void mark(struct marks *marks, int64_t at_ms, int64_t n)
{
    if (n == 0) {
        return;
    }
    if (marks->count == marks->room) {
        marks->room = marks->room ? marks->room * 2 : 1024;
        marks->items = realloc(marks->items, marks->room * sizeof(*marks->items));
        assert_non_null(marks->items);
    }
    marks->items[marks->count++] = (struct mark){at_ms, n};
}

static int by_time(const void *a, const void *b)
{
    const struct mark *x = a;
    const struct mark *y = b;
    return (x->at_ms > y->at_ms) - (x->at_ms < y->at_ms);
}

/* The maximum in any half-open hour: each sum starts at a mark and ends less than an hour later. */
static int64_t most_in_an_hour(struct marks *marks, bool sorted)
{
    int64_t most = 0;
    if (!sorted) {
        qsort(marks->items, marks->count, sizeof(*marks->items), by_time);
    }
    for (size_t i = 0; i < marks->count; i++) {
        int64_t sum = 0;
        int64_t end = marks->items[i].at_ms + HOUR_MS;
        for (size_t j = i; j < marks->count && marks->items[j].at_ms < end; j++) {
            sum += marks->items[j].n;
            most = sum > most ? sum : most;
        }
    }
    return most;
}

static int64_t total(const struct marks *marks)
{
    int64_t sum = 0;
    for (size_t i = 0; i < marks->count; i++) {
        sum += marks->items[i].n;
    }
    return sum;
}

#endif
