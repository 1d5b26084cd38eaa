/* How each reply changes the transaction that it belongs to. */
#include <stdio.h>
#include <string.h>

#include "policy/verdict.h"
#include "send/dsn.h"
#include "send/smtp/internal.h"
#include "send/transport.h"

static const char out_of_step[] = "the relay's answers do not fit the commands";

/* Finds complaints about pipelining in the text: Exim and Postfix use codes with other meanings. */
static bool lost_step(const struct mq_reply *reply)
{
    char words[MQ_REPLY_TEXT_MAX];
    if (reply->code < 500) {
        return false;
    }
    mq_reply_own_words(reply, words);
    return mq_reply_says(words, "synchroni") || mq_reply_says(words, "pipelining");
}

static struct mq_verdict decide(const struct mq_smtp_session *session, enum mq_stage stage,
                                const struct mq_reply *reply)
{
    const struct mq_smtp_owner *owner = session->owner;
    struct mq_verdict verdict = mq_verdict_decide(owner->rules, owner->dsn->host, stage, reply);
    if (verdict.rule == NULL && lost_step(reply)) {
        verdict.outcome = MQ_TROUBLE_PROTOCOL;
    }
    return verdict;
}

/* The reply as text; valid until the next one. */
static const char *said(struct mq_smtp_session *session, const struct mq_reply *reply)
{
    mq_reply_format(reply, session->said, sizeof session->said);
    return session->said;
}

static void close_by(struct mq_smtp_session *session, const struct mq_reply *reply)
{
    mq_smtp_close(session, said(session, reply));
}

/* After an unsolicited reply, it is unknown which reply belongs to which command. */
static void close_out_of_step(struct mq_smtp_session *session, const struct mq_reply *reply)
{
    char reason[MQ_TARGET_REPLY_MAX];
    snprintf(reason, sizeof reason, "%s: %.200s", out_of_step, said(session, reply));
    mq_smtp_close(session, reason);
}

static void note_trouble(struct mq_smtp_session *session, struct mq_transfer *transfer,
                         const struct mq_reply *reply)
{
    transfer->drew_trouble = true;
    snprintf(transfer->error, sizeof transfer->error, "%s", said(session, reply));
}

static void relay_trouble(struct mq_smtp_session *session, struct mq_smtp_tx *tx,
                          const struct mq_verdict *verdict, const struct mq_reply *reply)
{
    mq_transport_in_trouble(session->owner->transport, said(session, reply), verdict->wait_s);
    note_trouble(session, tx->transfer, reply);
    mq_smtp_give_back(session, tx);
    close_by(session, reply);
}

/* On a session that has carried other mails, the relay may only want a new session: send the mail
 * again. On a fresh session the mail itself may be the cause: try it on one more session, then let
 * other mails go first. A 421 to the dot always concerns this mail; do not send the body twice. */
static void session_trouble(struct mq_smtp_session *session, struct mq_smtp_tx *tx,
                            const struct mq_reply *reply)
{
    bool drew_trouble = (tx->transfer->transport_flags & MQ_SMTP_TRANSFER_RETRIED_421) != 0;
    bool at_dot = tx->dot_at != 0;
    if (session->decided == 0 || at_dot) {
        note_trouble(session, tx->transfer, reply);
    }
    if (session->decided == 0 && !drew_trouble && !at_dot) {
        mq_smtp_once_more(session, tx, MQ_SMTP_TRANSFER_RETRIED_421);
    } else {
        mq_smtp_give_back(session, tx);
    }
    close_by(session, reply);
}

/* The relay wants fewer sessions. That is not this mail's fault, so it waits for another session,
 * and after that goes back. If this is the only session, the relay gets no mail for the time that
 * it names; if it names none, it is as with any session that the relay ends. */
static void crowded(struct mq_smtp_session *session, struct mq_smtp_tx *tx,
                    const struct mq_verdict *verdict, const struct mq_reply *reply)
{
    struct mq_smtp_owner *owner = session->owner;
    bool again = (tx->transfer->transport_flags & MQ_SMTP_TRANSFER_RETRIED_421) == 0;
    if (!owner->crowded(owner, tx, said(session, reply), verdict->wait_s)) {
        if (verdict->wait_s > 0) {
            relay_trouble(session, tx, verdict, reply);
        } else {
            session_trouble(session, tx, reply);
        }
        return;
    }
    if (again && tx->dot_at == 0) {
        mq_smtp_once_more(session, tx, MQ_SMTP_TRANSFER_RETRIED_421);
    } else {
        mq_smtp_give_back(session, tx);
    }
    close_by(session, reply);
}

