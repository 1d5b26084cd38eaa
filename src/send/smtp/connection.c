/* Connects through libcurl: name, proxy, TLS, EHLO and login. The only file of the SMTP transport
 * that includes curl.h. */
#include "send/smtp/connection.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"
#include "policy/reply.h"
#include "send/factory.h"
#include "send/network.h"
#include "send/oauth/account.h"
#include "send/smtp/capabilities.h"
#include "send/smtp/hello.h"

#if LIBCURL_VERSION_NUM < 0x075500
#error "libcurl 7.85 or later is needed: earlier ones know no CONNECT_ONLY for SMTP"
#endif

/* libcurl's limit on connections, so high that only the pool's limit counts. */
#define CONNECTIONS_MAX 65536L

struct mq_connector {
    const struct mq_dsn *dsn;
    const struct mq_rules *rules; /* NULL: none */
    struct mq_oauth *account;     /* NULL: none */
    struct mq_buffer *trace;      /* NULL: none */
    CURLM *multi;
    char *url;
};

struct link {
    struct mq_channel channel; /* first */
    struct mq_connector *connector;
    CURL *easy;
    void *owner;
    unsigned generation; /* of the access token */
    struct mq_greeting greeting;
    bool has_first; /* a byte of LMTP's greeting was read already */
    char first;
    char error[CURL_ERROR_SIZE];
};

const char *mq_curl_version(void)
{
    return curl_version_info(CURLVERSION_NOW)->version;
}

/* ---- callbacks of libcurl ---- */

static size_t on_header(char *data, size_t size, size_t count, void *context)
{
    struct link *link = context;
    struct mq_str rest = {data, size * count};
    while (rest.len > 0) {
        mq_greeting_line(&link->greeting, mq_str_cut_at(&rest, '\n'));
    }
    return size * count;
}

static size_t ignore_body(char *data, size_t size, size_t count, void *context)
{
    (void)data;
    (void)context;
    return size * count;
}

/* ---- the channel ---- */

static enum mq_io channel_send(struct mq_channel *channel, const void *data, size_t len, size_t *n)
{
    struct link *link = (struct link *)channel;
    CURLcode code = curl_easy_send(link->easy, data, len, n);
    if (code == CURLE_AGAIN || (code == CURLE_OK && *n == 0)) {
        return MQ_IO_AGAIN;
    }
    if (code == CURLE_OK) {
        mq_network_trace(link->connector->trace, 'C', (struct mq_str){data, *n});
    }
    return code == CURLE_OK ? MQ_IO_OK : MQ_IO_ERROR;
}

static enum mq_io channel_recv(struct mq_channel *channel, void *data, size_t len, size_t *n)
{
    struct link *link = (struct link *)channel;
    CURLcode code = CURLE_OK;
    if (link->has_first) {
        link->has_first = false;
        *(char *)data = link->first;
        *n = 1;
    } else {
        code = curl_easy_recv(link->easy, data, len, n);
    }
    if (code == CURLE_AGAIN) {
        return MQ_IO_AGAIN;
    }
    if (code != CURLE_OK) {
        return MQ_IO_ERROR;
    }
    mq_network_trace(link->connector->trace, 'S', (struct mq_str){data, *n});
    return *n == 0 ? MQ_IO_EOF : MQ_IO_OK;
}

static void channel_close(struct mq_channel *channel)
{
    struct link *link = (struct link *)channel;
    curl_multi_remove_handle(link->connector->multi, link->easy);
    curl_easy_cleanup(link->easy);
    free(link);
}

static const struct mq_channel_ops channel_ops = {channel_send, channel_recv, channel_close};

/* ---- options ---- */

static bool wants_starttls(const struct mq_dsn *dsn)
{
    return dsn->tls == MQ_TLS_REQUIRED || (dsn->tls == MQ_TLS_AUTO && !mq_dsn_is_loopback(dsn));
}

