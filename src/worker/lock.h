/* Advisory locks on files of their own, that die with their process, and the directory they are in.
 */
#ifndef MQ_WORKER_LOCK_H
#define MQ_WORKER_LOCK_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/error.h"

/* The run directory of a database: `configured`/<name>-<hash of the path> when configured (the ini
 * setting mailqueue.run_dir), else <database>.run beside it. malloc'ed; NULL without memory. */
char *mq_run_dir_path(const char *configured, const char *database_path);
/* Where the run directories are of databases that are no file: $XDG_STATE_HOME/mailqueue, else
 * $HOME/.local/state/mailqueue, each where it is or can be made, else mailqueue-<uid> in
 * `temporary`. malloc'ed; NULL without memory. */
char *mq_run_base_path(const char *temporary);
/* The one there of the database of that identity (mq_queue_identity()). malloc'ed; NULL without
 * memory. */
char *mq_run_dir_of(const char *base, const char *identity);
/* Creates it with mode 0700 when missing; refuses one that is another user's, that others may write
 * or that is a link. */
enum mq_status mq_run_dir_prepare(const char *path, struct mq_error *err);
/* The same, with what is missing above it. */
enum mq_status mq_run_base_prepare(const char *base, struct mq_error *err);

/* Takes one of the slots 0 … max_workers − 1 without waiting: *fd is the descriptor that holds it,
 * or -1 when all are taken. close(fd) gives it back. MQ_CONFIG where another user prepared one. */
enum mq_status mq_worker_lock(const char *run_dir, int max_workers, int *fd, struct mq_error *err);
/* How many of them are held at the moment, for doctor and status. */
int mq_worker_lock_held(const char *run_dir, int max_workers);

struct mq_queue;

/* A run's slot among those that may run at once on a queue: a lock on a file of the run directory,
 * or, where machines share the database, one of its own. Both die with their process. */
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
/* After the connection was opened again: takes a slot again, if the old one went with the old
 * connection. */
enum mq_status mq_slot_take_again(struct mq_slot *slot, struct mq_error *err);
/* Gives it back; `usable`: the database may be asked. */
void mq_slot_leave(struct mq_slot *slot, bool usable);

/* How many runs there are at the moment, for doctor and status; run_dir NULL: none is known. */
enum mq_status mq_slots_held(struct mq_queue *queue, const char *run_dir, int max_workers,
                             int *held, struct mq_error *err);

#endif
