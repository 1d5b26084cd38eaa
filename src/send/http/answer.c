/* Finds the words of an API's error in its JSON, whose nesting differs between APIs. */
#include <string.h>

#include "core/ascii.h"
#include "core/json.h"
#include "send/http/api.h"

/* Takes a string with its quotes off *rest, which begins with one; empty: its end is missing. */
static struct mq_str take_string(struct mq_str *rest)
{
    size_t n = 1;
    while (n < rest->len && rest->data[n] != '"') {
        n += rest->data[n] == '\\' ? 2 : 1;
    }
    return mq_str_cut(rest, n < rest->len ? n + 1 : 0);
}

/* Takes the value after a member's name, if it is a text. */
static struct mq_str take_value(struct mq_str *rest)
{
    struct mq_str at = mq_str_trim(*rest);
    if (at.len > 0 && at.data[0] == ':') {
        at = mq_str_trim(mq_str_skip(at, 1));
        if (at.len > 0 && at.data[0] == '"') {
            *rest = at;
            return take_string(rest);
        }
    }
    return (struct mq_str){0};
}

static void decode(struct mq_str quoted, char *out, size_t size)
{
    struct mq_buffer list = {0};
    struct mq_strings one = {0};
    mq_buffer_char(&list, '[');
    mq_buffer_str(&list, quoted);
    mq_buffer_char(&list, ']');
    if (!list.failed && mq_json_read(mq_buffer_view(&list), '[', &one) == MQ_OK && one.count == 1) {
        mq_str_printable(out, size, 0, mq_str_of(one.items[0]));
    }
    mq_strings_clear(&one);
    mq_buffer_clear(&list);
}

void mq_http_json_text(struct mq_str json, const char *name, char *out, size_t size)
{
    size_t len = strlen(name);
    out[0] = '\0';
    for (;;) {
        json = mq_str_skip(json, mq_str_find(json, '"'));
        struct mq_str found = json.len > 0 ? take_string(&json) : json;
        if (found.len == 0) {
            return;
        }
        if (found.len == len + 2 && memcmp(found.data + 1, name, len) == 0) {
            struct mq_str value = take_value(&json);
            if (value.len > 0) {
                decode(value, out, size);
                return;
            }
        }
    }
}
