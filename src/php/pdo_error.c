/* What went wrong in a PDO object: a PDOException's errorInfo as a status with a cure. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php/pdo_private.h"

#include <string.h>

#include "zend_exceptions.h"

#include "core/buffer.h"
#include "php_mailqueue.h"

/* SQLite's primary result codes (sqlite.org/rescode.html). */
static const struct {
    zend_long code;
    enum mq_status status;
    const char *cure;
} sqlite_codes[] = {
    {5, MQ_BUSY,
     "keep other connections' transactions short, or raise PDO::ATTR_TIMEOUT; and read this "
     "connection's results to their end (fetchAll()) first"},
    {6, MQ_BUSY, "end the statement of this connection that still reads"},
    {7, MQ_NOMEM, "raise the memory that the process may have"},
    {8, MQ_READONLY, "give this user write access to the file and its directory"},
    {10, MQ_IO, "look at the system's log and the disk"},
    {11, MQ_CORRUPT, "restore the file from a backup"},
    {13, MQ_FULL, "free space on the disk or raise the quota"},
    {14, MQ_CANTOPEN, "check the path and the rights of the directory"},
    {26, MQ_CORRUPT, "check the path: the file is no database"},
};

static zval *property(zend_object *object, const char *name, zval *scratch)
{
    zval *value = zend_read_property(object->ce, object, name, strlen(name), 1, scratch);
    ZVAL_DEREF(value);
    return value;
}

/* errorInfo[1], the driver's own code; 0 where there is none. */
static zend_long driver_code(zend_object *thrown)
{
    zval scratch;
    zval *info = property(thrown, "errorInfo", &scratch);
    zval *code = Z_TYPE_P(info) == IS_ARRAY ? zend_hash_index_find(Z_ARRVAL_P(info), 1) : NULL;
    return code && Z_TYPE_P(code) == IS_LONG ? Z_LVAL_P(code) : 0;
}

static struct mq_str message_of(zend_object *thrown, zval *scratch)
{
    zval *message = property(thrown, "message", scratch);
    if (Z_TYPE_P(message) != IS_STRING) {
        return MQ_STR("");
    }
    return (struct mq_str){Z_STRVAL_P(message), Z_STRLEN_P(message)};
}

static void keep_cause(zend_object *thrown)
{
    mq_pdo_forget_cause();
    MAILQUEUE_G(pdo_cause) = thrown;
}

void mq_pdo_forget_cause(void)
{
    zend_object *cause = MAILQUEUE_G(pdo_cause);
    MAILQUEUE_G(pdo_cause) = NULL;
    if (cause) {
        OBJ_RELEASE(cause);
    }
}

zend_object *mq_php_pdo_take_cause(void)
{
    zend_object *cause = MAILQUEUE_G(pdo_cause);
    MAILQUEUE_G(pdo_cause) = NULL;
    return cause;
}

bool mq_pdo_cause_is_nested(void)
{
    zend_object *cause = MAILQUEUE_G(pdo_cause);
    zval scratch;
    if (!cause) {
        return false;
    }
    struct mq_str text = message_of(cause, &scratch);
    return text.data && strstr(text.data, "within a transaction") != NULL;
}

enum mq_status mq_pdo_failed(struct mq_pdo *self, zend_object *thrown, struct mq_error *err)
{
    zval scratch;
    enum mq_status status = MQ_DATABASE;
    const char *cure = NULL;
    if (zend_is_unwind_exit(thrown) || zend_is_graceful_exit(thrown)) {
        /* exit() in a subclass: nothing that may be caught. */
        EG(exception) = thrown;
        return MQ_THROWN;
    }
    zend_long code = driver_code(thrown) & 0xff;
    for (size_t i = 0; i < sizeof(sqlite_codes) / sizeof(sqlite_codes[0]); i++) {
        if (sqlite_codes[i].code == code) {
            status = sqlite_codes[i].status;
            cure = sqlite_codes[i].cure;
            /* At once and whatever the timeout: what the transaction has read is out of date. */
            if (status == MQ_BUSY && self->joined) {
                cure = "your transaction has read before it wrote, and another connection wrote "
                       "since: roll back and repeat it, beginning with exec('BEGIN IMMEDIATE'), or "
                       "write first";
            }
        }
    }
    struct mq_buffer text;
    mq_buffer_init(&text);
    mq_buffer_printable(&text, message_of(thrown, &scratch));
    mq_error_set(err, status, "database", "%.500s%s%s", text.data ? text.data : "no message",
                 cure ? ": " : "", cure ? cure : "");
    mq_buffer_clear(&text);
    keep_cause(thrown);
    return status;
}