/* The relay did not understand. The mail is tried once without extensions, and then waits. */
static void protocol_error(struct mq_smtp_session *session, struct mq_smtp_tx *tx,
                           const struct mq_reply *reply)
{
    struct mq_smtp_owner *owner = session->owner;
    struct mq_transfer *transfer = tx->transfer;
    if (tx->behind || lost_step(reply)) {
        mq_smtp_learn(owner, MQ_SMTP_FOLLOW_NEVER);
    }
    if (tx->plain) {
        transfer->at_s = mq_clock_now_s(&owner->transport->clock);
        mq_smtp_mark(transfer, false, MQ_OUTCOME_DEFERRED, reply);
        mq_smtp_finish(session, tx, MQ_TRANSFER_DONE);
    } else {
        session->decided++; /* the relay works, only not in this way */
        mq_smtp_once_more(session, tx, MQ_SMTP_TRANSFER_PLAIN);
    }
    close_by(session, reply);
}

/* Handles the verdicts that end the session after any command; returns false for all others. */
static bool ends_session(struct mq_smtp_session *session, struct mq_smtp_tx *tx,
                         const struct mq_verdict *verdict, const struct mq_reply *reply)
{
    switch (verdict->outcome) {
    case MQ_TROUBLE_SESSION:
        session_trouble(session, tx, reply);
        return true;
    case MQ_TROUBLE_SESSIONS:
        crowded(session, tx, verdict, reply);
        return true;
    case MQ_TROUBLE_RELAY:
        relay_trouble(session, tx, verdict, reply);
        return true;
    case MQ_TROUBLE_PROTOCOL:
        protocol_error(session, tx, reply);
        return true;
    default:
        return false;
    }
}

/* If no recipient was accepted, those left for another transaction are deferred. */
static void finish_without_body(struct mq_smtp_session *session, struct mq_smtp_tx *tx)
{
    for (size_t i = 0; i < tx->transfer->target_count && tx->in_transaction == 0; i++) {
        struct mq_target *target = &tx->transfer->targets[i];
        if (target->result == MQ_OUTCOME_RELEASED && target->code >= 400) {
            target->result = MQ_OUTCOME_DEFERRED;
        }
    }
    mq_smtp_finish(session, tx, MQ_TRANSFER_DONE);
    mq_smtp_advance(session);
}

/* If RSET fails, the session is of no use, and the mail is not to blame. */
static void on_rset(struct mq_smtp_session *session, struct mq_smtp_tx *tx,
                    const struct mq_reply *reply)
{
    bool good = reply->code / 100 == 2;
    if (good) {
        session->open_transaction = false;
    }
    if (tx->checking && good) {
        finish_without_body(session, tx);
    } else if (tx->checking) {
        protocol_error(session, tx, reply);
    } else if (!good) {
        mq_smtp_give_back(session, tx);
        close_by(session, reply);
    }
}

static void on_mail(struct mq_smtp_session *session, struct mq_smtp_tx *tx,
                    const struct mq_reply *reply)
{
    struct mq_verdict verdict = decide(session, MQ_STAGE_MAIL, reply);
    if (verdict.outcome == MQ_OUTCOME_DELIVERED) {
        session->open_transaction = true;
        if (tx->trial) {
            mq_smtp_learn(session->owner, MQ_SMTP_FOLLOW_DOT);
        }
    } else if (!ends_session(session, tx, &verdict, reply)) {
        mq_smtp_note_time(session, tx, &verdict);
        mq_smtp_mark(tx->transfer, false, verdict.outcome, reply);
        tx->mail_refused = true;
        tx->next = MQ_SMTP_NONE;
    }
}

static void on_rcpt(struct mq_smtp_session *session, struct mq_smtp_tx *tx, size_t i,
                    const struct mq_reply *reply)
{
    struct mq_target *target = &tx->transfer->targets[i];
    struct mq_verdict verdict = decide(session, MQ_STAGE_RCPT, reply);
    if (tx->mail_refused) {
        return;
    }
    if (verdict.outcome == MQ_TROUBLE_PROTOCOL && tx->plain) {
        verdict.outcome = MQ_OUTCOME_DEFERRED; /* only this recipient waits; the others go on */
    }
    if (verdict.outcome == MQ_OUTCOME_DELIVERED) {
        target->code = reply->code;
        tx->in_transaction++;
        return;
    }
    if (ends_session(session, tx, &verdict, reply)) {
        return;
    }
    mq_smtp_note_time(session, tx, &verdict);
    target->code = reply->code;
    mq_reply_format(reply, target->reply, sizeof target->reply);
    target->result = verdict.outcome;
    target->phase = "rcpt";
}

/* An unsolicited reply shifts the replies after it, and a recipient could be refused by the reply
 * to another one. If a message goes out, DATA's 354 proves that nothing is shifted. If none does,
 * we send RSET: with shifted replies, we would now read DATA's, which is not a 2xx. */
