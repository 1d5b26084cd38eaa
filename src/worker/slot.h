/* A run's slot among those that may run at once on a queue: a lock on a file of the run directory,
 * or, where machines share the database, one of its own. Both die with their process. */
#ifndef MQ_WORKER_SLOT_H
#define MQ_WORKER_SLOT_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/error.h"

struct mq_queue;

struct mq_slot {
    struct mq_queue *queue; /* borrowed */
    const char *run_dir;    /* borrowed */
    int max_workers;
    int fd;      /* of the file; -1: none */
    int number;  /* in the database; -1: none */
    pid_t owner; /* a forked child has the descriptor too, and must not unlock it */
};

void mq_slot_init(struct mq_slot *slot, struct mq_queue *queue, const char *run_dir,
                  int max_workers);
static inline bool mq_slot_is_held(const struct mq_slot *slot)
{
    return slot->fd >= 0 || slot->number >= 0;
}
/* Takes one without waiting; not held afterwards where all are taken. */
enum mq_status mq_slot_take(struct mq_slot *slot, struct mq_error *err);
/* After the connection was opened anew: takes one again where the old one went with the old
 * connection. */
enum mq_status mq_slot_take_again(struct mq_slot *slot, struct mq_error *err);
/* Gives it back; `usable`: the database may be asked. */
void mq_slot_leave(struct mq_slot *slot, bool usable);

/* How many runs there are at the moment, for doctor and status; run_dir NULL: none is known. */
enum mq_status mq_slots_held(struct mq_queue *queue, const char *run_dir, int max_workers,
                             int *held, struct mq_error *err);

#endif
