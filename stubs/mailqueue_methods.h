/* This is a generated file, edit the .stub.php file instead. */
#ifndef MAILQUEUE_METHODS_H
#define MAILQUEUE_METHODS_H

#include "php.h"

ZEND_METHOD(MailQueue, __construct);
ZEND_METHOD(MailQueue, default);
ZEND_METHOD(MailQueue, enqueue);
ZEND_METHOD(MailQueue, enqueueMany);
ZEND_METHOD(MailQueue, envelope);
ZEND_METHOD(MailQueue, claim);
ZEND_METHOD(MailQueue, complete);
ZEND_METHOD(MailQueue, release);
ZEND_METHOD(MailQueue, renew);
ZEND_METHOD(MailQueue, fail);
ZEND_METHOD(MailQueue, recoverStuckSending);
ZEND_METHOD(MailQueue, takeTokens);
ZEND_METHOD(MailQueue, runWorker);
ZEND_METHOD(MailQueue, runAfterResponse);
ZEND_METHOD(MailQueue, checkTransport);
ZEND_METHOD(MailQueue, stats);
ZEND_METHOD(MailQueue, jobs);
ZEND_METHOD(MailQueue, strays);
ZEND_METHOD(MailQueue, job);
ZEND_METHOD(MailQueue, expectedAt);
ZEND_METHOD(MailQueue, retryFailed);
ZEND_METHOD(MailQueue, resend);
ZEND_METHOD(MailQueue, countAsSent);
ZEND_METHOD(MailQueue, hold);
ZEND_METHOD(MailQueue, delete);
ZEND_METHOD(MailQueue, config);
ZEND_METHOD(MailQueue, setConfig);
ZEND_METHOD(MailQueue, migrate);
ZEND_METHOD(MailQueue, diagnostics);
ZEND_METHOD(MailQueue, configKeys);
ZEND_METHOD(MailQueue_Internal, describe);
ZEND_METHOD(MailQueue_Internal, tables);
ZEND_METHOD(MailQueue_Internal, connect);
ZEND_METHOD(MailQueue_Internal, columns);
ZEND_METHOD(MailQueue_Internal, select);
ZEND_METHOD(MailQueue_Internal, eraseHistory);
ZEND_METHOD(MailQueue_Internal, probe);
ZEND_METHOD(MailQueue_Internal, helo);
ZEND_METHOD(MailQueue_Internal, trace);
ZEND_METHOD(MailQueue_Internal, limits);
ZEND_METHOD(MailQueue_Internal, afterResponse);
ZEND_METHOD(MailQueue_Internal, hasAcl);
ZEND_METHOD(MailQueue_Job, __construct);
ZEND_METHOD(MailQueue_Backoff, steps);
ZEND_METHOD(MailQueue_Backoff, exponential);
ZEND_METHOD(MailQueue_Backoff, fixed);
ZEND_METHOD(MailQueue_DatabaseException, __construct);

#endif
