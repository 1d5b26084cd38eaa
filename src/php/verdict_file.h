/* The verdict file that php.ini, the environment or the command line names. */
#ifndef MQ_PHP_VERDICT_FILE_H
#define MQ_PHP_VERDICT_FILE_H

#include "core/error.h"
#include "policy/rules.h"

/* Reads and parses the file of mailqueue.verdicts; *out is NULL if none is set. MQ_CONFIG with
 * field "verdicts" if it cannot be used. */
enum mq_status mq_php_verdicts_read(struct mq_rules **out, struct mq_error *err);

#endif
