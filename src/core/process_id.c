/* The process ID without a system call each time. */
#include "core/process_id.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

static pthread_once_t mark_once = PTHREAD_ONCE_INIT;
static _Atomic pid_t *mark; /* our process id; 0 in a forked child. NULL: the kernel cannot */

static void make_mark(void)
{
#ifdef MADV_WIPEONFORK
    long size = sysconf(_SC_PAGESIZE);
    void *page = MAP_FAILED;

    if (size > 0) {
        page = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    if (page == MAP_FAILED) {
        return;
    }
    if (madvise(page, (size_t)size, MADV_WIPEONFORK) == 0) {
        mark = page;
    } else {
        munmap(page, (size_t)size);
    }
#endif
}

pid_t mq_process_id(void)
{
    pthread_once(&mark_once, make_mark);
    pid_t pid = mark ? *mark : 0;
    if (pid == 0) {
        pid = getpid();
        if (mark) {
            *mark = pid;
        }
    }
    return pid;
}
