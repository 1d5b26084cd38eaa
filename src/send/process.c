#include "send/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

#define PIPE_MAX 1048576 /* what Linux lets everybody have (pipe-max-size) */
/* A program that prints for ever must not keep us reading. */
#define READS_AT_ONCE 64

extern char **environ;

static void close_fd(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
    }
    *fd = -1;
}

/* 0, 1 and 2 may be free when we were started so; the program's own streams come there. */
static bool out_of_the_way(int *fd)
{
    if (*fd > 2) {
        return true;
    }
    int high = fcntl(*fd, F_DUPFD_CLOEXEC, 3);
    int error = errno;
    close(*fd);
    *fd = high;
    errno = error;
    return high >= 0;
}

static int make_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) != 0) {
        ends[0] = ends[1] = -1;
        return errno;
    }
    if (!out_of_the_way(&ends[0]) || !out_of_the_way(&ends[1])) {
        int error = errno;
        close_fd(&ends[0]);
        close_fd(&ends[1]);
        return error;
    }
    return 0;
}

/* ---- the input ---- */

/* Whether a child has ended; *status -1 when nobody can say how. */
static bool reap(pid_t pid, int flags, int *status)
{
    pid_t ended;
    do {
        ended = waitpid(pid, status, flags);
    } while (ended < 0 && errno == EINTR);
    if (ended < 0) {
        *status = -1;
    }
    return ended != 0;
}

/* Returns how much went in. */
static size_t fill(int fd, struct mq_str input)
{
    size_t done = 0;
#ifdef F_SETPIPE_SZ
    if (input.len > 65536) {
        fcntl(fd, F_SETPIPE_SZ, input.len < PIPE_MAX ? (int)input.len : PIPE_MAX);
    }
#endif
    fcntl(fd, F_SETFL, O_NONBLOCK);
    while (done < input.len) {
        ssize_t n = write(fd, input.data + done, input.len - done);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            break;
        }
        done += (size_t)n;
    }
    fcntl(fd, F_SETFL, 0);
    return done;
}

static void close_from(int first)
{
#if defined(__linux__) && defined(SYS_close_range)
    if (syscall(SYS_close_range, (unsigned)first, ~0U, 0U) == 0) {
        return;
    }
#endif
    long most = sysconf(_SC_OPEN_MAX);
    for (int fd = first; fd < (most < 0 || most > 65536 ? 65536 : most); fd++) {
        close(fd);
    }
}

/* The feeder. It must hold nothing else of ours: locks show by their descriptors that we live.
 * Between fork and here only what is safe in a signal handler. */
static _Noreturn void feed(int fd, struct mq_str rest)
{
    static const int signals[] = {SIGPIPE, SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGXFSZ};
    dup2(fd, STDIN_FILENO);
    close_from(STDIN_FILENO + 1);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        signal(signals[i], SIG_DFL);
    }
    while (rest.len > 0) {
        ssize_t n = write(STDIN_FILENO, rest.data, rest.len);
        if (n < 0 && errno != EINTR) {
            _exit(1);
        }
        if (n > 0) {
            rest.data += n;
            rest.len -= (size_t)n;
        }
    }
    _exit(0);
}

/* By way of another process, so that it is nobody's child who would have to wait for it; and in a
 * session of its own before this returns, so that what kills our group from then on spares it. */
static int start_feeder(int fd, struct mq_str rest)
{
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        pid = fork();
        if (pid == 0) {
            feed(fd, rest);
        }
        _exit(pid > 0 ? 0 : 1);
    }
    if (pid < 0) {
        return errno;
    }
    reap(pid, 0, &status);
    return status == 0 ? 0 : EAGAIN;
}

static int provide_input(struct mq_process *process, struct mq_str input)
{
    int ends[2];
    int error = make_pipe(ends);
    if (error != 0) {
        return error;
    }
    size_t done = fill(ends[1], input);
    if (done < input.len) {
        error = start_feeder(ends[1], (struct mq_str){input.data + done, input.len - done});
    }
    close_fd(&ends[1]);
    if (error != 0) {
        close_fd(&ends[0]);
    }
    process->input_fd = ends[0];
    return error;
}

