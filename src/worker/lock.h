/* Worker slots, which limit how many runs work on a queue at once. */
#ifndef MQ_WORKER_LOCK_H
#define MQ_WORKER_LOCK_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/error.h"

#define MQ_WORKERS_MAX 64 /* runs at once on a queue */

/* Takes one of the slots 0 … max_workers − 1 without waiting: *fd is the descriptor that holds it,
 * or -1 if all are taken. close(fd) gives it back. MQ_CONFIG if a lock file is not our own. */
enum mq_status mq_worker_lock(const char *run_dir, int max_workers, int *fd, struct mq_error *err);
/* Counts the slots that are held at the moment, for doctor and status. */
int mq_worker_lock_held(const char *run_dir, int max_workers);

struct mq_queue;

/* The worker slot of a run: a lock on a file of the run directory or, if machines share the
 * database, a lock in the database. The lock ends with the process. */
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
/* Takes a slot without waiting; the run holds none if all are taken, or mailMaxWorkers of them. If
 * the slot went with a lost connection, it takes one on the new connection. */
enum mq_status mq_slot_take(struct mq_slot *slot, struct mq_error *err);
/* Gives the slot back. `usable`: the database can be asked. */
void mq_slot_leave(struct mq_slot *slot, bool usable);

/* Counts the runs at the moment, for doctor and status. run_dir NULL: there is no run directory. */
enum mq_status mq_slots_held(struct mq_queue *queue, const char *run_dir, int max_workers,
                             int *held, struct mq_error *err);

#endif
