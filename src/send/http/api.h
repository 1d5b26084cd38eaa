/* The mail APIs: what a request for one looks like, and what its answers say. Each has a file. */
#ifndef MQ_SEND_HTTP_API_H
#define MQ_SEND_HTTP_API_H

#include "policy/http_verdict.h"
#include "send/http/exchange.h"

struct mq_transfer;

/* A mail, and those of its recipients that one request is for. */
struct mq_http_mail {
    const struct mq_transfer *transfer;
    size_t first, count; /* of its targets */
};

struct mq_http_api {
    const char *scheme;
    enum mq_http_service service;
    enum mq_http_auth auth;
    size_t recipients_max; /* of one request */
    bool whole;            /* it sends to all that the message names */

    /* Checks the parts of a DSN that are this API's own: MQ_CONFIG, field "transport". */
    enum mq_status (*check)(const struct mq_dsn *dsn, struct mq_error *err);
    /* Appends the API's host, for "default" in the DSN. */
    void (*host)(const struct mq_dsn *dsn, struct mq_buffer *out);
    /* Appends the path and query to which mail is posted; with `probe`, those of a GET that shows
     * whether the key is accepted and changes nothing, or nothing if the API has none. */
    void (*path)(const struct mq_dsn *dsn, bool probe, struct mq_buffer *out);
    /* Sets user, secret and scope; `scope` has room for the latter. NULL for MQ_HTTP_BEARER: the
     * secret is the account's token. */
    void (*login)(const struct mq_dsn *dsn, struct mq_http_request *request,
                  struct mq_buffer *scope);
    /* Adds the fields that each request has. */
    bool (*fields)(const struct mq_dsn *dsn, struct mq_http_request *request);
    /* Writes the body. False: the API cannot send this mail; *out says why, or there was no memory
     * (body.head.failed). */
    bool (*write)(const struct mq_http_mail *mail, struct mq_http_request *request,
                  char out[MQ_HTTP_REASON_MAX]);
    /* Reads code, text and is_receipt from an answer's body. */
    void (*read)(const struct mq_http_result *result, struct mq_http_answer *answer);
};

extern const struct mq_http_api mq_http_ses, mq_http_mailgun, mq_http_graph, mq_http_gmail;

/* The API of a DSN that mq_dsn_is_http(). */
const struct mq_http_api *mq_http_api_of(const struct mq_dsn *dsn);
/* The URL that mail is posted to, or that a probe gets, malloc'ed. */
char *mq_http_url(const struct mq_http_api *api, const struct mq_dsn *dsn, bool probe);

/* Reads an answer, or why there is none. The request's secrets are blanked in its text. */
void mq_http_answer(const struct mq_http_api *api, const struct mq_http_request *request,
                    const struct mq_http_result *result, struct mq_http_answer *answer);
/* Writes "403 AccessDenied: words". */
void mq_http_format(const struct mq_http_answer *answer, char out[MQ_HTTP_REASON_MAX]);

/* Copies the text that the first member `name` has, at any depth of a JSON text; "" if none has. It
 * is made printable. */
void mq_http_json_text(struct mq_str json, const char *name, char *out, size_t size);

#endif
