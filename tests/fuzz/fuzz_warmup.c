/* Warm-ups: no text is read out of bounds, and each day's amount is one that a limit can have. */
#include "fuzz.h"

#include <string.h>

#include "policy/warmup.h"
#include "policy/zone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mq_str text = {(const char *)data, size};
    struct mq_warmup warmup = {0};
    struct mq_error err = {0};
    if (mq_warmup_parse(text, &warmup, &err) != MQ_OK) {
        REQUIRE(err.status == MQ_INVALID && err.text[0]);
        return 0;
    }
    REQUIRE(warmup.limits.count > 0);
    for (size_t i = 0; i < warmup.limits.count; i++) {
        const struct mq_warmup_rule *rule = &warmup.rules[i];
        int64_t first_s = rule->first_day * MQ_DAY_S;
        REQUIRE(rule->days > 0 && rule->days <= MQ_WARMUP_DAYS_MAX);
        REQUIRE(mq_warmup_amount(rule, first_s - 1) == 0);
        for (size_t day = 0; day <= rule->days; day++) {
            int64_t n = mq_warmup_amount(rule, first_s + (int64_t)day * MQ_DAY_S);
            REQUIRE(day < rule->days ? n > 0 && n <= MQ_LIMIT_N_MAX : n == 0);
        }
    }
    mq_warmup_clear(&warmup);
    return 0;
}
