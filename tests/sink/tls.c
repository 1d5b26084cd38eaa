/* Reads and writes, through OpenSSL once a connection is encrypted. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "conn.h"

static long plain_read(struct conn *c, char *data, size_t length)
{
    return recv(c->fd, data, length, 0);
}

static long plain_write(struct conn *c, const char *data, size_t length)
{
    return send(c->fd, data, length, MSG_NOSIGNAL);
}

#ifdef MQ_SINK_TLS

#include <openssl/err.h>
#include <openssl/ssl.h>

static int version_number(const char *name)
{
    static const struct {
        const char *name;
        int version;
    } versions[] = {{"1.0", TLS1_VERSION},
                    {"1.1", TLS1_1_VERSION},
                    {"1.2", TLS1_2_VERSION},
                    {"1.3", TLS1_3_VERSION}};
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        if (strcmp(versions[i].name, name) == 0) {
            return versions[i].version;
        }
    }
    fail(64, "--tls-version: 1.0, 1.1, 1.2 or 1.3, not '%s'", name);
}

bool tls_open(struct sink *sink)
{
    const struct options *o = &sink->options;
    if (o->certificate == NULL) {
        return true;
    }
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (context == NULL) {
        return false;
    }
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_num_tickets(context, 0);
    if (o->tls_version != NULL) {
        int version = version_number(o->tls_version);
        SSL_CTX_set_min_proto_version(context, version);
        SSL_CTX_set_max_proto_version(context, version);
        if (version < TLS1_2_VERSION) {
            /* OpenSSL 3 refuses the old versions' signatures from level 1 on. */
            SSL_CTX_set_cipher_list(context, "ALL:@SECLEVEL=0");
        }
    }
    const char *key = o->key != NULL ? o->key : o->certificate;
    if (SSL_CTX_use_certificate_chain_file(context, o->certificate) != 1 ||
        SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1) {
        ERR_print_errors_fp(stderr);
        SSL_CTX_free(context);
        return false;
    }
    sink->tls = context;
    return true;
}

bool tls_start(struct conn *c)
{
    SSL *ssl = c->sink->tls != NULL ? SSL_new(c->sink->tls) : NULL;
    if (ssl == NULL || SSL_set_fd(ssl, c->fd) != 1) {
        SSL_free(ssl);
        return false;
    }
    SSL_set_accept_state(ssl);
    c->ssl = ssl;
    c->phase = PHASE_HANDSHAKE;
    return true;
}

/* Returns -1 with errno for every kind of failure, 0 for the end of the stream. */
static long result(struct conn *c, int n)
{
    int error = SSL_get_error(c->ssl, n);
    c->tls_wants_write = error == SSL_ERROR_WANT_WRITE;
    if (error == SSL_ERROR_ZERO_RETURN) {
        return 0;
    }
    bool again = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
    ERR_clear_error();
    errno = again ? EAGAIN : EPROTO;
    return -1;
}

int tls_handshake(struct conn *c)
{
    ERR_clear_error();
    int n = SSL_do_handshake(c->ssl);
    if (n == 1) {
        c->tls_wants_write = false;
        return 1;
    }
    return result(c, n) < 0 && errno == EAGAIN ? 0 : -1;
}

long tls_read(struct conn *c, char *data, size_t length)
{
    if (c->ssl == NULL) {
        return plain_read(c, data, length);
    }
    c->tls_wants_write = false;
    ERR_clear_error();
    int n = SSL_read(c->ssl, data, (int)length);
    return n > 0 ? n : result(c, n);
}

long tls_write(struct conn *c, const char *data, size_t length)
{
    if (c->ssl == NULL) {
        return plain_write(c, data, length);
    }
    c->tls_wants_write = false;
    ERR_clear_error();
    int n = SSL_write(c->ssl, data, length > INT32_MAX ? INT32_MAX : (int)length);
    if (n > 0) {
        return n;
    }
    result(c, n);
    return -1;
}

void tls_close(struct conn *c, bool notify)
{
    if (c->ssl == NULL) {
        return;
    }
    if (notify) {
        SSL_shutdown(c->ssl);
    }
    SSL_free(c->ssl);
    ERR_clear_error();
    c->ssl = NULL;
}

#else

bool tls_open(struct sink *sink)
{
    return sink->options.certificate == NULL;
}

bool tls_start(struct conn *c)
{
    (void)c;
    return false;
}

int tls_handshake(struct conn *c)
{
    (void)c;
    return -1;
}

long tls_read(struct conn *c, char *data, size_t length)
{
    return plain_read(c, data, length);
}

long tls_write(struct conn *c, const char *data, size_t length)
{
    return plain_write(c, data, length);
}

void tls_close(struct conn *c, bool notify)
{
    (void)c;
    (void)notify;
}

#endif
