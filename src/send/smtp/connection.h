/* libcurl opens the connections: name, proxy, TLS, EHLO, AUTH. An open one is a channel
 * of bytes. connection.c is the only includer of curl/curl.h. */
#ifndef MQ_SEND_SMTP_CONNECTION_H
#define MQ_SEND_SMTP_CONNECTION_H

#include "send/dsn.h"
#include "send/smtp/channel.h"
#include "send/transport.h"

struct mq_connector;

/* How an attempt to connect ended. */
struct mq_connect_result {
    void *owner;
    struct mq_channel *channel; /* NULL: it failed. Owned by the receiver */
    int fd;                     /* the channel's socket, to be polled, not to be closed */
    struct mq_smtp_caps caps;
    bool hopeless; /* login, certificate, silence: another try would end the same way */
    char reason[MQ_TARGET_REPLY_MAX];
    int64_t retry_after_s;
};

/* `dsn` is borrowed and must outlive the connector. */
enum mq_status mq_connector_new(const struct mq_dsn *dsn, struct mq_connector **out,
                                struct mq_error *err);
void mq_connector_free(struct mq_connector *connector); /* its channels are closed before */

/* Until its result is taken, nothing can be done with the channel but to close it. */
enum mq_status mq_connector_begin(struct mq_connector *connector, void *owner,
                                  struct mq_channel **out, struct mq_error *err);
/* While connections are being opened: waits for them, or for `also` to be readable, at most so
 * long, and moves them on. */
void mq_connector_wait(struct mq_connector *connector, int also, int timeout_ms);
/* The next that is open or has failed; false: none. */
bool mq_connector_take(struct mq_connector *connector, struct mq_connect_result *out);

#endif
