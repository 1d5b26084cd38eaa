/* Calendar data that goes into a message as an invitation (RFC 5545, 5546 and 6047). */
#ifndef MQ_MIME_COMPOSE_CALENDAR_H
#define MQ_MIME_COMPOSE_CALENDAR_H

#include "core/buffer.h"
#include "core/error.h"

/* Returns in *type the media type with the calendar's method, such as "text/calendar;
 * method=REQUEST". MQ_MESSAGE, field "calendar": `ics` is not iCalendar from its first line to its
 * last, has no METHOD of RFC 5546, or two. */
enum mq_status mq_calendar_type(struct mq_str ics, const char **type, struct mq_error *err);

#endif
