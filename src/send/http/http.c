/* Mail APIs as a transport: which mails get a request, and what their answers make of them.
 *
 * A transfer goes from pending to a slot, while its request is under way, and then to done. A mail
 * for more recipients than the API takes goes out in several requests, one after the other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"
#include "mime/address.h"
#include "send/factory.h"
#include "send/http/internal.h"

/* The most requests at once that have no connection yet; until one has, only one begins. */
#define CONNECTING_MAX 64
/* How often the deadlines are checked; they are seconds. */
#define SCAN_MS 100
/* A target that waits for the next request of its mail, as send/transfer.h has it. */
#define WAITS_CODE 452

static struct mq_http_pool *pool_of(struct mq_transport *transport)
{
    return (struct mq_http_pool *)transport;
}

/* ---- the begin of a request ---- */

static void on_connected(void *owner)
{
    struct mq_http_slot *slot = owner;
    slot->pool->connecting -= slot->connecting;
    slot->connecting = false;
    slot->pool->was_connected = true;
}

static bool on_last(void *owner)
{
    struct mq_http_slot *slot = owner;
    slot->in_body = true;
    return slot->transfer->enter(slot->transfer, MQ_PHASE_BODY);
}

static void cannot_send(struct mq_http_slot *slot, const char *why)
{
    bool refused = why[0] != '\0';
    mq_http_set_targets(slot, refused ? MQ_OUTCOME_REFUSED : MQ_OUTCOME_DEFERRED, 0,
                        refused ? why : "out of memory");
    for (size_t i = slot->first; i < slot->first + slot->count; i++) {
        slot->transfer->targets[i].phase = "check";
    }
    mq_http_give_back(slot, MQ_TRANSFER_DONE);
}

/* Addresses were checked when they were accepted. This is the last check before the wire. */
static bool addresses_are_safe(const struct mq_http_slot *slot, char why[MQ_TARGET_REPLY_MAX])
{
    struct mq_error err;
    for (size_t i = slot->first; i < slot->first + slot->count; i++) {
        struct mq_str address = mq_str_of(slot->transfer->targets[i].address);
        if (mq_address_check(address, "recipients", &err) != MQ_OK) {
            snprintf(why, MQ_TARGET_REPLY_MAX, "%.240s", err.text);
            return false;
        }
    }
    return true;
}

/* Begins the request, with the account's access token if there is an account. The token is borrowed
 * until the account's next step. */
static bool begin_exchange(struct mq_http_slot *slot)
{
    struct mq_oauth *account = slot->pool->account;
    if (account == NULL) {
        return mq_http_exchange_begin(slot->exchange, &slot->request);
    }
    slot->generation = mq_oauth_generation(account);
    slot->request.secret = mq_oauth_token(account);
    bool begins =
        slot->request.secret != NULL && mq_http_exchange_begin(slot->exchange, &slot->request);
    slot->request.secret = NULL;
    return begins;
}

/* Begins the request for the targets from slot->first on; false: the slot is free again. */
static bool begin_request(struct mq_http_slot *slot)
{
    struct mq_http_pool *pool = slot->pool;
    struct mq_transfer *transfer = slot->transfer;
    char why[MQ_TARGET_REPLY_MAX] = "";
    size_t rest = transfer->target_count - slot->first;
    slot->count = rest < pool->api->recipients_max ? rest : pool->api->recipients_max;
    for (size_t i = slot->first; i < slot->first + slot->count; i++) {
        transfer->targets[i].code = 0;
    }
    mq_http_mark_rest(slot, WAITS_CODE);
    mq_http_body_reset(&slot->request.body);
    const struct mq_http_mail mail = {transfer, slot->first, slot->count};
    bool writes = addresses_are_safe(slot, why) && pool->api->write(&mail, &slot->request, why) &&
                  !slot->request.body.head.failed && !slot->request.body.tail.failed;
    if (!writes) {
        cannot_send(slot, why);
        return false;
    }
    slot->in_body = false;
    slot->began_us = mq_transport_now_us(&pool->transport);
    slot->answers_before = pool->answers;
    if (!transfer->enter(transfer, MQ_PHASE_ENVELOPE)) {
        mq_http_give_back(slot, MQ_TRANSFER_LEASE_OVER);
        return false;
    }
    if (!begin_exchange(slot)) {
        cannot_send(slot, "");
        return false;
    }
    slot->connecting = true;
    pool->connecting++;
    return true;
}

static bool may_begin(const struct mq_http_pool *pool)
{
    size_t most = pool->was_connected ? CONNECTING_MAX : 1;
    return pool->transport.pending.count > 0 && pool->busy < pool->slot_count &&
           pool->connecting < most && mq_transport_may_begin(&pool->transport) &&
           mq_clock_monotonic_ms() >= pool->next_begin_ms;
}

