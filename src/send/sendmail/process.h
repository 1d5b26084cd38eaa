/* Runs a local program without a shell, with a file as its standard input. It has its own session,
 * so that Ctrl-C in a terminal stops only the worker, and the mail under way goes on. */
#ifndef MQ_SEND_SENDMAIL_PROCESS_H
#define MQ_SEND_SENDMAIL_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define MQ_PROCESS_TAIL_MAX 1024

struct mq_process {
    pid_t pid;     /* 0: none, or reaped */
    int pid_fd;    /* readable when the program ends; -1: no kernel support, so ask now and then */
    int output_fd; /* its stdout and stderr; -1: closed */
    int status;    /* as waitpid() gives it, valid once it has ended; -1: unknown, as another part
                      of this process reaped it */
    char tail[MQ_PROCESS_TAIL_MAX]; /* the end of what it printed */
    size_t tail_len;
};

/* Starts argv[0], an absolute path. The environment is ours without our secrets, and with
 * `variable` ("NAME=value"). Returns 0 or an errno value: then nothing ran, and there is nothing to
 * clear. */
int mq_process_start(struct mq_process *process, int input, char *const *argv,
                     const char *variable);
/* Reads what was printed; never waits. */
void mq_process_read(struct mq_process *process);
/* Whether the program has ended; then `status` is set, and what it printed was read. */
bool mq_process_ended(struct mq_process *process);
/* Sends a signal to the program and to the processes of its group. */
void mq_process_signal(const struct mq_process *process, int signal_number);
/* Closes what is open. A process that still runs is left alone. */
void mq_process_clear(struct mq_process *process);

#endif
