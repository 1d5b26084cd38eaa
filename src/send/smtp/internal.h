/* Shared by the files of the SMTP session. Each uses only what is declared above its own part. */
#ifndef MQ_SEND_SMTP_INTERNAL_H
#define MQ_SEND_SMTP_INTERNAL_H

#include "send/smtp/session.h"

struct mq_verdict;

/* session_state.c */
void mq_smtp_set_state(struct mq_smtp_session *session, enum mq_smtp_state state);
/* The time since boot, by the transport's clock. */
int64_t mq_smtp_now_ms(const struct mq_smtp_session *session);
void mq_smtp_restart_timer(struct mq_smtp_session *session);
/* Notes when the reply came, and how long it asks to wait. */
void mq_smtp_note_time(struct mq_smtp_session *session, struct mq_smtp_tx *tx,
                       const struct mq_verdict *verdict);
/* Ends a transaction and gives its transfer back. */
void mq_smtp_finish(struct mq_smtp_session *session, struct mq_smtp_tx *tx,
                    enum mq_transfer_end end);
/* Resets the results to RELEASED, then gives the transfer back as UNTOUCHED. */
void mq_smtp_give_back(struct mq_smtp_session *session, struct mq_smtp_tx *tx);
/* Resets the results to RELEASED, sets `flag`, and lets the transfer wait for another session. */
void mq_smtp_once_more(struct mq_smtp_session *session, struct mq_smtp_tx *tx, unsigned flag);
/* What the history calls the command. */
const char *mq_smtp_phase(enum mq_smtp_command command);
/* Sets `result` and the transfer's phase on targets whose RCPT was accepted; without `only_in`,
 * also on unanswered ones. */
void mq_smtp_mark(struct mq_transfer *transfer, bool only_in, enum mq_outcome result,
                  const struct mq_reply *reply);
void mq_smtp_close(struct mq_smtp_session *session, const char *why);
void mq_smtp_learn(struct mq_smtp_owner *owner, enum mq_smtp_following following);
/* The relay closed or is silent: may learn FOLLOW_NEVER, then calls mq_smtp_session_lost(). */
void mq_smtp_cut_off(struct mq_smtp_session *session, const char *why);
/* The current transaction is over: the next one moves up, or the session is idle. */
void mq_smtp_advance(struct mq_smtp_session *session);

/* Whether the dot may have been sent. */
bool mq_smtp_dot_left(const struct mq_smtp_session *session, const struct mq_smtp_tx *tx);
/* Whether no mail waits for the session, so that the relay may end it. With LMTP that is not known:
 * a refusal can come in one piece with the reply to LHLO, before the session begins a mail. */
bool mq_smtp_is_spare(const struct mq_smtp_session *session);
/* Adds a command whose reply is awaited. The caller has made sure that there is room. */
void mq_smtp_expect(struct mq_smtp_session *session, enum mq_smtp_command command, uint8_t tx,
                    size_t target);

/* hello.c: LMTP's greeting, LHLO and its reply. */
void mq_smtp_hello_begin(struct mq_smtp_session *session);
/* Reads from the front of *data and advances it. At the end the session is idle or closed. */
void mq_smtp_hello_read(struct mq_smtp_session *session, struct mq_str *data);
/* Takes what the relay offers; the session is idle. */
void mq_smtp_greeted(struct mq_smtp_session *session, const struct mq_smtp_caps *caps);

/* check.c */
/* Converts what it can, refuses what the relay cannot take; false: no recipient is left. */
bool mq_smtp_check(struct mq_smtp_session *session, struct mq_transfer *transfer);

/* lmtp.c: the reply to the dot for one recipient of several. Trouble of the session or the relay
 * tells nothing about this recipient, who needs another transaction; those before keep theirs. */
void mq_smtp_on_recipient(struct mq_smtp_session *session, struct mq_smtp_tx *tx, size_t target,
                          const struct mq_verdict *verdict, const struct mq_reply *reply);

/* receive.c: reads all that has come; after a failed write, also ends the session. session_write.c
 * has the other functions of session.h, which no file of the session calls. */
void mq_smtp_read(struct mq_smtp_session *session);

/* Whether the recipient is in the transaction, and nothing has decided what became of it. */
static inline bool mq_smtp_awaits_dot(const struct mq_target *target)
{
    return target->result == MQ_OUTCOME_RELEASED && target->code / 100 == 2;
}

static inline struct mq_smtp_tx *mq_smtp_current(struct mq_smtp_session *session)
{
    return &session->tx[session->current];
}

static inline struct mq_smtp_tx *mq_smtp_follower(struct mq_smtp_session *session)
{
    return &session->tx[session->current ^ 1];
}

#endif
