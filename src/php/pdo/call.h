/* Calls methods of the PDO and of its statements, and turns their failures into statuses. */
#ifndef MQ_PHP_PDO_CALL_H
#define MQ_PHP_PDO_CALL_H

#include "php/pdo/held.h"

/* Calls a method. On failure *result is undefined and the exception is kept as the cause. `result`
 * may be NULL. */
enum mq_status mq_pdo_call(struct mq_pdo *self, struct mq_php_method method, zval *result,
                           struct mq_error *err);
/* Makes a PHP string of the text in *out. MQ_BAILOUT if the memory limit made PHP unwind. */
enum mq_status mq_pdo_string(struct mq_pdo *self, struct mq_str text, zval *out,
                             struct mq_error *err);
/* Notes that PHP unwinds, and returns MQ_BAILOUT. */
enum mq_status mq_pdo_bailed(struct mq_pdo *self, struct mq_error *err);
enum mq_status mq_pdo_exec(struct mq_pdo *self, const char *sql, struct mq_error *err);
/* Runs a ROLLBACK. Frees stale statements just before it: when PDO frees a statement, it also
 * deallocates it on the server. If the server lacks the statement, this aborts the transaction. */
enum mq_status mq_pdo_undo(struct mq_pdo *self, const char *sql);
/* Reads an attribute; the caller owns the value. */
enum mq_status mq_pdo_attribute(struct mq_pdo *self, zend_long name, zval *value,
                                struct mq_error *err);
/* Whether an attribute is on; false on failure. */
enum mq_status mq_pdo_flag(struct mq_pdo *self, zend_long name, bool *flag, struct mq_error *err);
/* Whether the connection is within a transaction, as far as PDO knows. */
enum mq_status mq_pdo_in_transaction(struct mq_pdo *self, bool *within, struct mq_error *err);

/* Sets the attributes that the driver needs, and puts the application's back. */
enum mq_status mq_pdo_enter(struct mq_pdo *self, struct mq_error *err);
void mq_pdo_leave(struct mq_pdo *self);
/* MySQL: sets whether PDO writes the values into the text of statements that are prepared next. */
enum mq_status mq_pdo_emulate(struct mq_pdo *self, bool emulate, struct mq_error *err);

/* sqlstate.c: returns the status for an exception, and takes the exception over as the cause. */
enum mq_status mq_pdo_failed(struct mq_pdo *self, zend_object *thrown, struct mq_error *err);
/* Whether the last failure of SQLite or MySQL says that a transaction is open already. */
bool mq_pdo_cause_is_nested(void);

/* driver.c. MQ_DATABASE: `who` left a transaction open on a worker's connection. */
enum mq_status mq_pdo_left_open(const char *who, struct mq_error *err);

#define MQ_PDO_POOLER                                                                 \
    "a pooler before PostgreSQL gives each transaction another session (pgbouncer's " \
    "pool_mode = transaction)"
#define MQ_PDO_POOLER_CURE "give the server's own address, or one with pool_mode = session"

#endif
