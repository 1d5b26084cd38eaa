/* The module: its entry, its ini settings, what phpinfo() shows. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php_mailqueue.h"

#include <signal.h>

#include "ext/standard/info.h"

#include "db/sqlite/sqlite.h"
#include "mime/dkim/sign.h"
#include "mime/idn.h"
#include "mime/text/html.h"
#include "php/capture/capture.h"
#include "php/class/classes.h"
#include "php/ini.h"
#include "php/pdo/driver.h"
#include "send/factory.h"

#define MAILQUEUE_INI_ACCESS (PHP_INI_SYSTEM | PHP_INI_PERDIR)

PHP_INI_BEGIN()
    STD_PHP_INI_ENTRY_EX("mailqueue.database", "", MAILQUEUE_INI_ACCESS, OnUpdateString, database,
                         zend_mailqueue_globals, mailqueue_globals, mq_php_ini_show_database)
    STD_PHP_INI_ENTRY_EX("mailqueue.database_user", "", MAILQUEUE_INI_ACCESS, OnUpdateString,
                         database_user, zend_mailqueue_globals, mailqueue_globals,
                         mq_php_ini_show_secret)
    STD_PHP_INI_ENTRY_EX("mailqueue.database_password", "", MAILQUEUE_INI_ACCESS, OnUpdateString,
                         database_password, zend_mailqueue_globals, mailqueue_globals,
                         mq_php_ini_show_secret)
    STD_PHP_INI_ENTRY("mailqueue.database_ssl_ca", "", MAILQUEUE_INI_ACCESS, OnUpdateString,
                      database_ssl_ca, zend_mailqueue_globals, mailqueue_globals)
    STD_PHP_INI_BOOLEAN("mailqueue.database_persistent", "0", MAILQUEUE_INI_ACCESS, OnUpdateBool,
                        database_persistent, zend_mailqueue_globals, mailqueue_globals)
    STD_PHP_INI_ENTRY_EX("mailqueue.transport", "", MAILQUEUE_INI_ACCESS, OnUpdateString, transport,
                         zend_mailqueue_globals, mailqueue_globals, mq_php_ini_show_transport)
    STD_PHP_INI_ENTRY("mailqueue.run_dir", "", MAILQUEUE_INI_ACCESS, OnUpdateString, run_dir,
                      zend_mailqueue_globals, mailqueue_globals)
    STD_PHP_INI_ENTRY("mailqueue.accounts", "", MAILQUEUE_INI_ACCESS, OnUpdateString, accounts,
                      zend_mailqueue_globals, mailqueue_globals)
    STD_PHP_INI_ENTRY("mailqueue.max_message_size", "26214400", MAILQUEUE_INI_ACCESS,
                      mq_php_ini_max_message_size, max_message_size, zend_mailqueue_globals,
                      mailqueue_globals)
    STD_PHP_INI_ENTRY("mailqueue.log", "", MAILQUEUE_INI_ACCESS, OnUpdateString, log,
                      zend_mailqueue_globals, mailqueue_globals)
    STD_PHP_INI_ENTRY("mailqueue.dkim", "", MAILQUEUE_INI_ACCESS, OnUpdateString, dkim,
                      zend_mailqueue_globals, mailqueue_globals)
    /* A script may set it: bin/mailqueue does. */
    STD_PHP_INI_ENTRY("mailqueue.verdicts", "", PHP_INI_ALL, OnUpdateString, verdicts,
                      zend_mailqueue_globals, mailqueue_globals)
    STD_PHP_INI_ENTRY("mailqueue.redirect_to", "", MAILQUEUE_INI_ACCESS, OnUpdateString,
                      redirect_to, zend_mailqueue_globals, mailqueue_globals)
    STD_PHP_INI_ENTRY("mailqueue.allow_to", "", MAILQUEUE_INI_ACCESS, OnUpdateString, allow_to,
                      zend_mailqueue_globals, mailqueue_globals)
    PHP_INI_ENTRY("mailqueue.aliases", "", MAILQUEUE_INI_ACCESS, NULL) /* cli/Sendmail/Aliases */
    PHP_INI_ENTRY_EX("mailqueue.page_hash", "", MAILQUEUE_INI_ACCESS, NULL, mq_php_ini_show_secret)
    PHP_INI_ENTRY("mailqueue.page_bodies", "", MAILQUEUE_INI_ACCESS, NULL) /* as page_hash: web/ */
    PHP_INI_ENTRY("mailqueue.page_proxies", "", MAILQUEUE_INI_ACCESS, NULL)
    STD_PHP_INI_BOOLEAN("mailqueue.capture_mail", "0", MAILQUEUE_INI_ACCESS, OnUpdateBool,
                        capture_mail, zend_mailqueue_globals, mailqueue_globals)
    STD_PHP_INI_ENTRY("mailqueue.capture_failure", "fail", MAILQUEUE_INI_ACCESS,
                      mq_php_ini_capture_failure, capture_failure, zend_mailqueue_globals,
                      mailqueue_globals)
