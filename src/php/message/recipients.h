/* Lists of envelope addresses, each once. */
#ifndef MQ_PHP_MESSAGE_RECIPIENTS_H
#define MQ_PHP_MESSAGE_RECIPIENTS_H

#include "php.h"

#include "core/buffer.h"
#include "core/error.h"

#define MQ_PHP_RECIPIENTS_MAX 10000

/* Reads list<string> of envelope addresses, each once, into an initialised, empty list. MQ_MESSAGE
 * with the field "recipients" or "recipients[3]". */
enum mq_status mq_php_recipients(HashTable *list, struct mq_strings *out, struct mq_error *err);

/* Adds an address that is not yet in `seen`, a persistent set; domains differ in case only
 * (RFC 5321, 2.4). Takes no request memory: its limit would end the script past what the callers
 * hold. False without memory. */
bool mq_php_recipient_add(HashTable *seen, struct mq_str address, struct mq_strings *out);

#endif
