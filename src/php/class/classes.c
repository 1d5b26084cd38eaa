/* Registers the classes; their methods are in the files of this folder. */
#include "php/class/classes.h"

#include "zend_attributes.h"
#include "zend_enum.h"
#include "zend_exceptions.h"
#include "zend_interfaces.h"

#include "php/class/job_object.h"
#include "php/class/queue_object.h"

#include "stubs/mailqueue_arginfo.h"

/* Keeps passwords in DSNs and names of files out of stack traces. */
static void mark_sensitive(zend_class_entry *ce, const char *method, uint32_t argument)
{
#if PHP_VERSION_ID >= 80200
    zend_function *function = zend_hash_str_find_ptr(&ce->function_table, method, strlen(method));
    zend_add_parameter_attribute(function, argument, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);
#endif
}

static void register_exceptions(void)
{
    mq_ce_exception = register_class_MailQueue_Exception(zend_ce_exception);
    mq_ce_database_exception = register_class_MailQueue_DatabaseException(mq_ce_exception);
    mq_ce_message_exception = register_class_MailQueue_MessageException(mq_ce_exception);
    mq_ce_transport_exception = register_class_MailQueue_TransportException(mq_ce_exception);
    mq_ce_refused_exception = register_class_MailQueue_RefusedException(mq_ce_exception);
}

void mq_php_register_classes(void)
{
    register_exceptions();
    mq_ce_status = register_class_MailQueue_Status();
    mq_ce_on_uncertain = register_class_MailQueue_OnUncertain();
    mq_ce_backoff = register_class_MailQueue_Backoff();
    mq_ce_job = register_class_MailQueue_Job();
    mq_ce_stats = register_class_MailQueue_Stats();
    mq_ce_report = register_class_MailQueue_Report();
    mq_ce_queue = register_class_MailQueue(register_class_MailQueue_Enqueuer());
    mark_sensitive(mq_ce_queue, "__construct", 0);
    mark_sensitive(mq_ce_queue, "runworker", 0);
    mark_sensitive(mq_ce_queue, "checktransport", 0);
    zend_class_entry *internal = register_class_MailQueue_Internal();
    mark_sensitive(internal, "describe", 0);
    mark_sensitive(internal, "tables", 0);
    mark_sensitive(internal, "connect", 0);
    mq_php_queue_register(mq_ce_queue);
    mq_php_job_register(mq_ce_job);
}
