/* The Campaign object. It keeps its MailQueue alive. */
#include "php/campaign/campaign_object.h"

#include "php/class/classes.h"
#include "php/class/queue_object.h"
#include "stubs/mailqueue_methods.h"

struct campaign_object {
    zval queue; /* undefined: not made by mq_php_campaign_new() */
    int64_t id;
    zend_object std;
};

/* Set once when the module starts. */
static zend_object_handlers handlers;

static struct campaign_object *campaign_from(zend_object *object)
{
    return (struct campaign_object *)(void *)((char *)object -
                                              offsetof(struct campaign_object, std));
}

/* Private: only the extension creates Campaigns. */
ZEND_METHOD(MailQueue_Campaign, __construct)
{
    ZEND_PARSE_PARAMETERS_NONE();
    (void)return_value;
}

static zend_object *campaign_create(zend_class_entry *ce)
{
    struct campaign_object *self = zend_object_alloc(sizeof *self, ce);
    ZVAL_UNDEF(&self->queue);
    self->id = 0;
    zend_object_std_init(&self->std, ce);
    object_properties_init(&self->std, ce);
    self->std.handlers = &handlers;
    return &self->std;
}

static void campaign_free(zend_object *object)
{
    struct campaign_object *self = campaign_from(object);
    zend_object_std_dtor(object);
    zval_ptr_dtor(&self->queue);
}

static HashTable *campaign_get_gc(zend_object *object, zval **table, int *count)
{
    *table = &campaign_from(object)->queue;
    *count = 1;
    return zend_std_get_properties(object);
}

void mq_php_campaign_register(zend_class_entry *ce)
{
    memcpy(&handlers, zend_get_std_object_handlers(), sizeof handlers);
    handlers.offset = offsetof(struct campaign_object, std);
    handlers.free_obj = campaign_free;
    handlers.get_gc = campaign_get_gc;
    handlers.clone_obj = NULL;
    ce->create_object = campaign_create;
}

void mq_php_campaign_new(zval *out, zval *queue, int64_t id)
{
    object_init_ex(out, mq_ce_campaign);
    struct campaign_object *self = campaign_from(Z_OBJ_P(out));
    ZVAL_COPY(&self->queue, queue);
    self->id = id;
}

bool mq_php_campaign_use(zval *campaign, struct mq_php_campaign *out)
{
    struct campaign_object *self = campaign_from(Z_OBJ_P(campaign));
    if (Z_ISUNDEF(self->queue)) {
        zend_throw_error(NULL, "The Campaign object was not made by MailQueue::campaign()");
        return false;
    }
    *out = (struct mq_php_campaign){&self->queue, mq_php_queue_use(&self->queue), self->id};
    return out->queue != NULL;
}

bool mq_php_campaign_ok(const struct mq_php_campaign *campaign, enum mq_status status,
                        const struct mq_error *err)
{
    return mq_php_queue_ok(campaign->object, status, err);
}
