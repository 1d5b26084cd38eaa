/* Tells the service manager about the run of a daemon, as sd_notify(3) describes. */
#ifndef MQ_WORKER_SERVICE_MANAGER_H
#define MQ_WORKER_SERVICE_MANAGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct mq_manager {
    struct sockaddr_un to; /* $NOTIFY_SOCKET: a path or an abstract name */
    socklen_t to_len;      /* 0: nobody asks */
    bool watched;          /* the manager ends the process if WATCHDOG=1 stays away */
    int64_t every_ms;      /* between messages, at most half of $WATCHDOG_USEC */
    int64_t next_ms;       /* CLOCK_BOOTTIME of the next message; INT64_MAX: none */
    bool ready;            /* READY=1 was sent */
    bool stopping;         /* STOPPING=1 was sent */
};

/* What the manager is told of a run. */
struct mq_manager_news {
    bool stops; /* the run claims nothing more */
    bool ends;  /* it does nothing more */
    int64_t sent, try_later, parked;
    size_t under_way;
};

/* Reads the environment. Only daemons have somebody to tell. */
void mq_manager_init(struct mq_manager *manager, bool daemon);
/* Sends what is due: READY=1 the first time, STOPPING=1 once the run stops, and in between
 * WATCHDOG=1 and STATUS=…. Never waits, and a message that cannot be sent is tried again later. */
void mq_manager_tell(struct mq_manager *manager, const struct mq_manager_news *news,
                     int64_t now_ms);

#endif
