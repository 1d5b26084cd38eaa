#include "send/smtp/session.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "send/smtp/internal.h"

/* RFC 5321, section 4.5.3.2 gives no time for QUIT; nothing depends on its reply. */
#define QUIT_TIMEOUT_MS 2000
/* Postfix answers a client with this many errors slower and slower. */
#define FAILURES_MAX 4

static const char *state_name(enum mq_smtp_state state)
{
    static const char *const names[MQ_SMTP_STATE_COUNT] = {
        [MQ_SMTP_CLOSED] = "closed",     [MQ_SMTP_CONNECTING] = "connecting",
        [MQ_SMTP_IDLE] = "idle",         [MQ_SMTP_ENVELOPE] = "envelope",
        [MQ_SMTP_BODY] = "body",         [MQ_SMTP_AWAITING] = "awaiting",
        [MQ_SMTP_QUITTING] = "quitting",
    };
    return (size_t)state < MQ_SMTP_STATE_COUNT ? names[state] : "unknown";
}

static const char *timeout_text(enum mq_smtp_state state)
{
    static const char *const texts[MQ_SMTP_STATE_COUNT] = {
        [MQ_SMTP_ENVELOPE] = "the relay did not answer in time",
        [MQ_SMTP_BODY] = "the relay stopped reading the message",
        [MQ_SMTP_AWAITING] = "the relay did not answer the end of the message in time",
    };
    return texts[state] ? texts[state] : "";
}

void mq_smtp_trace(struct mq_smtp_session *session, const char *format, ...)
{
    if (session->host->trace == NULL) {
        return;
    }
    char line[MQ_REPLY_TEXT_MAX + 64];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    session->host->trace(session->host->trace_context, session->id, line);
}

/* The time that the state, and in an envelope the command awaited, may take. */
static int64_t timeout_ms(const struct mq_smtp_session *session)
{
    const struct mq_smtp_host *host = session->host;
    switch (session->state) {
    case MQ_SMTP_IDLE:
        return host->idle_ms;
    case MQ_SMTP_ENVELOPE:
        return session->expected_count > 0 &&
                       session->expected[session->expected_head].command == MQ_SMTP_DATA
                   ? host->data_timeout_ms
                   : host->command_timeout_ms;
    case MQ_SMTP_BODY:
        return host->block_timeout_ms;
    case MQ_SMTP_AWAITING:
        return host->final_timeout_ms;
    case MQ_SMTP_QUITTING:
        return QUIT_TIMEOUT_MS;
    default:
        return 0;
    }
}

void mq_smtp_restart_timer(struct mq_smtp_session *session)
{
    struct mq_clock clock = session->host->clock;
    int64_t ms = timeout_ms(session);
    session->deadline_ms = ms > 0 ? clock.boot_ms(clock.context) + ms : INT64_MAX;
}

void mq_smtp_set_state(struct mq_smtp_session *session, enum mq_smtp_state state)
{
    if (session->state != state) {
        mq_smtp_trace(session, "%s -> %s", state_name(session->state), state_name(state));
    }
    if (session->state != MQ_SMTP_CLOSED) {
        session->host->in_state[session->state]--;
    }
    if (state != MQ_SMTP_CLOSED) {
        session->host->in_state[state]++;
    }
    session->state = state;
    mq_smtp_restart_timer(session);
}

enum mq_status mq_smtp_session_init(struct mq_smtp_session *session, struct mq_smtp_host *host,
                                    int id, struct mq_error *err)
{
    char *out = malloc(MQ_SMTP_CHUNK);
    if (out == NULL) {
        return mq_error_nomem(err);
    }
    memset(session, 0, sizeof *session);
    session->host = host;
    session->id = id;
    session->out = out;
    session->deadline_ms = INT64_MAX;
    return MQ_OK;
}

void mq_smtp_session_clear(struct mq_smtp_session *session)
{
    free(session->out);
    free(session->expected);
    memset(session, 0, sizeof *session);
}

