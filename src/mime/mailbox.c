/* Addresses with a name, as applications give them. Header fields of complete messages are read by
 * mailbox_header.c. */
#include "mime/mailbox.h"

#include <stdlib.h>
#include <string.h>

#include "mime/address.h"
#include "mime/header.h"
#include "mime/idn.h"

void mq_mailboxes_init(struct mq_mailboxes *list)
{
    *list = (struct mq_mailboxes){0};
}

static void clear_mailbox(struct mq_mailbox *mailbox)
{
    free(mailbox->name);
    free(mailbox->address);
}

/* Drops what is behind the first `count`. */
static void cut(struct mq_mailboxes *list, size_t count)
{
    while (list->count > count) {
        clear_mailbox(&list->items[--list->count]);
    }
}

void mq_mailboxes_clear(struct mq_mailboxes *list)
{
    cut(list, 0);
    free(list->items);
    mq_mailboxes_init(list);
}

/* Appends a mailbox whose name was checked. */
static enum mq_status add(struct mq_str name, struct mq_str address, const char *field,
                          struct mq_mailboxes *list, struct mq_error *err)
{
    struct mq_mailbox found = {0};
    enum mq_status status = mq_idn_address(address, field, &found.address, err);
    if (status != MQ_OK) {
        return status;
    }
    found.name = name.len > 0 ? mq_str_dup(name) : NULL;
    if (name.len > 0 && found.name == NULL) {
        goto nomem;
    }
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? list->capacity * 2 : 4;
        struct mq_mailbox *items = capacity <= SIZE_MAX / sizeof *items
                                       ? realloc(list->items, capacity * sizeof *items)
                                       : NULL;
        if (items == NULL) {
            goto nomem;
        }
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = found;
    return MQ_OK;
nomem:
    clear_mailbox(&found);
    return mq_error_nomem(err);
}

enum mq_status mq_mailboxes_add(struct mq_str name, struct mq_str address, const char *field,
                                struct mq_mailboxes *list, struct mq_error *err)
{
    struct mq_buffer spaced;
    mq_buffer_init(&spaced);
    enum mq_status status = mq_header_text(&name, field, &spaced, err);
    if (status == MQ_OK) {
        status = add(name, address, field, list, err);
    }
    mq_buffer_clear(&spaced);
    return status;
}

/* ---- as people write them ---- */

/* Length of text up to the first of `stops`, or all of it. */
static size_t until(struct mq_str text, const char *stops)
{
    size_t i = 0;
    while (i < text.len && (text.data[i] == '\0' || strchr(stops, text.data[i]) == NULL)) {
        i++;
    }
    return i;
}

static struct mq_str from(struct mq_str text, size_t at)
{
    return (struct mq_str){text.data + at, text.len - at};
}

/* Takes `"Name"` off *rest, which begins with the quote; the unquoted content is appended to name.
 * NULL, or what is wrong. */
static const char *take_quoted(struct mq_str *rest, struct mq_buffer *name)
{
    size_t i = 1;
    for (; i < rest->len && rest->data[i] != '"'; i++) {
        if (rest->data[i] == '\\' && ++i == rest->len) {
            break;
        }
        mq_buffer_char(name, rest->data[i]);
    }
    if (i >= rest->len) {
        return "has a quoted name without its closing quote; add it";
    }
    *rest = mq_str_trim(from(*rest, i + 1));
    if (rest->len == 0 || rest->data[0] != '<') {
        return "has a quoted name that no <address> follows; quoted local parts are not supported";
    }
    return NULL;
}

/* Takes a name without quotes off *rest, which has a "<" before the next comma. */
static const char *take_plain(struct mq_str *rest, struct mq_buffer *name)
{
    size_t before = until(*rest, "<");
    struct mq_str plain = mq_str_trim((struct mq_str){rest->data, before});
    if (until(plain, "()>[]:;@\\\"") < plain.len) {
        return "has a name with one of ()<>[]:;@\\,\" in it; put the name in double quotes "
               "(groups and comments are not supported)";
    }
    mq_buffer_str(name, plain);
    *rest = from(*rest, before);
    return NULL;
}

