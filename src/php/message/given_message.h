/* A message as its sender meant it, read from PHP values: a text, an object's text and envelope, or
 * the fields of an array. Reading may run PHP code (__toString(), getTimestamp(), a stream
 * wrapper); using it afterwards runs none. */
#ifndef MQ_PHP_MESSAGE_GIVEN_MESSAGE_H
#define MQ_PHP_MESSAGE_GIVEN_MESSAGE_H

#include "php/message/fields.h"

/* What an object's methods say of one half of its envelope. */
struct mq_php_answer {
    zend_string *lines; /* the addresses as header fields; NULL: no such methods */
    zend_string *error; /* why the answer cannot be used; NULL: no error */
};

/* A message of any form; it lives in a holder (holder.h). */
struct mq_php_message {
    zend_string *text; /* NULL: the message is an array, see `fields` */
    struct mq_php_fields fields;
    struct mq_php_answer sender, recipients; /* if it was an object */
};

/* Whether PHP is about to leave the running function, because of an exception or of its memory
 * limit. Security releases since 2026 raise the latter only when the function has returned. */
static inline bool mq_php_is_leaving(void)
{
#ifdef ZEND_HAS_OOM
    if (ZEND_HAS_OOM()) {
        return true;
    }
#endif
    return EG(exception) != NULL;
}

/* For errors: the types that mq_php_message_read() accepts. */
#define MQ_PHP_MESSAGE_TYPES \
    "an array, a string, an object with toString() or __toString(), or null"

/* Whether a value is a Stringable, or has a public toString() that needs no arguments. */
bool mq_php_is_message_object(const zval *value);

/* Reads a message: opens its files and reads its streams. *out is a holder that the caller frees;
 * it is undefined on failure. MQ_THROWN; MQ_MESSAGE with the field. */
enum mq_status mq_php_message_read(zval *value, zval *out, struct mq_error *err);
const struct mq_php_message *mq_php_message_of(const zval *holder);

/* Finds the sender: that of an object's methods, or else that of the text's headers; of an array,
 * its first From. *from is malloc'ed; it stays NULL if there is none. MQ_MESSAGE with the field. */
enum mq_status mq_php_message_sender(const struct mq_php_message *message, char **from,
                                     struct mq_error *err);
/* Adds the recipients, each once, to an initialised, empty list. Not for array messages. */
enum mq_status mq_php_message_recipients(const struct mq_php_message *message,
                                         struct mq_strings *out, struct mq_error *err);

/* array.c: reads the fields of an array. The caller zeroes *out before. */
enum mq_status mq_php_array_read(const zval *array, struct mq_php_fields *out,
                                 struct mq_error *err);
/* The same for the message of a campaign, which names no recipients. */
enum mq_status mq_php_array_read_template(const zval *array, struct mq_php_fields *out,
                                          struct mq_error *err);
void mq_php_array_clear(struct mq_php_fields *fields);

/* object.c: reads the text of an object, and its envelope if it has methods for that. If
 * getEnvelope() gives an object with getRecipients(), as that of Symfony's SentMessage does, its
 * getRecipients() and getSender() give the envelope. Otherwise recipients come from getTo(),
 * getCc() and getBcc(); the sender from the first of getSender(), getReturnPath() and getFrom()
 * that gives one. If one of these methods is missing, getHeaders()->all() is asked for that field.
 * An answer of a wrong type is an error only if that half of the envelope is needed. */
enum mq_status mq_php_object_read(zval *object, struct mq_php_message *out, struct mq_error *err);

#endif
