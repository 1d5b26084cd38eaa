#include "worker/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/file_id.h"
#include "core/json.h"
#include "core/own_file.h"
#include "worker/files.h"

#define FLUSH_BYTES 65536

struct mq_log {
    int fd;
    char *path;             /* absolute; NULL: a stream of the process, or not to be found */
    bool subjects;          /* of mail that was sent are logged */
    int failed_errno;       /* of the first write that failed; 0: none */
    struct mq_buffer lines; /* not written yet */
};

static bool is_directory(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

char *mq_log_default_path(const char *neighbour)
{
    static const char name[] = "mail-queue.log";
    const char *configured = getenv("MAIL_QUEUE_LOG");
    const char *home = getenv("HOME");
    const char *slash = strrchr(neighbour, '/');
    char *result;

    if (configured && *configured) {
        return mq_str_dup(mq_str_of(configured));
    }
    if (home && *home) {
        char *directory = mq_file_path(home, "logs");
        if (!directory) {
            return NULL;
        }
        bool exists = is_directory(directory);
        result = exists ? mq_file_path(directory, name) : NULL;
        free(directory);
        if (exists) {
            return result;
        }
    }
    if (!slash) {
        return mq_str_dup(mq_str_of(name));
    }
    char *directory = mq_str_dup((struct mq_str){neighbour, (size_t)(slash - neighbour)});
    if (!directory) {
        return NULL;
    }
    result = mq_file_path(directory, name);
    free(directory);
    return result;
}

/* The descriptor of a name for standard output or error; -1: it is no such name. These are links,
 * and what they lead to may be a pipe or a socket, which cannot be opened by name. */
static int standard_stream(const char *path)
{
    static const char *const names[][3] = {{"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"},
                                           {"/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"}};
    for (int stream = 0; stream < 2; stream++) {
        for (int i = 0; i < 3; i++) {
            if (strcmp(path, names[stream][i]) == 0) {
                return stream + 1;
            }
        }
    }
    return -1;
}

static enum mq_status open_file(const char *path, int *out, struct mq_error *err)
{
    static const struct mq_file_task task = {
        "open", "the log file", "log",
        "give a file whose directory exists and is writable (MAIL_QUEUE_LOG or the option log)"};
    struct stat st;
    char why[MQ_OWN_FILE_WHY];
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
        return mq_file_error(&task, path, errno, err);
    }
    bool device = fstat(fd, &st) == 0 && S_ISCHR(st.st_mode); /* /dev/null */
    if (!device && !mq_own_file(fd, why)) {
        close(fd);
        return mq_error_set(err, MQ_CANTOPEN, "log",
                            "the log file %s %s; give a file of the worker's own user "
                            "(MAIL_QUEUE_LOG or the option log)",
                            path, why);
    }
    *out = fd;
    return MQ_OK;
}

static enum mq_status open_stream(int stream, const char *path, int *out, struct mq_error *err)
{
    int fd = fcntl(stream, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) {
        return mq_error_set(err, MQ_CANTOPEN, "log", "%s: %s; give another log file", path,
                            strerror(errno));
    }
    *out = fd;
    return MQ_OK;
}

enum mq_status mq_log_open(const char *path, struct mq_log **out, struct mq_error *err)
{
    int stream = standard_stream(path);
    struct mq_log *log = calloc(1, sizeof(*log));

    if (!log) {
        return mq_error_nomem(err);
    }
    enum mq_status status =
        stream > 0 ? open_stream(stream, path, &log->fd, err) : open_file(path, &log->fd, err);
    if (status != MQ_OK) {
        free(log);
        return status;
    }
    /* Absolute: the application's code may change the directory. */
    log->path = stream > 0 ? NULL : realpath(path, NULL);
    mq_buffer_init(&log->lines);
    *out = log;
    return MQ_OK;
}

/* logrotate(8) renames a log while a run goes on: under the name is another file then, or none.
 * Where that cannot be opened, the renamed one goes on. */
