/* Messages that are objects: Stringables, and those with a method toString() as Symfony Mime's,
 * which keep Bcc out of their text and say by other methods to whom they go. Known by their
 * methods, so no class is loaded. */
#ifndef MQ_PHP_MESSAGE_MESSAGE_OBJECT_H
#define MQ_PHP_MESSAGE_MESSAGE_OBJECT_H

#include "php.h"

#include "core/buffer.h"
#include "core/error.h"

/* Whether it is a Stringable, or has a public method toString() that needs no arguments. */
bool mq_php_is_message_object(const zval *value);

/* Takes the message out of such an object, which the caller holds meanwhile. *out, undefined on
 * failure, is the text, or an array that only the functions below take: with the envelope, where
 * the object has methods that say it. Recipients: getTo(), getCc() and getBcc(); the sender: the
 * first that is there of getSender(), getReturnPath() and getFrom()'s; in place of a method that
 * is missing, getHeaders()->all() with the field's name. An answer of another type is an error only
 * where that half of the envelope is needed. MQ_THROWN; MQ_MESSAGE when there is no text. */
enum mq_status mq_php_object_read(zval *object, zval *out, struct mq_error *err);

/* What follows takes texts as well. Runs no PHP code. */

struct mq_str mq_php_message_text(const zval *message);

/* The sender that the object names, else the headers of its text; *from, malloc'ed, stays NULL
 * where neither does. MQ_MESSAGE with the field ("from[0]", "From"). */
enum mq_status mq_php_message_sender(const zval *message, char **from, struct mq_error *err);

/* The same for the recipients, each once, into an initialised, empty list. An object that has
 * some only of the three methods is asked together with the headers. MQ_MESSAGE ("bcc[1]"). */
enum mq_status mq_php_message_recipients(const zval *message, struct mq_strings *out,
                                         struct mq_error *err);

#endif