static bool begin_check(const struct mq_smtp_session *session, struct mq_smtp_tx *tx)
{
    bool refused = false;
    for (size_t i = 0; i < tx->transfer->target_count; i++) {
        refused = refused || (tx->transfer->targets[i].result == MQ_OUTCOME_REFUSED &&
                              tx->transfer->targets[i].code != 0);
    }
    if (!refused || tx->plain || tx->checking || !session->caps.pipelining) {
        return false;
    }
    tx->checking = true;
    tx->next = MQ_SMTP_RSET;
    return true;
}

static void on_data(struct mq_smtp_session *session, struct mq_smtp_tx *tx,
                    const struct mq_reply *reply)
{
    struct mq_verdict verdict = decide(session, MQ_STAGE_DATA, reply);
    bool go_ahead = verdict.outcome == MQ_OUTCOME_DELIVERED;
    if (go_ahead && tx->mail_refused) {
        /* The relay has some transaction open: a dot would send a mail to unknown recipients. */
        protocol_error(session, tx, reply);
    } else if (go_ahead && tx->in_transaction == 0) {
        /* RFC 2920, 3.1: a relay may answer 354 although it refused every recipient. */
        finish_without_body(session, tx);
        mq_smtp_close(session, "");
    } else if (go_ahead) {
        session->body_part = 0;
        session->body_pos = 0;
        session->line_start = true;
        mq_smtp_set_state(session, MQ_SMTP_BODY);
    } else if (!tx->mail_refused && tx->in_transaction > 0 &&
               !ends_session(session, tx, &verdict, reply)) {
        mq_smtp_note_time(session, tx, &verdict);
        mq_smtp_mark(tx->transfer, true, verdict.outcome, reply);
    } /* Else the session ends, or envelope_progress() ends the transaction: DATA was refused
         because MAIL or every RCPT was. */
}

static void accepted(struct mq_smtp_session *session, struct mq_smtp_tx *tx,
                     const struct mq_verdict *verdict, const struct mq_reply *reply)
{
    struct mq_transfer *transfer = tx->transfer;
    if ((transfer->transport_flags & MQ_SMTP_TRANSFER_PLAIN) != 0 &&
        tx->in_transaction == transfer->target_count) {
        session->owner->no_params = true; /* only a plain transaction worked: use no other now */
    }
    mq_smtp_note_time(session, tx, verdict);
    mq_smtp_mark(transfer, true, MQ_OUTCOME_DELIVERED, reply);
    transfer->enter(transfer, MQ_PHASE_ACCEPTED);
    mq_smtp_finish(session, tx, MQ_TRANSFER_DONE);
}

/* Handles a reply that does not accept the message. */
static void not_accepted(struct mq_smtp_session *session, struct mq_smtp_tx *tx,
                         const struct mq_verdict *verdict, const struct mq_reply *reply)
{
    struct mq_transfer *transfer = tx->transfer;
    mq_smtp_note_time(session, tx, verdict);
    bool decided = verdict->outcome < MQ_TROUBLE_CONNECT;
    if (decided) {
        mq_smtp_mark(transfer, true, verdict->outcome, reply);
    }
    if (tx->dot_at != 0 && verdict->outcome != MQ_OUTCOME_UNCERTAIN) {
        transfer->enter(transfer, MQ_PHASE_REFUSED);
    }
    if (decided) {
        mq_smtp_finish(session, tx, MQ_TRANSFER_DONE);
    } else {
        ends_session(session, tx, verdict, reply);
    }
}

static void on_dot(struct mq_smtp_session *session, struct mq_smtp_tx *tx, size_t target,
                   const struct mq_reply *reply)
{
    session->open_transaction = false;
    if (session->sent < tx->dot_at) {
        session->closing = true; /* the relay would read the rest of the message as commands */
    }
    struct mq_verdict verdict = decide(session, MQ_STAGE_DOT, reply);
    if (session->owner->lhlo != NULL && tx->in_transaction > 1) {
        mq_smtp_on_recipient(session, tx, target, &verdict, reply);
        return;
    }
    if (verdict.outcome == MQ_OUTCOME_DELIVERED) {
        accepted(session, tx, &verdict, reply);
    } else {
        session->closing = verdict.outcome == MQ_OUTCOME_UNCERTAIN || session->closing;
        not_accepted(session, tx, &verdict, reply);
    }
    mq_smtp_advance(session);
}

/* A reply that comes while the message still goes out decides the mail. The relay would read the
 * rest of the message as commands, so the session ends. */
