/* LMTP's replies to the dot: one for each recipient that was accepted (RFC 2033, 4.2). */
#include "policy/verdict.h"
#include "send/smtp/internal.h"
#include "send/transport.h"

/* The last recipient's reply has come. */
static void finish_recipients(struct mq_smtp_session *session, struct mq_smtp_tx *tx,
                              const struct mq_reply *reply)
{
    struct mq_transfer *transfer = tx->transfer;
    bool decided = false, delivered = false;
    for (size_t i = 0; i < transfer->target_count; i++) {
        decided = decided || transfer->targets[i].result != MQ_OUTCOME_RELEASED;
        delivered = delivered || transfer->targets[i].result == MQ_OUTCOME_DELIVERED;
    }
    transfer->enter(transfer, delivered ? MQ_PHASE_ACCEPTED : MQ_PHASE_REFUSED);
    if (decided) {
        mq_smtp_finish(session, tx, MQ_TRANSFER_DONE);
    } else {
        transfer->drew_trouble = true;
        mq_reply_format(reply, transfer->error, sizeof transfer->error);
        mq_smtp_give_back(session, tx);
    }
}

/* LMTP's reply to the dot for one recipient of several. Trouble of the session or the relay tells
 * nothing about this recipient, who needs another transaction; those before keep their results. */
void mq_smtp_on_recipient(struct mq_smtp_session *session, struct mq_smtp_tx *tx, size_t i,
                          const struct mq_verdict *verdict, const struct mq_reply *reply)
{
    struct mq_transfer *transfer = tx->transfer;
    struct mq_target *target = &transfer->targets[i];
    enum mq_outcome outcome = verdict->outcome;
    if (outcome == MQ_TROUBLE_PROTOCOL) {
        outcome = MQ_OUTCOME_DEFERRED;
    } else if (outcome == MQ_TROUBLE_RELAY) {
        mq_reply_format(reply, session->said, sizeof session->said);
        mq_transport_in_trouble(session->owner->transport, session->said, verdict->wait_s);
    }
    bool trouble = outcome >= MQ_TROUBLE_CONNECT;
    session->closing = session->closing || trouble || outcome == MQ_OUTCOME_UNCERTAIN;
    mq_smtp_note_time(session, tx, verdict);
    target->result = trouble ? MQ_OUTCOME_RELEASED : outcome;
    target->phase = transfer->phase;
    target->code = reply->code;
    mq_reply_format(reply, target->reply, sizeof target->reply);
    for (size_t next = i + 1; next < transfer->target_count; next++) {
        if (mq_smtp_awaits_dot(&transfer->targets[next])) {
            transfer->enter(transfer, MQ_PHASE_PARTLY);
            return;
        }
    }
    finish_recipients(session, tx, reply);
    mq_smtp_advance(session);
}