/* If a relay offers both mechanisms for tokens, libcurl takes OAUTHBEARER. */
static bool set_login(struct link *link)
{
    static const char *const mechanisms[] = {[MQ_LOGIN_PASSWORD] = MQ_LOGIN_OPTIONS,
                                             [MQ_LOGIN_OAUTH2] = "AUTH=XOAUTH2;AUTH=OAUTHBEARER",
                                             [MQ_LOGIN_XOAUTH2] = "AUTH=XOAUTH2",
                                             [MQ_LOGIN_OAUTHBEARER] = "AUTH=OAUTHBEARER"};
    const struct mq_dsn *dsn = link->connector->dsn;
    const struct mq_oauth *account = link->connector->account;
    const char *password = dsn->password ? dsn->password : "";
    CURL *easy = link->easy;
    bool ok = true;
    if (dsn->user == NULL) {
        return true;
    }
    ok = ok && !curl_easy_setopt(easy, CURLOPT_USERNAME, dsn->user);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_LOGIN_OPTIONS, mechanisms[dsn->login]);
    if (account == NULL) {
        return ok && !curl_easy_setopt(easy, CURLOPT_PASSWORD, password);
    }
    const char *token = mq_oauth_token(account);
    link->generation = mq_oauth_generation(account);
    return ok && token != NULL && !curl_easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, token);
}

static bool set_protocol(CURL *easy, const struct mq_dsn *dsn)
{
    long seconds = (long)((dsn->connect_timeout_ms + 999) / 1000);
    long use_ssl = wants_starttls(dsn) ? CURLUSESSL_ALL : CURLUSESSL_NONE;
    const char *protocols = mq_dsn_is(dsn, "lmtp") ? "http" : "smtp,smtps";
    bool ok = true;
    ok = ok && !curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, protocols);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_USE_SSL, use_ssl);
    return ok && !curl_easy_setopt(easy, CURLOPT_SERVER_RESPONSE_TIMEOUT, seconds);
}

static bool set_options(struct link *link)
{
    const struct mq_dsn *dsn = link->connector->dsn;
    struct mq_buffer *trace = link->connector->trace;
    CURL *easy = link->easy;
    bool ok = true;
    ok = ok && !curl_easy_setopt(easy, CURLOPT_URL, link->connector->url);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_PRIVATE, link);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, link->error);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_HEADERDATA, link);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, ignore_body);
    ok = ok && set_protocol(easy, dsn);
    ok = ok && (trace == NULL || mq_network_set_trace(easy, trace, true));
    return ok && mq_network_set(easy, dsn) && set_login(link);
}

/* ---- the connector ---- */

enum mq_status mq_connector_new(const struct mq_dsn *dsn,
                                const struct mq_transport_options *options,
                                struct mq_connector **out, struct mq_error *err)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        return mq_error_set(err, MQ_TRANSPORT, "transport", "libcurl cannot be initialised");
    }
    struct mq_connector *connector = calloc(1, sizeof *connector);
    if (connector == NULL) {
        curl_global_cleanup();
        return mq_error_nomem(err);
    }
    connector->dsn = dsn;
    connector->rules = options->verdicts;
    connector->trace = options->trace;
    connector->url = mq_hello_url(dsn);
    connector->multi = curl_multi_init();
    if (connector->url == NULL || connector->multi == NULL) {
        mq_connector_free(connector);
        return mq_error_nomem(err);
    }
    curl_multi_setopt(connector->multi, CURLMOPT_MAXCONNECTS, CONNECTIONS_MAX);
    if (dsn->account != NULL &&
        mq_oauth_open(options->accounts, dsn->account, &connector->account, err) != MQ_OK) {
        mq_connector_free(connector);
        return err->status;
    }
    *out = connector;
    return MQ_OK;
}

void mq_connector_free(struct mq_connector *connector)
{
    if (connector->multi != NULL) {
        curl_multi_cleanup(connector->multi);
    }
    if (connector->account != NULL) {
        mq_oauth_free(connector->account);
    }
    free(connector->url);
    free(connector);
    curl_global_cleanup();
}

bool mq_connector_may_begin(struct mq_connector *connector, struct mq_connect_result *none)
{
    struct mq_oauth *account = connector->account;
    enum mq_oauth_state state = account ? mq_oauth_step(account) : MQ_OAUTH_READY;
    *none = (struct mq_connect_result){.hopeless = true};
    if (state == MQ_OAUTH_FAILED) {
        int64_t wait_s = 0;
        const char *why = mq_oauth_failure(account, &wait_s);
        none->verdict.wait_s = (int)wait_s;
        snprintf(none->reason, sizeof none->reason, "%s", why);
    }
    return state == MQ_OAUTH_READY;
}

void mq_connector_take_news(struct mq_connector *connector, char *out, size_t size)
{
    if (connector->account != NULL) {
        mq_oauth_take_news(connector->account, out, size);
    }
}

