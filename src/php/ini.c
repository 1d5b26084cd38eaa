#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php/ini.h"

#include <stdlib.h>

#include "core/dsn.h"
#include "core/error.h"

static char *redacted(const char *text)
{
    struct mq_dsn dsn;
    struct mq_error err;
    if (mq_dsn_parse(mq_str_of(text), &dsn, &err) != MQ_OK) {
        return NULL;
    }
    char *shown = mq_dsn_redacted(&dsn);
    mq_dsn_clear(&dsn);
    return shown;
}

ZEND_INI_DISP(mq_php_ini_show_transport)
{
    zend_string *value = ini_entry->value;
    if (type == ZEND_INI_DISPLAY_ORIG && ini_entry->modified) {
        value = ini_entry->orig_value;
    }
    if (value == NULL || ZSTR_LEN(value) == 0) {
        PUTS("no value");
        return;
    }
    char *shown = redacted(ZSTR_VAL(value));
    PUTS(shown ? shown : "set, but not a DSN that can be used");
    free(shown);
}
