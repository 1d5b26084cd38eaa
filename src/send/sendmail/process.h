/* A program of this host with a file on its standard input, started without a shell, in a session
 * of its own: a terminal's Ctrl-C is for the worker, and the mail under way goes on. */
#ifndef MQ_SEND_SENDMAIL_PROCESS_H
#define MQ_SEND_SENDMAIL_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define MQ_PROCESS_TAIL_MAX 1024

struct mq_process {
    pid_t pid;  /* 0: none, or reaped */
    int pid_fd; /* readable when it ends; -1: the kernel is too old for that, look now and then */
    int output_fd; /* what it prints, both streams; -1: ended */
    int status;    /* as waitpid() gives it, valid once it has ended; -1: another part of this
                      process took it, so nobody knows */
    char tail[MQ_PROCESS_TAIL_MAX]; /* the end of what it printed */
    size_t tail_len;
};

/* Starts argv[0], an absolute path, with the environment as it is, but for our secrets, and
 * `variable` ("NAME=value") in it. Returns 0 or an errno value: then nothing ran, and there is
 * nothing to clear. */
int mq_process_start(struct mq_process *process, int input, char *const *argv,
                     const char *variable);
/* Reads what was printed; never waits. */
void mq_process_read(struct mq_process *process);
/* Whether it has ended; then `status` says how, and all that it printed was read. */
bool mq_process_ended(struct mq_process *process);
/* A signal to it and to what it started in its session. */
void mq_process_signal(const struct mq_process *process, int signal_number);
/* Closes what is open. A process that still runs is left alone. */
void mq_process_clear(struct mq_process *process);

#endif