int64_t mq_connector_shorten(struct mq_connector *connector, int64_t timeout_ms)
{
    if (connector->account == NULL || !mq_oauth_is_busy(connector->account)) {
        return timeout_ms;
    }
    mq_oauth_step(connector->account);
    return timeout_ms > MQ_OAUTH_STEP_MS ? MQ_OAUTH_STEP_MS : timeout_ms;
}

enum mq_status mq_connector_begin(struct mq_connector *connector, void *owner,
                                  struct mq_channel **out, struct mq_error *err)
{
    struct link *link = calloc(1, sizeof *link);
    if (link == NULL) {
        return mq_error_nomem(err);
    }
    const struct mq_dsn *dsn = connector->dsn;
    link->channel.ops = &channel_ops;
    link->channel.opaque = dsn->tls == MQ_TLS_IMPLICIT || wants_starttls(dsn) || dsn->proxy != NULL;
    link->connector = connector;
    link->owner = owner;
    link->easy = curl_easy_init();
    if (link->easy == NULL || !set_options(link) ||
        curl_multi_add_handle(connector->multi, link->easy) != CURLM_OK) {
        mq_error_set(err, MQ_TRANSPORT, "transport", "libcurl does not take the options: %s",
                     link->error[0] ? link->error : "out of memory, or built without them");
        channel_close(&link->channel);
        return MQ_TRANSPORT;
    }
    *out = &link->channel;
    return MQ_OK;
}

void mq_connector_wait(struct mq_connector *connector, int also, int timeout_ms)
{
    struct curl_waitfd other = {.fd = also, .events = CURL_WAIT_POLLIN};
    int running = 0;
    curl_multi_poll(connector->multi, &other, 1, timeout_ms, NULL);
    curl_multi_perform(connector->multi, &running);
}

/* Makes "<text>; it said: <refusal>", printable. libcurl says "Login denied" even if the relay
 * offers no login that we support. Then no refusal is known; the text names the logins offered. */
static void set_reason(struct mq_connect_result *out, const char *text, bool login,
                       const struct link *link)
{
    const struct mq_greeting *greeting = &link->greeting;
    const char *parts[] = {text, "", "", "", ""};
    if (greeting->refusal[0] != '\0') {
        parts[1] = "; it said: ";
        parts[2] = greeting->refusal;
    } else if (login && greeting->mechanisms[0] != '\0') {
        parts[1] = "; it offers ";
        parts[2] = greeting->mechanisms;
        parts[3] = link->connector->account ? "; " MQ_TOKEN_NAMES : "; " MQ_LOGIN_NAMES;
        parts[4] = " are spoken";
    }
    size_t used = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        used = mq_str_printable(out->reason, sizeof out->reason, used, mq_str_of(parts[i]));
    }
}

/* libcurl's words, and the option that is to blame. */
static void set_text(const struct link *link, CURLcode code, char *text, size_t size)
{
    const struct mq_dsn *dsn = link->connector->dsn;
    const char *words = link->error[0] ? link->error : curl_easy_strerror(code);
    if (code == CURLE_INTERFACE_FAILED) {
        snprintf(text, size,
                 "option source_ip: this host cannot send from %s (%.100s); give one of "
                 "its addresses",
                 dsn->source_ip, words);
    } else if (code == CURLE_COULDNT_CONNECT && dsn->path != NULL) {
        long error = 0;
        curl_easy_getinfo(link->easy, CURLINFO_OS_ERRNO, &error);
        snprintf(text, size, "the socket %s: %s; start its server, or correct the transport",
                 dsn->path, strerror((int)error));
    } else if (code == CURLE_COULDNT_RESOLVE_HOST && dsn->family != MQ_FAMILY_ANY) {
        snprintf(text, size,
                 "%.120s; only an IPv%c address was looked for, because of the option "
                 "%s",
                 words, dsn->family == MQ_FAMILY_4 ? '4' : '6',
                 dsn->source_ip ? "source_ip" : "family");
    } else {
        snprintf(text, size, "%s", words);
    }
}

