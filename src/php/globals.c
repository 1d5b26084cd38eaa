/* The module's globals: its classes, and for each thread the ini settings and open queues. */
#include "php_mailqueue.h"

#include "php/class/classes.h"

ZEND_DECLARE_MODULE_GLOBALS(mailqueue)

zend_class_entry *mq_ce_queue;
zend_class_entry *mq_ce_status;
zend_class_entry *mq_ce_on_uncertain;
zend_class_entry *mq_ce_backoff;
zend_class_entry *mq_ce_job;
zend_class_entry *mq_ce_stats;
zend_class_entry *mq_ce_campaign;
zend_class_entry *mq_ce_report;
zend_class_entry *mq_ce_exception;
zend_class_entry *mq_ce_database_exception;
zend_class_entry *mq_ce_message_exception;
zend_class_entry *mq_ce_transport_exception;
zend_class_entry *mq_ce_refused_exception;
