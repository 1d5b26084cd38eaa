/* Shared by http.c, which begins requests, and result.c, which ends them. */
#ifndef MQ_SEND_HTTP_INTERNAL_H
#define MQ_SEND_HTTP_INTERNAL_H

#include "send/dsn.h"
#include "send/http/api.h"
#include "send/oauth/account.h"
#include "send/transport.h"

struct mq_http_slot {
    struct mq_http_pool *pool;
    struct mq_http_exchange *exchange;
    struct mq_http_request request;
    struct mq_transfer *transfer; /* NULL: free */
    size_t first, count;          /* targets of the request */
    int64_t began_us;
    unsigned generation; /* of the account's token */
    bool connecting;
    bool in_body;            /* enter(MQ_PHASE_BODY) was called */
    uint64_t answers_before; /* pool->answers when the request began */
};

struct mq_http_pool {
    struct mq_transport transport; /* first */
    const struct mq_http_api *api;
    struct mq_dsn dsn;
    struct mq_http_client *client;
    struct mq_oauth *account; /* NULL: the DSN has the key */
    char *url;
    struct mq_buffer scope;
    struct mq_http_slot *slots;
    size_t slot_count, busy, connecting;
    bool was_connected;
    uint64_t answers; /* that told about a mail: the API works */
    int failures;
    int64_t next_begin_ms, next_scan_ms; /* by the system's clock */
};

/* Sets the result of the request's targets. */
void mq_http_set_targets(const struct mq_http_slot *slot, enum mq_outcome result, int code,
                         const char *reply);
/* Marks the targets behind those of the request as waiting, or takes the mark off again. */
void mq_http_mark_rest(const struct mq_http_slot *slot, int code);
/* Gives the transfer back without a decision on this request's recipients. */
void mq_http_give_back(struct mq_http_slot *slot, enum mq_transfer_end end);
/* Makes of an ended request what follows from it. True: the slot keeps the mail, and another
 * request is to begin for its next recipients. */
bool mq_http_finish(struct mq_http_slot *slot, struct mq_http_result *result);

#endif
