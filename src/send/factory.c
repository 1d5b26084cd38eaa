#include "send/factory.h"

#include <string.h>

#include "core/dsn.h"
#include "send/null.h"

enum mq_status mq_transport_open(struct mq_str dsn, const struct mq_smtp_options *options,
                                 struct mq_transport **out, int64_t *final_timeout_ms,
                                 struct mq_error *err)
{
    struct mq_dsn parsed;
    enum mq_status status = mq_dsn_parse(dsn, &parsed, err);
    if (status != MQ_OK) {
        return status;
    }
    bool is_null = strcmp(parsed.scheme, "null") == 0;
    status =
        is_null ? mq_null_new(options->clock, out, err) : mq_smtp_new(&parsed, options, out, err);
    if (status == MQ_OK) {
        *final_timeout_ms = is_null ? 0 : parsed.final_timeout_ms;
    }
    mq_dsn_clear(&parsed);
    return status;
}
