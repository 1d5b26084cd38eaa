/* Reads the paths in MAIL and RCPT. */
#include <ctype.h>
#include <string.h>

#include "conn.h"

/* Finds the path's closing bracket; a bracket within a quoted local part does not count. */
static char *path_end(char *p)
{
    bool quoted = false;
    for (; *p != '\0'; p++) {
        if (quoted && *p == '\\' && p[1] != '\0') {
            p++;
        } else if (*p == '"') {
            quoted = !quoted;
        } else if (!quoted && *p == '>') {
            return p;
        } else if (!quoted && (*p == ' ' || *p == '<')) {
            return NULL;
        }
    }
    return NULL;
}

char *path_parse(char *argument, const char *keyword, char *address, size_t size)
{
    size_t length = strlen(keyword);
    if (strncasecmp(argument, keyword, length) != 0 || argument[length] != '<') {
        return NULL;
    }
    char *start = argument + length + 1;
    char *end = path_end(start);
    if (end == NULL || (end[1] != '\0' && end[1] != ' ') || (size_t)(end - start) >= size) {
        return NULL;
    }
    memcpy(address, start, (size_t)(end - start));
    address[end - start] = '\0';
    end++;
    return end + strspn(end, " ");
}
