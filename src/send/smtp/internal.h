/* What the files of the SMTP session share. Each uses only those above it here. */
#ifndef MQ_SEND_SMTP_INTERNAL_H
#define MQ_SEND_SMTP_INTERNAL_H

#include "send/smtp/session.h"

/* progress.c */
void mq_smtp_set_state(struct mq_smtp_session *session, enum mq_smtp_state state);
/* Boot time by the mails' clock. */
int64_t mq_smtp_now_ms(const struct mq_smtp_session *session);
void mq_smtp_restart_timer(struct mq_smtp_session *session);
/* Gives a transaction's transfer back. */
void mq_smtp_finish(struct mq_smtp_session *session, struct mq_smtp_tx *tx,
                    enum mq_transfer_end end);
/* Results to RELEASED, then back UNTOUCHED. */
void mq_smtp_give_back(struct mq_smtp_session *session, struct mq_smtp_tx *tx);
/* Results to RELEASED, then to wait for another session, with a bit of transport_flags. */
void mq_smtp_once_more(struct mq_smtp_session *session, struct mq_smtp_tx *tx, unsigned flag);
/* Sets `result` on every target that has none; only those in the transaction with `only_in`. */
void mq_smtp_mark(struct mq_transfer *transfer, bool only_in, enum mq_outcome result,
                  const struct mq_reply *reply);
void mq_smtp_close(struct mq_smtp_session *session, const char *why);
void mq_smtp_learn(struct mq_smtp_host *host, enum mq_smtp_following following);
/* The relay ended the connection, or is silent: mq_smtp_session_lost(), and what it teaches. */
void mq_smtp_cut_off(struct mq_smtp_session *session, const char *why);
/* The current transaction is over: the one behind moves up, or the session is idle. */
void mq_smtp_advance(struct mq_smtp_session *session);

/* Whether the dot may have left. */
bool mq_smtp_dot_left(const struct mq_smtp_session *session, const struct mq_smtp_tx *tx);
/* Room is the caller's to see to. */
void mq_smtp_expect(struct mq_smtp_session *session, enum mq_smtp_command command, uint8_t tx,
                    size_t target);

/* check.c */
/* Converts what can be, refuses locally what cannot be sent; false when no recipient is left. */
bool mq_smtp_check(struct mq_smtp_session *session, struct mq_transfer *transfer);

/* receive.c: reads all there is. After a write that failed, it ends the session. write.c has the
 * functions of session.h, which no file here uses. */
void mq_smtp_read(struct mq_smtp_session *session);

static inline struct mq_smtp_tx *mq_smtp_current(struct mq_smtp_session *session)
{
    return &session->tx[session->current];
}

static inline struct mq_smtp_tx *mq_smtp_follower(struct mq_smtp_session *session)
{
    return &session->tx[session->current ^ 1];
}

#endif
