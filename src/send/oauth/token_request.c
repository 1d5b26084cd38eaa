/* Asks an OAuth2 server over HTTPS. */
#include "send/oauth/token_request.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mime/encode.h"
#include "send/dsn_text.h"

#define ANSWER_MAX         65536
#define CONNECT_TIMEOUT_MS 10000L
#define CURL_FORM          "Content-Type: application/x-www-form-urlencoded"

struct mq_token_request {
    CURLM *multi;
    CURL *easy;
    struct curl_slist *headers;
    struct mq_buffer fields, authorization, body;
    size_t header_octets;
    bool too_long;
    char error[CURL_ERROR_SIZE];
};

/* ---- the endpoint ---- */

/* The part of the URL, to be freed with curl_free(); NULL: it has none. */
static char *part_of(CURLU *url, CURLUPart part)
{
    char *text = NULL;
    return curl_url_get(url, part, &text, 0) == CURLUE_OK ? text : NULL;
}

static const char *fault_of(CURLU *url)
{
    char *scheme = part_of(url, CURLUPART_SCHEME);
    char *host = part_of(url, CURLUPART_HOST);
    char *user = part_of(url, CURLUPART_USER);
    char *fragment = part_of(url, CURLUPART_FRAGMENT);
    const char *fault = NULL;
    if (!scheme || !host || (strcmp(scheme, "https") != 0 && strcmp(scheme, "http") != 0)) {
        fault = "must begin with https://";
    } else if (strcmp(scheme, "http") == 0 && !mq_host_is_loopback(host)) {
        fault = "must begin with https://, because secrets go there; http:// is for loopback only";
    } else if (user || fragment) {
        fault = "must have no user, password or fragment";
    }
    curl_free(scheme);
    curl_free(host);
    curl_free(user);
    curl_free(fragment);
    return fault;
}

const char *mq_token_endpoint_fault(const char *endpoint)
{
    CURLU *url = curl_url();
    const char *fault = url == NULL ? "cannot be checked: out of memory" : NULL;
    if (fault == NULL) {
        bool read = curl_url_set(url, CURLUPART_URL, endpoint, 0) == CURLUE_OK;
        fault = read ? fault_of(url) : "is not a URL";
    }
    curl_url_cleanup(url);
    return fault;
}

/* ---- fields ---- */

void mq_token_field(struct mq_buffer *fields, const char *name, struct mq_str value)
{
    if (fields->len > 0) {
        mq_buffer_char(fields, '&');
    }
    mq_buffer_printf(fields, "%s=", name);
    mq_dsn_encode(fields, value, "");
}

/* RFC 6749, 2.3.1: both parts are form-encoded before they are joined. */
static void add_basic(struct mq_buffer *out, const char *client_id, const char *secret)
{
    struct mq_buffer pair = {0};
    mq_dsn_encode(&pair, mq_str_of(client_id), "");
    mq_buffer_char(&pair, ':');
    mq_dsn_encode(&pair, mq_str_of(secret), "");
    mq_buffer_cstr(out, "Authorization: Basic ");
    mq_encode_base64_raw(out, mq_buffer_view(&pair));
    out->failed = out->failed || pair.failed;
    mq_buffer_wipe(&pair);
}

/* ---- callbacks of libcurl ---- */

static size_t on_body(char *data, size_t size, size_t count, void *context)
{
    struct mq_token_request *request = context;
    size_t len = size * count;
    request->too_long = request->body.len + len > ANSWER_MAX;
    if (request->too_long) {
        return 0; /* libcurl ends the request */
    }
    mq_buffer_append(&request->body, data, len); /* the memory was reserved */
    return len;
}

static size_t on_header(char *data, size_t size, size_t count, void *context)
{
    struct mq_token_request *request = context;
    (void)data;
    request->header_octets += size * count;
    request->too_long = request->header_octets > ANSWER_MAX;
    return request->too_long ? 0 : size * count; /* 0: libcurl ends the request */
}

/* ---- options ---- */

static bool set_security(CURL *easy, const struct mq_token_call *call)
{
    bool ok = true;
    ok = ok && !curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    ok = ok && !curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    /* Empty strings mean no proxy and no exceptions, whatever the environment says. */
    ok = ok && !curl_easy_setopt(easy, CURLOPT_PROXY, call->proxy ? call->proxy : "");
    ok = ok && !curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
    ok = ok && !curl_easy_setopt(easy, CURLOPT_HTTPPROXYTUNNEL, 1L);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    if (call->cafile != NULL) {
        ok = ok && !curl_easy_setopt(easy, CURLOPT_CAINFO, call->cafile);
    }
    return ok;
}

