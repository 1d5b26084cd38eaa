/* For `doctor --relay`: connects to an API as the worker does and, if the API has a call that
 * changes nothing, shows the key. */
#include <stdlib.h>
#include <string.h>

#include "send/dsn.h"
#include "send/factory.h"
#include "send/http/api.h"

#define WAIT_MS 1000

static void on_connected(void *owner)
{
    (void)owner;
}

static bool on_last(void *owner)
{
    (void)owner;
    return true;
}

static void trace_add(struct mq_buffer *trace, char who, const char *text, const char *end)
{
    mq_buffer_printf(trace, "%c%zu:%s%s", who, strlen(text) + strlen(end), text, end);
}

static void describe(const struct mq_http_api *api, const struct mq_http_request *request,
                     const struct mq_http_result *result, struct mq_buffer *trace)
{
    struct mq_http_answer answer;
    char text[MQ_HTTP_REASON_MAX];
    bool is_good = result->status >= 200 && result->status <= 299;
    mq_http_answer(api, request, result, &answer);
    if (is_good) {
        answer.code[0] = answer.text[0] = '\0';
    }
    mq_http_format(&answer, text);
    if (result->status != 0) {
        trace_add(trace, 'S', text, "\n");
    }
    if (!is_good && text[0] != '\0') {
        trace_add(trace, 'E', text, "");
    }
}

static enum mq_status ask(const struct mq_http_api *api, const struct mq_dsn *dsn,
                          struct mq_http_request *request, struct mq_buffer *trace,
                          struct mq_error *err)
{
    static const struct mq_http_events events = {on_connected, on_last};
    struct mq_http_client *client = NULL;
    struct mq_http_result result;
    MQ_TRY(mq_http_client_new(dsn, &events, trace, &client, err));
    struct mq_http_exchange *exchange = mq_http_exchange_new(client, client);
    enum mq_status status = MQ_OK;
    if (exchange == NULL || !mq_http_exchange_begin(exchange, request)) {
        status = mq_error_nomem(err);
    } else {
        int64_t until_ms = mq_clock_monotonic_ms() + dsn->connect_timeout_ms;
        bool is_over = false;
        while (!is_over && mq_clock_monotonic_ms() < until_ms) {
            mq_http_wait(client, WAIT_MS);
            is_over = mq_http_take(client, &result) != NULL;
        }
        if (!is_over) {
            mq_http_exchange_cancel(exchange, "it did not answer in time", &result);
        }
        describe(api, request, &result, trace);
    }
    mq_http_exchange_free(exchange);
    mq_http_client_free(client);
    return status;
}

enum mq_status mq_http_probe(const struct mq_dsn *dsn, struct mq_buffer *trace,
                             struct mq_error *err)
{
    const struct mq_http_api *api = mq_http_api_of(dsn);
    struct mq_http_request request = {.auth = api->auth, .is_get = true};
    struct mq_buffer scope = {0}, path = {0};
    MQ_TRY(api->check(dsn, err));
    api->path(dsn, true, &path);
    if (api->login != NULL) {
        api->login(dsn, &request, &scope);
    }
    request.connect_only = path.len == 0; /* an account's token is not shown */
    char *url = mq_http_url(api, dsn, true);
    request.url = url;
    bool ok = url != NULL && !scope.failed && api->fields(dsn, &request);
    enum mq_status status = ok ? ask(api, dsn, &request, trace, err) : mq_error_nomem(err);
    free(url);
    mq_strings_clear(&request.headers);
    mq_buffer_clear(&scope);
    mq_buffer_clear(&path);
    return status;
}
