/* Which process this is. */
#ifndef MQ_CORE_PROCESS_ID_H
#define MQ_CORE_PROCESS_ID_H

#include <sys/types.h>

/* Returns getpid(), mostly without a system call, because it is needed around every statement and
 * every callback. */
pid_t mq_process_id(void);

#endif