PHP_INI_END()

static void globals_init(void *globals)
{
#if defined(ZTS) && defined(COMPILE_DL_MAILQUEUE)
    ZEND_TSRMLS_CACHE_UPDATE();
#endif
    memset(globals, 0, sizeof(zend_mailqueue_globals));
}

/* By default, a write past the limit of file sizes (ulimit -f) kills the process with SIGXFSZ. If
 * the signal is ignored, the write fails with EFBIG, which SQLite and we report. The whole process
 * ignores it: SQLite also writes within the application's calls, and changing the handler around
 * each of ours would race with other threads. Python does the same. A handler that is set stays. */
static void ignore_file_size_signal(void)
{
    struct sigaction action;
    if (sigaction(SIGXFSZ, NULL, &action) == 0 && action.sa_handler == SIG_DFL) {
        action.sa_handler = SIG_IGN;
        sigaction(SIGXFSZ, &action, NULL);
    }
}

static PHP_MINIT_FUNCTION(mailqueue)
{
    REGISTER_INI_ENTRIES();
    mq_php_register_classes();
    mq_php_capture_startup();
    ignore_file_size_signal();
    return SUCCESS;
}

static PHP_MSHUTDOWN_FUNCTION(mailqueue)
{
    mq_php_capture_shutdown();
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
    mq_php_capture_request_begins();
    MAILQUEUE_G(pdo_drivers) = NULL;
    return SUCCESS;
}

static PHP_RSHUTDOWN_FUNCTION(mailqueue)
{
    (void)type;
    (void)module_number;
    mq_php_capture_request_ends();
    mq_php_pdo_request_ends();
    mq_buffer_clear(&MAILQUEUE_G(trace));
    MAILQUEUE_G(traces) = false;
    return SUCCESS;
}

static const char *yes(bool available)
{
    return available ? "yes" : "no";
}

static PHP_MINFO_FUNCTION(mailqueue)
{
    php_info_print_table_start();
    php_info_print_table_row(2, "mailqueue support", "enabled");
    php_info_print_table_row(2, "mailqueue version", PHP_MAILQUEUE_VERSION);
    php_info_print_table_row(2, "SQLite version", mq_sqlite_version());
    php_info_print_table_row(2, "libcurl version", mq_curl_version());
    php_info_print_table_row(2, "internationalised domains (libidn2)", yes(mq_idn_available()));
    php_info_print_table_row(2, "text from HTML (libxml2)", yes(mq_html_text_available()));
    php_info_print_table_row(2, "DKIM (OpenSSL)", yes(mq_dkim_available()));
    php_info_print_table_end();
    DISPLAY_INI_ENTRIES();
}

/* The extension "date" declares DateTimeInterface. */
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
    PHP_RSHUTDOWN(mailqueue),
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
