/* Files in places where other users may put theirs. */
#ifndef MQ_CORE_OWN_FILE_H
#define MQ_CORE_OWN_FILE_H

#include <stdbool.h>

#define MQ_OWN_FILE_WHY 64

/* Whether an open file is a regular one of this process's user with no second name; else `why` says
 * what it is: "belongs to user 33". */
bool mq_own_file(int fd, char why[MQ_OWN_FILE_WHY]);

#endif
