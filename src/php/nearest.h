/* What somebody meant who wrote a name that does not exist. */
#ifndef MQ_PHP_NEAREST_H
#define MQ_PHP_NEAREST_H

#include "core/buffer.h"

/* The one of `count` words that is written most like `word` (capitals, "-" and "_" aside), or NULL
 * when none is near. */
const char *mq_php_nearest(struct mq_str word, const char *const *words, size_t count);

#endif
