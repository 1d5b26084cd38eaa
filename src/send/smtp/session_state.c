/* A session's state and timer, and how its transactions end. Calls none of the session's other
 * files; they call this one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"
#include "policy/job_state.h"
#include "policy/verdict.h"
#include "send/dsn.h"
#include "send/smtp/internal.h"
#include "send/transport.h"

/* RFC 5321, section 4.5.3.2 gives no time for QUIT; nothing depends on its reply. */
#define QUIT_TIMEOUT_MS 2000
/* After this many mails without an acceptance a new session is quicker: Postfix delays replies. */
#define FAILURES_MAX 4
/* After so many mails in a row for different domains whose deferral may be about us, it is. */
#define THROTTLES_MAX 3

/* How long the state may last; in state ENVELOPE, how long the awaited reply may take. */
static int64_t timeout_ms(const struct mq_smtp_session *session)
{
    const struct mq_dsn *dsn = session->owner->dsn;
    switch (session->state) {
    case MQ_SMTP_CONNECTING:
        return session->hello ? dsn->connect_timeout_ms : 0;
    case MQ_SMTP_IDLE:
        return dsn->idle_ms;
    case MQ_SMTP_ENVELOPE:
        return session->expected_count > 0 &&
                       session->expected[session->expected_head].command == MQ_SMTP_DATA
                   ? dsn->data_timeout_ms
                   : dsn->command_timeout_ms;
    case MQ_SMTP_BODY:
        return dsn->block_timeout_ms;
    case MQ_SMTP_AWAITING:
        return dsn->final_timeout_ms;
    case MQ_SMTP_QUITTING:
        return QUIT_TIMEOUT_MS;
    default:
        return 0;
    }
}

int64_t mq_smtp_now_ms(const struct mq_smtp_session *session)
{
    return mq_transport_boot_ms(session->owner->transport);
}

void mq_smtp_restart_timer(struct mq_smtp_session *session)
{
    int64_t ms = timeout_ms(session);
    session->deadline_ms = ms > 0 ? mq_smtp_now_ms(session) + ms : INT64_MAX;
}

void mq_smtp_set_state(struct mq_smtp_session *session, enum mq_smtp_state state)
{
    if (session->state != MQ_SMTP_CLOSED) {
        session->owner->in_state[session->state]--;
    }
    if (state != MQ_SMTP_CLOSED) {
        session->owner->in_state[state]++;
    }
    session->state = state;
    mq_smtp_restart_timer(session);
}

_Static_assert(MQ_SMTP_EXPECTED_MAX >= 2 * (MQ_RECIPIENTS_MAX + 4),
               "RSET, MAIL, RCPT, DATA and the dot of two mails do not fit");

void mq_smtp_expect(struct mq_smtp_session *session, enum mq_smtp_command command, uint8_t tx,
                    size_t target)
{
    size_t at = (session->expected_head + session->expected_count++) % MQ_SMTP_EXPECTED_MAX;
    session->expected[at] = (struct mq_smtp_expected){(uint8_t)command, tx, (uint32_t)target};
}

const char *mq_smtp_phase(enum mq_smtp_command command)
{
    static const char *const phases[] = {
        [MQ_SMTP_RSET] = "mail", [MQ_SMTP_MAIL] = "mail", [MQ_SMTP_RCPT] = "rcpt",
        [MQ_SMTP_DATA] = "data", [MQ_SMTP_DOT] = "dot",
    };
    return command < sizeof(phases) / sizeof(phases[0]) ? phases[command] : NULL;
}

static bool mail_left(const struct mq_smtp_session *session, const struct mq_smtp_tx *tx)
{
    return session->maybe_sent > tx->mail_at;
}

bool mq_smtp_dot_left(const struct mq_smtp_session *session, const struct mq_smtp_tx *tx)
{
    return tx->dot_at != 0 && session->maybe_sent >= tx->dot_at;
}

void mq_smtp_mark(struct mq_transfer *transfer, bool only_in, enum mq_outcome result,
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
        if (target->result == MQ_OUTCOME_RELEASED && (in || (!only_in && target->code == 0))) {
            target->result = result;
            target->phase = transfer->phase;
            target->code = code;
            memcpy(target->reply, text, sizeof text);
        }
    }
}