int mq_process_prepare(struct mq_process *process, struct mq_str input)
{
    memset(process, 0, sizeof *process);
    process->pid_fd = process->input_fd = process->output_fd = -1;
    return provide_input(process, input);
}

/* ---- the start ---- */

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
        if (strncmp(environ[i], variable, name) != 0) {
            out[kept++] = environ[i];
        }
    }
    out[kept] = (char *)(uintptr_t)variable;
    return out;
}

/* What we ignore it must not ignore, and it must be reachable by signals. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t defaults, mask;
    short flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
    sigemptyset(&mask);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGXFSZ);
    sigaddset(&defaults, SIGCHLD);
#ifdef POSIX_SPAWN_SETSID
    flags |= POSIX_SPAWN_SETSID;
#else
    flags |= POSIX_SPAWN_SETPGROUP; /* to a group of its own, 0 being the default */
#endif
    int error = posix_spawnattr_setflags(attributes, flags);
    if (error == 0) {
        error = posix_spawnattr_setsigdefault(attributes, &defaults);
    }
    return error != 0 ? error : posix_spawnattr_setsigmask(attributes, &mask);
}

static int set_streams(posix_spawn_file_actions_t *actions, int input, int output)
{
    int error = posix_spawn_file_actions_adddup2(actions, input, STDIN_FILENO);
    if (error == 0) {
        error = posix_spawn_file_actions_adddup2(actions, output, STDOUT_FILENO);
    }
    if (error == 0) {
        error = posix_spawn_file_actions_adddup2(actions, output, STDERR_FILENO);
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

static int spawn(struct mq_process *process, int output, char *const *argv,
                 char *const *environment)
{
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    int error = posix_spawnattr_init(&attributes);
    if (error != 0) {
        return error;
    }
    error = posix_spawn_file_actions_init(&actions);
    if (error == 0) {
        error = set_attributes(&attributes);
        if (error == 0) {
            error = set_streams(&actions, process->input_fd, output);
        }
        if (error == 0) {
            error = posix_spawn(&process->pid, argv[0], &actions, &attributes, argv, environment);
        }
        posix_spawn_file_actions_destroy(&actions);
    }
    posix_spawnattr_destroy(&attributes);
    return error;
}

static int open_pid(pid_t pid)
{
#if defined(__linux__) && defined(SYS_pidfd_open)
    return (int)syscall(SYS_pidfd_open, pid, 0U);
#else
    (void)pid;
    return -1;
#endif
}

int mq_process_start(struct mq_process *process, char *const *argv, const char *variable)
{
    int output[2];
    char **environment = environment_with(variable);
    if (environment == NULL) {
        return ENOMEM;
    }
    int error = make_pipe(output);
    if (error == 0) {
        error = spawn(process, output[1], argv, environment);
        close_fd(&output[1]);
    }
    free(environment);
    if (error != 0) {
        process->pid = 0;
        close_fd(&output[0]);
        return error;
    }
    close_fd(&process->input_fd);
    fcntl(output[0], F_SETFL, O_NONBLOCK);
    process->output_fd = output[0];
    process->pid_fd = open_pid(process->pid);
    return 0;
}

/* ---- while it runs ---- */

static void keep_tail(struct mq_process *process, const char *data, size_t len)
{
    if (len >= sizeof process->tail) {
        memcpy(process->tail, data + len - sizeof process->tail, sizeof process->tail);
        process->tail_len = sizeof process->tail;
        return;
    }
    size_t room = sizeof process->tail - len;
    if (process->tail_len > room) {
        memmove(process->tail, process->tail + process->tail_len - room, room);
        process->tail_len = room;
    }
    memcpy(process->tail + process->tail_len, data, len);
    process->tail_len += len;
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
    if (!reap(process->pid, WNOHANG, &process->status)) {
        return false;
    }
    process->pid = 0;
    mq_process_read(process); /* not to the end: what it started may hold the pipe for long */
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
    close_fd(&process->input_fd);
    close_fd(&process->output_fd);
    close_fd(&process->pid_fd);
    process->pid = 0;
}