void mq_smtp_session_connecting(struct mq_smtp_session *session)
{
    mq_smtp_set_state(session, MQ_SMTP_CONNECTING);
}

void mq_smtp_session_ready(struct mq_smtp_session *session, struct mq_channel *channel,
                           const struct mq_smtp_caps *caps)
{
    session->channel = channel;
    session->caps = *caps;
    mq_reply_reader_init(&session->reader);
    mq_smtp_trace(session, "connected:%s%s%s%s%s", caps->pipelining ? " PIPELINING" : "",
                  caps->eightbit ? " 8BITMIME" : "", caps->smtputf8 ? " SMTPUTF8" : "",
                  caps->dsn ? " DSN" : "", caps->size ? " SIZE" : "");
    mq_smtp_set_state(session, MQ_SMTP_IDLE);
}

bool mq_smtp_session_may_begin(const struct mq_smtp_session *session)
{
    return session->state == MQ_SMTP_IDLE && !session->last && !session->closing;
}

static bool following_is_allowed(const struct mq_smtp_session *session)
{
    const struct mq_smtp_host *host = session->host;
    bool with_dot = session->maybe_sent < session->tx[session->current].dot_at;
    return host->following == MQ_SMTP_FOLLOW_DOT ||
           (host->following == MQ_SMTP_FOLLOW_TRY && !host->trying && with_dot);
}

bool mq_smtp_session_may_follow(const struct mq_smtp_session *session)
{
    const struct mq_smtp_tx *tx = &session->tx[session->current];
    return (session->state == MQ_SMTP_BODY || session->state == MQ_SMTP_AWAITING) &&
           session->caps.pipelining && !session->host->no_params && !session->last &&
           !session->closing && !tx->plain && tx->dot_at != 0 &&
           !session->tx[session->current ^ 1].used && following_is_allowed(session);
}

bool mq_smtp_begin(struct mq_smtp_session *session, struct mq_transfer *transfer, bool behind)
{
    struct mq_smtp_host *host = session->host;
    transfer->end = MQ_DELIVERY_DONE;
    transfer->error[0] = '\0'; /* of a session before this one */
    bool enters = mq_smtp_check(session, transfer);
    if (enters && !transfer->enter(transfer, MQ_PHASE_ENVELOPE)) {
        transfer->end = MQ_DELIVERY_LEASE_OVER;
        enters = false;
    }
    if (!enters) {
        host->done(host, transfer);
        return false;
    }
    bool plain = host->no_params || (transfer->transport_flags & MQ_SMTP_DELIVERY_PLAIN) != 0;
    bool reset = session->open_transaction && !behind;
    struct mq_smtp_tx *tx = behind ? mq_smtp_follower(session) : mq_smtp_current(session);
    *tx = (struct mq_smtp_tx){.transfer = transfer,
                              .used = true,
                              .plain = plain,
                              .behind = behind,
                              .next = reset ? MQ_SMTP_RSET : MQ_SMTP_MAIL,
                              .mail_at = UINT64_MAX,
                              .mail_ms = host->clock.boot_ms(host->clock.context)};
    if (++session->mails >= host->mails_per_connection && host->mails_per_connection > 0) {
        session->last = true;
    }
    if (!behind) {
        mq_smtp_set_state(session, MQ_SMTP_ENVELOPE);
    } else if (host->following == MQ_SMTP_FOLLOW_TRY) {
        tx->trial = host->trying = true;
    }
    return true;
}

void mq_smtp_mark(struct mq_transfer *transfer, bool only_in, enum mq_target_result result,
                  const struct mq_reply *reply)
{
    char text[MQ_TARGET_REPLY_MAX] = "";
    int code = reply ? reply->code : 0;
    if (reply != NULL) {
        mq_reply_format(reply, text, sizeof text);
    }
    for (size_t i = 0; i < transfer->target_count; i++) {
        struct mq_target *target = &transfer->targets[i];
        bool in = target->code / 100 == 2;
        if (target->result == MQ_TARGET_UNTRIED && (in || (!only_in && target->code == 0))) {
            target->result = result;
            target->code = code;
            memcpy(target->reply, text, sizeof text);
        }
    }
}

