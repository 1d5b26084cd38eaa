/* For people who look for a fault: connects to a relay and logs in as for mail, then quits. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "send/factory.h"
#include "send/smtp/connection.h"
#include "send/smtp/hello.h"
#include "send/smtp/session.h"

/* How long the reply to QUIT, and a step of all else, may take. */
#define QUIT_TIMEOUT_MS 2000

static void quit(const struct mq_connect_result *result)
{
    struct mq_channel *channel = result->channel;
    struct pollfd polled = {.fd = result->fd, .events = POLLIN};
    char reply[512];
    size_t n = 0;
    if (channel->ops->send(channel, "QUIT\r\n", 6, &n) == MQ_IO_OK &&
        poll(&polled, 1, QUIT_TIMEOUT_MS) == 1) {
        channel->ops->recv(channel, reply, sizeof reply, &n);
    }
    channel->ops->close(channel);
}

/* Waits until a connection can log in; false: none can, and `result` says why. */
static bool is_ready(struct mq_connector *connector, struct mq_connect_result *result)
{
    while (!mq_connector_may_begin(connector, result)) {
        if (result->reason[0] != '\0') {
            return false;
        }
        poll(NULL, 0, (int)mq_connector_shorten(connector, QUIT_TIMEOUT_MS));
    }
    return true;
}

/* Connects, again with another access token if the relay refuses the first. */
static enum mq_status connect_to(struct mq_connector *connector, struct mq_connect_result *result,
                                 struct mq_error *err)
{
    struct mq_channel *channel = NULL;
    do {
        if (!is_ready(connector, result)) {
            return MQ_OK;
        }
        MQ_TRY(mq_connector_begin(connector, NULL, &channel, err));
        while (!mq_connector_take(connector, result)) {
            mq_connector_wait(connector, -1, QUIT_TIMEOUT_MS);
        }
    } while (result->again);
    return MQ_OK;
}

/* ---- LMTP, whose LHLO the session says ---- */

struct greeter {
    struct mq_smtp_owner owner; /* first */
    struct mq_transport transport;
    struct mq_smtp_session session;
    struct mq_connect_result *result;
};

static struct mq_transfer *no_mail(struct mq_smtp_owner *owner, bool behind)
{
    (void)owner;
    (void)behind;
    return NULL;
}

static void on_closed(struct mq_smtp_owner *owner, struct mq_smtp_session *session, const char *why)
{
    struct mq_connect_result *result = ((struct greeter *)owner)->result;
    (void)session;
    snprintf(result->reason, sizeof result->reason, "%s", why);
    result->channel = NULL;
}

static enum mq_status greet(const struct mq_dsn *dsn, struct mq_connect_result *result,
                            struct mq_error *err)
{
    char name[256];
    struct pollfd polled = {.fd = result->fd, .events = POLLIN};
    struct greeter *greeter = calloc(1, sizeof *greeter);
    if (greeter == NULL) {
        return mq_error_nomem(err);
    }
    mq_hello_name(dsn, name, sizeof name);
    greeter->result = result;
    greeter->transport.clock = mq_clock_system();
    greeter->owner = (struct mq_smtp_owner){.transport = &greeter->transport,
                                            .dsn = dsn,
                                            .lhlo = name,
                                            .next = no_mail,
                                            .closed = on_closed};
    mq_smtp_session_init(&greeter->session, &greeter->owner);
    mq_smtp_session_ready(&greeter->session, result->channel, &result->caps);
    while (greeter->session.state == MQ_SMTP_CONNECTING) {
        if (poll(&polled, 1, QUIT_TIMEOUT_MS) == 1) {
            mq_smtp_session_readable(&greeter->session);
        }
        mq_smtp_session_check_timeout(&greeter->session, mq_transport_boot_ms(&greeter->transport));
    }
    free(greeter);
    return MQ_OK;
}

/* ---- */

enum mq_status mq_smtp_probe(const struct mq_dsn *dsn, const char *accounts,
                             struct mq_buffer *trace, struct mq_error *err)
{
    const struct mq_transport_options options = {.accounts = accounts, .trace = trace};
    struct mq_connector *connector = NULL;
    struct mq_connect_result result;
    MQ_TRY(mq_connector_new(dsn, &options, &connector, err));
    enum mq_status status = connect_to(connector, &result, err);
    if (status == MQ_OK && result.channel && mq_dsn_is(dsn, "lmtp")) {
        status = greet(dsn, &result, err);
    }
    if (status == MQ_OK && result.channel) {
        quit(&result);
    } else if (status == MQ_OK) {
        struct mq_str reason = mq_str_of(result.reason);
        mq_buffer_printf(trace, "E%zu:", reason.len);
        mq_buffer_str(trace, reason);
    }
    mq_connector_free(connector);
    return status;
}
