/* The methods that the class tables name, by the file that has them. */
#ifndef MQ_PHP_CLASS_METHODS_H
#define MQ_PHP_CLASS_METHODS_H

#include "php.h"

/* queue_construct.c */
ZEND_METHOD(MailQueue, __construct);
ZEND_METHOD(MailQueue, default);

/* queue_enqueue.c */
ZEND_METHOD(MailQueue, enqueue);
ZEND_METHOD(MailQueue, enqueueMany);
ZEND_METHOD(MailQueue, envelope);

/* queue_claim.c */
ZEND_METHOD(MailQueue, claim);
ZEND_METHOD(MailQueue, complete);
ZEND_METHOD(MailQueue, release);
ZEND_METHOD(MailQueue, renew);
ZEND_METHOD(MailQueue, fail);
ZEND_METHOD(MailQueue, recoverStuckSending);
ZEND_METHOD(MailQueue, takeTokens);

/* queue_worker.c */
ZEND_METHOD(MailQueue, runWorker);
ZEND_METHOD(MailQueue, checkTransport);

/* queue_manage.c */
ZEND_METHOD(MailQueue, stats);
ZEND_METHOD(MailQueue, strays);
ZEND_METHOD(MailQueue, jobs);
ZEND_METHOD(MailQueue, job);
ZEND_METHOD(MailQueue, retryFailed);
ZEND_METHOD(MailQueue, hold);
ZEND_METHOD(MailQueue, delete);

/* queue_config.c */
ZEND_METHOD(MailQueue, config);
ZEND_METHOD(MailQueue, setConfig);
ZEND_METHOD(MailQueue, migrate);
ZEND_METHOD(MailQueue, diagnostics);
ZEND_METHOD(MailQueue, configKeys);
ZEND_METHOD(MailQueue_Internal, tables);
ZEND_METHOD(MailQueue_Internal, connect);
ZEND_METHOD(MailQueue_Internal, columns);

/* database_arg.c */
ZEND_METHOD(MailQueue_Internal, describe);

/* take_slot.c */
ZEND_METHOD(MailQueue_Internal, takeSlot);

/* file_acl.c */
ZEND_METHOD(MailQueue_Internal, hasAcl);

/* value_objects.c */
ZEND_METHOD(MailQueue_DatabaseException, __construct);
ZEND_METHOD(MailQueue_MessageException, __construct);
ZEND_METHOD(MailQueue_Backoff, __construct);
ZEND_METHOD(MailQueue_Backoff, steps);
ZEND_METHOD(MailQueue_Backoff, exponential);
ZEND_METHOD(MailQueue_Backoff, fixed);
ZEND_METHOD(MailQueue_Stats, __construct);
ZEND_METHOD(MailQueue_Report, __construct);

/* job_object.c */
ZEND_METHOD(MailQueue_Job, __construct);

#endif
