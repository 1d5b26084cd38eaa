/* Sets how connections to an API are made: TLS, timeouts, no proxy but the DSN's. */
#include "send/http/options.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "send/dsn.h"

static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    (void)context;
    (void)purpose;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static bool set_security(CURL *easy, const struct mq_dsn *dsn)
{
    bool ok = true;
    ok = ok &&
         !curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, dsn->tls == MQ_TLS_NONE ? "http" : "https");
    ok = ok && !curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, dsn->verify_peer ? 1L : 0L);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, dsn->verify_peer ? 2L : 0L);
    if (dsn->cafile != NULL) {
        ok = ok && !curl_easy_setopt(easy, CURLOPT_CAINFO, dsn->cafile);
    }
    return ok;
}

bool mq_http_set_network(CURL *easy, const struct mq_dsn *dsn)
{
    bool ok = true;
    ok = ok && !curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)dsn->connect_timeout_ms);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, (long)(dsn->idle_ms + 999) / 1000);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    /* Empty strings mean no proxy and no exceptions, whatever the environment says. */
    ok = ok && !curl_easy_setopt(easy, CURLOPT_PROXY, dsn->proxy ? dsn->proxy : "");
    ok = ok && !curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
    ok = ok && !curl_easy_setopt(easy, CURLOPT_HTTPPROXYTUNNEL, 1L);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    if (dsn->source_ip != NULL) {
        char interface[128];
        snprintf(interface, sizeof interface, "host!%s", dsn->source_ip);
        ok = ok && !curl_easy_setopt(easy, CURLOPT_INTERFACE, interface);
    }
    return ok && set_security(easy, dsn);
}

/* ---- the trace of a probe ---- */

static void trace_add(struct mq_buffer *trace, char who, struct mq_str text)
{
    mq_buffer_printf(trace, "%c%zu:", who, text.len);
    mq_buffer_append(trace, text.data, text.len);
}

static int on_debug(CURL *easy, curl_infotype type, char *data, size_t size, void *context)
{
    static const char who[CURLINFO_END] = {[CURLINFO_TEXT] = '*'};
    (void)easy;
    if (who[type] != '\0') {
        trace_add(context, who[type], (struct mq_str){data, size});
    }
    return 0;
}

bool mq_http_set_trace(CURL *easy, struct mq_buffer *trace)
{
    bool ok = true;
    ok = ok && !curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, on_debug);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_DEBUGDATA, trace);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_CERTINFO, 1L);
    return ok && !curl_easy_setopt(easy, CURLOPT_VERBOSE, 1L);
}

void mq_http_trace_certificate(CURL *easy, struct mq_buffer *trace)
{
    const struct curl_certinfo *info = NULL;
    if (trace != NULL && curl_easy_getinfo(easy, CURLINFO_CERTINFO, &info) == CURLE_OK &&
        info != NULL && info->num_of_certs > 0) {
        for (const struct curl_slist *field = info->certinfo[0]; field; field = field->next) {
            trace_add(trace, 'T', mq_str_of(field->data));
        }
    }
}
