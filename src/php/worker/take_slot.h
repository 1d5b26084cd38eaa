/* A worker slot that is taken before the database is opened. */
#ifndef MQ_PHP_WORKER_TAKE_SLOT_H
#define MQ_PHP_WORKER_TAKE_SLOT_H

/* The descriptor of the slot that Internal::takeSlot() took in this run directory, which the
 * caller owns from then on; -1: none. */
int mq_php_slot_hand_over(const char *run_dir);
/* Gives it back. */
void mq_php_slot_request_ends(void);

#endif
