/* Worker slots: how many runs there may be at once on a queue. */
#ifndef MQ_WORKER_LOCK_H
#define MQ_WORKER_LOCK_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/error.h"

/* Takes one of the slots 0 … max_workers − 1 without waiting: *fd is the descriptor that holds it,
 * or -1 when all are taken. close(fd) gives it back. MQ_CONFIG where another user prepared one. */
enum mq_status mq_worker_lock(const char *run_dir, int max_workers, int *fd, struct mq_error *err);
/* How many of them are held at the moment, for doctor and status. */
int mq_worker_lock_held(const char *run_dir, int max_workers);

struct mq_queue;

/* A run's slot among those that may run at once on a queue: a lock on a file of the run directory,
 * or, where machines share the database, one of its own. Both die with their process. */
struct mq_slot {
    struct mq_queue *queue; /* borrowed, as run_dir */
    const char *run_dir;
    int max_workers;
    int fd;      /* of the file; -1: none */
    int number;  /* in the database; -1: none */
    pid_t owner; /* a forked child has the descriptor too, and must not unlock it */
};

static inline bool mq_slot_is_held(const struct mq_slot *slot)
{
    return slot->fd >= 0 || slot->number >= 0;
}
/* Takes one without waiting; not held afterwards where all are taken. On a new connection it takes
 * one again if the old one went with the old connection. */
enum mq_status mq_slot_take(struct mq_slot *slot, struct mq_error *err);
/* Gives it back; `usable`: the database may be asked. */
void mq_slot_leave(struct mq_slot *slot, bool usable);

/* How many runs there are at the moment, for doctor and status; run_dir NULL: none is known. */
enum mq_status mq_slots_held(struct mq_queue *queue, const char *run_dir, int max_workers,
                             int *held, struct mq_error *err);

#endif