static void on_early_reply(struct mq_smtp_session *session, const struct mq_reply *reply)
{
    struct mq_smtp_tx *tx = mq_smtp_current(session);
    if (reply->code != 421 && session->body_part == 0 && session->body_pos == 0) {
        close_out_of_step(session, reply); /* nothing of the message was written */
        return;
    }
    if (reply->code < 400) {
        mq_smtp_session_lost(session, out_of_step);
        return;
    }
    tx->transfer->phase = "data";
    struct mq_verdict verdict = decide(session, MQ_STAGE_DATA, reply);
    not_accepted(session, tx, &verdict, reply);
    close_by(session, reply);
}

static void dispatch(struct mq_smtp_session *session, const struct mq_smtp_expected *expected,
                     const struct mq_reply *reply)
{
    struct mq_smtp_tx *tx = &session->tx[expected->tx];
    tx->replied = true;
    if (tx->transfer != NULL) {
        tx->transfer->phase = mq_smtp_phase(expected->command);
    }
    switch (expected->command) {
    case MQ_SMTP_RSET:
        on_rset(session, tx, reply);
        break;
    case MQ_SMTP_MAIL:
        on_mail(session, tx, reply);
        break;
    case MQ_SMTP_RCPT:
        on_rcpt(session, tx, expected->target, reply);
        break;
    case MQ_SMTP_DATA:
        on_data(session, tx, reply);
        break;
    case MQ_SMTP_DOT:
        on_dot(session, tx, expected->target, reply);
        break;
    default:
        mq_smtp_close(session, "");
        break;
    }
}

/* When an envelope awaits no more replies, acts on those that came. */
static void envelope_progress(struct mq_smtp_session *session)
{
    struct mq_smtp_tx *tx = mq_smtp_current(session);
    if (session->state != MQ_SMTP_ENVELOPE || session->expected_count > 0) {
        return;
    }
    if (tx->next == MQ_SMTP_DATA && tx->in_transaction == 0) {
        tx->next = MQ_SMTP_NONE; /* every recipient was refused */
    }
    if (tx->next == MQ_SMTP_NONE && !begin_check(session, tx)) {
        finish_without_body(session, tx);
    }
}

static void on_reply(struct mq_smtp_session *session, const struct mq_reply *reply)
{
    if (session->owner->heard != NULL) {
        session->owner->heard(session->owner, reply->code);
    }
    if (session->state == MQ_SMTP_BODY && !mq_smtp_dot_left(session, mq_smtp_current(session))) {
        on_early_reply(session, reply);
        return;
    }
    if (session->expected_count == 0 && session->state == MQ_SMTP_IDLE) {
        mq_smtp_close(session, mq_smtp_is_spare(session) ? "" : said(session, reply));
        return;
    }
    if (session->expected_count == 0) {
        close_out_of_step(session, reply);
        return;
    }
    struct mq_smtp_expected expected = session->expected[session->expected_head];
    session->expected_head = (session->expected_head + 1) % MQ_SMTP_EXPECTED_MAX;
    session->expected_count--;
    dispatch(session, &expected, reply);
    envelope_progress(session);
    if (session->state == MQ_SMTP_ENVELOPE) {
        mq_smtp_restart_timer(session);
    }
    if (reply->code == 421 && session->state != MQ_SMTP_CLOSED) {
        mq_smtp_session_lost(session,
                             said(session, reply)); /* the mail that the 421 answered is decided */
    }
}

/* Handles the bytes that were read; false: the session is closed. */
static bool feed(struct mq_smtp_session *session, struct mq_str data)
{
    while (data.len > 0 && session->channel != NULL) {
        struct mq_reply reply;
        struct mq_error err;
        bool complete = false;
        if (session->hello != NULL) {
            mq_smtp_hello_read(session, &data);
            continue;
        }
        if (mq_reply_read(&session->reader, &data, &complete, &reply, &err) != MQ_OK) {
            mq_smtp_cut_off(session, err.text);
            return false;
        }
        if (complete) {
            on_reply(session, &reply);
        }
    }
    return session->channel != NULL;
}

void mq_smtp_read(struct mq_smtp_session *session)
{
    char data[4096];
    while (session->channel != NULL) {
        bool opaque = session->channel->opaque;
        size_t n = 0;
        enum mq_io io = session->channel->ops->recv(session->channel, data, sizeof data, &n);
        if (io == MQ_IO_EOF) {
            mq_smtp_cut_off(session, "the relay closed the connection");
            return;
        }
        if (io == MQ_IO_ERROR || (io == MQ_IO_AGAIN && session->write_failed)) {
            mq_smtp_cut_off(session, "the connection to the relay broke");
            return;
        }
        if (io == MQ_IO_AGAIN || !feed(session, (struct mq_str){data, n})) {
            break;
        }
        if (n < sizeof data && !opaque && !session->write_failed) {
            break; /* the socket is empty: saves a call */
        }
    }
}
