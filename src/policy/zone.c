/* What a zone's clocks show. */
#include "policy/zone.h"

#include <strings.h>

#include "core/ascii.h"

bool mq_zone_is_name(struct mq_str word)
{
    bool ok = word.len > 0 && word.len <= MQ_ZONE_NAME_MAX;
    for (size_t i = 0; ok && i < word.len; i++) {
        char c = word.data[i];
        ok = mq_is_alnum(c) || c == '/' || c == '_' || c == '-' || c == '+';
    }
    return ok;
}

enum mq_status mq_zone_load(const struct mq_zone_source *source, const char *name, int64_t from_s,
                            struct mq_zone *out, struct mq_error *err)
{
    if (strcasecmp(name, "UTC") == 0) {
        *out = (struct mq_zone){.shifts = {{from_s, 0}}, .count = 1, .until_s = INT64_MAX};
        return MQ_OK;
    }
    if (source) {
        return source->load(source->context, name, from_s, out, err);
    }
    return mq_error_set(err, MQ_CONFIG, NULL, "there is no time zone \"%s\"", name);
}

size_t mq_zone_at(const struct mq_zone *zone, int64_t at_s)
{
    size_t i = 0;
    while (i + 1 < zone->count && zone->shifts[i + 1].from_s <= at_s) {
        i++;
    }
    return i;
}

int64_t mq_zone_local(const struct mq_zone *zone, int64_t at_s)
{
    return at_s + zone->shifts[mq_zone_at(zone, at_s)].east_s;
}
