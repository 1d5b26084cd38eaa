/* MailQueue\Internal: bounces, for cli/Bounce/. */
#include "stubs/mailqueue_methods.h"

#include "php/class/classes.h"
#include "php/class/conversion.h"
#include "php/class/queue_object.h"
#include "queue/suppress/bounce.h"

ZEND_METHOD(MailQueue_Internal, addressHash)
{
    zval *object;
    zend_string *address;
    uint64_t hash = 0;
    struct mq_error err;

    if (zend_parse_parameters(ZEND_NUM_ARGS(), "OS", &object, mq_ce_queue, &address) == FAILURE) {
        RETURN_THROWS();
    }
    struct mq_queue *queue = mq_php_queue_use(object);
    if (queue && mq_php_queue_ok(
                     object, mq_suppress_hash_of(queue, mq_php_str(address), &hash, &err), &err)) {
        RETVAL_LONG((zend_long)hash);
    }
}

static void record_bounce(zval *object, const struct mq_bounce *bounce, zval *return_value)
{
    static const char *const names[] = {[MQ_BOUNCE_COUNTED] = "counted",
                                        [MQ_BOUNCE_SUPPRESSED] = "suppressed",
                                        [MQ_BOUNCE_KNOWN] = "known"};
    enum mq_bounce_result result = MQ_BOUNCE_KNOWN;
    struct mq_error err;
    struct mq_queue *queue = mq_php_queue_use(object);
    if (queue && mq_php_queue_ok(object, mq_queue_bounce(queue, bounce, &result, &err), &err)) {
        RETVAL_STRING(names[result]);
    }
}

ZEND_METHOD(MailQueue_Internal, bounce)
{
    zval *object;
    zend_string *address, *kind, *reason, *scope, *source;
    zend_long hash, event, least, at;

    if (zend_parse_parameters(ZEND_NUM_ARGS(), "OS!llSlSS!S!l", &object, mq_ce_queue, &address,
                              &hash, &event, &kind, &least, &reason, &scope, &source,
                              &at) == FAILURE) {
        RETURN_THROWS();
    }
    const struct mq_bounce bounce = {.what = {.address = mq_php_str(address),
                                              .hash = (uint64_t)hash,
                                              .scope = mq_php_str(scope),
                                              .reason = mq_php_str(reason),
                                              .source = mq_php_str(source),
                                              .created_at = at},
                                     .event = event,
                                     .kind = mq_php_str(kind),
                                     .least = (int)least};
    record_bounce(object, &bounce, return_value);
}
