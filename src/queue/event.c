/* Lists of events and their memory. The events' names are in the header. */
#include "queue/event.h"

#include <stdlib.h>
#include <string.h>

#define NAME(symbol, name) name,
static const char *const names[MQ_EVENT_TYPE_COUNT] = {MQ_EVENT_TYPES(NAME)};

const char *mq_event_type_name(enum mq_event_type type)
{
    return (unsigned)type < MQ_EVENT_TYPE_COUNT ? names[type] : "unknown";
}

static void clear_one(struct mq_event *event)
{
    free(event->reference);
    free(event->mail_type);
    free(event->subject);
    free(event->relay);
    free(event->reply);
}

void mq_events_truncate(struct mq_events *events, size_t count)
{
    while (events->count > count) {
        clear_one(&events->items[--events->count]);
    }
}

void mq_events_clear(struct mq_events *events)
{
    mq_events_truncate(events, 0);
    free(events->items);
    *events = (struct mq_events){0};
}

static bool grow(struct mq_events *events)
{
    if (events->count < events->capacity) {
        return true;
    }
    size_t capacity = events->capacity ? events->capacity * 2 : 16;
    struct mq_event *items = realloc(events->items, capacity * sizeof(*items));
    if (!items) {
        return false;
    }
    events->items = items;
    events->capacity = capacity;
    return true;
}

static bool copy(const char *from, char **to)
{
    *to = from ? strdup(from) : NULL;
    return *to || !from;
}

bool mq_events_add(struct mq_events *events, const struct mq_event *event)
{
    if (!grow(events)) {
        return false;
    }
    struct mq_event *item = &events->items[events->count];
    *item = *event;
    item->reference = item->mail_type = item->subject = item->relay = item->reply = NULL;
    if (!copy(event->reference, &item->reference) || !copy(event->mail_type, &item->mail_type) ||
        !copy(event->subject, &item->subject) || !copy(event->relay, &item->relay) ||
        !copy(event->reply, &item->reply)) {
        clear_one(item);
        return false;
    }
    events->count++;
    return true;
}
