#include "worker/slot.h"

#include <sys/file.h>
#include <unistd.h>

#include "core/process_id.h"
#include "worker/lock.h"

void mq_place_init(struct mq_place *place, struct mq_queue *queue, const char *run_dir,
                   int max_workers)
{
    *place = (struct mq_place){queue, run_dir, max_workers, -1, -1, mq_process_id()};
}

enum mq_status mq_place_take(struct mq_place *place, struct mq_error *err)
{
    if (place->fd >= 0) {
        return MQ_OK;
    }
    if (mq_queue_is_shared(place->queue)) {
        return mq_queue_take_place(place->queue, place->max_workers, &place->number, err);
    }
    return mq_worker_lock(place->run_dir, place->max_workers, &place->fd, err);
}

enum mq_status mq_place_take_again(struct mq_place *place, struct mq_error *err)
{
    place->number = -1;
    return mq_place_take(place, err);
}

void mq_place_leave(struct mq_place *place, bool usable)
{
    if (place->fd >= 0) {
        /* Closing alone leaves the lock to a child that was forked in a callback, or by another
         * thread and has not called exec() yet. */
        if (place->owner == mq_process_id()) {
            flock(place->fd, LOCK_UN);
        }
        close(place->fd);
    }
    if (place->number >= 0 && usable) {
        mq_queue_free_place(place->queue, place->number);
    }
    place->fd = place->number = -1;
}

enum mq_status mq_places_held(struct mq_queue *queue, const char *run_dir, int max_workers,
                              int *held, struct mq_error *err)
{
    if (mq_queue_is_shared(queue)) {
        return mq_queue_places_held(queue, max_workers, held, err);
    }
    *held = run_dir ? mq_worker_lock_held(run_dir, max_workers) : 0;
    return MQ_OK;
}
