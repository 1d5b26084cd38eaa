/* Which API a DSN names, and where it is. */
#include "send/http/api.h"

#include <string.h>

#include "send/dsn.h"

const struct mq_http_api *mq_http_api_of(const struct mq_dsn *dsn)
{
    static const struct mq_http_api *const apis[] = {&mq_http_ses, &mq_http_mailgun, &mq_http_graph,
                                                     &mq_http_gmail};
    size_t i = 0;
    while (!mq_dsn_is(dsn, apis[i]->scheme)) {
        i++;
    }
    return apis[i];
}

char *mq_http_url(const struct mq_http_api *api, const struct mq_dsn *dsn, bool probe)
{
    struct mq_buffer url = {0};
    mq_buffer_cstr(&url, dsn->tls == MQ_TLS_NONE ? "http://" : "https://");
    if (strcmp(dsn->host, "default") == 0) {
        api->host(dsn, &url);
    } else {
        mq_buffer_printf(&url, strchr(dsn->host, ':') ? "[%s]" : "%s", dsn->host);
    }
    if (dsn->port > 0) {
        mq_buffer_printf(&url, ":%d", dsn->port);
    }
    api->path(dsn, probe, &url);
    return mq_buffer_take(&url);
}
