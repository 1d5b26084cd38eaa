/* Calls methods of PHP objects from within the core, and reads their exceptions. */
#include "php/pdo/call_method.h"

#include <string.h>

#include "php/guard.h"

bool mq_php_is_pdo(const zval *value)
{
    if (Z_TYPE_P(value) != IS_OBJECT) {
        return false;
    }
    zend_string *name = zend_string_init("PDO", strlen("PDO"), 0);
    zend_class_entry *pdo =
        zend_lookup_class_ex(name, NULL, ZEND_FETCH_CLASS_NO_AUTOLOAD | ZEND_FETCH_CLASS_SILENT);
    zend_string_release(name);
    return pdo && instanceof_function(Z_OBJCE_P(value), pdo);
}

struct call {
    const struct mq_php_method *method;
    zval *result;
};

static void body(void *context)
{
    const struct call *call = context;
    const struct mq_php_method *method = call->method;
    zend_object *object = Z_OBJ_P(method->object);
    zend_function *function =
        zend_hash_str_find_ptr(&object->ce->function_table, method->name, strlen(method->name));
    if (function == NULL) { /* a method that only PDOs of one driver have is not in the class */
        zend_string *name = zend_string_init(method->name, strlen(method->name), 0);
        function = object->handlers->get_method(&object, name, NULL);
        zend_string_release(name);
    }
    if (function == NULL) { /* a subclass gave an object of another class */
        zend_throw_error(NULL, "%s has no method %s()", ZSTR_VAL(object->ce->name), method->name);
        return;
    }
    zend_call_known_function(function, object, object->ce, call->result, method->count,
                             method->args, NULL);
}

enum mq_php_call_end mq_php_call_method(const struct mq_php_method *method, zval *result,
                                        zend_object **thrown)
{
    struct call call = {method, result};
    zend_object *pending = EG(exception);
    ZVAL_UNDEF(result);
    EG(exception) = NULL; /* else the engine would return at once */
    if (!mq_php_survives(body, &call)) {
        return MQ_PHP_CALL_BAILED;
    }
    *thrown = EG(exception);
    EG(exception) = pending;
    if (*thrown == NULL) {
        return MQ_PHP_CALL_RETURNED;
    }
    zval_ptr_dtor(result);
    ZVAL_UNDEF(result);
    return MQ_PHP_CALL_THREW;
}

zval *mq_php_property(zend_object *object, const char *name)
{
    const zend_property_info *info =
        zend_hash_str_find_ptr(&object->ce->properties_info, name, strlen(name));
    if (info == NULL || (info->flags & ZEND_ACC_STATIC)) {
        return &EG(uninitialized_zval);
    }
    zval *value = OBJ_PROP(object, info->offset);
    ZVAL_DEREF(value);
    return value;
}

struct mq_str mq_php_exception_message(zend_object *thrown)
{
    zval *message = mq_php_property(thrown, "message");
    if (Z_TYPE_P(message) != IS_STRING) {
        return MQ_STR("");
    }
    return (struct mq_str){Z_STRVAL_P(message), Z_STRLEN_P(message)};
}
