/* The C side of a MailQueue object: its options and its connection. */
#ifndef MQ_PHP_CLASS_QUEUE_OBJECT_H
#define MQ_PHP_CLASS_QUEUE_OBJECT_H

#include <sys/types.h>

#include "php.h"

#include "core/error.h"
#include "policy/backoff.h"

struct mq_queue;

/* The connection is opened lazily: by the constructor, again after a fork (the parent's is left
 * alone, for closing it would drop the parent's locks) and after the file was replaced. Later
 * openings do not create the file, so that a deleted database is noticed. */
struct mq_php_queue {
    struct mq_queue *queue; /* NULL: not open */
    pid_t pid;              /* process that opened it */
    bool created;           /* the first opening succeeded */
    bool opening;           /* or closing: PHP code that runs meanwhile cannot use `queue` */
    bool working;           /* runWorker() is under way */
    zval pdo;               /* the application's; undefined: a connection of our own */
    zend_string *path;      /* absolute; NULL: in memory, or on a server */
    zend_string *dsn;       /* of a server; NULL: `pdo` or `path` */
    zend_string *table;     /* NULL: not constructed */
    zend_string *config_table;
    zend_string *reference_column;
    zend_string *orphan_table; /* NULL: no check */
    zend_string *orphan_column;
    zend_string *journal; /* NULL: as the driver chooses */
    struct mq_backoff backoff;
    bool synchronous_normal;
    int busy_timeout_ms;
    zend_object std;
};

static inline struct mq_php_queue *mq_php_queue_from(zend_object *object)
{
    return (struct mq_php_queue *)(void *)((char *)object - offsetof(struct mq_php_queue, std));
}

void mq_php_queue_register(zend_class_entry *ce);

/* Closes it and drops its options, as before the constructor. */
void mq_php_queue_clear(struct mq_php_queue *self);

/* A connection of its own with the object's options; the caller closes it. */
enum mq_status mq_php_queue_open(const struct mq_php_queue *self, bool worker,
                                 struct mq_queue **out, struct mq_error *err);

/* The object's connection, opened if necessary; NULL when an exception was thrown. Borrowed. */
struct mq_queue *mq_php_queue_use(zval *object);

/* As mq_php_ok(). A connection whose file was replaced, or a lost one of our own to a server, is
 * closed, and the next use opens another. If a destructor has made PHP unwind, it continues to
 * unwind. */
bool mq_php_queue_ok(zval *object, enum mq_status status, const struct mq_error *err);

#endif
