/* The worker's log: JSON lines, one per event, appended whole with write(2). */
#ifndef MQ_WORKER_LOG_H
#define MQ_WORKER_LOG_H

#include <stdbool.h>

#include "core/error.h"

struct mq_buffer;
struct mq_event;
struct mq_log;

/* Opens the log for appending, and creates it with mode 0600. Refuses a symbolic link and a file of
 * another user; /dev/stdout and /dev/stderr are the process's own streams. Lines go to the file
 * that has the name when they are written: a renamed one is left. `subjects`: logs the subjects of
 * sent mail. MQ_CANTOPEN, MQ_READONLY with path, reason and cure. */
enum mq_status mq_log_open(const char *path, bool subjects, struct mq_log **out,
                           struct mq_error *err);
/* Adds a line. It is written by the flush or by close(), in one write(2) for each 64 KiB. A failed
 * write is remembered, not reported: logging never stops the mail. */
void mq_log_add(struct mq_log *log, const struct mq_event *event);
void mq_log_flush(struct mq_log *log);
/* Flushes, and opens the file that has the name now. */
void mq_log_reopen(struct mq_log *log);
/* Flushes and, if the file can be synced, makes sure that a power failure loses no line. */
void mq_log_sync(struct mq_log *log);
int mq_log_failed(const struct mq_log *log); /* errno of the first write that failed, or 0 */
void mq_log_close(struct mq_log *log);

/* Appends {"time":"2026-11-21T09:35:00Z","event":"sent","id":1,…} without a line end. */
void mq_event_json(struct mq_buffer *out, const struct mq_event *event);

#endif
