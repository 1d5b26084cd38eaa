/* Writes the log, and follows its rotation. A failed write does not stop the run. */
#include "worker/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/buffer.h"
#include "core/file_id.h"
#include "core/json.h"
#include "queue/event.h"

#define FLUSH_BYTES 65536

struct mq_log {
    int fd;
    char *path;             /* absolute; NULL: a stream of the process, or unknown */
    bool subjects;          /* logs the subjects of sent mail */
    int failed_errno;       /* of the first write that failed; 0: none */
    struct mq_buffer lines; /* not written yet */
};

/* Returns the descriptor if the name means standard output or error, or -1. These names are
 * links, and they may lead to a pipe or a socket, which cannot be opened by name. */
static int standard_stream(const char *path)
{
    int word = mq_str_word(mq_str_of(path),
                           "/dev/stdout /dev/stderr /dev/fd/1 /dev/fd/2 /proc/self/fd/1 "
                           "/proc/self/fd/2",
                           mq_str_equal);
    return word >= 0 ? word % 2 + 1 : -1;
}

static enum mq_status open_file(const char *path, int *out, struct mq_error *err)
{
    struct stat st;
    char why[MQ_FILE_WHY];
    if (mq_file_is_open_database(path)) {
        return mq_error_set(err, MQ_CANTOPEN, "log",
                            "the log file %s is a database that this process has open; give "
                            "another file",
                            path);
    }
    /* O_NONBLOCK: a FIFO without a reader fails instead of waiting for one. */
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);

    if (fd < 0 && errno == ELOOP) {
        return mq_error_set(err, MQ_CANTOPEN, "log",
                            "the log file %s is a symbolic link; give the file itself", path);
    }
    if (fd < 0) {
        return mq_error_set(err, mq_status_of_errno(errno), "log",
                            "cannot open the log file %s: %s; give a file whose directory exists "
                            "and is writable (MAIL_QUEUE_LOG or the option log)",
                            path, strerror(errno));
    }
    bool device = fstat(fd, &st) == 0 && S_ISCHR(st.st_mode); /* /dev/null */
    if (!device && !mq_file_is_own(fd, why)) {
        close(fd);
        return mq_error_set(err, MQ_CANTOPEN, "log",
                            "the log file %s %s; give a file of the worker's own user "
                            "(MAIL_QUEUE_LOG or the option log)",
                            path, why);
    }
    *out = fd;
    return MQ_OK;
}

enum mq_status mq_log_open(const char *path, bool subjects, struct mq_log **out,
                           struct mq_error *err)
{
    int stream = standard_stream(path);
    int fd = stream > 0 ? fcntl(stream, F_DUPFD_CLOEXEC, 0) : -1;
    if (stream > 0 && fd < 0) {
        return mq_error_set(err, MQ_CANTOPEN, "log", "%s: %s; give another log file", path,
                            strerror(errno));
    }
    if (stream < 0) {
        MQ_TRY(open_file(path, &fd, err));
    }
    struct mq_log *log = calloc(1, sizeof(*log));
    if (!log) {
        close(fd);
        return mq_error_nomem(err);
    }
    log->fd = fd;
    log->subjects = subjects;
    /* Absolute: the application's code may change the directory. */
    log->path = stream > 0 ? NULL : realpath(path, NULL);
    *out = log;
    return MQ_OK;
}

/* Opens the log again if logrotate(8) has renamed it: then its name belongs to another file, or to
 * none. If that fails, the renamed file stays in use. */
static void follow_name(struct mq_log *log)
{
    struct mq_file_id ours, named;
    struct mq_error error;
    int fd;
    if (!log->path || (mq_file_id_of(log->path, &named) && mq_file_id_of_fd(log->fd, &ours) &&
                       mq_file_id_same(&ours, &named))) {
        return;
    }
    if (open_file(log->path, &fd, &error) == MQ_OK) {
        close(log->fd);
        log->fd = fd;
    }
}

