/* Mailboxes as people write them and as headers hold them (RFC 5322, sections 3.4 and 4.4). */
#ifndef MQ_MIME_MAILBOX_H
#define MQ_MIME_MAILBOX_H

#include <stdbool.h>

#include "core/buffer.h"
#include "core/error.h"

/* All zero: empty. */
struct mq_mailboxes {
    struct mq_strings addresses; /* plain addr-specs, domains in A-labels */
    struct mq_strings names;     /* at the same indexes; unquoted UTF-8, "" if there is none */
};

void mq_mailboxes_clear(struct mq_mailboxes *list);

/* Appends the mailboxes of `addr`, `<addr>`, `Name <addr>`, `"Name" <addr>`, or several of these
 * with commas between. Strict: no groups, comments, quoted local parts, source routes. Nothing is
 * repaired, except that pasted separators become spaces (mq_header_text()). Linear time. MQ_MESSAGE
 * with `field`. */
enum mq_status mq_mailboxes_parse(struct mq_str text, const char *field, struct mq_mailboxes *list,
                                  struct mq_error *err);
/* Appends one mailbox, given as name and address. */
enum mq_status mq_mailboxes_add(struct mq_str name, struct mq_str address, const char *field,
                                struct mq_mailboxes *list, struct mq_error *err);

/* Appends "Name: mailbox, mailbox", folded; nothing if the list is empty. */
void mq_mailboxes_write(struct mq_buffer *out, const char *name, const struct mq_mailboxes *list);

/* Appends the addresses (plain addr-specs, domains in A-labels) of an address field's value in a
 * message that somebody else wrote. It may have folding, comments, groups (also empty ones, such as
 * "undisclosed-recipients:;"), quoted names, and encoded words in names. Blanks are space, tab and
 * folding. Of the pasted separators (mq_header_text()), names may have U+0085, U+2028 and U+2029.
 * The others are errors, and so is anything that is not a plain addr-spec. Linear time. MQ_MESSAGE
 * with `field`. */
enum mq_status mq_addresses_of_header(struct mq_str value, const char *field,
                                      struct mq_strings *list, struct mq_error *err);

/* Reads the addresses of a field's value one by one, as they are in the value. */
struct mq_address_reader {
    struct mq_str rest; /* of the value, without white space around it */
    const char *fault;  /* what is wrong with the syntax, or NULL */
    bool strict;        /* no comments, no groups, no white space inside <> */
    bool in_group;
    bool more; /* a comma followed the last element */
};

/* Takes the next element. *address is empty if it has none. False at the end or after a fault. */
bool mq_address_next(struct mq_address_reader *reader, struct mq_str *address);

#endif
