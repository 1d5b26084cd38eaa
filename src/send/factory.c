/* Makes the transport that a DSN names. */
#include "send/factory.h"

#include <string.h>

#include "send/dsn.h"

enum mq_status mq_transport_open(struct mq_dsn *dsn, const struct mq_transport_options *options,
                                 struct mq_transport **out, struct mq_error *err)
{
    static const struct {
        const char *scheme;
        enum mq_status (*open)(struct mq_dsn *dsn, const struct mq_transport_options *options,
                               struct mq_transport **out, struct mq_error *err);
    } kinds[] = {{"smtp", mq_smtp_new},
                 {"smtps", mq_smtp_new},
                 {"lmtp", mq_smtp_new},
                 {"sendmail", mq_sendmail_new},
                 {"file", mq_maildir_new},
                 {"null", mq_null_new},
                 {"ses+https", mq_http_new},
                 {"mailgun+https", mq_http_new},
                 {"microsoftgraph+https", mq_http_new},
                 {"gmail+https", mq_http_new}};
    size_t i = 0;
    while (!mq_dsn_is(dsn, kinds[i].scheme)) {
        i++;
    }
    enum mq_status status = kinds[i].open(dsn, options, out, err);
    mq_dsn_clear(dsn);
    return status;
}
