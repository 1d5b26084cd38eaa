/* Checks messages from the database before they are sent: somebody may have edited them. */
#include <string.h>

#include "mime/wire/message.h"

#define BLOCK 64 /* bytes at a time: a loop of known length becomes vector instructions */

/* Whether a byte is a NUL, a LF without CR before it, or stands behind a CR that LF does not
 * follow.
 */
static unsigned char fault_at(const unsigned char *byte)
{
    return (unsigned char)((byte[0] == '\0') | ((byte[0] == '\n') ^ (byte[-1] == '\r')));
}

/* The first byte from `at` on where one of these is; len: none. */
static size_t find_fault(const unsigned char *data, size_t at, size_t len)
{
    for (; len - at >= BLOCK; at += BLOCK) {
        unsigned char found = 0;
        for (size_t i = 0; i < BLOCK; i++) {
            found |= fault_at(data + at + i);
        }
        if (found != 0) {
            break;
        }
    }
    while (at < len && fault_at(data + at) == 0) {
        at++;
    }
    return at;
}

enum mq_status mq_message_check_wire(struct mq_str message, struct mq_error *err)
{
    const unsigned char *data = (const unsigned char *)message.data;
    size_t len = message.len;
    const char *what = "it does not end with CR and LF";
    size_t at = len;
    if (len > 0 && (data[0] == '\0' || data[0] == '\n')) {
        at = 0;
    } else if (len > 0) {
        at = find_fault(data, 1, len);
    }
    if (at == len && len > 1 && data[len - 1] == '\n') {
        return MQ_OK;
    }
    if (at < len) {
        bool cr = at > 0 && data[at - 1] == '\r' && data[at] != '\n';
        at -= cr;
        what = cr ? "a CR without LF" : data[at] == '\0' ? "a NUL" : "a LF without CR";
    }
    return mq_error_set(err, MQ_MESSAGE, "message",
                        "the message in the database cannot be sent: byte %zu: %s; correct it, "
                        "then retry it, or delete it",
                        at + 1, what);
}