/* Whether requests can begin with the account's token; false: there is none, or not yet. `tells`:
 * if none can be had, that is the relay's trouble. */
static bool has_token(struct mq_http_pool *pool, bool tells)
{
    int64_t retry_after_s = 0;
    bool may_begin = mq_transport_may_begin(&pool->transport);
    if (pool->account == NULL) {
        return true;
    }
    if (!may_begin && !mq_oauth_is_busy(pool->account)) {
        return false;
    }
    enum mq_oauth_state state = mq_oauth_step(pool->account);
    mq_oauth_take_news(pool->account, pool->transport.note, sizeof pool->transport.note);
    if (state == MQ_OAUTH_FAILED && tells && may_begin) {
        const char *why = mq_oauth_failure(pool->account, &retry_after_s);
        mq_transport_in_trouble(&pool->transport, why, retry_after_s);
    }
    return state == MQ_OAUTH_READY;
}

static bool op_prepare(struct mq_transport *transport)
{
    return has_token(pool_of(transport), true) || transport->troubled;
}

static void begin_pending(struct mq_http_pool *pool)
{
    if (!has_token(pool, pool->transport.pending.count > 0)) {
        return;
    }
    for (size_t i = 0; i < pool->slot_count && may_begin(pool); i++) {
        struct mq_http_slot *slot = &pool->slots[i];
        if (slot->transfer == NULL) {
            slot->transfer = mq_transfer_take(&pool->transport.pending, NULL);
            slot->transfer->error[0] = '\0';
            slot->first = 0;
            pool->busy++;
            begin_request(slot);
        }
    }
}

/* ---- the loop ---- */

static void finish(struct mq_http_slot *slot, struct mq_http_result *result)
{
    if (mq_http_finish(slot, result)) {
        begin_request(slot);
    }
}

static void take_results(struct mq_http_pool *pool)
{
    struct mq_http_result result;
    struct mq_http_slot *slot;
    while ((slot = mq_http_take(pool->client, &result)) != NULL) {
        finish(slot, &result);
    }
}

static void cancel(struct mq_http_slot *slot, const char *reason, bool hopeless)
{
    struct mq_http_result result;
    mq_http_exchange_cancel(slot->exchange, reason, &result);
    result.hopeless = hopeless;
    finish(slot, &result);
}

static void scan_deadlines(struct mq_http_pool *pool)
{
    int64_t now_ms = mq_clock_monotonic_ms();
    if (now_ms < pool->next_scan_ms) {
        return;
    }
    pool->next_scan_ms = now_ms + SCAN_MS;
    for (size_t i = 0; i < pool->slot_count; i++) {
        struct mq_http_slot *slot = &pool->slots[i];
        if (slot->transfer != NULL && now_ms >= mq_http_exchange_deadline(slot->exchange)) {
            cancel(slot, slot->in_body ? "it did not answer in time" : "it stopped reading", true);
        }
    }
}

/* Waits once, at most timeout_ms; false: nothing happened, perhaps because a signal came. */
static bool wait_once(struct mq_http_pool *pool, int64_t timeout_ms)
{
    bool wakes = pool->busy > 0 || pool->transport.pending.count > 0;
    int64_t most_ms = wakes ? SCAN_MS : timeout_ms;
    int64_t until_ms = mq_clock_monotonic_ms() + most_ms;
    if (pool->account != NULL && mq_oauth_is_busy(pool->account) && most_ms > MQ_OAUTH_STEP_MS) {
        most_ms = MQ_OAUTH_STEP_MS;
    }
    timeout_ms = pool->transport.done.count > 0 ? 0 : timeout_ms < most_ms ? timeout_ms : most_ms;
    bool happened = mq_http_wait(pool->client, (int)timeout_ms);
    take_results(pool);
    scan_deadlines(pool);
    return happened || mq_clock_monotonic_ms() >= until_ms;
}

static void op_recall(struct mq_transport *transport)
{
    struct mq_http_pool *pool = pool_of(transport);
    for (size_t i = 0; i < pool->slot_count; i++) {
        struct mq_http_slot *slot = &pool->slots[i];
        struct mq_http_result result;
        if (slot->transfer != NULL && !slot->in_body) {
            mq_http_exchange_cancel(slot->exchange, "", &result);
            mq_http_give_back(slot, MQ_TRANSFER_UNTOUCHED);
        }
    }
}

static enum mq_status op_step(struct mq_transport *transport, int64_t timeout_ms,
                              struct mq_error *err)
{
    struct mq_http_pool *pool = pool_of(transport);
    bool troubled = transport->troubled;
    int64_t until_ms = mq_clock_monotonic_ms() + timeout_ms;
    int64_t left_ms = 0;
    (void)err;
    do {
        mq_transport_recall_in_trouble(transport);
        begin_pending(pool);
        left_ms = until_ms - mq_clock_monotonic_ms();
    } while (wait_once(pool, left_ms < 0 ? 0 : left_ms) && transport->done.count == 0 &&
             transport->troubled == troubled && left_ms > 0);
    mq_transport_recall_in_trouble(transport);
    return MQ_OK;
}

