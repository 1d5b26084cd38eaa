/* Requests to an OAuth2 server: a POST of form fields by libcurl. For accounts and for the command
 * line's logins; as a GET, for what the webhook asks of AWS.
 *
 * The server is checked by its certificate; without TLS only loopback is asked. No redirect is
 * followed, no proxy of the environment is used, and nothing is decompressed. An answer can have
 * 64 KiB and take 30 s. */
#ifndef MQ_SEND_OAUTH_TOKEN_REQUEST_H
#define MQ_SEND_OAUTH_TOKEN_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"

#define MQ_TOKEN_TIMEOUT_MS 30000 /* how long a request may take */

struct mq_token_call {
    const char *endpoint;  /* https://…, or http:// to a loopback address */
    struct mq_str fields;  /* application/x-www-form-urlencoded; copied. data NULL: a GET */
    const char *client_id; /* for HTTP Basic, with the secret; NULL: no such header */
    const char *client_secret;
    const char *cafile; /* PEM file; NULL: the system's */
    const char *proxy;  /* as in a transport's DSN; NULL: none */
    int timeout_ms;     /* 0: MQ_TOKEN_TIMEOUT_MS */
};

struct mq_token_answer {
    int code;              /* of HTTP; 0: no complete answer came */
    struct mq_str body;    /* borrowed from the request; empty without a complete answer */
    int64_t retry_after_s; /* 0: none was named */
    char failure[256];     /* why no complete answer came */
};

struct mq_token_request;

/* Why this is not the URL of an endpoint, or NULL. */
const char *mq_token_endpoint_fault(const char *endpoint);
/* Appends name=value, after "&" if there is something before it. */
void mq_token_field(struct mq_buffer *fields, const char *name, struct mq_str value);

/* MQ_CONFIG, field "account": the endpoint or an option cannot be used. */
enum mq_status mq_token_request_begin(const struct mq_token_call *call,
                                      struct mq_token_request **out, struct mq_error *err);
/* Goes on, waiting at most wait_ms; true: done, and *answer is filled. */
bool mq_token_request_step(struct mq_token_request *request, int wait_ms,
                           struct mq_token_answer *answer);
void mq_token_request_free(struct mq_token_request *request); /* wipes what it holds */

#endif
