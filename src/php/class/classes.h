/* The classes that the extension gives to PHP. They are set once, when the module starts. */
#ifndef MQ_PHP_CLASS_CLASSES_H
#define MQ_PHP_CLASS_CLASSES_H

#include "php.h"

extern zend_class_entry *mq_ce_queue;
extern zend_class_entry *mq_ce_status;
extern zend_class_entry *mq_ce_on_uncertain;
extern zend_class_entry *mq_ce_backoff;
extern zend_class_entry *mq_ce_job;
extern zend_class_entry *mq_ce_stats;
extern zend_class_entry *mq_ce_campaign;
extern zend_class_entry *mq_ce_report;
extern zend_class_entry *mq_ce_exception;
extern zend_class_entry *mq_ce_database_exception;
extern zend_class_entry *mq_ce_message_exception;
extern zend_class_entry *mq_ce_transport_exception;
extern zend_class_entry *mq_ce_refused_exception;

void mq_php_register_classes(void);

#endif
