/* The worker's log: JSON lines, one per event, appended whole with write(2). */
#ifndef MQ_WORKER_LOG_H
#define MQ_WORKER_LOG_H

#include <stdbool.h>

#include "core/error.h"

struct mq_buffer;
struct mq_event;
struct mq_log;

/* The file's default: $MAIL_QUEUE_LOG, else $HOME/logs/mail-queue.log where that directory exists,
 * else mail-queue.log beside the database or in the run directory of one that is not a file: in the
 * directory of `neighbour`. malloc'ed; NULL without memory. */
char *mq_log_default_path(const char *neighbour);

/* Lines go to the file that has the name when they are written: one that was renamed is left.
 * Opens for appending, mode 0600 when it creates it, no symlink in its last component, and no file
 * of another user's; /dev/stdout and /dev/stderr are the process's own streams. `subjects`:
 * what is sent is logged with its subject. MQ_CANTOPEN, MQ_READONLY with path, reason and cure. */
enum mq_status mq_log_open(const char *path, bool subjects, struct mq_log **out,
                           struct mq_error *err);
/* Written by the flush, at the latest by close(), in one write(2) for each 64 KiB. A failed write
 * is remembered, not reported: logging never stops the mail. */
void mq_log_add(struct mq_log *log, const struct mq_event *event);
void mq_log_flush(struct mq_log *log);
/* The same, and a power failure does not lose it, if the file can be synced. */
void mq_log_sync(struct mq_log *log);
int mq_log_failed(const struct mq_log *log); /* errno of the first write that failed, or 0 */
void mq_log_close(struct mq_log *log);

/* {"time":"2026-11-21T09:35:00Z","event":"sent","id":1,…} without a line end. */
void mq_event_json(struct mq_buffer *out, const struct mq_event *event);

#endif
