/* Which process this is. */
#ifndef MQ_CORE_PROCESS_ID_H
#define MQ_CORE_PROCESS_ID_H

#include <sys/types.h>

/* What getpid() says, mostly without a system call: it is asked around every statement and every
 * callback. */
pid_t mq_process_id(void);

#endif
