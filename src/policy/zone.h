/* A time zone's offsets for some weeks. C has no thread-safe call for a zone other than the
 * process's own, so the opener of the queue supplies them. */
#ifndef MQ_POLICY_ZONE_H
#define MQ_POLICY_ZONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/clock.h"
#include "core/error.h"

#define MQ_ZONE_NAME_MAX   64
#define MQ_ZONE_SHIFTS_MAX 16
#define MQ_ZONE_AHEAD_S    (60 * MQ_DAY_S) /* how far a source's answer reaches */

struct mq_zone {
    struct {
        int64_t from_s; /* UTC; ascending; the first one also holds before */
        int64_t east_s; /* seconds east of UTC from then on */
    } shifts[MQ_ZONE_SHIFTS_MAX];
    size_t count;    /* 1 … MQ_ZONE_SHIFTS_MAX */
    int64_t until_s; /* later shifts are not known */
};

/* Whether a zone can have this name, known or not: of its characters, and not too long. */
bool mq_zone_is_name(struct mq_str word);

/* Fills `out` from from_s on, for MQ_ZONE_AHEAD_S. MQ_CONFIG if the zone is unknown. Not to be
 * called inside a transaction. */
struct mq_zone_source {
    enum mq_status (*load)(void *context, const char *name, int64_t from_s, struct mq_zone *out,
                           struct mq_error *err);
    void *context;
};
/* UTC needs no source. Without a source (NULL), UTC is the only zone. */
enum mq_status mq_zone_load(const struct mq_zone_source *source, const char *name, int64_t from_s,
                            struct mq_zone *out, struct mq_error *err);

/* The index of the shift that holds at that time. */
size_t mq_zone_at(const struct mq_zone *zone, int64_t at_s);
/* Seconds from 1970 on the zone's clocks. */
int64_t mq_zone_local(const struct mq_zone *zone, int64_t at_s);

#endif
