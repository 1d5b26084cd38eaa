/* Captures PHP's mail() and mb_send_mail(): with mailqueue.capture_mail, they enqueue the mail that
 * they would hand to the program in sendmail_path. */
#ifndef MQ_PHP_CAPTURE_CAPTURE_H
#define MQ_PHP_CAPTURE_CAPTURE_H

#include "php.h"
#include "php_ini.h"

/* In MINIT: puts our handlers in place of PHP's. */
void mq_php_capture_startup(void);
/* In MSHUTDOWN: puts PHP's handlers back. */
void mq_php_capture_shutdown(void);
void mq_php_capture_request_begins(void); /* in RINIT */
void mq_php_capture_request_ends(void);   /* in RSHUTDOWN */

/* Accepts only "fail" and "send" for mailqueue.capture_failure. */
ZEND_INI_MH(mq_php_ini_capture_failure);

#endif
