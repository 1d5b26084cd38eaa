/* Makes libcurl's requests what mail needs: each is sent at most once. libcurl repeats a request by
 * itself if a kept connection turns out to be dead; on_prereq() and on_seek() allow that only as
 * long as the server cannot have the whole request. HTTP/1.1 only: an HTTP/2 server may refuse
 * streams after the body has left, and libcurl does not tell that from a lost connection. */
#include "send/http/exchange.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/ascii.h"
#include "core/clock.h"
#include "send/dsn.h"
#include "send/network.h"

#define CONNECTIONS_MAX  65536L /* libcurl's limit, so high that only the pool's counts */
#define UPLOAD_PIECE     16384L /* the least that libcurl takes */
#define DOWNLOAD_PIECE   4096L
#define HEADER_LINES_MAX 100
#define HEADER_BYTES_MAX 32768

struct mq_http_client {
    const struct mq_dsn *dsn;
    const struct mq_http_events *events;
    struct mq_buffer *trace;
    CURLM *multi;
    bool added; /* requests that libcurl has not seen yet */
};

struct mq_http_exchange {
    struct mq_http_client *client;
    void *owner;
    CURL *easy;
    struct curl_slist *fields;
    struct mq_http_body *body;
    int64_t deadline_ms;
    bool connected, connect_only;
    bool kept;     /* it leaves over a connection that was there before */
    bool joined;   /* libcurl has the whole body and writes it with the head */
    bool ended;    /* libcurl has the last piece of the body */
    bool repeated; /* libcurl wanted to repeat a request that may have left */
    bool given_up;
    /* The answer. */
    const char *too_much; /* a limit that it broke; NULL: none */
    int lines;
    size_t bytes;
    bool has_head;
    bool early; /* it began before the request's last piece had left */
    char retry_after[64], error_type[128];
    struct mq_buffer answer;
    char error[CURL_ERROR_SIZE];
};

/* ---- the request leaves ---- */

static void restart_timer(struct mq_http_exchange *exchange)
{
    const struct mq_dsn *dsn = exchange->client->dsn;
    exchange->deadline_ms =
        mq_clock_monotonic_ms() + (exchange->ended ? dsn->final_timeout_ms : dsn->block_timeout_ms);
}

/* The last piece of the body leaves, if the owner wants that. */
static bool takes_last(struct mq_http_exchange *exchange)
{
    exchange->ended = exchange->client->events->last(exchange->owner);
    exchange->given_up = !exchange->ended;
    return exchange->ended;
}

