/* The C side of a MailQueue object: its options and its connection. */
#ifndef MQ_PHP_CLASS_QUEUE_OPTIONS_H
#define MQ_PHP_CLASS_QUEUE_OPTIONS_H

#include <sys/types.h>

#include "php.h"

#include "db/sqlite/sqlite.h"
#include "queue/queue.h"

/* The constructor opens the connection. After a fork, a worker's run, a replaced file or a lost
 * server, the next use opens another. A child never closes the parent's: that would drop the
 * parent's locks. */
struct mq_php_queue {
    struct mq_queue *queue; /* NULL: not open */
    pid_t pid;              /* process that opened it */
    bool constructed;
    bool opening;    /* or closing: PHP code that runs meanwhile cannot use `queue` */
    bool working;    /* runWorker() is under way */
    zval pdo;        /* the application's; undefined: a connection of our own */
    zval texts;      /* array that owns the strings below; undefined: no constructor ran */
    const char *dsn; /* of a server; NULL: `pdo` or a file */
    struct mq_sqlite_options file; /* .path NULL: in memory, or on a server. must_exist: set at
                                      the first opening, so that a deleted file is noticed */
    struct mq_queue_options options;
    zend_object std;
};

static inline struct mq_php_queue *mq_php_queue_from(zend_object *object)
{
    return (struct mq_php_queue *)(void *)((char *)object - offsetof(struct mq_php_queue, std));
}

/* Closes the connection and drops the options: the object is as before its constructor. */
void mq_php_queue_clear(struct mq_php_queue *self);

/* Copies a text that lives as long as the options. */
const char *mq_php_queue_keep(struct mq_php_queue *self, const char *text, size_t len);

/* Opens another queue with the object's options, which the caller closes. */
enum mq_status mq_php_queue_open(struct mq_php_queue *self, bool worker, struct mq_queue **out,
                                 struct mq_error *err);
/* Closes the object's own connection to a file while its worker runs; the next use opens another.
 * SQLite shares a WAL's index among the connections of a process, so an idle one would keep the
 * index of a file that was replaced, also for the worker's next connection. */
void mq_php_queue_let_go(struct mq_php_queue *self);

#endif
