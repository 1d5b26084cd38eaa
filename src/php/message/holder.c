/* A C struct in a PHP object, so that PHP frees it even after a fatal error. */
#include "php/message/holder.h"

#include <stddef.h>

struct holder {
    void *data; /* request memory */
    void (*clear)(void *data);
    zend_object std;
};

static struct holder *holder_from(zend_object *object)
{
    return (struct holder *)(void *)((char *)object - offsetof(struct holder, std));
}

static void holder_free(zend_object *object)
{
    struct holder *self = holder_from(object);
    if (self->clear) {
        self->clear(self->data);
        efree(self->data);
    }
    zend_object_std_dtor(object);
}

/* Only what freeing an object needs: no code of PHP's reaches the others. */
static const zend_object_handlers handlers = {
    .offset = offsetof(struct holder, std),
    .free_obj = holder_free,
    .dtor_obj = zend_objects_destroy_object,
    .get_gc = zend_std_get_gc,
};

void *mq_php_holder_new(zval *out, size_t size, void (*clear)(void *data))
{
    struct holder *self = zend_object_alloc(sizeof *self, zend_standard_class_def);
    self->clear = NULL;
    zend_object_std_init(&self->std, zend_standard_class_def);
    self->std.handlers = &handlers;
    ZVAL_OBJ(out, &self->std);
    self->data = ecalloc(1, size);
    self->clear = clear; /* from here on there is something to clear */
    return self->data;
}

void *mq_php_holder_data(const zval *holder)
{
    return holder_from(Z_OBJ_P(holder))->data;
}