static int on_prereq(void *context, char *peer, char *local, int peer_port, int local_port)
{
    struct mq_http_exchange *exchange = context;
    long connects = 0;
    (void)peer;
    (void)local;
    (void)peer_port;
    (void)local_port;
    if (exchange->ended) {
        exchange->repeated = true;
        return CURL_PREREQFUNC_ABORT;
    }
    curl_easy_getinfo(exchange->easy, CURLINFO_NUM_CONNECTS, &connects);
    exchange->kept = connects == 0;
    if (exchange->body != NULL) {
        exchange->body->pos = 0;
    } else {
        exchange->ended = true; /* a GET has nothing more to send */
    }
    exchange->connected = true;
    exchange->client->events->connected(exchange->owner);
    bool goes = !exchange->joined || takes_last(exchange);
    restart_timer(exchange);
    return goes ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

static size_t on_read(char *out, size_t size, size_t count, void *context)
{
    struct mq_http_exchange *exchange = context;
    size_t left = mq_http_body_size(exchange->body) - exchange->body->pos;
    if (left > 0 && left <= size * count && !exchange->ended && !takes_last(exchange)) {
        return CURL_READFUNC_ABORT;
    }
    restart_timer(exchange);
    return mq_http_body_read(exchange->body, out, size * count);
}

static int on_seek(void *context, curl_off_t offset, int origin)
{
    struct mq_http_exchange *exchange = context;
    if (exchange->ended || offset != 0 || origin != SEEK_SET) {
        exchange->repeated = true;
        return CURL_SEEKFUNC_FAIL;
    }
    exchange->body->pos = 0;
    return CURL_SEEKFUNC_OK;
}

/* ---- the answer comes ---- */

static void begin_head(struct mq_http_exchange *exchange)
{
    exchange->has_head = false;
    exchange->retry_after[0] = exchange->error_type[0] = '\0';
}

static void take_field(struct mq_str line, const char *name, char *out, size_t size)
{
    if (mq_str_begins_nocase(line, name)) {
        mq_str_printable(out, size, 0, mq_str_trim(mq_str_skip(line, strlen(name))));
    }
}

static size_t on_header(char *data, size_t size, size_t count, void *context)
{
    struct mq_http_exchange *exchange = context;
    struct mq_str line = mq_str_trim((struct mq_str){data, size * count});
    exchange->bytes += size * count;
    if (++exchange->lines > HEADER_LINES_MAX || exchange->bytes > HEADER_BYTES_MAX) {
        exchange->too_much = "its answer has too many header fields";
        return 0;
    }
    if (mq_str_begins(line, "HTTP/")) {
        begin_head(exchange);
        exchange->early = !exchange->ended;
    } else if (line.len == 0) {
        exchange->has_head = true;
    }
    take_field(line, "Retry-After:", exchange->retry_after, sizeof exchange->retry_after);
    take_field(line, "x-amzn-ErrorType:", exchange->error_type, sizeof exchange->error_type);
    return size * count;
}

static size_t on_body(char *data, size_t size, size_t count, void *context)
{
    struct mq_http_exchange *exchange = context;
    if (exchange->answer.len + size * count > MQ_HTTP_ANSWER_MAX) {
        exchange->too_much = "its answer is too long";
        return 0;
    }
    mq_buffer_append(&exchange->answer, data, size * count);
    return exchange->answer.failed ? 0 : size * count;
}

/* ---- options ---- */

static bool set_callbacks(struct mq_http_exchange *exchange)
{
    CURL *easy = exchange->easy;
    bool ok = true;
    ok = ok && !curl_easy_setopt(easy, CURLOPT_PRIVATE, exchange);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, exchange->error);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_prereq);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_PREREQDATA, exchange);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_READFUNCTION, on_read);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_READDATA, exchange);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, on_seek);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_SEEKDATA, exchange);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_HEADERDATA, exchange);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    return ok && !curl_easy_setopt(easy, CURLOPT_WRITEDATA, exchange);
}

static bool set_options(struct mq_http_exchange *exchange)
{
    CURL *easy = exchange->easy;
    bool ok = set_callbacks(exchange);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, DOWNLOAD_PIECE);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, UPLOAD_PIECE);
    const struct mq_dsn *dsn = exchange->client->dsn;
    struct mq_buffer *trace = exchange->client->trace;
    bool plain = dsn->tls == MQ_TLS_NONE;
    ok = ok && !curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, plain ? "http" : "https");
    ok = ok && !curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, (long)(dsn->idle_ms + 999) / 1000);
    return ok && mq_network_set(easy, dsn) &&
           (trace == NULL || mq_network_set_trace(easy, trace, false));
}

static bool add_field(struct mq_http_exchange *exchange, const char *field)
{
    struct curl_slist *longer = curl_slist_append(exchange->fields, field);
    exchange->fields = longer != NULL ? longer : exchange->fields;
    return longer != NULL;
}

/* libcurl signs the hash that this field names, because it may not have the body. */
static bool add_hash(struct mq_http_exchange *exchange, const struct mq_http_request *request)
{
    struct mq_buffer field = {0};
    mq_buffer_cstr(&field, "x-amz-content-sha256: ");
    bool ok = mq_http_body_hash(&request->body, &field) && !field.failed &&
              add_field(exchange, field.data);
    mq_buffer_clear(&field);
    return ok;
}

static bool set_login(struct mq_http_exchange *exchange, const struct mq_http_request *request)
{
    CURL *easy = exchange->easy;
    bool ok = true;
    if (request->auth == MQ_HTTP_BEARER) {
        ok = ok && !curl_easy_setopt(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
        return ok && !curl_easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, request->secret);
    }
    ok = ok && !curl_easy_setopt(easy, CURLOPT_USERNAME, request->user);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_PASSWORD, request->secret);
    if (request->auth == MQ_HTTP_SIGV4) {
        return ok && !curl_easy_setopt(easy, CURLOPT_AWS_SIGV4, request->scope) &&
               (mq_http_body_size(&request->body) == 0 || add_hash(exchange, request));
    }
    return ok && !curl_easy_setopt(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
}