static void follow_name(struct mq_log *log)
{
    struct stat ours, named;
    struct mq_error error;
    int fd;

    if (!log->path || (lstat(log->path, &named) == 0 && fstat(log->fd, &ours) == 0 &&
                       named.st_dev == ours.st_dev && named.st_ino == ours.st_ino)) {
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
    if (!value) {
        return;
    }
    add_key(out, key);
    mq_json_string(out, mq_str_of(value));
}

static void add_int(struct mq_buffer *out, const char *key, int64_t value)
{
    add_key(out, key);
    mq_buffer_int(out, value);
}

/* RFC 3339 in UTC. */
static void add_time(struct mq_buffer *out, int64_t utc_s)
{
    char text[40];
    struct tm tm;
    time_t t = (time_t)utc_s;
    if (!gmtime_r(&t, &tm) || strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm) == 0) {
        mq_buffer_cstr(out, "null");
        return;
    }
    mq_buffer_char(out, '"');
    mq_buffer_cstr(out, text);
    mq_buffer_char(out, '"');
}

void mq_event_json(struct mq_buffer *out, const struct mq_event *event)
{
    mq_buffer_cstr(out, "{\"time\":");
    add_time(out, event->at_s);
    add_text(out, "event", mq_event_type_name(event->type));
    if (event->id) {
        add_int(out, "id", event->id);
    }
    add_text(out, "reference", event->reference);
    add_text(out, "type", event->mail_type);
    if (event->attempt > 0) {
        add_int(out, "attempt", event->attempt);
    }
    if (event->uncertain > 0) {
        add_int(out, "uncertain", event->uncertain);
    }
    if (event->recipients > 0) {
        add_int(out, "recipients", event->recipients);
    }
    add_text(out, "subject", event->subject);
    add_text(out, "relay", event->relay);
    add_text(out, "reply", event->reply);
    if (event->ms >= 0) {
        add_int(out, "ms", event->ms);
    }
    if (event->next_attempt_at) {
        add_key(out, "next_attempt_at");
        add_time(out, event->next_attempt_at);
    }
    mq_buffer_char(out, '}');
}

/* One write(2) of whole lines keeps the lines of several workers apart. Only after a full disk cut
 * it short, the rest is written. */
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
            if (!log->failed_errno) {
                log->failed_errno = n < 0 ? errno : EIO;
            }
            break;
        }
        done += (size_t)n;
    }
    mq_buffer_reset(&log->lines);
}

void mq_log_show_subjects(struct mq_log *log)
{
    log->subjects = true;
}

void mq_log_add(struct mq_log *log, const struct mq_event *event)
{
    size_t before = log->lines.len;
    struct mq_event shown = *event;
    shown.subject = log->subjects ? event->subject : NULL;
    mq_event_json(&log->lines, &shown);
    mq_buffer_char(&log->lines, '\n');
    if (log->lines.failed) {
        log->lines.failed = false;
        log->lines.len = before; /* no half line */
        if (!log->failed_errno) {
            log->failed_errno = ENOMEM;
        }
        return;
    }
    if (log->lines.len >= FLUSH_BYTES) {
        mq_log_flush(log);
    }
}

void mq_log_event(struct mq_log *log, const struct mq_event *event)
{
    mq_log_add(log, event);
    mq_log_flush(log);
}

void mq_log_sync(struct mq_log *log)
{
    mq_log_flush(log);
    fsync(log->fd);
}

bool mq_log_failed(const struct mq_log *log, int *sys_errno)
{
    if (log->failed_errno && sys_errno) {
        *sys_errno = log->failed_errno;
    }
    return log->failed_errno != 0;
}

void mq_log_close(struct mq_log *log)
{
    if (!log) {
        return;
    }
    mq_log_flush(log);
    close(log->fd);
    free(log->path);
    mq_buffer_clear(&log->lines);
    free(log);
}
