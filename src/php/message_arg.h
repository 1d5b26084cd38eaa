/* A message as PHP code gives it, array or string, in the form in which it goes over the wire. */
#ifndef MQ_PHP_MESSAGE_ARG_H
#define MQ_PHP_MESSAGE_ARG_H

#include "php.h"

#include "core/buffer.h"
#include "core/error.h"

struct mq_php_message_options {
    const char *message_id; /* "<…@…>" for a message that has none */
    int64_t date_s;
};

/* The result, malloc'ed and owned. */
struct mq_php_wire {
    struct mq_buffer message;
    struct mq_str message_id;     /* points into `message`; empty after composing */
    char *envelope_from;          /* NULL: the message does not say */
    struct mq_strings recipients; /* empty: the message does not say */
};

void mq_php_wire_init(struct mq_php_wire *wire);
void mq_php_wire_clear(struct mq_php_wire *wire);

/* Composes array{from, to, subject, text} into an initialised `out`. Runs no PHP code. */
enum mq_status mq_php_message_compose(HashTable *fields,
                                      const struct mq_php_message_options *options,
                                      struct mq_php_wire *out, struct mq_error *err);

/* Brings a complete message into wire form; what it goes to is not in it. */
enum mq_status mq_php_message_normalize(struct mq_str raw,
                                        const struct mq_php_message_options *options,
                                        struct mq_php_wire *out, struct mq_error *err);

/* Reads list<string> of envelope addresses, each once, into an initialised, empty list. MQ_MESSAGE
 * with the field "recipients" or "recipients[3]". */
enum mq_status mq_php_recipients(HashTable *list, struct mq_strings *out, struct mq_error *err);

/* The domain of the mailbox in fields["from"], for a Message-ID; empty when there is none. Points
 * into `scratch` (initialised). */
struct mq_str mq_php_message_domain(HashTable *fields, struct mq_buffer *scratch);

#endif
