/* Stats, Report and Backoff. */
#ifndef MQ_PHP_CLASS_VALUE_OBJECTS_H
#define MQ_PHP_CLASS_VALUE_OBJECTS_H

#include "php.h"

#include "policy/backoff.h"

struct mq_report;
struct mq_stats;

void mq_php_stats_new(zval *out, const struct mq_stats *stats);
void mq_php_report_new(zval *out, const struct mq_report *report);

struct mq_backoff mq_php_backoff_of(zend_object *backoff);

#endif
