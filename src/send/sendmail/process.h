/* A program of this host with a text on its standard input, started without a shell, in a session
 * of its own: a terminal's Ctrl-C is the worker's, the mail under way goes on.
 *
 * The program is started when its input is complete: in the pipe, or, where that is too small, in a
 * file without a name. A program takes the end of its input for the end of the mail; so no process
 * that may die must be what the input comes from. */
#ifndef MQ_SEND_SENDMAIL_PROCESS_H
#define MQ_SEND_SENDMAIL_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "core/buffer.h"

#define MQ_PROCESS_TAIL_MAX 1024

struct mq_process {
    pid_t pid;     /* 0: none, or reaped */
    int pid_fd;    /* readable when it ends; -1: the system has no such thing, look now and then */
    int input_fd;  /* what it reads, until it is started; -1: closed */
    int output_fd; /* what it prints, both streams; -1: ended */
    int status;    /* as waitpid() gives it, valid once it has ended; -1: another part of this
                      process has taken it, nobody knows */
    char tail[MQ_PROCESS_TAIL_MAX]; /* the end of what it printed */
    size_t tail_len;
};

/* A process that is none yet, with `input` ready to be read. Returns 0 or an errno value; then
 * there is nothing to clear. */
int mq_process_prepare(struct mq_process *process, struct mq_str input);
/* Starts argv[0], an absolute path, with the environment as it is, but for our secrets, and
 * `variable` ("NAME=value") in it. Returns 0 or an errno value: then nothing runs, and nothing was
 * run. */
int mq_process_start(struct mq_process *process, char *const *argv, const char *variable);
/* Reads what was printed; never waits. */
void mq_process_read(struct mq_process *process);
/* Whether it has ended; then `status` says how, and all that it printed was read. */
bool mq_process_ended(struct mq_process *process);
/* A signal to it and to what it started in its session. */
void mq_process_signal(const struct mq_process *process, int signal_number);
/* Gives up what is held. A process that runs still is left alone: it was signalled and has not
 * ended in time. */
void mq_process_clear(struct mq_process *process);

#endif
