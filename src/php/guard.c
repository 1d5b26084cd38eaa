/* Calls PHP code from within the core. The longjmp() of a fatal error ends here. */
#include "php/guard.h"

bool mq_php_may_call(const struct mq_php_run *run)
{
    return !run->bailed && EG(exception) == NULL;
}

bool mq_php_survives(void (*body)(void *context), void *context)
{
    volatile bool bailed = false;
    zend_try
    {
        body(context);
    }
    zend_catch
    {
        bailed = true;
    }
    zend_end_try();
    return !bailed;
}

void mq_php_call(struct mq_php_callable *callable, uint32_t count, zval *arguments, zval *result)
{
    ZVAL_UNDEF(result);
    callable->info.param_count = count;
    callable->info.params = arguments;
    callable->info.retval = result;
    zend_call_function(&callable->info, &callable->cache);
    for (uint32_t i = 0; i < count; i++) {
        zval_ptr_dtor(&arguments[i]);
    }
    if (EG(exception) && !Z_ISUNDEF_P(result)) {
        zval_ptr_dtor(result);
        ZVAL_UNDEF(result);
    }
    if (Z_ISREF_P(result)) { /* function &compose() */
        zend_unwrap_reference(result);
    }
}