static bool set_request(struct mq_http_exchange *exchange, struct mq_http_request *request)
{
    CURL *easy = exchange->easy;
    const char *whole = request->is_get ? NULL : mq_http_body_join(&request->body);
    bool ok = !curl_easy_setopt(easy, CURLOPT_URL, request->url);
    exchange->joined = whole != NULL;
    for (size_t i = 0; ok && i < request->headers.count; i++) {
        ok = add_field(exchange, request->headers.items[i]);
    }
    ok = ok && set_login(exchange, request);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_HTTPHEADER, exchange->fields);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, request->connect_only ? 1L : 0L);
    if (request->is_get) {
        return ok && !curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
    }
    return ok && !curl_easy_setopt(easy, CURLOPT_POST, 1L) &&
           !curl_easy_setopt(easy, CURLOPT_POSTFIELDS, whole) &&
           !curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                             (curl_off_t)mq_http_body_size(&request->body));
}

/* ---- exchanges ---- */

struct mq_http_exchange *mq_http_exchange_new(struct mq_http_client *client, void *owner)
{
    struct mq_http_exchange *exchange = calloc(1, sizeof *exchange);
    if (exchange == NULL) {
        return NULL;
    }
    exchange->client = client;
    exchange->owner = owner;
    exchange->easy = curl_easy_init();
    if (exchange->easy == NULL || !set_options(exchange)) {
        mq_http_exchange_free(exchange);
        return NULL;
    }
    return exchange;
}

static void leave(struct mq_http_exchange *exchange)
{
    curl_multi_remove_handle(exchange->client->multi, exchange->easy);
    curl_easy_setopt(exchange->easy, CURLOPT_HTTPHEADER, NULL);
    curl_slist_free_all(exchange->fields);
    exchange->fields = NULL;
}

void mq_http_exchange_free(struct mq_http_exchange *exchange)
{
    if (exchange == NULL) {
        return;
    }
    if (exchange->easy != NULL) {
        leave(exchange);
        curl_easy_cleanup(exchange->easy);
    }
    mq_buffer_clear(&exchange->answer);
    free(exchange);
}

bool mq_http_exchange_begin(struct mq_http_exchange *exchange, struct mq_http_request *request)
{
    exchange->body = request->is_get ? NULL : &request->body;
    exchange->connected = exchange->ended = exchange->repeated = exchange->given_up = false;
    exchange->connect_only = request->connect_only;
    exchange->too_much = NULL;
    exchange->lines = 0;
    exchange->bytes = 0;
    exchange->error[0] = '\0';
    exchange->deadline_ms = INT64_MAX; /* libcurl has a timer for the connection */
    begin_head(exchange);
    mq_buffer_reset(&exchange->answer);
    if (set_request(exchange, request) &&
        curl_multi_add_handle(exchange->client->multi, exchange->easy) == CURLM_OK) {
        exchange->client->added = true;
        return true;
    }
    leave(exchange);
    return false;
}

int64_t mq_http_exchange_deadline(const struct mq_http_exchange *exchange)
{
    return exchange->deadline_ms;
}

static curl_off_t uploaded(const struct mq_http_exchange *exchange)
{
    curl_off_t octets = 0;
    curl_easy_getinfo(exchange->easy, CURLINFO_SIZE_UPLOAD_T, &octets);
    return octets;
}

/* Whether libcurl was about to repeat the request: it forgets what has left over a kept connection
 * when it makes another one. */
static bool was_repeating(const struct mq_http_exchange *exchange)
{
    return exchange->repeated ||
           (exchange->ended && exchange->body != NULL && exchange->kept && uploaded(exchange) == 0);
}

/* Whether the server may have the whole request. */
static bool is_whole(const struct mq_http_exchange *exchange)
{
    if (!exchange->ended || exchange->body == NULL) {
        return exchange->ended;
    }
    return exchange->repeated || (size_t)uploaded(exchange) >= mq_http_body_size(exchange->body);
}

