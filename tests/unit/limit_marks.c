/* Marks, and how many are in a window; random numbers. */
#include "limit_marks.h"

void add_mark(struct marks *marks, int64_t at_ms, int64_t n)
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

int64_t most_in(struct marks *marks, int64_t length_ms, bool sorted)
{
    int64_t most = 0;
    if (!sorted) {
        qsort(marks->items, marks->count, sizeof(*marks->items), by_time);
    }
    for (size_t i = 0; i < marks->count; i++) {
        int64_t sum = 0;
        int64_t end = marks->items[i].at_ms + length_ms;
        for (size_t j = i; j < marks->count && marks->items[j].at_ms < end; j++) {
            sum += marks->items[j].n;
            most = sum > most ? sum : most;
        }
    }
    return most;
}

int64_t total(const struct marks *marks)
{
    int64_t sum = 0;
    for (size_t i = 0; i < marks->count; i++) {
        sum += marks->items[i].n;
    }
    return sum;
}

void add_marks(struct marks *to, const struct marks *from)
{
    for (size_t i = 0; i < from->count; i++) {
        add_mark(to, from->items[i].at_ms, from->items[i].n);
    }
}

int64_t draw(uint64_t *seed, int64_t n)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return n > 0 ? (int64_t)(*seed % (uint64_t)n) : 0;
}
