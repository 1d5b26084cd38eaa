/* Whether an open file is a regular one of this user with one name only. */
#include "core/own_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool mq_own_file(int fd, char why[MQ_OWN_FILE_WHY])
{
    struct stat st;
    if (fstat(fd, &st) != 0) {
        snprintf(why, MQ_OWN_FILE_WHY, "cannot be looked at: %.40s", strerror(errno));
    } else if (!S_ISREG(st.st_mode)) {
        snprintf(why, MQ_OWN_FILE_WHY, "is not a regular file");
    } else if (st.st_uid != geteuid()) {
        snprintf(why, MQ_OWN_FILE_WHY, "belongs to user %ld, not to user %ld", (long)st.st_uid,
                 (long)geteuid());
    } else if (st.st_nlink > 1) {
        snprintf(why, MQ_OWN_FILE_WHY, "has another name too (a hard link)");
    } else {
        return true;
    }
    return false;
}
