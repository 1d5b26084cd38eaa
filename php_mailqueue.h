/* What PHP needs to know of the extension: its version, its module entry and its ini settings. */
#ifndef PHP_MAILQUEUE_H
#define PHP_MAILQUEUE_H

#include "php.h"

#include "core/buffer.h"

#define PHP_MAILQUEUE_VERSION "0.1.0"

extern zend_module_entry mailqueue_module_entry;
#define phpext_mailqueue_ptr &mailqueue_module_entry

struct mq_pdo;

/* The values of the ini settings; strings belong to PHP and live as long as the request. */
ZEND_BEGIN_MODULE_GLOBALS(mailqueue)
    char *database;
    char *database_user;
    char *database_password;
    char *database_ssl_ca; /* path of a file */
    bool database_persistent;
    char *transport;
    char *run_dir;
    char *accounts; /* the directory of OAuth2 accounts */
    char *log;
    char *dkim;
    char *verdicts;    /* path of a file */
    char *redirect_to; /* of this machine's test mode, as allow_to */
    char *allow_to;
    zend_long max_message_size; /* bytes; 0: no limit */
    bool capture_mail;
    char *capture_failure;      /* "fail" or "send", in upper or lower case */
    bool told_no_finisher;      /* runAfterResponse() has logged that it does nothing here */
    uint64_t stale_hash;        /* of the queue that stale_next_s is about */
    time_t stale_next_s;        /* until then mq_php_stale_look() does nothing */
    bool traces;                /* a run that begins borrows the trace */
    struct mq_buffer trace;     /* what runs said to the relay and heard */
    zval capture_queue;         /* for captured mail; undefined: not open */
    struct mq_pdo *pdo_drivers; /* linked list of all in this request */
    bool pdo_undone;            /* the database had undone the application's whole transaction */
    zend_object *pdo_cause;     /* the exception that a PDO object threw last; owned; may be NULL */
ZEND_END_MODULE_GLOBALS(mailqueue)

ZEND_EXTERN_MODULE_GLOBALS(mailqueue)

#define MAILQUEUE_G(v) ZEND_MODULE_GLOBALS_ACCESSOR(mailqueue, v)

#if defined(ZTS) && defined(COMPILE_DL_MAILQUEUE)
ZEND_TSRMLS_CACHE_EXTERN()
#endif

#endif
