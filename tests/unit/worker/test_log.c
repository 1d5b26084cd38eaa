/* The worker's log: one JSON line per event, whatever the relay's reply contains. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/buffer.h"
#include "queue/event.h"
#include "worker/files.h"
#include "worker/log.h"

static char directory[64];
static char path[96];
static struct mq_error err;

static int setup(void **state)
{
    (void)state;
    snprintf(directory, sizeof(directory), "/tmp/mq-log-XXXXXX");
    if (!mkdtemp(directory)) {
        return -1;
    }
    snprintf(path, sizeof(path), "%s/mail-queue.log", directory);
    return 0;
}

static int teardown(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof(command), "rm -rf '%s'", directory);
    return system(command);
}

static void write_event(struct mq_log *log, const struct mq_event *event)
{
    mq_log_add(log, event);
    mq_log_flush(log);
}

static void assert_json(const struct mq_event *event, const char *expected)
{
    struct mq_buffer out;
    out = (struct mq_buffer){0};
    mq_event_json(&out, event);
    assert_string_equal(out.data, expected);
    mq_buffer_clear(&out);
}

static void test_json(void **state)
{
    (void)state;
    struct mq_event all = {.type = MQ_EVENT_TRY_LATER,
                           .at_s = 1795253700,
                           .id = 12,
                           .reference = "R-1",
                           .mail_type = "user",
                           .attempt = 2,
                           .recipients = 3,
                           .relay = "smtp://h:25",
                           .reply = "450 4.2.0 later",
                           .ms = 0,
                           .next_attempt_at = 1795254000};
    assert_json(&all, "{\"time\":\"2026-11-21T09:35:00Z\",\"event\":\"try_later\",\"id\":12,"
                      "\"reference\":\"R-1\",\"type\":\"user\",\"attempt\":2,\"recipients\":3,"
                      "\"relay\":\"smtp://h:25\",\"reply\":\"450 4.2.0 later\",\"ms\":0,"
                      "\"next_attempt_at\":\"2026-11-21T09:40:00Z\"}");
    struct mq_event little = {.type = MQ_EVENT_RUN, .at_s = 0, .ms = -1};
    assert_json(&little, "{\"time\":\"1970-01-01T00:00:00Z\",\"event\":\"run\"}");
}

/* HTML, escape sequences, line ends, invalid UTF-8: one line, and nothing that controls a
 * terminal. */
static void test_hostile_reply(void **state)
{
    (void)state;
    struct mq_event event = {.type = MQ_EVENT_SENT,
                             .at_s = 0,
                             .reply = "250 \x1b[2J\"\\\r\n<b>\xff\x7f\xc2\x9b",
                             .ms = -1};
    struct mq_buffer out;
    out = (struct mq_buffer){0};
    mq_event_json(&out, &event);
    for (size_t i = 0; i < out.len; i++) {
        assert_true((unsigned char)out.data[i] >= 0x20);
    }
    assert_null(strchr(out.data, '\x7f'));
    assert_null(strstr(out.data, "\xff"));
    assert_null(strstr(out.data, "\xc2\x9b")); /* CSI in C1 */
    assert_non_null(strstr(out.data, "\\u001b[2J\\\"\\\\"));
    mq_buffer_clear(&out);
}

static void test_file(void **state)
{
    struct mq_log *log = NULL;
    struct stat st;
    struct mq_event event = {.type = MQ_EVENT_RUN, .at_s = 0, .ms = -1};
    char text[256] = "";
    (void)state;
    umask(0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(mq_log_open(path, false, &log, &err), MQ_OK);
        write_event(log, &event);
        assert_int_equal(mq_log_failed(log), 0);
        mq_log_close(log);
    }
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    int fd = open(path, O_RDONLY);
    assert_true(read(fd, text, sizeof(text) - 1) > 0);
    close(fd);
    assert_string_equal(text, "{\"time\":\"1970-01-01T00:00:00Z\",\"event\":\"run\"}\n"
                              "{\"time\":\"1970-01-01T00:00:00Z\",\"event\":\"run\"}\n");
}

static void test_refused_paths(void **state)
{
    struct mq_log *log = NULL;
    char link[128];
    (void)state;
    assert_int_equal(mq_log_open(directory, false, &log, &err), MQ_CANTOPEN);
    assert_int_equal(mq_log_open("/nonexistent/x.log", false, &log, &err), MQ_CANTOPEN);
    assert_non_null(strstr(err.text, "/nonexistent/x.log"));
    snprintf(link, sizeof(link), "%s/link", directory);
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(mq_log_open(link, false, &log, &err), MQ_CANTOPEN);
    assert_non_null(strstr(err.text, "symbolic link"));
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(mq_log_open(path, false, &log, &err), MQ_CANTOPEN); /* and does not hang */
    assert_null(log);
    assert_int_equal(mq_log_open("/dev/null", false, &log, &err), MQ_OK);
    mq_log_close(log);
}

