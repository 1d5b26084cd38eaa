/* The service manager's protocol, without libsystemd: datagrams of lines NAME=VALUE. A manager that
 * does not listen must not stop the mail, so no error is reported. */
#include "worker/manager.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/process_id.h"
#include "worker/run.h"

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
        manager->every_ms = mq_least(half_ms, EVERY_MS);
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

static void tell(struct mq_run *run, bool stops, int64_t now_ms)
{
    struct mq_manager *manager = &run->manager;
    const struct mq_report *report = run->report;
    char text[256];
    snprintf(text, sizeof(text),
             "%s%s%s%sSTATUS=%s%" PRId64 " sent, %" PRId64 " to be tried later, %" PRId64
             " parked, %zu under way\n",
             manager->ready ? "" : "READY=1\n", stops && !manager->stopping ? "STOPPING=1\n" : "",
             stops ? "EXTEND_TIMEOUT_USEC=" STOP_US "\n" : "",
             manager->watched ? "WATCHDOG=1\n" : "", stops ? "Stopping: " : "", report->sent,
             report->try_later, report->parked, run->under_way.count);
    int error = send_text(manager, text);
    manager->next_ms = now_ms + (error == EAGAIN ? AGAIN_MS : manager->every_ms);
    manager->ready = manager->ready || error == 0;
    manager->stopping = manager->stopping || (stops && error == 0);
}

void mq_run_tell_manager(struct mq_run *run)
{
    struct mq_manager *manager = &run->manager;
    bool stops = run->stop.begun, news = stops && !manager->stopping && manager->ready;
    int64_t now_ms = mq_run_now_ms(run);
    if (manager->to_len > 0 && (now_ms >= manager->next_ms || news)) {
        tell(run, stops, now_ms);
    }
}

void mq_run_tell_manager_end(struct mq_run *run)
{
    if (run->manager.to_len > 0) {
        tell(run, true, mq_run_now_ms(run));
    }
}
