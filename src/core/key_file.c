/* Checks the owner and the mode of a file with a private key. */
#include "core/key_file.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_OCTETS_MAX 65536

const char *mq_file_key_fault(int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0) {
        return strerror(errno);
    }
    if (!S_ISREG(st.st_mode)) {
        return "is not a regular file; name a PEM file";
    }
    if (st.st_uid != 0 && st.st_uid != geteuid()) {
        return "belongs to another user; make it root's or that of the user who sends";
    }
    if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return "can be written by others than its owner; chmod it to 0600 or 0640";
    }
    if ((st.st_mode & S_IROTH) != 0) {
        return "can be read by all users; chmod it to 0600 or 0640";
    }
    return st.st_size > KEY_OCTETS_MAX ? "is too long for a key; name a PEM file" : NULL;
}
