/* Starts one program and collects its output. */
#include "send/sendmail/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/ascii.h"

/* A program that never stops printing must not keep us reading. */
#define READS_AT_ONCE 64

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434 /* headers before Linux 5.3 */
#endif

extern char **environ;

static void close_fd(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
    }
    *fd = -1;
}

/* ---- the start ---- */

/* Variables of ours, libpq's and the MySQL client's that may hold a password, and those with which
 * the service manager speaks to this process. The programs that we start do not need them.
 * PGPASSFILE stays, since it holds only a file name. */
static bool is_withheld(const char *variable)
{
    static const char *const begins[] = {
        "MAILQUEUE_TRANSPORT=", "MAILQUEUE_DATABASE",   "MAILQUEUE_CLIENT_SECRET=",
        "MAILQUEUE_MAILBOX",    "MAILQUEUE_PAGE_HASH=", "PGPASSWORD=",
        "MYSQL_PWD=",           "NOTIFY_SOCKET=",       "WATCHDOG_"};
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++) {
        if (mq_text_begins(variable, begins[i])) {
            return true;
        }
    }
    return false;
}

static char **environment_with(const char *variable)
{
    size_t name = strcspn(variable, "=") + 1;
    size_t count = 0;
    size_t kept = 0;
    while (environ != NULL && environ[count] != NULL) {
        count++;
    }
    char **out = calloc(count + 2, sizeof *out);
    if (out == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        if (strncmp(environ[i], variable, name) != 0 && !is_withheld(environ[i])) {
            out[kept++] = environ[i];
        }
    }
    out[kept] = (char *)(uintptr_t)variable;
    return out;
}

/* A program inherits neither the signals that we ignore nor those that we block. */
static void set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t defaults, mask;
    sigemptyset(&mask);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGXFSZ);
    sigaddset(&defaults, SIGCHLD);
    posix_spawnattr_init(attributes);
    posix_spawnattr_setflags(attributes,
                             POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
    posix_spawnattr_setsigdefault(attributes, &defaults);
    posix_spawnattr_setsigmask(attributes, &mask);
}

static int set_streams(posix_spawn_file_actions_t *actions, int input, int output)
{
    const int from[] = {input, output, output};
    int error = 0;
    for (int i = 0; i < 3 && error == 0; i++) {
        error = posix_spawn_file_actions_adddup2(actions, from[i], i);
    }
#ifdef __GLIBC_PREREQ
#if __GLIBC_PREREQ(2, 34)
    /* PHP and its other extensions do not open everything close-on-exec. */
    if (error == 0) {
        error = posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
    }
#endif
#endif
    return error;
}

static int spawn(pid_t *pid, const int streams[2], char *const *argv, char *const *environment)
{
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    set_attributes(&attributes);
    posix_spawn_file_actions_init(&actions);
    int error = set_streams(&actions, streams[0], streams[1]);
    if (error == 0) {
        error = posix_spawn(pid, argv[0], &actions, &attributes, argv, environment);
    }
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return error;
}

int mq_process_start(struct mq_process *process, int input, char *const *argv, const char *variable)
{
    int output[2];
    *process = (struct mq_process){.pid_fd = -1, .output_fd = -1};
    char **environment = environment_with(variable);
    if (environment == NULL || pipe2(output, O_CLOEXEC) != 0) {
        int error = environment ? errno : ENOMEM;
        free(environment);
        return error;
    }
    /* Uses copies numbered above 2: if 0, 1 or 2 were closed in this process, `input` or `output`
     * can have such a number, and one stream would overwrite the other before that is copied. */
    int streams[] = {fcntl(input, F_DUPFD_CLOEXEC, 3), fcntl(output[1], F_DUPFD_CLOEXEC, 3)};
    int error = streams[0] < 0 || streams[1] < 0 ? errno : 0;
    if (error == 0) {
        error = spawn(&process->pid, streams, argv, environment);
    }
    free(environment);
    close_fd(&streams[0]);
    close_fd(&streams[1]);
    close_fd(&output[1]);
    if (error != 0) {
        process->pid = 0;
        close_fd(&output[0]);
        return error;
    }
    fcntl(output[0], F_SETFL, O_NONBLOCK);
    process->output_fd = output[0];
    process->pid_fd = (int)syscall(SYS_pidfd_open, process->pid, 0U);
    return 0;
}

/* ---- while it runs ---- */

static void keep_tail(struct mq_process *process, const char *data, size_t len)
{
    if (len > sizeof process->tail) {
        data += len - sizeof process->tail;
        len = sizeof process->tail;
    }
    size_t room = sizeof process->tail - len;
    size_t kept = process->tail_len < room ? process->tail_len : room;
    memmove(process->tail, process->tail + process->tail_len - kept, kept);
    memcpy(process->tail + kept, data, len);
    process->tail_len = kept + len;
}

void mq_process_read(struct mq_process *process)
{
    char data[4096];
    for (int i = 0; i < READS_AT_ONCE && process->output_fd >= 0; i++) {
        ssize_t n = read(process->output_fd, data, sizeof data);
        if (n > 0) {
            keep_tail(process, data, (size_t)n);
        } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            close_fd(&process->output_fd);
        } else if (errno == EAGAIN) {
            return;
        }
    }
}

bool mq_process_ended(struct mq_process *process)
{
    if (process->pid == 0) {
        return true;
    }
    pid_t ended = waitpid(process->pid, &process->status, WNOHANG);
    if (ended == 0) {
        return false;
    }
    if (ended < 0) {
        process->status = -1;
    }
    process->pid = 0;
    mq_process_read(process); /* only what is there now: a grandchild may keep the pipe open */
    close_fd(&process->output_fd);
    close_fd(&process->pid_fd);
    return true;
}

void mq_process_signal(const struct mq_process *process, int signal_number)
{
    if (process->pid > 0) {
        kill(-process->pid, signal_number);
    }
}

void mq_process_clear(struct mq_process *process)
{
    close_fd(&process->output_fd);
    close_fd(&process->pid_fd);
    process->pid = 0;
}