static void describe(const struct mq_http_exchange *exchange, CURLcode code, const char *given,
                     struct mq_http_result *out)
{
    const char *text = given != NULL                                ? given
                       : exchange->connect_only && code == CURLE_OK ? ""
                       : code == CURLE_OK                           ? "its answer was cut off"
                       : exchange->too_much                         ? exchange->too_much
                       : exchange->repeated         ? "it closed the connection without an answer"
                       : exchange->error[0] != '\0' ? exchange->error
                                                    : curl_easy_strerror(code);
    mq_str_printable(out->reason, sizeof out->reason, 0, mq_str_of(text));
}

/* Fills *out; `given`: why the request was cancelled, or NULL. */
static void conclude(struct mq_http_exchange *exchange, CURLcode code, const char *given,
                     struct mq_http_result *out)
{
    long status = 0;
    exchange->repeated = was_repeating(exchange);
    *out = (struct mq_http_result){.connected = exchange->connected,
                                   .whole = is_whole(exchange),
                                   .early = exchange->early,
                                   .given_up = exchange->given_up,
                                   .hopeless = mq_network_is_hopeless(code),
                                   .retry_after = exchange->retry_after,
                                   .error_type = exchange->error_type,
                                   .body = mq_buffer_view(&exchange->answer)};
    mq_network_trace_certificate(exchange->easy, exchange->client->trace);
    curl_easy_getinfo(exchange->easy, CURLINFO_RESPONSE_CODE, &status);
    /* A refusal counts even if its body was cut off; anything else must have come as a whole. */
    bool refused = status >= 300 && exchange->too_much == NULL;
    if (given == NULL && exchange->has_head && (code == CURLE_OK || refused)) {
        out->status = (int)status;
    } else {
        describe(exchange, code, given, out);
    }
    leave(exchange);
}

void mq_http_exchange_cancel(struct mq_http_exchange *exchange, const char *reason,
                             struct mq_http_result *out)
{
    conclude(exchange, CURLE_OK, reason, out);
}

/* ---- the client ---- */

bool mq_http_can_sign(void)
{
    return curl_version_info(CURLVERSION_NOW)->version_num >= 0x075700;
}

enum mq_status mq_http_client_new(const struct mq_dsn *dsn, const struct mq_http_events *events,
                                  struct mq_buffer *trace, struct mq_http_client **out,
                                  struct mq_error *err)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        return mq_error_set(err, MQ_TRANSPORT, "transport", "libcurl cannot be initialised");
    }
    struct mq_http_client *client = calloc(1, sizeof *client);
    CURLM *multi = curl_multi_init();
    if (client == NULL || multi == NULL) {
        curl_multi_cleanup(multi);
        free(client);
        curl_global_cleanup();
        return mq_error_nomem(err);
    }
    *client = (struct mq_http_client){.dsn = dsn, .events = events, .trace = trace, .multi = multi};
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, CONNECTIONS_MAX);
    curl_multi_setopt(multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
    *out = client;
    return MQ_OK;
}

void mq_http_client_free(struct mq_http_client *client)
{
    curl_multi_cleanup(client->multi);
    free(client);
    curl_global_cleanup();
}

bool mq_http_wait(struct mq_http_client *client, int timeout_ms)
{
    int running = 0, events = 0;
    bool added = client->added;
    client->added = false;
    /* One perform() for the new requests and the ready ones: it looks at each request under way. */
    if (!added) {
        curl_multi_poll(client->multi, NULL, 0, timeout_ms, &events);
    }
    curl_multi_perform(client->multi, &running);
    return added || events > 0;
}

void *mq_http_take(struct mq_http_client *client, struct mq_http_result *out)
{
    CURLMsg *message = NULL;
    int left = 0;
    do {
        message = curl_multi_info_read(client->multi, &left);
    } while (message != NULL && message->msg != CURLMSG_DONE);
    if (message == NULL) {
        return NULL;
    }
    struct mq_http_exchange *exchange = NULL;
    CURLcode code = message->data.result;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&exchange);
    conclude(exchange, code, NULL, out);
    return exchange->owner;
}