/* Takes `<addr>` and the white space behind it off *rest, which begins with "<". */
static const char *take_angle(struct mq_str *rest, struct mq_str *address)
{
    size_t end = until(*rest, ">");
    if (end == rest->len) {
        return "has a \"<\" without \">\"; add it";
    }
    *address = (struct mq_str){rest->data + 1, end - 1};
    *rest = mq_str_trim(from(*rest, end + 1));
    if (rest->len > 0 && rest->data[0] != ',') {
        return "is followed by something; put commas between addresses, and no comments";
    }
    return NULL;
}

/* Takes one mailbox off *rest, up to a comma or the end. */
static const char *take_mailbox(struct mq_str *rest, struct mq_buffer *name, struct mq_str *address)
{
    const char *fault = NULL;
    size_t stop = until(*rest, "<,");
    if (rest->len > 0 && rest->data[0] == '"') {
        fault = take_quoted(rest, name);
    } else if (stop < rest->len && rest->data[stop] == '<') {
        fault = take_plain(rest, name);
    } else {
        *address = mq_str_trim((struct mq_str){rest->data, stop});
        *rest = from(*rest, stop);
        if (address->len > 0 && until(*address, "@") == address->len) {
            return "has no \"@\"; write it as name@example.org, and a name that has a comma in "
                   "double quotes";
        }
        return NULL;
    }
    return fault != NULL ? fault : take_angle(rest, address);
}

enum mq_status mq_mailboxes_parse(struct mq_str text, const char *field, struct mq_mailboxes *list,
                                  struct mq_error *err)
{
    size_t before = list->count;
    struct mq_buffer name;
    struct mq_buffer spaced;
    mq_buffer_init(&name);
    mq_buffer_init(&spaced);
    enum mq_status status = mq_header_text(&text, field, &spaced, err);
    struct mq_str rest = mq_str_trim(text);
    bool more = true;
    while (status == MQ_OK && more) {
        struct mq_str start = rest;
        struct mq_str address = {0};
        mq_buffer_reset(&name);
        const char *fault = take_mailbox(&rest, &name, &address);
        if (fault != NULL) {
            status = mq_address_bad(start, field, fault, err);
        } else if (name.failed) {
            status = mq_error_nomem(err);
        } else {
            status = add(mq_buffer_view(&name), address, field, list, err);
        }
        more = rest.len > 0;
        rest = more ? mq_str_trim(from(rest, 1)) : rest;
    }
    if (status != MQ_OK) {
        cut(list, before);
    }
    mq_buffer_clear(&name);
    mq_buffer_clear(&spaced);
    return status;
}

/* ---- writing ---- */

/* " Name <address>" or " address", and a comma when another follows. */
static void put_mailbox(struct mq_buffer *out, size_t *column, const struct mq_mailbox *mailbox,
                        bool last)
{
    struct mq_str address = mq_str_of(mailbox->address);
    size_t len = address.len + !last;
    if (mailbox->name != NULL) {
        mq_encode_phrase(out, column, mq_str_of(mailbox->name));
        len += 2;
    }
    mq_encode_break(out, column, len);
    *column += len;
    mq_buffer_append(out, "<", mailbox->name != NULL);
    mq_buffer_str(out, address);
    mq_buffer_append(out, ">", mailbox->name != NULL);
    mq_buffer_append(out, ",", !last);
}

void mq_mailboxes_write(struct mq_buffer *out, const char *name, const struct mq_mailboxes *list)
{
    size_t column = strlen(name) + 1;
    if (list->count == 0) {
        return;
    }
    mq_buffer_cstr(out, name);
    mq_buffer_char(out, ':');
    for (size_t i = 0; i < list->count; i++) {
        put_mailbox(out, &column, &list->items[i], i + 1 == list->count);
    }
    mq_buffer_append(out, "\r\n", 2);
}
