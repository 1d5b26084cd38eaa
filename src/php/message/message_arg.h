/* A message as PHP code gives it, array or text, in the form in which it goes over the wire. */
#ifndef MQ_PHP_MESSAGE_MESSAGE_ARG_H
#define MQ_PHP_MESSAGE_MESSAGE_ARG_H

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
    struct mq_str message_id;     /* points into `message`, or into its fields */
    char *envelope_from;          /* NULL: the message does not say */
    struct mq_strings recipients; /* empty: the message does not say */
};

void mq_php_wire_init(struct mq_php_wire *wire);
void mq_php_wire_clear(struct mq_php_wire *wire);

/* Whether PHP is about to leave the running function: for an exception, or because its memory limit
 * was met, which security releases since 2026 raise only when the function has returned. */
static inline bool mq_php_is_leaving(void)
{
#ifdef ZEND_HAS_OOM
    if (ZEND_HAS_OOM()) {
        return true;
    }
#endif
    return EG(exception) != NULL;
}

/* What mq_php_message_read() takes, for errors. */
#define MQ_PHP_MESSAGE_TYPES \
    "an array, a string, an object with toString() or __toString(), or null"

/* Takes a message out of PHP's hands: a string, an object's text and envelope (message_object.h),
 * or the fields of an array, as a value that only the functions below take. Everything that may run
 * PHP code happens here; files are opened, streams read. *out, which the caller frees, is undefined
 * on failure. MQ_THROWN; MQ_MESSAGE with the field. */
enum mq_status mq_php_message_read(zval *value, zval *out, struct mq_error *err);

/* Makes the wire's form of it, once, into an initialised `out`: composes fields, normalises a text.
 * The envelope is filled in where the message is one of fields; mq_php_message_envelope() says what
 * a text's is. Runs no PHP code. */
enum mq_status mq_php_message_make(const zval *message,
                                   const struct mq_php_message_options *options,
                                   struct mq_php_wire *out, struct mq_error *err);

/* What an object's methods or a text's own headers say of its envelope, into what is not there yet:
 * *from when NULL, `recipients` when empty. MQ_MESSAGE also where they do not say. Nothing to do
 * for fields. */
enum mq_status mq_php_message_envelope(const zval *message, char **from,
                                       struct mq_strings *recipients, struct mq_error *err);

/* The domain of the sender that the message names, for a Message-ID; empty when there is none.
 * Points into `scratch` (initialised). */
struct mq_str mq_php_message_domain(const zval *message, struct mq_buffer *scratch);

/* message_fields.c: the same of arrays; the values are holders. */
enum mq_status mq_php_fields_read(const zval *array, zval *out, struct mq_error *err);
enum mq_status mq_php_fields_compose(const zval *holder,
                                     const struct mq_php_message_options *options,
                                     struct mq_php_wire *out, struct mq_error *err);
struct mq_str mq_php_fields_domain(const zval *holder, struct mq_buffer *scratch);

#endif
