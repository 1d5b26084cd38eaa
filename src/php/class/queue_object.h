/* A MailQueue object's connection, for its methods. */
#ifndef MQ_PHP_CLASS_QUEUE_OBJECT_H
#define MQ_PHP_CLASS_QUEUE_OBJECT_H

#include "php.h"

#include "core/error.h"

struct mq_queue;

void mq_php_queue_register(zend_class_entry *ce);

/* queue_construct.c: of an argument $database what follows "sqlite:", or all of it; NULL: it cannot
 * be a file that others can open. And the absolute path of the file, or NULL with an exception. */
const char *mq_php_database_file(const zend_string *database);
zend_string *mq_php_database_path(const zend_string *database);

/* The object's connection, opened if necessary; NULL when an exception was thrown. Borrowed. */
struct mq_queue *mq_php_queue_use(zval *object);

/* As mq_php_ok(). A connection whose file was replaced, or a lost one of our own to a server, is
 * closed, and the next use opens another. If a destructor has made PHP unwind, it continues to
 * unwind. */
bool mq_php_queue_ok(zval *object, enum mq_status status, const struct mq_error *err);

#endif
