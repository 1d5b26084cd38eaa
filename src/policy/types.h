/* Lists of mail types in settings. */
#ifndef MQ_POLICY_TYPES_H
#define MQ_POLICY_TYPES_H

#include <stdbool.h>

#include "core/buffer.h"

#define MQ_TYPE_MAX        64 /* octets of a mail's type */
#define MQ_TYPES_EVERY_BUT "every type but "

/* Parses a list of mail types and appends them to `out` (NULL: only checks the list). *but: the
 * list names the types to leave out ("every type but a, b"). False without memory, too: then the
 * claim stops, and no mail goes where it must not. */
bool mq_types_parse(struct mq_str text, struct mq_strings *out, bool *but);

#endif
