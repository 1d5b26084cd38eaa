/* Sets how libcurl connects: TLS, addresses, no proxy but the DSN's. */
#include "send/network.h"

#include <stdio.h>
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
    ok = ok && !curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, dsn->verify_peer ? 1L : 0L);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, dsn->verify_peer ? 2L : 0L);
    if (dsn->cafile != NULL) {
        ok = ok && !curl_easy_setopt(easy, CURLOPT_CAINFO, dsn->cafile);
    }
    return ok;
}

/* From where, to which of the relay's addresses. */
static bool set_addresses(CURL *easy, const struct mq_dsn *dsn)
{
    static const long families[] = {
        [MQ_FAMILY_ANY] = CURL_IPRESOLVE_WHATEVER,
        [MQ_FAMILY_4] = CURL_IPRESOLVE_V4,
        [MQ_FAMILY_6] = CURL_IPRESOLVE_V6,
    };
    bool ok = true;
    ok = ok && !curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, dsn->path);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_IPRESOLVE, families[dsn->family]);
    if (dsn->source_ip != NULL) {
        char interface[128];
        snprintf(interface, sizeof interface, "host!%s", dsn->source_ip);
        ok = ok && !curl_easy_setopt(easy, CURLOPT_INTERFACE, interface);
    }
    return ok;
}

bool mq_network_set(CURL *easy, const struct mq_dsn *dsn)
{
    bool ok = true;
    ok = ok && !curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)dsn->connect_timeout_ms);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    /* Empty strings mean no proxy and no exceptions, whatever the environment says. */
    ok = ok && !curl_easy_setopt(easy, CURLOPT_PROXY, dsn->proxy ? dsn->proxy : "");
    ok = ok && !curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
    ok = ok && !curl_easy_setopt(easy, CURLOPT_HTTPPROXYTUNNEL, 1L);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    return ok && set_addresses(easy, dsn) && set_security(easy, dsn);
}

bool mq_network_is_hopeless(CURLcode code)
{
    switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_LOGIN_DENIED:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_USE_SSL_FAILED:
    case CURLE_AUTH_ERROR:
    case CURLE_INTERFACE_FAILED:
        return true;
    default:
        return false;
    }
}

/* ---- the trace of a probe ---- */

void mq_network_trace(struct mq_buffer *trace, char who, struct mq_str text)
{
    if (trace != NULL) {
        mq_buffer_printf(trace, "%c%zu:", who, text.len);
        mq_buffer_append(trace, text.data, text.len);
    }
}

static int on_text(CURL *easy, curl_infotype type, char *data, size_t size, void *context)
{
    (void)easy;
    if (type == CURLINFO_TEXT) {
        mq_network_trace(context, '*', (struct mq_str){data, size});
    }
    return 0;
}

static int on_debug(CURL *easy, curl_infotype type, char *data, size_t size, void *context)
{
    if (type == CURLINFO_HEADER_IN || type == CURLINFO_HEADER_OUT) {
        char who = type == CURLINFO_HEADER_IN ? 'S' : 'C';
        mq_network_trace(context, who, (struct mq_str){data, size});
        return 0;
    }
    return on_text(easy, type, data, size, context);
}

bool mq_network_set_trace(CURL *easy, struct mq_buffer *trace, bool replies)
{
    bool ok = true;
    ok = ok && !curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, replies ? on_debug : on_text);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_DEBUGDATA, trace);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_CERTINFO, 1L);
    return ok && !curl_easy_setopt(easy, CURLOPT_VERBOSE, 1L);
}

void mq_network_trace_certificate(CURL *easy, struct mq_buffer *trace)
{
    const struct curl_certinfo *info = NULL;
    if (trace != NULL && curl_easy_getinfo(easy, CURLINFO_CERTINFO, &info) == CURLE_OK &&
        info != NULL && info->num_of_certs > 0) {
        for (const struct curl_slist *field = info->certinfo[0]; field; field = field->next) {
            mq_network_trace(trace, 'T', mq_str_of(field->data));
        }
    }
}