/* Four in a row that went wrong: a new connection is quicker than the relay's tarpit. */
static void count_outcome(struct mq_smtp_session *session, const struct mq_transfer *transfer)
{
    bool accepted = false;
    session->decided++;
    for (size_t i = 0; i < transfer->target_count; i++) {
        accepted = accepted || transfer->targets[i].result == MQ_TARGET_ACCEPTED;
    }
    session->failures = accepted ? 0 : session->failures + 1;
    if (session->failures >= FAILURES_MAX) {
        session->last = true;
    }
}

/* Frees the transaction; its transfer is the caller's. */
static struct mq_transfer *leave(struct mq_smtp_session *session, struct mq_smtp_tx *tx)
{
    struct mq_transfer *transfer = tx->transfer;
    session->host->trying = session->host->trying && !tx->trial;
    *tx = (struct mq_smtp_tx){0};
    return transfer;
}

void mq_smtp_finish(struct mq_smtp_session *session, struct mq_smtp_tx *tx,
                    enum mq_transfer_end end)
{
    struct mq_smtp_host *host = session->host;
    int64_t began_ms = tx->mail_ms;
    struct mq_transfer *transfer = leave(session, tx);
    if (transfer == NULL) {
        return;
    }
    transfer->end = end;
    transfer->ms = host->clock.boot_ms(host->clock.context) - began_ms;
    if (end == MQ_DELIVERY_DONE) {
        count_outcome(session, transfer);
    }
    host->done(host, transfer);
}

static void forget_results(struct mq_transfer *transfer)
{
    for (size_t i = 0; i < transfer->target_count; i++) {
        transfer->targets[i].result = MQ_TARGET_UNTRIED;
        transfer->targets[i].code = 0;
        transfer->targets[i].reply[0] = '\0';
    }
}

void mq_smtp_give_back(struct mq_smtp_session *session, struct mq_smtp_tx *tx)
{
    if (tx->transfer != NULL) {
        forget_results(tx->transfer);
    }
    mq_smtp_finish(session, tx, MQ_DELIVERY_UNTOUCHED);
}

void mq_smtp_once_more(struct mq_smtp_session *session, struct mq_smtp_tx *tx, unsigned flag)
{
    struct mq_transfer *transfer = leave(session, tx);
    forget_results(transfer);
    transfer->at_s = transfer->retry_after_s = 0;
    transfer->transport_flags |= flag;
    session->host->again(session->host, transfer);
}

void mq_smtp_close(struct mq_smtp_session *session, const char *why)
{
    if (session->state == MQ_SMTP_CLOSED) {
        return;
    }
    mq_smtp_give_back(session, mq_smtp_current(session));
    mq_smtp_give_back(session, mq_smtp_follower(session));
    if (session->channel != NULL) {
        session->channel->ops->close(session->channel);
        session->channel = NULL;
    }
    session->wants_write = false;
    mq_smtp_trace(session, "closed: %s", why);
    mq_smtp_set_state(session, MQ_SMTP_CLOSED);
    session->host->closed(session->host, session, why);
}

void mq_smtp_advance(struct mq_smtp_session *session)
{
    if (session->state == MQ_SMTP_CLOSED) {
        return;
    }
    if (session->closing) {
        mq_smtp_close(session, "");
        return;
    }
    session->current ^= 1;
    mq_smtp_set_state(session, mq_smtp_current(session)->used ? MQ_SMTP_ENVELOPE : MQ_SMTP_IDLE);
}

/* A relay may close after any mail, and the next one's MAIL crosses that. Such a mail goes once
 * more over another session; only once, for a mail that makes relays hang up must not block those
 * behind it. */
static bool crossed(const struct mq_smtp_session *session, const struct mq_smtp_tx *tx)
{
    return session->decided > 0 && !tx->replied && !session->silent &&
           (tx->transfer->transport_flags & MQ_SMTP_DELIVERY_CROSSED) == 0;
}