/* What the relay's refusal means; "": it said nothing. */
static struct mq_verdict verdict_of(const struct mq_connector *connector, const char *refusal)
{
    struct mq_reply_reader reader = {.line_len = 0};
    char line[MQ_TARGET_REPLY_MAX + 2];
    struct mq_str rest = {line, (size_t)snprintf(line, sizeof line, "%s\r\n", refusal)};
    struct mq_reply reply;
    struct mq_error err;
    bool complete = false;
    bool reads = mq_reply_read(&reader, &rest, &complete, &reply, &err) == MQ_OK && complete;
    return mq_verdict_decide(connector->rules, connector->dsn->host, MQ_STAGE_CONNECT,
                             reads ? &reply : NULL);
}

/* Whether the relay refused the access token. The reply to XOAUTH2 can be another 334, with the
 * reason in it; libcurl then closes. */
static bool refuses_token(const struct link *link, CURLcode code)
{
    const struct mq_greeting *greeting = &link->greeting;
    return code == CURLE_LOGIN_DENIED && link->connector->account != NULL &&
           (greeting->refusal[0] == '5' || (greeting->refusal[0] == '\0' && greeting->challenged));
}

static void describe_failure(struct link *link, CURLcode code, struct mq_connect_result *out)
{
    const char *refusal = link->greeting.refusal;
    char text[CURL_ERROR_SIZE];
    bool is_refused = refuses_token(link, code);
    /* After a 4yz, another try can succeed. */
    out->hopeless = mq_network_is_hopeless(code) && refusal[0] != '4';
    if (is_refused) {
        out->again = mq_oauth_refused(link->connector->account, link->generation);
        snprintf(out->reason, sizeof out->reason, "%s", refusal);
        mq_oauth_tell_refused(link->connector->account, out->reason, sizeof out->reason);
    } else {
        set_text(link, code, text, sizeof text);
        set_reason(out, text, code == CURLE_LOGIN_DENIED, link);
    }
    out->verdict = verdict_of(link->connector, refusal);
}

/* Whether a connection that libcurl reports as open works and, with a user, is logged in. */
static bool check_open(struct link *link, struct mq_connect_result *out)
{
    const struct mq_dsn *dsn = link->connector->dsn;
    if (dsn->user != NULL && !link->greeting.logged_in) {
        /* libcurl goes on without AUTH if the relay does not offer it. */
        out->hopeless = true;
        set_reason(
            out,
            link->connector->account
                ? "the relay offers no login, but an account is set"
                : "the relay offers no login that can be used, but user and password are set",
            true, link);
        return false;
    }
    curl_socket_t fd = CURL_SOCKET_BAD;
    size_t n = 0;
    /* The first curl_easy_recv() ties the connection to the handle: until then libcurl may close
     * the connection as idle. There is nothing to read but LMTP's greeting, because we have sent
     * nothing. */
    CURLcode code = curl_easy_recv(link->easy, &link->first, 1, &n);
    curl_easy_getinfo(link->easy, CURLINFO_ACTIVESOCKET, &fd);
    link->has_first = code == CURLE_OK && n > 0 && mq_dsn_is(dsn, "lmtp");
    code = link->has_first ? CURLE_AGAIN : code;
    if (code != CURLE_AGAIN || fd == CURL_SOCKET_BAD) {
        bool talks = code == CURLE_OK && n > 0;
        snprintf(out->reason, sizeof out->reason, "%s",
                 talks ? "the relay speaks out of turn" : "the relay closed the connection");
        return false;
    }
    out->fd = (int)fd;
    return true;
}

bool mq_connector_take(struct mq_connector *connector, struct mq_connect_result *out)
{
    CURLMsg *message = NULL;
    int left = 0;
    do {
        message = curl_multi_info_read(connector->multi, &left);
    } while (message != NULL && message->msg != CURLMSG_DONE);
    if (message == NULL) {
        return false;
    }
    CURLcode code = message->data.result;
    struct link *link = NULL;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&link);
    *out = (struct mq_connect_result){.owner = link->owner, .fd = -1};
    mq_network_trace_certificate(link->easy, link->connector->trace);
    if (code != CURLE_OK) {
        describe_failure(link, code, out);
        channel_close(&link->channel);
    } else if (!check_open(link, out)) {
        channel_close(&link->channel);
    } else {
        out->channel = &link->channel;
        out->caps = link->greeting.caps;
        if (connector->account != NULL) {
            mq_oauth_accepted(connector->account, link->generation);
        }
        if (connector->dsn->pipelining == MQ_PIPELINING_NONE) {
            out->caps.pipelining = false;
        }
    }
    return true;
}
