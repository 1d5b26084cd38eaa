/* Limits in windows: what is accepted is within its bounds, and what is refused says why. */
#include "fuzz.h"

#include <string.h>

#include "policy/limits.h"

static void require_limit(const struct mq_limit *limit)
{
    struct mq_str who;
    REQUIRE(limit->n >= 1 && limit->n <= MQ_LIMIT_N_MAX);
    REQUIRE(limit->length_s >= 1 && limit->length_s <= MQ_LIMIT_DAYS_MAX * 86400);
    REQUIRE(limit->text.len > 0 && limit->only.len < limit->text.len);
    REQUIRE(!mq_limit_holds(limit, NULL, NULL, &who) || limit->scope == MQ_SCOPE_ALL);
    bool any = limit->only.len == 0;
    const char *address = "\"x@y\"@example.org";
    REQUIRE(mq_limit_holds(limit, "smtp://u:***@[::1]:25/?a=b", address, &who) ||
            mq_limit_holds_to(limit, address, &who) || !any);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mq_str text = {(const char *)data, size};
    struct mq_limits limits;
    struct mq_error err = {0};
    if (mq_limits_parse(text, &limits, &err) != MQ_OK) {
        REQUIRE(err.status == MQ_INVALID && err.text[0] && mq_utf8_valid(mq_str_of(err.text)));
        return 0;
    }
    REQUIRE(limits.count <= MQ_LIMITS_MAX);
    for (size_t i = 0; i < limits.count; i++) {
        require_limit(&limits.items[i]);
    }
    return 0;
}
