/* One value after another of an array or a Traversable, which may run PHP code at each step. */
#include "php/class/iterate.h"

#include <string.h>

#include "zend_interfaces.h"

bool mq_php_iterator_begin(struct mq_php_iterator *iterator, zval *iterable)
{
    memset(iterator, 0, sizeof *iterator);
    ZVAL_UNDEF(&iterator->array);
    if (Z_TYPE_P(iterable) == IS_ARRAY) {
        ZVAL_COPY(&iterator->array, iterable);
        return true;
    }
    zend_class_entry *ce = Z_OBJCE_P(iterable);
    iterator->object = ce->get_iterator(ce, iterable, 0);
    return iterator->object != NULL && EG(exception) == NULL;
}

void mq_php_iterator_end(struct mq_php_iterator *iterator)
{
    zval_ptr_dtor(&iterator->array);
    if (iterator->object) {
        zend_iterator_dtor(iterator->object);
    }
}

static bool next_of_array(struct mq_php_iterator *iterator, zval *value)
{
    HashTable *array = Z_ARRVAL(iterator->array);
    if (iterator->started) {
        zend_hash_move_forward_ex(array, &iterator->position);
    } else {
        zend_hash_internal_pointer_reset_ex(array, &iterator->position);
    }
    zval *item = zend_hash_get_current_data_ex(array, &iterator->position);
    if (item) {
        ZVAL_COPY_DEREF(value, item);
    }
    return item != NULL;
}

static bool next_of_object(zend_object_iterator *object, bool started, zval *value)
{
    if (started) {
        object->funcs->move_forward(object);
    } else if (object->funcs->rewind) {
        object->funcs->rewind(object);
    }
    if (EG(exception) || object->funcs->valid(object) != SUCCESS || EG(exception)) {
        return false;
    }
    zval *item = object->funcs->get_current_data(object);
    if (item == NULL || EG(exception)) {
        return false;
    }
    ZVAL_COPY_DEREF(value, item);
    return true;
}

enum mq_status mq_php_iterator_next(struct mq_php_iterator *iterator, zval *value, bool *more)
{
    *more = iterator->object ? next_of_object(iterator->object, iterator->started, value)
                             : next_of_array(iterator, value);
    iterator->started = true;
    return EG(exception) ? MQ_THROWN : MQ_OK;
}
