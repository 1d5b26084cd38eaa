/* The name that EHLO gives, unless the DSN has one. */
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "send/smtp/hello.h"

void mq_smtp_host_name(char *out, size_t size)
{
    char name[256] = "";
    struct addrinfo hints = {.ai_flags = AI_CANONNAME}, *info = NULL;
    gethostname(name, sizeof name - 1);
    snprintf(out, size, "%s", name);
    if (name[0] != '\0' && strchr(name, '.') == NULL &&
        getaddrinfo(name, NULL, &hints, &info) == 0) {
        if (info->ai_canonname != NULL && strchr(info->ai_canonname, '.') != NULL) {
            snprintf(out, size, "%s", info->ai_canonname);
        }
        freeaddrinfo(info);
    }
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.";
    if (out[0] == '\0' || out[strspn(out, allowed)] != '\0') {
        snprintf(out, size, "localhost");
    }
}
