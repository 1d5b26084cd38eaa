/* Registers the classes; their methods are in the files of this folder. */
#include "php/class/classes.h"

#include "zend_attributes.h"
#include "zend_enum.h"
#include "zend_exceptions.h"
#include "zend_interfaces.h"

#include "php/campaign/campaign_object.h"
#include "php/class/job_object.h"
#include "php/class/queue_object.h"

/* PHP 8.1 lacks #[SensitiveParameter]: its stack traces show all arguments. */
#if PHP_VERSION_ID < 80200
#define zend_add_parameter_attribute(function, argument, name, count) ((void)(function))
#endif

#include "stubs/mailqueue_arginfo.h"

void mq_php_register_classes(void)
{
    mq_ce_exception = register_class_MailQueue_Exception(zend_ce_exception);
    mq_ce_database_exception = register_class_MailQueue_DatabaseException(mq_ce_exception);
    mq_ce_message_exception = register_class_MailQueue_MessageException(mq_ce_exception);
    mq_ce_transport_exception = register_class_MailQueue_TransportException(mq_ce_exception);
    mq_ce_refused_exception = register_class_MailQueue_RefusedException(mq_ce_exception);
    mq_ce_status = register_class_MailQueue_Status();
    mq_ce_on_uncertain = register_class_MailQueue_OnUncertain();
    mq_ce_backoff = register_class_MailQueue_Backoff();
    mq_ce_job = register_class_MailQueue_Job();
    mq_ce_campaign = register_class_MailQueue_Campaign();
    mq_ce_stats = register_class_MailQueue_Stats();
    mq_ce_report = register_class_MailQueue_Report();
    mq_ce_queue = register_class_MailQueue(register_class_MailQueue_Enqueuer());
    register_class_MailQueue_Internal();
    mq_php_queue_register(mq_ce_queue);
    mq_php_job_register(mq_ce_job);
    mq_php_campaign_register(mq_ce_campaign);
}
