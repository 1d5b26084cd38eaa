/* Tells the person who runs the site that mail is due and no worker runs. */
#ifndef MQ_PHP_STALE_H
#define MQ_PHP_STALE_H

#include "php.h"

struct mq_queue;

/* After mail was stored: writes a line into PHP's error log if mail has been due for mailStaleAfter
 * and no worker has run for as long. This user's processes on this host ask the database once in
 * LOOK_S, and write the line once in SAID_S; the others do at most a stat(). The first look for a
 * queue is LOOK_S after its first mail. Leaves no exception pending, except that of exit(). */
void mq_php_stale_look(zval *object, struct mq_queue *queue);

#endif
