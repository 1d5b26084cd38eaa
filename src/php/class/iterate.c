/* Each value of an array or a Traversable, which may run PHP code at each step. */
#include "php/class/iterate.h"

#include "ext/spl/spl_iterators.h"

struct each {
    bool (*take)(void *context, zval *value);
    void *context;
};

static bool take_copy(const struct each *each, zval *value)
{
    zval copy;
    ZVAL_COPY_DEREF(&copy, value);
    bool more = each->take(each->context, &copy);
    zval_ptr_dtor(&copy);
    return more && EG(exception) == NULL;
}

static int take_current(zend_object_iterator *iterator, void *context)
{
    zval *value = iterator->funcs->get_current_data(iterator);
    bool more = value && EG(exception) == NULL && take_copy(context, value);
    return more ? ZEND_HASH_APPLY_KEEP : ZEND_HASH_APPLY_STOP;
}

void mq_php_each(zval *iterable, bool (*take)(void *context, zval *value), void *context)
{
    struct each each = {take, context};
    zval array, *value;
    if (Z_TYPE_P(iterable) == IS_OBJECT) {
        spl_iterator_apply(iterable, take_current, &each);
        return;
    }
    ZVAL_COPY(&array, iterable);
    ZEND_HASH_FOREACH_VAL (Z_ARRVAL(array), value) {
        if (!take_copy(&each, value)) {
            break;
        }
    }
    ZEND_HASH_FOREACH_END();
    zval_ptr_dtor(&array);
}