static void add_key(struct mq_buffer *out, const char *key)
{
    mq_buffer_cstr(out, ",\"");
    mq_buffer_cstr(out, key);
    mq_buffer_cstr(out, "\":");
}

static void add_text(struct mq_buffer *out, const char *key, const char *value)
{
    if (value) {
        add_key(out, key);
        mq_json_string(out, mq_str_of(value));
    }
}

static void add_int(struct mq_buffer *out, const char *key, bool known, int64_t value)
{
    if (known) {
        add_key(out, key);
        mq_buffer_int(out, value);
    }
}

/* Appends a time in UTC as in RFC 3339. */
static void add_time(struct mq_buffer *out, int64_t utc_s)
{
    char text[40] = "null";
    struct tm tm;
    time_t t = (time_t)utc_s;
    if (gmtime_r(&t, &tm)) {
        strftime(text, sizeof(text), "\"%Y-%m-%dT%H:%M:%SZ\"", &tm);
    }
    mq_buffer_cstr(out, text);
}

void mq_event_json(struct mq_buffer *out, const struct mq_event *event)
{
    mq_buffer_cstr(out, "{\"time\":");
    add_time(out, event->at_s);
    add_text(out, "event", mq_event_type_name(event->type));
    add_int(out, "id", event->id != 0, event->id);
    add_text(out, "reference", event->reference);
    add_text(out, "type", event->mail_type);
    add_int(out, "attempt", event->attempt > 0, event->attempt);
    add_int(out, "uncertain", event->uncertain > 0, event->uncertain);
    add_int(out, "recipients", event->recipients > 0, event->recipients);
    add_text(out, "subject", event->subject);
    add_text(out, "relay", event->relay);
    add_text(out, "reply", event->reply);
    add_int(out, "ms", event->ms >= 0, event->ms);
    if (event->next_attempt_at) {
        add_key(out, "next_attempt_at");
        add_time(out, event->next_attempt_at);
    }
    mq_buffer_char(out, '}');
}

static void note_failure(struct mq_log *log, int sys_errno)
{
    if (!log->failed_errno) {
        log->failed_errno = sys_errno;
    }
}

/* Writes whole lines with one write(2), so that the lines of several workers do not mix. Only the
 * rest that a full disk cut off needs another one. */
void mq_log_flush(struct mq_log *log)
{
    size_t done = 0;
    if (log->lines.len > 0) {
        follow_name(log);
    }
    while (done < log->lines.len) {
        ssize_t n = write(log->fd, log->lines.data + done, log->lines.len - done);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            note_failure(log, n < 0 ? errno : EIO);
            break;
        }
        done += (size_t)n;
    }
    mq_buffer_reset(&log->lines);
}

void mq_log_add(struct mq_log *log, const struct mq_event *event)
{
    size_t before = log->lines.len;
    struct mq_event shown = *event;
    shown.subject = log->subjects && event->type == MQ_EVENT_SENT ? event->subject : NULL;
    mq_event_json(&log->lines, &shown);
    mq_buffer_char(&log->lines, '\n');
    if (log->lines.failed) {
        log->lines.failed = false;
        log->lines.len = before; /* removes a half line */
        note_failure(log, ENOMEM);
        return;
    }
    if (log->lines.len >= FLUSH_BYTES) {
        mq_log_flush(log);
    }
}

void mq_log_reopen(struct mq_log *log)
{
    mq_log_flush(log);
    follow_name(log);
}

void mq_log_sync(struct mq_log *log)
{
    mq_log_flush(log);
    fsync(log->fd);
}

int mq_log_failed(const struct mq_log *log)
{
    return log->failed_errno;
}

void mq_log_close(struct mq_log *log)
{
    mq_log_flush(log);
    close(log->fd);
    free(log->path);
    mq_buffer_clear(&log->lines);
    free(log);
}
