/* The name that this host says to a relay, and LMTP's LHLO: libcurl says EHLO, but not LHLO. */
#include "send/smtp/hello.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"
#include "send/smtp/capabilities.h"
#include "send/smtp/connection.h"
#include "send/smtp/internal.h"

#define LMTP_PORT 24 /* Dovecot's and Cyrus's usual one */

void mq_hello_name(const struct mq_dsn *dsn, char *out, size_t size)
{
    if (dsn->ehlo != NULL && dsn->ehlo[0] != '\0') {
        snprintf(out, size, "%s", dsn->ehlo);
    } else {
        mq_smtp_host_name(out, size);
    }
}

char *mq_hello_url(const struct mq_dsn *dsn)
{
    struct mq_buffer url = {0};
    char name[256];
    bool lmtp = mq_dsn_is(dsn, "lmtp");
    int port = dsn->port == 0 && lmtp ? LMTP_PORT : dsn->port;
    mq_buffer_printf(&url, strchr(dsn->host, ':') ? "%s://[%s]" : "%s://%s",
                     lmtp ? "http" : dsn->scheme, dsn->path ? "localhost" : dsn->host);
    if (port > 0) {
        mq_buffer_printf(&url, ":%d", port);
    }
    mq_buffer_char(&url, '/');
    mq_hello_name(dsn, name, sizeof name);
    for (const char *c = name; *c != '\0'; c++) {
        mq_buffer_printf(&url, strchr("[]:", *c) ? "%%%02X" : "%c", (unsigned char)*c);
    }
    return mq_buffer_take(&url);
}

/* ---- LHLO (RFC 2033, 4.1) ---- */

struct mq_smtp_hello {
    struct mq_greeting greeting;
    bool said; /* LHLO */
    size_t len;
    char line[MQ_REPLY_LINE_MAX];
};

void mq_smtp_greeted(struct mq_smtp_session *session, const struct mq_smtp_caps *caps)
{
    session->caps = *caps;
    session->owner->pipelining = caps->pipelining;
    mq_smtp_set_state(session, MQ_SMTP_IDLE);
}

void mq_smtp_hello_begin(struct mq_smtp_session *session)
{
    session->hello = calloc(1, sizeof *session->hello);
    mq_smtp_set_state(session, MQ_SMTP_CONNECTING);
    if (session->hello == NULL) {
        mq_smtp_close(session, "out of memory");
    }
}

static void end(struct mq_smtp_session *session)
{
    struct mq_smtp_caps caps = session->hello->greeting.caps;
    free(session->hello);
    session->hello = NULL;
    caps.pipelining = caps.pipelining && session->owner->dsn->pipelining != MQ_PIPELINING_NONE;
    mq_smtp_greeted(session, &caps);
}

/* The last line of a reply has come. */
static void take_reply(struct mq_smtp_session *session)
{
    struct mq_smtp_hello *hello = session->hello;
    char refusal[MQ_TARGET_REPLY_MAX];
    memcpy(refusal, hello->greeting.refusal, sizeof refusal);
    if (refusal[0] != '\0') {
        mq_smtp_close(session, refusal);
    } else if (hello->said != !hello->greeting.in_ehlo || session->out_pos < session->out_len) {
        /* A 220 begins it, and a 250 that comes after our LHLO ends it. */
        mq_smtp_close(session, "the relay does not greet as LMTP does");
    } else if (hello->said) {
        end(session);
    } else {
        hello->said = true;
        session->out_len += (size_t)snprintf(session->out + session->out_len,
                                             sizeof session->out - session->out_len, "LHLO %s\r\n",
                                             session->owner->lhlo);
    }
}

void mq_smtp_hello_read(struct mq_smtp_session *session, struct mq_str *data)
{
    struct mq_smtp_hello *hello = session->hello;
    size_t len = mq_str_find(*data, '\n');
    bool ends = len < data->len;
    if (len > sizeof hello->line - hello->len) {
        mq_smtp_close(session, "the relay's greeting is too long");
        return;
    }
    memcpy(hello->line + hello->len, data->data, len);
    hello->len += len;
    *data = mq_str_skip(*data, len + ends);
    if (ends) {
        struct mq_str line = {hello->line, hello->len};
        bool more = line.len > 3 && line.data[3] == '-';
        mq_greeting_line(&hello->greeting, line);
        hello->len = 0;
        if (!more) {
            take_reply(session);
        }
    }
}
