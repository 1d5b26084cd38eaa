/* Job: a row of the queue as PHP sees it, and what settling it needs. */
#ifndef MQ_PHP_CLASS_JOB_OBJECT_H
#define MQ_PHP_CLASS_JOB_OBJECT_H

#include "php.h"

struct mq_job;

/* Which recipients and which message a Job shows. */
enum mq_php_job_view {
    MQ_PHP_JOB_ROW, /* as stored */
    MQ_PHP_JOB_WIRE /* of a claimed job: this attempt's recipients and the redirected message */
};

void mq_php_job_register(zend_class_entry *ce);

/* Makes a Job that only shows a row; it copies the values. */
void mq_php_job_show(zval *out, const struct mq_job *job, enum mq_php_job_view view);

/* Makes a Job that can be settled. It takes over `job`, which is empty afterwards. */
void mq_php_job_take(zval *out, struct mq_job *job);

/* The claimed job in a Job, borrowed; NULL if the Job was not made by mq_php_job_take(). */
struct mq_job *mq_php_job_claimed(zend_object *job);

#endif
