/* The service manager's protocol, without libsystemd: datagrams of lines NAME=VALUE. A manager that
 * does not listen must not stop the mail, so no error is reported. */
#include "worker/service_manager.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/process_id.h"

#define EVERY_MS 10000
#define AGAIN_MS 50 /* after the manager's queue was full */
/* While the run stops, each message asks for this time. `grace` and the relay's replies may take
 * longer than TimeoutStopSec; only a run that hangs is killed. */
#define STOP_US "60000000"

/* Copies the name: PHP code can change the environment during the run. */
static void take_address(struct mq_manager *manager, const char *name)
{
    size_t len = name ? strlen(name) : 0;
    if (len < 2 || (name[0] != '/' && name[0] != '@') || len >= sizeof(manager->to.sun_path)) {
        return;
    }
    manager->to.sun_family = AF_UNIX;
    memcpy(manager->to.sun_path, name, len);
    if (name[0] == '@') {
        manager->to.sun_path[0] = '\0';
    }
    manager->to_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
    manager->next_ms = 0;
}

void mq_manager_init(struct mq_manager *manager, bool daemon)
{
    const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
    *manager = (struct mq_manager){.next_ms = INT64_MAX, .every_ms = EVERY_MS};
    if (daemon) {
        take_address(manager, getenv("NOTIFY_SOCKET"));
    }
    int64_t half_ms = usec ? strtoll(usec, NULL, 10) / 2000 : 0;
    if (half_ms > 0 && (!pid || strtoll(pid, NULL, 10) == mq_process_id())) {
        manager->watched = true;
        manager->every_ms = half_ms < EVERY_MS ? half_ms : EVERY_MS;
    }
}

/* Returns 0 or errno. */
static int send_text(const struct mq_manager *manager, const char *text)
{
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return errno;
    }
    ssize_t n = sendto(fd, text, strlen(text), MSG_NOSIGNAL, (const struct sockaddr *)&manager->to,
                       manager->to_len);
    int error = n < 0 ? errno : 0;
    close(fd);
    return error;
}

static void tell(struct mq_manager *manager, const struct mq_manager_news *news, int64_t now_ms)
{
    bool stops = news->stops || news->ends;
    char text[256];
    snprintf(text, sizeof(text),
             "%s%s%s%sSTATUS=%s%" PRId64 " sent, %" PRId64 " to be tried later, %" PRId64
             " parked, %zu under way\n",
             manager->ready ? "" : "READY=1\n", stops && !manager->stopping ? "STOPPING=1\n" : "",
             stops ? "EXTEND_TIMEOUT_USEC=" STOP_US "\n" : "",
             manager->watched ? "WATCHDOG=1\n" : "", stops ? "Stopping: " : "", news->sent,
             news->try_later, news->parked, news->under_way);
    int error = send_text(manager, text);
    manager->next_ms = now_ms + (error == EAGAIN ? AGAIN_MS : manager->every_ms);
    manager->ready = manager->ready || error == 0;
    manager->stopping = manager->stopping || (stops && error == 0);
}

void mq_manager_tell(struct mq_manager *manager, const struct mq_manager_news *news, int64_t now_ms)
{
    bool begins_to_stop = news->stops && !manager->stopping && manager->ready;
    if (manager->to_len > 0 && (now_ms >= manager->next_ms || begins_to_stop || news->ends)) {
        tell(manager, news, now_ms);
    }
}