/* Notes a mail whose deferral may be about us (struct mq_verdict), and after THROTTLES_MAX of them
 * the relay's trouble. */
static void count_throttle(struct mq_smtp_owner *owner, const struct mq_transfer *transfer)
{
    struct mq_throttles *throttles = &owner->throttles;
    const struct mq_target *target = transfer->targets;
    while (target->code / 100 != 4 && target + 1 < transfer->targets + transfer->target_count) {
        target++;
    }
    const char *at = strrchr(target->address, '@');
    struct mq_str domain = mq_str_of(at != NULL ? at : target->address);
    struct mq_str last = mq_str_of(throttles->domain);
    throttles->domains = throttles->domains || (last.len > 0 && !mq_str_equal_nocase(domain, last));
    snprintf(throttles->domain, sizeof throttles->domain, "%s", domain.data);
    if (++throttles->mails >= THROTTLES_MAX && throttles->domains) {
        mq_transport_in_trouble(owner->transport, target->reply, transfer->retry_after_s);
    }
}

/* Ends the session after FAILURES_MAX mails in a row of which none was accepted. */
static void count_outcome(struct mq_smtp_session *session, const struct mq_transfer *transfer,
                          bool throttled)
{
    bool accepted = false;
    session->decided++;
    for (size_t i = 0; i < transfer->target_count; i++) {
        accepted = accepted || transfer->targets[i].result == MQ_OUTCOME_DELIVERED;
    }
    if (accepted) {
        session->owner->throttles = (struct mq_throttles){0};
    } else if (throttled) {
        count_throttle(session->owner, transfer);
    }
    session->failures = accepted ? 0 : session->failures + 1;
    if (session->failures >= FAILURES_MAX) {
        session->last = true;
    }
    if (transfer->at_s != 0) { /* the relay has replied, so it is not down */
        session->owner->failures = 0;
    }
}

/* Frees the transaction and returns its transfer. */
static struct mq_transfer *leave(struct mq_smtp_session *session, struct mq_smtp_tx *tx)
{
    struct mq_transfer *transfer = tx->transfer;
    session->owner->trying = session->owner->trying && !tx->trial;
    *tx = (struct mq_smtp_tx){0};
    return transfer;
}

void mq_smtp_note_time(struct mq_smtp_session *session, struct mq_smtp_tx *tx,
                       const struct mq_verdict *verdict)
{
    struct mq_transfer *transfer = tx->transfer;
    transfer->at_s = mq_clock_now_s(&session->owner->transport->clock);
    if (verdict->wait_s > transfer->retry_after_s) {
        transfer->retry_after_s = verdict->wait_s;
    }
    tx->throttled = tx->throttled || verdict->throttled;
}

void mq_smtp_finish(struct mq_smtp_session *session, struct mq_smtp_tx *tx,
                    enum mq_transfer_end end)
{
    int64_t began_ms = tx->mail_ms;
    bool throttled = tx->throttled;
    struct mq_transfer *transfer = leave(session, tx);
    if (transfer == NULL) {
        return;
    }
    transfer->ms = mq_smtp_now_ms(session) - began_ms;
    if (end == MQ_TRANSFER_DONE) {
        count_outcome(session, transfer, throttled);
    }
    mq_transport_give_back(session->owner->transport, transfer, end);
}

static void forget_results(struct mq_transfer *transfer)
{
    for (size_t i = 0; i < transfer->target_count; i++) {
        transfer->targets[i].result = MQ_OUTCOME_RELEASED;
        transfer->targets[i].code = 0;
        transfer->targets[i].reply[0] = '\0';
    }
}

void mq_smtp_give_back(struct mq_smtp_session *session, struct mq_smtp_tx *tx)
{
    if (tx->transfer != NULL) {
        forget_results(tx->transfer);
    }
    mq_smtp_finish(session, tx, MQ_TRANSFER_UNTOUCHED);
}

void mq_smtp_once_more(struct mq_smtp_session *session, struct mq_smtp_tx *tx, unsigned flag)
{
    struct mq_transport *transport = session->owner->transport;
    struct mq_transfer *transfer = leave(session, tx);
    forget_results(transfer);
    transfer->at_s = transfer->retry_after_s = 0;
    transfer->transport_flags |= flag;
    if (mq_transport_may_begin(transport)) {
        mq_transfer_prepend(&transport->pending, transfer);
    } else {
        mq_transport_give_back(transport, transfer, MQ_TRANSFER_UNTOUCHED);
    }
}

