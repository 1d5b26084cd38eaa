/* Starts one program, feeds it the message and collects its output. */
#include "send/sendmail/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

#define PIPE_USUAL    65536 /* bytes that a pipe takes */
#define MEMFD_CLOEXEC 0x1U  /* MFD_CLOEXEC of linux/memfd.h */
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

/* Whether the pipe took all of it; the program does not read yet. */
static bool fill_pipe(int fd, struct mq_str input)
{
    size_t done = 0;
    fcntl(fd, F_SETFL, O_NONBLOCK);
    while (done < input.len) {
        ssize_t n = write(fd, input.data + done, input.len - done);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return false;
        }
        done += (size_t)n;
    }
    return true;
}

/* Of no name, gone with its last descriptor; -1: see errno. */
static int open_nameless(void)
{
    char path[] = P_tmpdir "/mailqueue.XXXXXX";
#if defined(__linux__) && defined(SYS_memfd_create)
    int memory = (int)syscall(SYS_memfd_create, "mail", MEMFD_CLOEXEC);
    if (memory >= 0) {
        return memory;
    }
#endif
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0) {
        unlink(path);
    }
    return fd;
}

static int write_whole(int fd, struct mq_str input)
{
    while (input.len > 0) {
        ssize_t n = write(fd, input.data, input.len);
        if (n < 0 && errno != EINTR) {
            return errno;
        }
        if (n == 0) {
            return EIO;
        }
        if (n > 0) {
            input.data += n;
            input.len -= (size_t)n;
        }
    }
    return lseek(fd, 0, SEEK_SET) < 0 ? errno : 0;
}

static int provide_file(struct mq_process *process, struct mq_str input)
{
    int fd = open_nameless();
    if (fd < 0 || !out_of_the_way(&fd)) {
        return errno;
    }
    int error = write_whole(fd, input);
    if (error != 0) {
        close_fd(&fd);
    }
    process->input_fd = fd;
    return error;
}

static int provide_input(struct mq_process *process, struct mq_str input)
{
    int ends[2];
    if (input.len > PIPE_USUAL) {
        return provide_file(process, input);
    }
    int error = make_pipe(ends);
    if (error != 0) {
        return error;
    }
    bool fits = fill_pipe(ends[1], input);
    close_fd(&ends[1]);
    if (!fits) { /* a user with many pipes gets small ones */
        close_fd(&ends[0]);
        return provide_file(process, input);
    }
    process->input_fd = ends[0];
    return 0;
}

int mq_process_prepare(struct mq_process *process, struct mq_str input)
{
    memset(process, 0, sizeof *process);
    process->pid_fd = process->input_fd = process->output_fd = -1;
    return provide_input(process, input);
}

/* ---- the start ---- */

/* Variables of ours, libpq's and the MySQL client's that may hold a password. The programs that we
 * start do not need them. PGPASSFILE stays, since it holds only a file name. */
static bool is_secret(const char *variable)
{
    static const char *const begins[] = {"MAILQUEUE_TRANSPORT=", "MAILQUEUE_DATABASE",
                                         "PGPASSWORD=", "MYSQL_PWD="};
    bool is = false;
    for (size_t i = 0; i < sizeof begins / sizeof begins[0] && !is; i++) {
        is = strncmp(variable, begins[i], strlen(begins[i])) == 0;
    }
    return is;
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
        if (strncmp(environ[i], variable, name) != 0 && !is_secret(environ[i])) {
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

/* Whether a child has ended; *status is -1 when the way is unknown. */
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
