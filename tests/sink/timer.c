/* Delays of thousands of connections: a binary heap of the times they are due. */
#include "sink.h"

/* heap[0] is unused, so that slot 0 means: not armed. */
static struct timer **heap;
static size_t count, capacity;

static void put(size_t slot, struct timer *timer)
{
    heap[slot] = timer;
    timer->slot = slot;
}

static void settle(size_t slot, struct timer *timer)
{
    while (slot > 1 && heap[slot / 2]->at_ns > timer->at_ns) {
        put(slot, heap[slot / 2]);
        slot /= 2;
    }
    for (size_t child; (child = slot * 2) <= count; slot = child) {
        if (child < count && heap[child + 1]->at_ns < heap[child]->at_ns) {
            child++;
        }
        if (heap[child]->at_ns >= timer->at_ns) {
            break;
        }
        put(slot, heap[child]);
    }
    put(slot, timer);
}

void timer_set(struct timer *timer, int64_t at_ns)
{
    timer->at_ns = at_ns;
    if (timer->slot == 0) {
        if (count + 2 > capacity) {
            capacity = capacity ? capacity * 2 : 256;
            heap = memory(heap, capacity * sizeof(struct timer *));
        }
        timer->slot = ++count;
        heap[count] = timer;
    }
    settle(timer->slot, timer);
}

void timer_cancel(struct timer *timer)
{
    size_t slot = timer->slot;
    if (slot == 0) {
        return;
    }
    timer->slot = 0;
    struct timer *last = heap[count--];
    if (last != timer) {
        settle(slot, last);
    }
}

struct timer *timer_first(void)
{
    return count > 0 ? heap[1] : NULL;
}
