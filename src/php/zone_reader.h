/* The offsets of time zones, from PHP's own database of them. */
#ifndef MQ_PHP_ZONE_READER_H
#define MQ_PHP_ZONE_READER_H

#include "policy/zone.h"

extern const struct mq_zone_source mq_php_zones;

#endif
