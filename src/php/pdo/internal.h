/* What driver.c gives the files above it. */
#ifndef MQ_PHP_PDO_INTERNAL_H
#define MQ_PHP_PDO_INTERNAL_H

#include "php/pdo/call.h"

extern const struct mq_db_driver mq_pdo_drivers[MQ_DIALECT_COUNT];

/* MQ_DATABASE: `who` left a transaction open on a worker's connection. */
enum mq_status mq_pdo_left_open(const char *who, struct mq_error *err);

#endif
