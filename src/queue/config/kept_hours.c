/* Keeps mailHours with the offsets of its time zones. */
#include "queue/config/kept_hours.h"

#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "policy/hours.h"
#include "policy/types.h"
#include "queue/config/keys.h"
#include "queue/config/settings.h"
#include "queue/handle.h"

/* A zone's offsets are loaded from a day before, in case a clock goes back, and again long before
 * they end: no opening is farther away than two weeks. */
#define BEFORE_S MQ_DAY_S
#define FRESH_S  (20 * MQ_DAY_S)

struct mq_hours_kept {
    char *text; /* of the rules that are kept, or could not be; NULL: none yet */
    struct mq_hours hours;
    struct mq_zone *zones; /* one for each rule */
    int64_t loaded_s;
    enum mq_status status; /* of the last try */
    struct mq_error error;
    char *wanted; /* the text that a transaction found instead */
};

static void forget(struct mq_hours_kept *kept)
{
    mq_hours_clear(&kept->hours);
    free(kept->zones);
    free(kept->text);
    kept->zones = NULL;
    kept->text = NULL;
}

void mq_hours_free(struct mq_hours_kept *kept)
{
    if (kept) {
        forget(kept);
        free(kept->wanted);
        free(kept);
    }
}

static enum mq_status load_zones(const struct mq_queue *queue, const struct mq_hours *hours,
                                 int64_t from_s, struct mq_zone *zones, struct mq_error *err)
{
    enum mq_status status = MQ_OK;
    for (size_t i = 0; i < hours->count && status == MQ_OK; i++) {
        status = mq_zone_load(queue->zones, hours->rules[i].zone, from_s, &zones[i], err);
    }
    return status;
}

/* Parses the rules and loads their zones; *kept gets both. */
static enum mq_status read_rules(const struct mq_queue *queue, const char *text, int64_t now_s,
                                 struct mq_hours_kept *kept, struct mq_error *err)
{
    MQ_TRY(mq_hours_parse(mq_str_of(text), &kept->hours, err));
    kept->zones = calloc(kept->hours.count, sizeof(*kept->zones));
    kept->text = strdup(text);
    if (!kept->zones || !kept->text) {
        return mq_error_nomem(err);
    }
    return load_zones(queue, &kept->hours, now_s - BEFORE_S, kept->zones, err);
}

enum mq_status mq_hours_check(struct mq_queue *queue, const char *text, struct mq_error *err)
{
    struct mq_hours_kept tried = {0};
    int64_t now_s = mq_clock_now_s(&queue->clock);
    struct mq_error why = {.status = MQ_OK};
    enum mq_status status = read_rules(queue, text, now_s, &tried, &why);
    forget(&tried);
    if (status == MQ_CONFIG) {
        const char *name = mq_config_keys[MQ_KEY_HOURS].name;
        return mq_error_set(err, MQ_INVALID, name,
                            "%s: %s; allowed are the names that PHP knows "
                            "(DateTimeZone::listIdentifiers())",
                            name, why.text);
    }
    if (status != MQ_OK && err) {
        *err = why;
    }
    return status;
}

static bool is_fresh(const struct mq_hours_kept *kept, const char *text, int64_t now_s)
{
    return kept && kept->status == MQ_OK && kept->text && strcmp(kept->text, text) == 0 &&
           now_s >= kept->loaded_s - BEFORE_S && now_s < kept->loaded_s + FRESH_S;
}

static struct mq_hours_kept *kept_of(struct mq_queue *queue)
{
    queue->hours = queue->hours ? queue->hours : calloc(1, sizeof(*queue->hours));
    return queue->hours;
}

static enum mq_status load(struct mq_queue *queue, const char *text, int64_t now_s,
                           struct mq_error *err)
{
    const char *name = mq_config_keys[MQ_KEY_HOURS].name;
    struct mq_error why = {.status = MQ_OK};
    struct mq_hours_kept *kept = kept_of(queue);
    if (!kept) {
        return mq_error_nomem(err);
    }
    forget(kept);
    kept->loaded_s = now_s;
    kept->status = read_rules(queue, text, now_s, kept, &why);
    if (kept->status == MQ_CONFIG) {
        mq_error_set(&kept->error, MQ_CONFIG, name,
                     "config key %s cannot be used: %s. " MQ_CONFIG_CURE, name, why.text, name,
                     name);
    } else {
        kept->error = why;
    }
    if (kept->status != MQ_OK && err) {
        *err = kept->error;
    }
    return kept->status;
}

enum mq_status mq_hours_load(struct mq_queue *queue, const struct mq_settings *settings,
                             int64_t now_s, struct mq_error *err)
{
    if (!settings->hours) {
        mq_hours_free(queue->hours);
        queue->hours = NULL;
        return MQ_OK;
    }
    return is_fresh(queue->hours, settings->hours, now_s)
               ? MQ_OK
               : load(queue, settings->hours, now_s, err);
}

enum mq_status mq_hours_prepare(struct mq_queue *queue, struct mq_error *err)
{
    char *wanted = queue->hours ? queue->hours->wanted : NULL;
    if (!wanted) {
        return MQ_OK;
    }
    queue->hours->wanted = NULL;
    enum mq_status status = load(queue, wanted, mq_clock_now_s(&queue->clock), err);
    free(wanted);
    return status == MQ_THROWN || status == MQ_BAILOUT ? status : MQ_OK;
}

enum mq_status mq_hours_ready(struct mq_queue *queue, const struct mq_settings *settings,
                              int64_t now_s, bool *ready, struct mq_error *err)
{
    struct mq_hours_kept *kept = queue->hours;
    const char *text = settings->hours;
    *ready = !text || is_fresh(kept, text, now_s);
    if (*ready) {
        return MQ_OK;
    }
    kept = kept_of(queue);
    if (kept) {
        free(kept->wanted);
        kept->wanted = strdup(text);
    }
    if (!kept || !kept->wanted) {
        return mq_error_nomem(err);
    }
    bool failed = kept->status != MQ_OK && kept->text && strcmp(kept->text, text) == 0;
    if (failed && err) {
        *err = kept->error;
    }
    return failed ? kept->status : MQ_OK;
}

int64_t mq_hours_opening(const struct mq_queue *queue, const struct mq_settings *settings,
                         const char *type, int64_t at_s)
{
    const struct mq_hours_kept *kept = queue->hours;
    int i = settings->hours ? mq_hours_rule_of(&kept->hours, type) : -1;
    return i < 0 ? at_s : mq_hours_next(&kept->hours.rules[i], &kept->zones[i], at_s);
}

bool mq_hours_rule(const struct mq_queue *queue, size_t i, int64_t at_s, struct mq_buffer *types,
                   int64_t *open_s)
{
    const struct mq_hours_kept *kept = queue->hours;
    if (!kept || i >= kept->hours.count) {
        return false;
    }
    const struct mq_hours_rule *rule = &kept->hours.rules[i];
    *open_s = mq_hours_next(rule, &kept->zones[i], at_s);
    mq_buffer_cstr(types, !rule->all_but      ? ""
                          : rule->types.count ? MQ_TYPES_EVERY_BUT
                                              : "every type");
    for (size_t n = 0; n < rule->types.count; n++) {
        mq_buffer_printf(types, "%s%s", n ? ", " : "", rule->types.items[n]);
    }
    return true;
}
