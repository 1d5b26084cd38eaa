/* Keeps the process ID, which saves a system call each time. */
#include "core/process_id.h"

#include <pthread.h>
#include <unistd.h>

static _Atomic pid_t known; /* 0: ask the kernel each time */

static void ask(void)
{
    known = getpid();
}

static void begin(void)
{
    if (pthread_atfork(NULL, NULL, ask) == 0) {
        ask();
    }
}

pid_t mq_process_id(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, begin);
    return known != 0 ? known : getpid();
}