static bool set_limits(CURL *easy, struct mq_token_request *request, long timeout_ms)
{
    bool ok = true;
    ok = ok && !curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_TIMEOUT_MS);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, timeout_ms);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, request->error);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_WRITEDATA, request);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    return ok && !curl_easy_setopt(easy, CURLOPT_HEADERDATA, request);
}

static bool add_header(struct mq_token_request *request, const char *header)
{
    struct curl_slist *longer = curl_slist_append(request->headers, header);
    request->headers = longer != NULL ? longer : request->headers;
    return longer != NULL;
}

static bool set_request(struct mq_token_request *request, const struct mq_token_call *call)
{
    CURL *easy = request->easy;
    bool ok = !request->fields.failed && !request->authorization.failed && !request->body.failed;
    ok = ok && !curl_easy_setopt(easy, CURLOPT_URL, call->endpoint);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_USERAGENT, "mailqueue");
    if (call->fields.data == NULL) {
        return ok && !curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
    }
    ok = ok && add_header(request, CURL_FORM) && add_header(request, "Accept: application/json") &&
         add_header(request, "Expect:");
    if (request->authorization.len > 0) {
        ok = ok && add_header(request, request->authorization.data);
    }
    ok = ok && !curl_easy_setopt(easy, CURLOPT_HTTPHEADER, request->headers);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)request->fields.len);
    return ok && !curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request->fields.data);
}

/* ---- the request ---- */

enum mq_status mq_token_request_begin(const struct mq_token_call *call,
                                      struct mq_token_request **out, struct mq_error *err)
{
    const char *fault = mq_token_endpoint_fault(call->endpoint);
    if (fault != NULL) {
        return mq_error_set(err, MQ_CONFIG, "account", "%.200s %s", call->endpoint, fault);
    }
    struct mq_token_request *request = calloc(1, sizeof *request);
    if (request == NULL || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        free(request);
        return mq_error_nomem(err);
    }
    if (call->fields.data != NULL) {
        mq_buffer_append(&request->fields, call->fields.data, call->fields.len);
    }
    mq_buffer_reserve(&request->body, ANSWER_MAX + 1);
    if (call->client_id != NULL) {
        add_basic(&request->authorization, call->client_id, call->client_secret);
    }
    request->multi = curl_multi_init();
    request->easy = curl_easy_init();
    if (!request->multi || !request->easy || !set_request(request, call) ||
        !set_limits(request->easy, request,
                    call->timeout_ms ? call->timeout_ms : MQ_TOKEN_TIMEOUT_MS) ||
        !set_security(request->easy, call) ||
        curl_multi_add_handle(request->multi, request->easy) != CURLM_OK) {
        mq_error_set(err, MQ_CONFIG, "account", "libcurl does not take the options: %s",
                     request->error[0] ? request->error : "out of memory, or built without them");
        mq_token_request_free(request);
        return MQ_CONFIG;
    }
    *out = request;
    return MQ_OK;
}

static void fill_answer(struct mq_token_request *request, CURLcode code,
                        struct mq_token_answer *answer)
{
    long status = 0;
    curl_off_t retry_after_s = 0;
    *answer = (struct mq_token_answer){0};
    if (code == CURLE_OK) {
        curl_easy_getinfo(request->easy, CURLINFO_RESPONSE_CODE, &status);
        curl_easy_getinfo(request->easy, CURLINFO_RETRY_AFTER, &retry_after_s);
        answer->code = (int)status;
        answer->body = mq_buffer_view(&request->body);
        answer->retry_after_s = retry_after_s;
        return;
    }
    const char *text = request->too_long   ? "the answer is longer than 64 KiB"
                       : request->error[0] ? request->error
                                           : curl_easy_strerror(code);
    mq_str_printable(answer->failure, sizeof answer->failure, 0, mq_str_of(text));
}

bool mq_token_request_step(struct mq_token_request *request, int wait_ms,
                           struct mq_token_answer *answer)
{
    int running = 0;
    int left = 0;
    if (wait_ms > 0) {
        curl_multi_poll(request->multi, NULL, 0, wait_ms, NULL);
    }
    curl_multi_perform(request->multi, &running);
    const CURLMsg *message = curl_multi_info_read(request->multi, &left);
    if (message == NULL || message->msg != CURLMSG_DONE) {
        return false;
    }
    fill_answer(request, message->data.result, answer);
    return true;
}

void mq_token_request_free(struct mq_token_request *request)
{
    if (request->easy != NULL) {
        curl_multi_remove_handle(request->multi, request->easy);
        curl_easy_cleanup(request->easy);
    }
    if (request->multi != NULL) {
        curl_multi_cleanup(request->multi);
    }
    curl_slist_free_all(request->headers);
    mq_buffer_wipe(&request->fields);
    mq_buffer_wipe(&request->authorization);
    mq_buffer_wipe(&request->body);
    free(request);
    curl_global_cleanup();
}
