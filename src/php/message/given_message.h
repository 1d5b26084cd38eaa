/* A message as its sender meant it, taken out of PHP's hands: a text, an object's text and
 * envelope, or the fields of an array. Reading may run PHP code (__toString(), getTimestamp(), a
 * stream's own wrapper); what is done with it afterwards runs none. */
#ifndef MQ_PHP_MESSAGE_GIVEN_MESSAGE_H
#define MQ_PHP_MESSAGE_GIVEN_MESSAGE_H

#include "php/message/fields.h"

/* What an object's methods say of one half of its envelope. */
struct mq_php_answer {
    zend_string *lines; /* header fields with the addresses; NULL: the methods do not say */
    zend_string *error; /* of an answer that cannot be used; NULL: none */
};

/* In a holder. */
struct mq_php_message {
    zend_string *text; /* NULL: a message of fields */
    struct mq_php_fields fields;
    struct mq_php_answer sender, recipients; /* of an object */
};

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

/* Whether it is a Stringable, or has a public method toString() that needs no arguments. */
bool mq_php_is_message_object(const zval *value);

/* Reads a message; files are opened, streams read. *out, a holder that the caller frees, is
 * undefined on failure. MQ_THROWN; MQ_MESSAGE with the field. */
enum mq_status mq_php_message_read(zval *value, zval *out, struct mq_error *err);
const struct mq_php_message *mq_php_message_of(const zval *holder);

/* The sender that an object names, else the headers of the text; of fields, the first From. *from,
 * malloc'ed, stays NULL where there is none. MQ_MESSAGE with the field. */
enum mq_status mq_php_message_sender(const struct mq_php_message *message, char **from,
                                     struct mq_error *err);
/* The recipients, each once, into an initialised, empty list. Not of fields. */
enum mq_status mq_php_message_recipients(const struct mq_php_message *message,
                                         struct mq_strings *out, struct mq_error *err);

/* array.c: the fields of an array, which are zeroed before. */
enum mq_status mq_php_array_read(const zval *array, struct mq_php_fields *out,
                                 struct mq_error *err);
void mq_php_array_clear(struct mq_php_fields *fields);

/* object.c: the text, and the envelope where the object has methods that say it. Recipients:
 * getTo(), getCc() and getBcc(); the sender: the first that is there of getSender(),
 * getReturnPath() and getFrom()'s; in place of a method that is missing, getHeaders()->all() with
 * the field's name. An answer of another type is an error only where that half of the envelope is
 * needed. */
enum mq_status mq_php_object_read(zval *object, struct mq_php_message *out, struct mq_error *err);

#endif
