/* MailQueue\Campaign: a campaign's id, and the MailQueue object that it was opened with. */
#ifndef MQ_PHP_CAMPAIGN_CAMPAIGN_OBJECT_H
#define MQ_PHP_CAMPAIGN_CAMPAIGN_OBJECT_H

#include "php.h"

#include "core/error.h"

struct mq_queue;

/* What a method works with. */
struct mq_php_campaign {
    zval *object; /* the MailQueue */
    struct mq_queue *queue;
    int64_t id;
};

void mq_php_campaign_register(zend_class_entry *ce);
/* Makes a Campaign. */
void mq_php_campaign_new(zval *out, zval *queue, int64_t id);
/* Opens the queue of a Campaign. False with an exception. */
bool mq_php_campaign_use(zval *campaign, struct mq_php_campaign *out);
/* As mq_php_queue_ok(). */
bool mq_php_campaign_ok(const struct mq_php_campaign *campaign, enum mq_status status,
                        const struct mq_error *err);
/* Whether the message fits the first recipient, if there is one. False with an exception. */
bool mq_php_campaign_fits(zval *campaign);

#endif