static size_t op_capacity(const struct mq_transport *transport, bool just_in_time)
{
    const struct mq_http_pool *pool = (const struct mq_http_pool *)transport;
    size_t taken = pool->busy + transport->pending.count;
    (void)just_in_time; /* each begins at once */
    return taken < pool->slot_count ? pool->slot_count - taken : 0;
}

static void op_abort(struct mq_transport *transport)
{
    struct mq_http_pool *pool = pool_of(transport);
    for (size_t i = 0; i < pool->slot_count; i++) {
        if (pool->slots[i].transfer != NULL) {
            cancel(&pool->slots[i], "sending was stopped", false);
        }
    }
}

static void op_reopen(struct mq_transport *transport)
{
    struct mq_http_pool *pool = pool_of(transport);
    pool->failures = 0;
    pool->next_begin_ms = 0;
    pool->was_connected = false;
}

static void op_free(struct mq_transport *transport)
{
    struct mq_http_pool *pool = pool_of(transport);
    for (size_t i = 0; i < pool->slot_count; i++) {
        mq_http_exchange_free(pool->slots[i].exchange);
        mq_http_body_clear(&pool->slots[i].request.body);
        mq_buffer_clear(&pool->slots[i].request.bcc);
        mq_strings_clear(&pool->slots[i].request.headers);
    }
    if (pool->client != NULL) {
        mq_http_client_free(pool->client);
    }
    if (pool->account != NULL) {
        mq_oauth_free(pool->account);
    }
    free(pool->slots);
    free(pool->url);
    mq_buffer_clear(&pool->scope);
    mq_dsn_clear(&pool->dsn);
}

/* ---- opening ---- */

static const struct mq_http_events events = {on_connected, on_last};

static bool open_slot(struct mq_http_pool *pool, struct mq_http_slot *slot)
{
    slot->pool = pool;
    slot->exchange = mq_http_exchange_new(pool->client, slot);
    slot->request.url = pool->url;
    slot->request.auth = pool->api->auth;
    return slot->exchange != NULL && pool->api->fields(&pool->dsn, &slot->request);
}

static enum mq_status open_pool(struct mq_http_pool *pool,
                                const struct mq_transport_options *options, struct mq_error *err)
{
    struct mq_http_request login = {0};
    size_t connections = (size_t)options->connections;
    pool->transport.name = mq_dsn_redacted(&pool->dsn);
    pool->slots = calloc(connections, sizeof *pool->slots);
    MQ_TRY(pool->api->check(&pool->dsn, err));
    pool->url = mq_http_url(pool->api, &pool->dsn, false);
    if (pool->api->login != NULL) {
        pool->api->login(&pool->dsn, &login, &pool->scope);
    }
    if (!pool->transport.name || !pool->slots || !pool->url || pool->scope.failed) {
        return mq_error_nomem(err);
    }
    MQ_TRY(pool->dsn.account != NULL
               ? mq_oauth_open(options->accounts, pool->dsn.account, &pool->account, err)
               : MQ_OK);
    MQ_TRY(mq_http_client_new(&pool->dsn, &events, NULL, &pool->client, err));
    pool->slot_count = connections;
    for (size_t i = 0; i < connections; i++) {
        struct mq_http_slot *slot = &pool->slots[i];
        slot->request = login;
        if (!open_slot(pool, slot)) {
            return mq_error_set(err, MQ_TRANSPORT, "transport",
                                "libcurl does not take the options: out of memory, or built "
                                "without HTTPS");
        }
    }
    return MQ_OK;
}

enum mq_status mq_http_new(struct mq_dsn *dsn, const struct mq_transport_options *options,
                           struct mq_transport **out, struct mq_error *err)
{
    static const struct mq_transport_ops ops = {.prepare = op_prepare,
                                                .capacity = op_capacity,
                                                .step = op_step,
                                                .recall = op_recall,
                                                .abort = op_abort,
                                                .reopen = op_reopen,
                                                .free = op_free};
    struct mq_http_pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL) {
        return mq_error_nomem(err);
    }
    pool->transport.ops = &ops;
    pool->transport.clock = options->clock;
    pool->api = mq_http_api_of(dsn);
    pool->transport.whole = pool->api->whole;
    pool->dsn = *dsn;
    *dsn = (struct mq_dsn){0};
    enum mq_status status = open_pool(pool, options, err);
    if (status != MQ_OK) {
        mq_transport_free(&pool->transport);
        return status;
    }
    *out = &pool->transport;
    return MQ_OK;
}
