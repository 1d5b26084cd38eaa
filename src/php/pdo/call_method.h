/* Calls methods of PHP objects from within the core. Whatever a method does, the call returns, so
 * the core's functions end the normal way. */
#ifndef MQ_PHP_PDO_CALL_METHOD_H
#define MQ_PHP_PDO_CALL_METHOD_H

#include "php.h"

#include "core/buffer.h"

/* PDO's class constants that are needed here (ext/pdo's documentation). They are part of PDO's ABI,
 * so there is no need to look them up in the class. */
enum {
    MQ_PDO_PARAM_NULL = 0,
    MQ_PDO_PARAM_INT = 1,
    MQ_PDO_PARAM_STR = 2,
    MQ_PDO_PARAM_LOB = 3,
    MQ_PDO_FETCH_NUM = 3,
    MQ_PDO_ATTR_AUTOCOMMIT = 0,
    MQ_PDO_ATTR_PREFETCH = 1,
    MQ_PDO_ATTR_TIMEOUT = 2,
    MQ_PDO_ATTR_ERRMODE = 3,
    MQ_PDO_ATTR_SERVER_VERSION = 4,
    MQ_PDO_ATTR_SERVER_INFO = 6,
    MQ_PDO_ATTR_ORACLE_NULLS = 11,
    MQ_PDO_ATTR_PERSISTENT = 12,
    MQ_PDO_ATTR_STATEMENT_CLASS = 13,
    MQ_PDO_ATTR_DRIVER_NAME = 16,
    MQ_PDO_ATTR_EMULATE_PREPARES = 20,
    MQ_PDO_PGSQL_ATTR_DISABLE_PREPARES = 1000,
    MQ_PDO_ERRMODE_EXCEPTION = 2,
    MQ_PDO_NULL_NATURAL = 0
};

/* Whether a value is a PDO object; false if the extension pdo is not loaded. */
bool mq_php_is_pdo(const zval *value);

/* A method and its arguments; all borrowed. */
struct mq_php_method {
    zval *object;
    const char *name; /* in lower case */
    zval *args;
    uint32_t count;
};

/* How a call ended. */
enum mq_php_call_end {
    MQ_PHP_CALL_RETURNED,
    MQ_PHP_CALL_THREW, /* *thrown is the exception, no longer pending; the caller owns it */
    MQ_PHP_CALL_BAILED /* PHP unwinds: call nothing more, return MQ_BAILOUT */
};

/* Calls the method as PHP code would, so a subclass can override it. The caller owns *result, which
 * is undefined unless the method returned. A pending exception is set aside meanwhile. */
enum mq_php_call_end mq_php_call_method(const struct mq_php_method *method, zval *result,
                                        zend_object **thrown);

/* Reads a declared property without calling __get(); gives null if there is none. */
zval *mq_php_property(zend_object *object, const char *name);
/* The exception's message, owned by the exception; ends with a NUL. */
struct mq_str mq_php_exception_message(zend_object *thrown);

#endif
