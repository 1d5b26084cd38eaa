/* Requests over libcurl, many at once on connections that are kept. It follows no redirect,
 * keeps no cookie, reads no .netrc, ignores proxies of the environment, and limits the size of
 * answers. */
#ifndef MQ_SEND_HTTP_EXCHANGE_H
#define MQ_SEND_HTTP_EXCHANGE_H

#include "core/error.h"
#include "send/http/payload.h"

#define MQ_HTTP_ANSWER_MAX 65536 /* of an answer's body; a longer one is not accepted */
#define MQ_HTTP_REASON_MAX 256   /* as MQ_TARGET_REPLY_MAX */

struct mq_dsn;
struct mq_http_client;
struct mq_http_exchange;

enum mq_http_auth { MQ_HTTP_SIGV4, MQ_HTTP_BASIC, MQ_HTTP_BEARER };

struct mq_http_request {
    const char *url; /* borrowed, like all that follows, until the exchange has ended */
    const char *user, *secret;
    const char *token;         /* another secret that is in `headers`, or NULL */
    const char *scope;         /* SIGV4: "aws:amz:eu-west-1:ses" */
    struct mq_strings headers; /* "Name: value"; sent and, for SIGV4, signed */
    struct mq_http_body body;
    struct mq_buffer bcc; /* a field for recipients that the headers do not name */
    char boundary[33];    /* of a form */
    enum mq_http_auth auth;
    bool is_get;       /* no body */
    bool connect_only; /* nothing is sent */
};

/* Called during mq_http_wait(), with the owner of the exchange. */
struct mq_http_events {
    /* The request begins to leave. Comes again if libcurl had to take another connection. */
    void (*connected)(void *owner);
    /* The last piece of the body, which no server can do without, is to leave. False: give up. */
    bool (*last)(void *owner);
};

/* How an exchange ended; valid until it begins again. */
struct mq_http_result {
    int status;              /* 0: no answer, or none that can be read; `reason` says why */
    bool connected;          /* the request began to leave */
    bool whole;              /* the whole request may have left */
    bool early;              /* the answer began before that */
    bool given_up;           /* last() returned false */
    bool hopeless;           /* another try soon would end the same way */
    const char *retry_after; /* the field's value, "" none */
    const char *error_type;  /* x-amzn-ErrorType, "" none */
    struct mq_str body;      /* of the answer */
    char reason[MQ_HTTP_REASON_MAX];
};

/* Whether this libcurl signs a request by the hash of its body. */
bool mq_http_can_sign(void);
/* Borrows `dsn`, `events` and `trace`, which must outlive the client. Only `trace` can be NULL. */
enum mq_status mq_http_client_new(const struct mq_dsn *dsn, const struct mq_http_events *events,
                                  struct mq_buffer *trace, struct mq_http_client **out,
                                  struct mq_error *err);
void mq_http_client_free(struct mq_http_client *client); /* free its exchanges first */

/* An exchange is for one request after the other. NULL: no memory, or libcurl lacks an option. */
struct mq_http_exchange *mq_http_exchange_new(struct mq_http_client *client, void *owner);
void mq_http_exchange_free(struct mq_http_exchange *exchange); /* NULL is allowed */
bool mq_http_exchange_begin(struct mq_http_exchange *exchange, struct mq_http_request *request);
/* Ends a request as if the connection had been lost, for `reason`. */
void mq_http_exchange_cancel(struct mq_http_exchange *exchange, const char *reason,
                             struct mq_http_result *out);
/* When the request has taken too long, by the system's monotonic clock in milliseconds. */
int64_t mq_http_exchange_deadline(const struct mq_http_exchange *exchange);

/* Goes on with all requests. If none has just begun, waits until something happens, at most
 * timeout_ms; false: nothing did, perhaps because a signal came. */
bool mq_http_wait(struct mq_http_client *client, int timeout_ms);
/* Takes the next exchange that has ended; returns its owner, or NULL. */
void *mq_http_take(struct mq_http_client *client, struct mq_http_result *out);

#endif
