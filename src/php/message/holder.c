/* A C struct in a PHP object, so that PHP frees it even after a fatal error. */
#include "php/message/holder.h"

#include <stdint.h>

struct holder {
    zend_object std; /* its class has no properties, which PHP would store over `clear` */
    void (*clear)(void *data);
    uint64_t data[]; /* uint64_t, so that it is aligned like all request memory */
};

static void holder_free(zend_object *object)
{
    struct holder *self = (struct holder *)(void *)object;
    self->clear(self->data);
    zend_object_std_dtor(object);
}

/* Only the handlers that freeing an object needs; PHP code never sees it and calls no others. */
static const zend_object_handlers handlers = {
    .free_obj = holder_free,
    .dtor_obj = zend_objects_destroy_object,
};

void *mq_php_holder_new(zval *out, size_t size, void (*clear)(void *data))
{
    struct holder *self = ecalloc(1, sizeof *self + size);
    self->clear = clear;
    zend_object_std_init(&self->std, zend_standard_class_def);
    self->std.handlers = &handlers;
    ZVAL_OBJ(out, &self->std);
    return self->data;
}

void *mq_php_holder_data(const zval *holder)
{
    return ((struct holder *)(void *)Z_OBJ_P(holder))->data;
}
