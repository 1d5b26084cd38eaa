/* libcurl opens the connections: name, proxy, TLS, EHLO, AUTH. An open one is a channel
 * of bytes. connection.c is the only includer of curl/curl.h. */
#ifndef MQ_SEND_SMTP_CONNECTION_H
#define MQ_SEND_SMTP_CONNECTION_H

#include "send/dsn.h"
#include "send/smtp/channel.h"
#include "send/transport.h"

struct mq_connector;
struct mq_link; /* one connection; a channel once it is open */

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

/* libcurl's sockets are polled in the caller's epoll; their events have this bit in data.u64, the
 * socket below. */
#define MQ_CONNECTOR_EVENT (UINT64_C(1) << 63)

/* `dsn` is borrowed and must outlive the connector. */
enum mq_status mq_connector_new(const struct mq_dsn *dsn, int epoll_fd, struct mq_connector **out,
                                struct mq_error *err);
void mq_connector_free(struct mq_connector *connector); /* its links are gone before */

/* The link is owned by the connector until its result is taken. */
enum mq_status mq_connector_begin(struct mq_connector *connector, void *owner, struct mq_link **out,
                                  struct mq_error *err);
void mq_connector_cancel(struct mq_link *link);
void mq_connector_event(struct mq_connector *connector, uint64_t data, uint32_t events);
/* Runs libcurl's timer if it is due; returns milliseconds until it is, -1: none is set. */
int64_t mq_connector_run(struct mq_connector *connector);
bool mq_connector_take(struct mq_connector *connector, struct mq_connect_result *out);

#endif
