/* Tells the service manager about the run of a daemon, as sd_notify(3) describes. */
#ifndef MQ_WORKER_MANAGER_H
#define MQ_WORKER_MANAGER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct mq_run;

struct mq_manager {
    struct sockaddr_un to; /* $NOTIFY_SOCKET: a path or an abstract name */
    socklen_t to_len;      /* 0: nobody asks */
    bool watched;          /* the manager ends the process if WATCHDOG=1 stays away */
    int64_t every_ms;      /* between messages, at most half of $WATCHDOG_USEC */
    int64_t next_ms;       /* CLOCK_BOOTTIME of the next message; INT64_MAX: none */
    bool ready;            /* READY=1 was sent */
    bool stopping;         /* STOPPING=1 was sent */
};

/* Reads the environment. Only daemons have somebody to tell. */
void mq_manager_init(struct mq_manager *manager, bool daemon);
/* Sends what is due: READY=1 the first time, STOPPING=1 once the run stops, and in between
 * WATCHDOG=1 and STATUS=…. Never waits, and a message that cannot be sent is tried again later. */
void mq_run_tell_manager(struct mq_run *run);
/* The run ends, for whatever reason. */
void mq_run_tell_manager_end(struct mq_run *run);

#endif
