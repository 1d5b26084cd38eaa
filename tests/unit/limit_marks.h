/* When how many of something happened; random numbers. */
#ifndef TESTS_LIMIT_MARKS_H
#define TESTS_LIMIT_MARKS_H

#include "queue_fixture.h"

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

void add_mark(struct marks *marks, int64_t at_ms, int64_t n);
/* The maximum in any half-open window: each sum starts at a mark and ends less than `length_ms`
 * later. */
int64_t most_in(struct marks *marks, int64_t length_ms, bool sorted);
int64_t total(const struct marks *marks);
/* Adds the marks of `from` to those of `to`. */
void add_marks(struct marks *to, const struct marks *from);
/* A random number in [0, n). */
int64_t draw(uint64_t *seed, int64_t n);

#endif
