#include "worker/slot.h"

#include <sys/file.h>
#include <unistd.h>

#include "core/process_id.h"
#include "queue/queue.h"
#include "worker/lock.h"

void mq_slot_init(struct mq_slot *slot, struct mq_queue *queue, const char *run_dir,
                  int max_workers)
{
    *slot = (struct mq_slot){queue, run_dir, max_workers, -1, -1, mq_process_id()};
}

enum mq_status mq_slot_take(struct mq_slot *slot, struct mq_error *err)
{
    if (slot->fd >= 0) {
        return MQ_OK;
    }
    if (mq_queue_is_shared(slot->queue)) {
        return mq_queue_take_slot(slot->queue, slot->max_workers, &slot->number, err);
    }
    return mq_worker_lock(slot->run_dir, slot->max_workers, &slot->fd, err);
}

enum mq_status mq_slot_take_again(struct mq_slot *slot, struct mq_error *err)
{
    slot->number = -1;
    return mq_slot_take(slot, err);
}

void mq_slot_leave(struct mq_slot *slot, bool usable)
{
    if (slot->fd >= 0) {
        /* Closing alone leaves the lock to a child that was forked in a callback, or by another
         * thread and has not called exec() yet. */
        if (slot->owner == mq_process_id()) {
            flock(slot->fd, LOCK_UN);
        }
        close(slot->fd);
    }
    if (slot->number >= 0 && usable) {
        mq_queue_free_slot(slot->queue, slot->number);
    }
    slot->fd = slot->number = -1;
}

enum mq_status mq_slots_held(struct mq_queue *queue, const char *run_dir, int max_workers,
                             int *held, struct mq_error *err)
{
    if (mq_queue_is_shared(queue)) {
        return mq_queue_slots_held(queue, max_workers, held, err);
    }
    *held = run_dir ? mq_worker_lock_held(run_dir, max_workers) : 0;
    return MQ_OK;
}