void mq_smtp_close(struct mq_smtp_session *session, const char *why)
{
    if (session->state == MQ_SMTP_CLOSED) {
        return;
    }
    mq_smtp_give_back(session, mq_smtp_current(session));
    mq_smtp_give_back(session, mq_smtp_follower(session));
    struct mq_channel *channel = session->channel;
    session->channel = NULL;
    session->wants_write = false;
    free(session->hello);
    session->hello = NULL;
    mq_smtp_set_state(session, MQ_SMTP_CLOSED);
    session->owner->closed(session->owner, session, why);
    channel->ops->close(channel);
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

void mq_smtp_learn(struct mq_smtp_owner *owner, enum mq_smtp_following following)
{
    if (!owner->following_fixed && owner->following != MQ_SMTP_FOLLOW_NEVER) {
        owner->following = following;
    }
}

/* Whether the relay closed while our MAIL was on its way: a relay may close after any mail. Then
 * the mail is sent again over another session, but only once: a mail that makes relays hang up must
 * not block those after it. */
static bool crossed(const struct mq_smtp_session *session, const struct mq_smtp_tx *tx)
{
    return session->decided > 0 && !tx->replied && !session->silent &&
           (tx->transfer->transport_flags & MQ_SMTP_TRANSFER_CROSSED) == 0;
}

/* The phase whose reply is missing. */
static const char *phase_awaited(const struct mq_smtp_session *session)
{
    if (session->state == MQ_SMTP_BODY || session->expected_count == 0) {
        return "data";
    }
    return mq_smtp_phase(session->expected[session->expected_head].command);
}

/* Settles a transfer by how far it came. Before MAIL, nothing happened. After MAIL, the mail may be
 * the cause, or the relay hangs up on every mail: what becomes of other mails shows which. After
 * the dot, the outcome is unknown. */
static void settle_lost(struct mq_smtp_session *session, struct mq_smtp_tx *tx, const char *why)
{
    struct mq_transfer *transfer = tx->transfer;
    if (!tx->used || transfer == NULL) {
        return;
    }
    if ((tx->behind && !tx->replied) || !mail_left(session, tx)) {
        mq_smtp_give_back(session, tx);
        return;
    }
    if (crossed(session, tx)) {
        mq_smtp_once_more(session, tx, MQ_SMTP_TRANSFER_CROSSED);
        return;
    }
    snprintf(transfer->error, sizeof transfer->error, "%s", why);
    if (mq_smtp_dot_left(session, tx)) {
        transfer->phase = "dot";
        mq_smtp_mark(transfer, true, MQ_OUTCOME_UNCERTAIN, NULL);
    } else {
        transfer->phase = phase_awaited(session);
        mq_smtp_mark(transfer, false, MQ_OUTCOME_DENIED, NULL);
    }
    mq_smtp_finish(session, tx, MQ_TRANSFER_DONE);
}

bool mq_smtp_is_spare(const struct mq_smtp_session *session)
{
    return session->state == MQ_SMTP_IDLE && session->owner->lhlo == NULL;
}

void mq_smtp_session_lost(struct mq_smtp_session *session, const char *why)
{
    int64_t decided = session->decided;
    if (session->state == MQ_SMTP_QUITTING || mq_smtp_is_spare(session)) {
        why = ""; /* some relays answer QUIT by closing, and all may end a spare session */
    }
    settle_lost(session, mq_smtp_current(session), why);
    session->decided = decided; /* mq_smtp_finish() counted a mail that the relay did not answer */
    mq_smtp_close(session, why);
}

void mq_smtp_cut_off(struct mq_smtp_session *session, const char *why)
{
    struct mq_smtp_tx *follower = mq_smtp_follower(session);
    if (follower->used && mail_left(session, follower) &&
        mq_smtp_dot_left(session, mq_smtp_current(session))) {
        mq_smtp_learn(session->owner, MQ_SMTP_FOLLOW_NEVER);
    }
    mq_smtp_session_lost(session, why);
}
