/* The module: its entry, its ini settings, what phpinfo() shows. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php_mailqueue.h"

#include "ext/standard/info.h"

#include "db/sqlite.h"
#include "php/classes.h"
#include "php/ini.h"
#include "send/smtp.h"

ZEND_DECLARE_MODULE_GLOBALS(mailqueue)

#define MAILQUEUE_INI_ACCESS (PHP_INI_SYSTEM | PHP_INI_PERDIR)

PHP_INI_BEGIN()
    STD_PHP_INI_ENTRY("mailqueue.database", "", MAILQUEUE_INI_ACCESS, OnUpdateString, database,
                      zend_mailqueue_globals, mailqueue_globals)
    STD_PHP_INI_ENTRY_EX("mailqueue.transport", "", MAILQUEUE_INI_ACCESS, OnUpdateString, transport,
                         zend_mailqueue_globals, mailqueue_globals, mq_php_ini_show_transport)
    STD_PHP_INI_ENTRY("mailqueue.run_dir", "", MAILQUEUE_INI_ACCESS, OnUpdateString, run_dir,
                      zend_mailqueue_globals, mailqueue_globals)
    STD_PHP_INI_ENTRY("mailqueue.max_message_size", "26214400", MAILQUEUE_INI_ACCESS,
                      OnUpdateLongGEZero, max_message_size, zend_mailqueue_globals,
                      mailqueue_globals)
    STD_PHP_INI_ENTRY("mailqueue.log", "", MAILQUEUE_INI_ACCESS, OnUpdateString, log,
                      zend_mailqueue_globals, mailqueue_globals)
PHP_INI_END()

static void globals_init(void *globals)
{
#if defined(ZTS) && defined(COMPILE_DL_MAILQUEUE)
    ZEND_TSRMLS_CACHE_UPDATE();
#endif
    memset(globals, 0, sizeof(zend_mailqueue_globals));
}

static PHP_MINIT_FUNCTION(mailqueue)
{
    REGISTER_INI_ENTRIES();
    mq_php_register_classes();
    return SUCCESS;
}

static PHP_MSHUTDOWN_FUNCTION(mailqueue)
{
    UNREGISTER_INI_ENTRIES();
    return SUCCESS;
}

static PHP_RINIT_FUNCTION(mailqueue)
{
    (void)type;
    (void)module_number;
#if defined(ZTS) && defined(COMPILE_DL_MAILQUEUE)
    ZEND_TSRMLS_CACHE_UPDATE();
#endif
    return SUCCESS;
}

static PHP_MINFO_FUNCTION(mailqueue)
{
    php_info_print_table_start();
    php_info_print_table_row(2, "mailqueue support", "enabled");
    php_info_print_table_row(2, "mailqueue version", PHP_MAILQUEUE_VERSION);
    php_info_print_table_row(2, "SQLite version", mq_sqlite_version());
    php_info_print_table_row(2, "libcurl version", mq_curl_version());
    php_info_print_table_end();
    DISPLAY_INI_ENTRIES();
}

/* DateTimeInterface is date's. */
static const zend_module_dep mailqueue_deps[] = {ZEND_MOD_REQUIRED("date") ZEND_MOD_END};

zend_module_entry mailqueue_module_entry = {
    STANDARD_MODULE_HEADER_EX,
    NULL,
    mailqueue_deps,
    "mailqueue",
    NULL,
    PHP_MINIT(mailqueue),
    PHP_MSHUTDOWN(mailqueue),
    PHP_RINIT(mailqueue),
    NULL,
    PHP_MINFO(mailqueue),
    PHP_MAILQUEUE_VERSION,
    PHP_MODULE_GLOBALS(mailqueue),
    globals_init,
    NULL,
    NULL,
    STANDARD_MODULE_PROPERTIES_EX,
};

#ifdef COMPILE_DL_MAILQUEUE
#ifdef ZTS
ZEND_TSRMLS_CACHE_DEFINE()
#endif
ZEND_GET_MODULE(mailqueue)
#endif
