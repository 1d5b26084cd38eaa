/* Reads the header fields of messages. Checks messages from the database before they are sent,
 * because somebody may have edited them. */
#include <string.h>

#include "core/ascii.h"
#include "mime/wire/message.h"

/* ---- fields ---- */

void mq_message_fields_init(struct mq_message_fields *fields, struct mq_str message)
{
    bool lf = mq_str_find(message, '\n') < message.len;
    bool cr = !lf && mq_str_find(message, '\r') < message.len; /* as some old systems write */
    *fields = (struct mq_message_fields){.rest = message, .end = cr ? '\r' : '\n'};
}

/* Returns the length of the field name that a line begins with (RFC 5322, 3.6.8), or 0. */
static size_t name_length(struct mq_str line)
{
    size_t n = 0;
    while (n < line.len && line.data[n] > 32 && line.data[n] < 127 && line.data[n] != ':') {
        n++;
    }
    return n < line.len && line.data[n] == ':' ? n : 0;
}

/* Whether the header section goes on: another line follows, and it is not the empty one. */
static bool has_line(struct mq_str rest, char end)
{
    return rest.len > 0 && rest.data[0] != end &&
           !(rest.data[0] == '\r' && (rest.len == 1 || rest.data[1] == '\n'));
}

bool mq_message_fields_next(struct mq_message_fields *fields)
{
    struct mq_str *rest = &fields->rest;
    struct mq_str all = *rest;
    fields->line += 1 + fields->folds;
    fields->folds = 0;
    if (!has_line(*rest, fields->end)) {
        return false;
    }
    mq_str_cut_at(rest, fields->end);
    for (; rest->len > 0 && mq_is_blank(rest->data[0]); fields->folds++) {
        mq_str_cut_at(rest, fields->end);
    }
    all.len -= rest->len;
    fields->name = (struct mq_str){all.data, name_length(all)};
    fields->value = mq_str_trim(mq_str_skip(all, fields->name.len + (fields->name.len > 0)));
    return true;
}

struct mq_str mq_message_head(struct mq_str message, struct mq_str *body)
{
    struct mq_message_fields fields = {.rest = message, .end = '\n'};
    while (mq_message_fields_next(&fields)) {
    }
    *body = fields.rest;
    mq_str_cut_at(body, '\n');
    return (struct mq_str){message.data, message.len - fields.rest.len};
}

unsigned mq_message_flags(struct mq_str message)
{
    struct mq_str body;
    if (mq_str_ascii(message)) {
        return 0;
    }
    struct mq_str head = mq_message_head(message, &body);
    return (mq_str_ascii(body) ? 0u : MQ_MESSAGE_8BIT) |
           (mq_str_ascii(head) ? 0u : MQ_MESSAGE_UTF8_HEADERS);
}

bool mq_message_header(struct mq_str message, const char *name, struct mq_str *value)
{
    struct mq_message_fields fields = {.rest = message, .end = '\n'};
    struct mq_str wanted = mq_str_of(name);
    while (mq_message_fields_next(&fields)) {
        if (mq_str_equal_nocase(fields.name, wanted)) {
            *value = fields.value;
            return true;
        }
    }
    return false;
}

struct mq_str mq_message_id(struct mq_str message)
{
    struct mq_str value = {NULL, 0};
    mq_message_header(message, "Message-ID", &value);
    /* Leaves out the comments that may follow the id (RFC 5322, 3.6.4). */
    size_t end = value.len > 0 && value.data[0] == '<' ? mq_str_find(value, '>') : value.len;
    return (struct mq_str){value.data, end < value.len ? end + 1 : value.len};
}

/* ---- what somebody may have edited ---- */

#define BLOCK 64 /* bytes checked at a time: a loop of known length becomes vector instructions */

/* Whether a byte is a NUL, a LF without a CR before it, or another byte than LF after a CR. */
static unsigned char fault_at(const unsigned char *byte)
{
    return (unsigned char)((byte[0] == '\0') | ((byte[0] == '\n') ^ (byte[-1] == '\r')));
}

/* Returns the index of the first byte from `at` on with such a fault; `len` if there is none. */
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
