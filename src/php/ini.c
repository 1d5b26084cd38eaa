/* Shows the ini settings in phpinfo() without user, password and secrets; checks the size limit. */
#include "php/ini.h"

#include "SAPI.h"
#include "php_main.h"

#include "core/error.h"
#include "php/pdo/server.h"
#include "send/group.h"

/* The value to show, or NULL if it is empty. */
static zend_string *shown_value(const zend_ini_entry *ini_entry, int type)
{
    bool original = type == ZEND_INI_DISPLAY_ORIG && ini_entry->modified;
    zend_string *value = original ? ini_entry->orig_value : ini_entry->value;
    return value && ZSTR_LEN(value) > 0 ? value : NULL;
}

static void show(const char *text, size_t len)
{
    if (sapi_module.phpinfo_as_text) {
        PHPWRITE(text, len);
    } else {
        php_html_puts(text, len);
    }
}

ZEND_INI_DISP(mq_php_ini_show_database)
{
    zend_string *value = shown_value(ini_entry, type);
    if (value == NULL) {
        PUTS("no value");
        return;
    }
    enum mq_php_secret secret;
    zend_string *shown = mq_php_dsn_shown(value, &secret);
    show(ZSTR_VAL(shown), ZSTR_LEN(shown));
    zend_string_release(shown);
}

ZEND_INI_DISP(mq_php_ini_show_secret)
{
    PUTS(shown_value(ini_entry, type) ? "set" : "not set");
}

ZEND_INI_DISP(mq_php_ini_show_transport)
{
    zend_string *value = shown_value(ini_entry, type);
    struct mq_buffer shown = {0};
    struct mq_error err;
    if (value == NULL) {
        PUTS("no value");
    } else if (mq_group_redact(mq_str_of(ZSTR_VAL(value)), &shown, &err) != MQ_OK) {
        PUTS("set, but not a DSN that can be used");
    } else {
        show(shown.data, shown.len);
    }
    mq_buffer_clear(&shown);
}

ZEND_INI_MH(mq_php_ini_max_message_size)
{
    const char *value = new_value ? ZSTR_VAL(new_value) : "";
    const char *digit = value + strspn(value, " \t");
    if (*digit < '0' || *digit > '9') {
        zend_error(E_WARNING,
                   "mailqueue.max_message_size must be a number of bytes (0: no limit), "
                   "not \"%s\"",
                   value);
        return FAILURE;
    }
    return OnUpdateLongGEZero(entry, new_value, mh_arg1, mh_arg2, mh_arg3, stage);
}
