/* The queue's time. */
#include "queue/handle.h"
#include "queue/queue.h"

static int64_t host_ms(const struct mq_queue *queue)
{
    return queue->host.boot_ms(queue->host.context);
}

static int64_t shared_now_us(void *context)
{
    const struct mq_queue *queue = context;
    if (queue->server_time_us == 0) {
        return queue->host.now_us(queue->host.context);
    }
    return queue->server_time_us + (host_ms(queue) - queue->told_ms) * 1000;
}

static int64_t shared_now_s(void *context)
{
    return shared_now_us(context) / 1000000;
}

static int64_t shared_boot_ms(void *context)
{
    return host_ms(context);
}

void mq_queue_set_clock(struct mq_queue *queue, const struct mq_clock *host)
{
    queue->host = *host;
    queue->clock = *host;
    if (queue->dialect->shared) {
        queue->clock = (struct mq_clock){shared_now_s, shared_now_us, shared_boot_ms, queue};
    }
}

const struct mq_clock *mq_queue_clock(const struct mq_queue *queue)
{
    return &queue->clock;
}

enum mq_status mq_queue_now(struct mq_queue *queue, int64_t *now_s, struct mq_error *err)
{
    if (!mq_sql_has(queue, MQ_SQL_NOW)) {
        *now_s = queue->clock.now_s(queue->clock.context);
        return MQ_OK;
    }
    /* Counted from the question, and from the end of the second: a time must not be earlier than
     * the event, or the hourly limit would forget it too early. */
    int64_t asked_ms = host_ms(queue);
    int64_t told_s = 0;
    enum mq_status status = mq_sql_int(queue, MQ_SQL_NOW, MQ_NO_ARGS, &told_s, err);
    if (status != MQ_OK) {
        return status;
    }
    *now_s = told_s;
    queue->server_time_us = told_s * 1000000 + 999999;
    queue->told_ms = asked_ms;
    return MQ_OK;
}

enum mq_status mq_queue_ask_time(struct mq_queue *queue, struct mq_error *err)
{
    int64_t now_s;
    return mq_queue_now(queue, &now_s, err);
}
