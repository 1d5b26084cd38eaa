/* A MailQueue object's connection, for its methods. */
#ifndef MQ_PHP_CLASS_QUEUE_OBJECT_H
#define MQ_PHP_CLASS_QUEUE_OBJECT_H

#include "php.h"

#include "core/error.h"

struct mq_queue;

void mq_php_queue_register(zend_class_entry *ce);

/* queue_construct.c: the path in an argument $database, without "sqlite:"; NULL if it is not a file
 * that others can open. The second function makes the path absolute; NULL with an exception. */
const char *mq_php_database_file(const zend_string *database);
zend_string *mq_php_database_path(const zend_string *database);

/* The object's connection, opened if necessary; borrowed. NULL with an exception. The first
 * function does not ask a server for the tables' version (mq_queue_prepare()), which storing mail
 * does not need. */
struct mq_queue *mq_php_queue_opened(zval *object);
struct mq_queue *mq_php_queue_use(zval *object);

/* Does what mq_php_ok() does. First closes a connection whose file was replaced, and our own one to
 * a server if it was lost; the next use opens another. If a destructor has made PHP unwind, that
 * continues. */
bool mq_php_queue_ok(zval *object, enum mq_status status, const struct mq_error *err);

#endif