/* By how far the connection came: before MAIL nothing happened; from MAIL on the mail may be the
 * cause, or a relay that hangs up on every mail, and what others meet tells which; from the dot on
 * nobody knows. */
static void settle_lost(struct mq_smtp_session *session, struct mq_smtp_tx *tx, const char *why)
{
    struct mq_transfer *transfer = tx->transfer;
    if (!tx->used || transfer == NULL) {
        return;
    }
    if ((tx->behind && !tx->replied) || !mq_smtp_mail_left(session, tx)) {
        mq_smtp_give_back(session, tx);
        return;
    }
    if (crossed(session, tx)) {
        mq_smtp_once_more(session, tx, MQ_SMTP_DELIVERY_CROSSED);
        return;
    }
    snprintf(transfer->error, sizeof transfer->error, "%s", why);
    if (mq_smtp_dot_left(session, tx)) {
        mq_smtp_mark(transfer, true, MQ_TARGET_UNCERTAIN, NULL);
    } else {
        mq_smtp_mark(transfer, false, MQ_TARGET_DENIED, NULL);
    }
    mq_smtp_finish(session, tx, MQ_DELIVERY_DONE);
}

void mq_smtp_session_lost(struct mq_smtp_session *session, const char *why)
{
    int64_t decided = session->decided;
    if (session->state == MQ_SMTP_QUITTING) {
        why = ""; /* the answer to QUIT, as some give it */
    }
    settle_lost(session, mq_smtp_current(session), why);
    session->decided = decided; /* that was no answer of the relay */
    mq_smtp_close(session, why);
}

void mq_smtp_learn(struct mq_smtp_host *host, enum mq_smtp_following following)
{
    if (!host->following_fixed && host->following != MQ_SMTP_FOLLOW_NEVER) {
        host->following = following;
    }
}

void mq_smtp_cut_off(struct mq_smtp_session *session, const char *why)
{
    struct mq_smtp_tx *follower = mq_smtp_follower(session);
    if (follower->used && mq_smtp_mail_left(session, follower) &&
        mq_smtp_dot_left(session, mq_smtp_current(session))) {
        mq_smtp_learn(session->host, MQ_SMTP_FOLLOW_NEVER);
    }
    mq_smtp_session_lost(session, why);
}

void mq_smtp_session_check_timeout(struct mq_smtp_session *session, int64_t now_ms)
{
    if (now_ms < session->deadline_ms) {
        return;
    }
    if (session->state == MQ_SMTP_IDLE) {
        mq_smtp_session_quit(session);
    } else if (session->state == MQ_SMTP_QUITTING) {
        mq_smtp_close(session, "");
    } else if (session->state != MQ_SMTP_CLOSED && session->state != MQ_SMTP_CONNECTING) {
        session->silent = true;
        mq_smtp_cut_off(session, timeout_text(session->state));
    }
}

void mq_smtp_session_recall(struct mq_smtp_session *session)
{
    if (session->state == MQ_SMTP_ENVELOPE) {
        mq_smtp_close(session, "");
        return;
    }
    struct mq_smtp_tx *follower = mq_smtp_follower(session);
    if (follower->used) {
        /* Its envelope is out; without a body it cannot be ended but by the connection. */
        mq_smtp_give_back(session, follower);
        session->closing = true;
    }
}

void mq_smtp_session_quit(struct mq_smtp_session *session)
{
    static const char quit[] = "QUIT\r\n";
    if (session->state != MQ_SMTP_IDLE) {
        return;
    }
    if (!mq_smtp_expect(session, MQ_SMTP_QUIT, 0, 0)) {
        mq_smtp_close(session, "");
        return;
    }
    memcpy(session->out, quit, sizeof quit - 1);
    session->out_pos = 0;
    session->out_len = sizeof quit - 1;
    mq_smtp_set_state(session, MQ_SMTP_QUITTING);
    mq_smtp_session_pump(session);
}
