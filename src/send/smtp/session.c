/* The public functions of a session: what the pool and the loop call. */
#include "send/smtp/session.h"

#include <string.h>

#include "send/smtp/internal.h"

static const char *timeout_text(enum mq_smtp_state state)
{
    static const char *const texts[MQ_SMTP_STATE_COUNT] = {
        [MQ_SMTP_ENVELOPE] = "the relay did not answer in time",
        [MQ_SMTP_BODY] = "the relay stopped reading the message",
        [MQ_SMTP_AWAITING] = "the relay did not answer the end of the message in time",
    };
    return texts[state] ? texts[state] : "";
}

void mq_smtp_session_init(struct mq_smtp_session *session, struct mq_smtp_host *host)
{
    memset(session, 0, sizeof *session);
    session->host = host;
    session->deadline_ms = INT64_MAX;
}

void mq_smtp_session_ready(struct mq_smtp_session *session, struct mq_channel *channel,
                           const struct mq_smtp_caps *caps)
{
    session->channel = channel;
    session->caps = *caps;
    mq_reply_reader_init(&session->reader);
    mq_smtp_set_state(session, MQ_SMTP_IDLE);
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

void mq_smtp_session_pump(struct mq_smtp_session *session)
{
    mq_smtp_write(session);
    if (session->write_failed && session->channel != NULL) {
        mq_smtp_read(session); /* a reply may still be there */
    }
}

void mq_smtp_session_readable(struct mq_smtp_session *session)
{
    mq_smtp_read(session);
    mq_smtp_session_pump(session);
}

void mq_smtp_session_quit(struct mq_smtp_session *session)
{
    mq_smtp_quit(session);
    mq_smtp_session_pump(session);
}
