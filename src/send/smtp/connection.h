/* Opens connections through libcurl: name lookup, proxy, TLS, EHLO, AUTH. An open one is a channel
 * of bytes. Only connection.c includes curl/curl.h. */
#ifndef MQ_SEND_SMTP_CONNECTION_H
#define MQ_SEND_SMTP_CONNECTION_H

#include "policy/verdict.h"
#include "send/dsn.h"
#include "send/smtp/channel.h"
#include "send/transport.h"

struct mq_connector;
struct mq_transport_options;

/* How an attempt to connect ended. */
struct mq_connect_result {
    void *owner;
    struct mq_channel *channel; /* NULL: the connect failed. Owned by the receiver */
    int fd;                     /* the channel's socket, to be polled, not to be closed */
    struct mq_smtp_caps caps;
    bool hopeless; /* login, certificate, silence: another try would end the same way */
    bool again;    /* it refused an access token, and another can be had: no fault of the relay's */
    char reason[MQ_TARGET_REPLY_MAX];
    struct mq_verdict verdict; /* of the reply that refused us */
};

/* `dsn` and the options' verdicts and trace are borrowed and must outlive the connector. */
enum mq_status mq_connector_new(const struct mq_dsn *dsn,
                                const struct mq_transport_options *options,
                                struct mq_connector **out, struct mq_error *err);
void mq_connector_free(struct mq_connector *connector); /* close its channels first */

/* Whether a connection can log in now. False with OAuth2 while a token is fetched, and if none can
 * be had: then *none says why. */
bool mq_connector_may_begin(struct mq_connector *connector, struct mq_connect_result *none);
/* Writes news of the account for the log; if there are none, *out stays. */
void mq_connector_take_news(struct mq_connector *connector, char *out, size_t size);
/* Goes on with a token that is being fetched, even if nothing may begin. Returns how long to wait
 * at most, so that it comes in time. */
int64_t mq_connector_shorten(struct mq_connector *connector, int64_t timeout_ms);
/* Begins to connect; mq_connector_may_begin() must allow it. Until its result is taken, the
 * channel can only be closed. */
enum mq_status mq_connector_begin(struct mq_connector *connector, void *owner,
                                  struct mq_channel **out, struct mq_error *err);
/* Advances connections that are being opened. Waits until one changes or `also` is readable, at
 * most timeout_ms. */
void mq_connector_wait(struct mq_connector *connector, int also, int timeout_ms);
/* Takes the next connection that is open or has failed; false: none. */
bool mq_connector_take(struct mq_connector *connector, struct mq_connect_result *out);

#endif
