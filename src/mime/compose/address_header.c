/* Writes From, To, Cc and other lists of mailboxes. */
#include "mime/compose/address_header.h"

#include <string.h>

#include "mime/header.h"

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

void mq_header_mailboxes(struct mq_buffer *out, const char *name, const struct mq_mailboxes *list)
{
    size_t column = strlen(name) + 1;
    mq_buffer_cstr(out, name);
    mq_buffer_char(out, ':');
    for (size_t i = 0; i < list->count; i++) {
        put_mailbox(out, &column, &list->items[i], i + 1 == list->count);
    }
    mq_buffer_append(out, "\r\n", 2);
}