/* Pipes and sockets as well, which cannot be opened by name. */
static void test_standard_stream(void **state)
{
    static const char *const names[] = {"/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"};
    struct mq_event event = {.type = MQ_EVENT_RUN, .at_s = 0, .ms = -1};
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct mq_log *log = NULL;
        int ends[2];
        char text[128] = "";
        int kept = dup(2);
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        assert_int_equal(dup2(ends[0], 2), 2);
        enum mq_status status = mq_log_open(names[i], false, &log, &err);
        if (status == MQ_OK) {
            write_event(log, &event);
            mq_log_close(log);
        }
        /* The stream itself stays open. */
        ssize_t more = write(2, "more", 4);
        assert_int_equal(dup2(kept, 2), 2);
        close(kept);
        assert_int_equal(status, MQ_OK);
        assert_int_equal(more, 4);
        assert_true(read(ends[1], text, sizeof(text) - 1) > 0);
        assert_string_equal(text, "{\"time\":\"1970-01-01T00:00:00Z\",\"event\":\"run\"}\nmore");
        close(ends[0]);
        close(ends[1]);
    }
}

/* A failed write is remembered, but stops nothing. */
static void test_failed_write(void **state)
{
    struct mq_log *log = NULL;
    struct mq_event event = {.type = MQ_EVENT_RUN, .at_s = 0, .ms = -1};
    (void)state;
    assert_int_equal(mq_log_open("/dev/full", false, &log, &err), MQ_OK);
    write_event(log, &event);
    assert_int_equal(mq_log_failed(log), ENOSPC);
    write_event(log, &event);
    mq_log_close(log);
}

/* Lines of several processes stay whole. */
static void test_whole_lines(void **state)
{
    struct mq_event event = {.type = MQ_EVENT_RUN, .at_s = 0, .ms = -1};
    char reply[300];
    (void)state;
    memset(reply, 'x', sizeof(reply) - 1);
    reply[sizeof(reply) - 1] = '\0';
    event.reply = reply;
    for (int i = 0; i < 4; i++) {
        if (fork() == 0) {
            struct mq_log *log = NULL;
            if (mq_log_open(path, false, &log, &err) != MQ_OK) {
                _exit(1);
            }
            for (int j = 0; j < 500; j++) {
                write_event(log, &event);
            }
            _exit(0);
        }
    }
    while (wait(NULL) > 0) {
        ;
    }
    FILE *file = fopen(path, "r");
    char line[1024];
    int lines = 0;
    while (fgets(line, sizeof(line), file)) {
        lines++;
        assert_int_equal(strncmp(line, "{\"time\":\"1970", 13), 0);
        assert_string_equal(line + strlen(line) - 4, "x\"}\n");
    }
    fclose(file);
    assert_int_equal(lines, 2000);
}

static void assert_default(const char *database, const char *expected)
{
    char *found = mq_log_default_path(database);
    assert_string_equal(found, expected);
    free(found);
}

static void test_default_path(void **state)
{
    char logs[128], expected[160];
    (void)state;
    setenv("HOME", directory, 1);
    assert_default("/srv/app/db.sqlite", "/srv/app/mail-queue.log");
    assert_default("/db.sqlite", "/mail-queue.log");
    assert_default("db.sqlite", "mail-queue.log");
    snprintf(logs, sizeof(logs), "%s/logs", directory);
    assert_int_equal(mkdir(logs, 0700), 0);
    snprintf(expected, sizeof(expected), "%s/mail-queue.log", logs);
    assert_default("/srv/app/db.sqlite", expected);
}

static int64_t size_of(const char *name)
{
    struct stat st;
    return stat(name, &st) == 0 ? (int64_t)st.st_size : -1;
}

/* logrotate, with "create" and without; a file that another user put there is not used. */
static void test_renamed(void **state)
{
    (void)state;
    static const struct mq_event event = {.type = MQ_EVENT_RUN, .ms = -1};
    struct mq_log *log = NULL;
    char old[120], target[120];
    snprintf(old, sizeof(old), "%s.1", path);
    snprintf(target, sizeof(target), "%s/elsewhere", directory);
    assert_int_equal(mq_log_open(path, false, &log, &err), MQ_OK);
    write_event(log, &event);
    int64_t line = size_of(path);
    assert_true(line > 10);
    assert_int_equal(rename(path, old), 0);
    write_event(log, &event);
    assert_int_equal(size_of(old), line);
    assert_int_equal(size_of(path), line);
    assert_int_equal(rename(path, old), 0);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    write_event(log, &event);
    write_event(log, &event);
    assert_int_equal(size_of(old), line);
    assert_int_equal(size_of(path), 2 * line);
    assert_int_equal(rename(path, old), 0);
    assert_int_equal(symlink(target, path), 0);
    write_event(log, &event);
    assert_int_equal(size_of(old), 3 * line);
    assert_int_equal(size_of(target), -1);
    assert_int_equal(unlink(path), 0);
    mq_log_reopen(log); /* without a line to write */
    assert_int_equal(size_of(path), 0);
    mq_log_reopen(log);
    write_event(log, &event);
    assert_int_equal(size_of(old), 3 * line);
    assert_int_equal(size_of(path), line);
    assert_int_equal(mq_log_failed(log), 0);
    mq_log_close(log);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_json),          T(test_hostile_reply),   T(test_file),
        T(test_refused_paths), T(test_standard_stream), T(test_failed_write),
        T(test_whole_lines),   T(test_default_path),    T(test_renamed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
