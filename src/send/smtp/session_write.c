/* What a session sends: commands in groups (RFC 2920), the message with its dots stuffed; and the
 * functions that the pool calls. */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "mime/wire/message.h"
#include "send/dsn.h"
#include "send/smtp/internal.h"
#include "send/transport.h"

/* Room for the longest command: MAIL with an address of 320 octets and its parameters. */
#define COMMAND_ROOM 640
/* Room for a stuffed dot, a missing line end and the final dot. */
#define DOT_ROOM 8
/* Bytes that a session writes before the loop looks for replies and at the other sessions. Without
 * this limit, if a relay takes everything at once, its replies would not be read before the dot. */
#define TURN_BYTES (128 << 10)

static size_t room(const struct mq_smtp_session *session)
{
    return MQ_SMTP_CHUNK - session->out_len;
}

static void append(struct mq_smtp_session *session, const char *data, size_t len)
{
    memcpy(session->out + session->out_len, data, len);
    session->out_len += len;
}

/* Appends a command; there must be room for it. */
__attribute__((format(printf, 2, 3))) static void put(struct mq_smtp_session *session,
                                                      const char *format, ...)
{
    va_list args;
    va_start(args, format);
    session->out_len +=
        (size_t)vsnprintf(session->out + session->out_len, room(session), format, args);
    va_end(args);
}

/* Returns the first recipient from `at` on that needs a RCPT; target_count: none. */
static size_t next_target(const struct mq_transfer *transfer, size_t at)
{
    while (at < transfer->target_count && (transfer->targets[at].result != MQ_OUTCOME_RELEASED ||
                                           transfer->targets[at].code != 0)) {
        at++;
    }
    return at;
}

static void append_mail(struct mq_smtp_session *session, struct mq_smtp_tx *tx)
{
    const struct mq_transfer *transfer = tx->transfer;
    const struct mq_smtp_caps *caps = &session->caps;
    char size[32] = "", params[MQ_NOTIFY_PARAMS_ROOM] = "";
    /* If SMTPUTF8 is not offered, mq_smtp_check() has refused what needs it. */
    bool utf8 = caps->smtputf8 &&
                (transfer->utf8_address || (transfer->flags & MQ_MESSAGE_UTF8_HEADERS) != 0);
    bool eightbit = caps->eightbit && (transfer->flags & MQ_MESSAGE_8BIT) != 0 && !tx->plain;
    if (caps->size && !tx->plain) {
        snprintf(size, sizeof size, " SIZE=%zu", transfer->prefix.len + transfer->message.len);
    }
    if (caps->dsn && !tx->plain) {
        mq_notify_mail_params(&transfer->notify, params);
    }
    tx->mail_at = session->sent + session->out_len;
    /* SMTPUTF8 is also for a plain transaction: without it the address is invalid. */
    put(session, "MAIL FROM:<%s>%s%s%s%s\r\n", transfer->from, size,
        eightbit ? " BODY=8BITMIME" : "", utf8 ? " SMTPUTF8" : "", params);
    tx->next_target = next_target(transfer, 0);
    tx->next = MQ_SMTP_RCPT;
}

static void append_rcpt(struct mq_smtp_session *session, struct mq_smtp_tx *tx)
{
    char params[MQ_NOTIFY_PARAMS_ROOM] = "";
    if (session->caps.dsn && !tx->plain) {
        mq_notify_rcpt_params(&tx->transfer->notify, params);
    }
    put(session, "RCPT TO:<%s>%s\r\n", tx->transfer->targets[tx->next_target].address, params);
    tx->next_target = next_target(tx->transfer, tx->next_target + 1);
    if (tx->next_target >= tx->transfer->target_count) {
        tx->next = MQ_SMTP_DATA;
    }
}

static void append_command(struct mq_smtp_session *session, struct mq_smtp_tx *tx)
{
    mq_smtp_expect(session, tx->next, (uint8_t)(tx - session->tx), tx->next_target);
    if (tx->next == MQ_SMTP_RSET) {
        put(session, "RSET\r\n");
        tx->next = tx->checking ? MQ_SMTP_NONE : MQ_SMTP_MAIL;
    } else if (tx->next == MQ_SMTP_MAIL) {
        append_mail(session, tx);
    } else if (tx->next == MQ_SMTP_RCPT) {
        append_rcpt(session, tx);
    } else {
        put(session, "DATA\r\n");
        tx->next = MQ_SMTP_NONE;
    }
}

/* Appends commands of the envelope: as one group, or one by one. */
static void append_commands(struct mq_smtp_session *session, struct mq_smtp_tx *tx)
{
    bool group = session->caps.pipelining && !tx->plain;
    /* One entry of `expected` is kept free for the dot's reply. */
    size_t most = group ? MQ_SMTP_EXPECTED_MAX - 1 : 1;
    while (tx->used && tx->next != MQ_SMTP_NONE && room(session) >= COMMAND_ROOM &&
           session->expected_count < most) {
        append_command(session, tx);
    }
}

/* The first dot behind a line end, or NULL. This reads each octet of a message: memchr() does it
 * many times faster than memmem() with two octets. */
static const char *line_dot(const char *text, size_t len)
{
    const char *end = text + len, *dot = text;
    while (dot + 1 < end && (dot = memchr(dot + 1, '.', (size_t)(end - dot) - 1)) != NULL) {
        if (dot[-1] == '\n') {
            return dot;
        }
    }
    return NULL;
}

/* Appends as much of `text` as fits, with a dot at the beginning of a line doubled (RFC 5321,
 * 4.5.2). Returns how many bytes of `text` were taken. */
static size_t append_stuffed(struct mq_smtp_session *session, struct mq_str text)
{
    size_t at = 0;
    while (at < text.len && room(session) > DOT_ROOM) {
        if (session->line_start && text.data[at] == '.') {
            append(session, ".", 1);
        }
        size_t len = text.len - at;
        if (len > room(session) - DOT_ROOM + 1) {
            len = room(session) - DOT_ROOM + 1;
        }
        /* Up to a line end before a dot; that dot is the next round's first. */
        const char *dot = line_dot(text.data + at, len);
        if (dot != NULL) {
            len = (size_t)(dot - (text.data + at));
        }
        append(session, text.data + at, len);
        at += len;
        session->line_start = text.data[at - 1] == '\n';
    }
    return at;
}

/* LMTP answers the dot once for each recipient that it accepted (RFC 2033, 4.2). */
static void expect_dot(struct mq_smtp_session *session, const struct mq_transfer *transfer)
{
    if (session->owner->lhlo == NULL) {
        mq_smtp_expect(session, MQ_SMTP_DOT, session->current, 0);
        return;
    }
    for (size_t i = 0; i < transfer->target_count; i++) {
        if (mq_smtp_awaits_dot(&transfer->targets[i])) {
            mq_smtp_expect(session, MQ_SMTP_DOT, session->current, i);
        }
    }
}

/* Appends as much of the message as fits; after its end, the dot if enter() agrees. */
static void append_body(struct mq_smtp_session *session, struct mq_smtp_tx *tx)
{
    struct mq_transfer *transfer = tx->transfer;
    while (session->body_part < 2) {
        struct mq_str part = session->body_part == 0 ? transfer->prefix : transfer->message;
        if (session->body_pos < part.len) {
            struct mq_str rest = {part.data + session->body_pos, part.len - session->body_pos};
            session->body_pos += append_stuffed(session, rest);
        }
        if (session->body_pos < part.len) {
            return;
        }
        session->body_part++;
        session->body_pos = 0;
    }
    if (!transfer->enter(transfer, MQ_PHASE_BODY)) {
        mq_smtp_finish(session, tx, MQ_TRANSFER_LEASE_OVER);
        mq_smtp_close(session, "");
        return;
    }
    expect_dot(session, transfer);
    put(session, session->line_start ? ".\r\n" : "\r\n.\r\n");
    tx->dot_at = session->sent + session->out_len;
}

/* ---- what to write next ---- */

bool mq_smtp_session_may_begin(const struct mq_smtp_session *session)
{
    return session->state == MQ_SMTP_IDLE && !session->last && !session->closing;
}

/* A trial goes out with the previous mail's dot: the relay has both before it answers one. */
static bool following_is_allowed(const struct mq_smtp_session *session)
{
    const struct mq_smtp_owner *owner = session->owner;
    bool with_dot = session->maybe_sent < session->tx[session->current].dot_at;
    return owner->following == MQ_SMTP_FOLLOW_DOT ||
           (owner->following == MQ_SMTP_FOLLOW_TRY && !owner->trying && with_dot);
}

bool mq_smtp_session_may_follow(const struct mq_smtp_session *session)
{
    const struct mq_smtp_tx *tx = &session->tx[session->current];
    return (session->state == MQ_SMTP_BODY || session->state == MQ_SMTP_AWAITING) &&
           session->caps.pipelining && !session->owner->no_params && !session->last &&
           !session->closing && !tx->plain && tx->dot_at != 0 &&
           !session->tx[session->current ^ 1].used && following_is_allowed(session);
}

static bool begin(struct mq_smtp_session *session, struct mq_transfer *transfer, bool behind)
{
    struct mq_smtp_owner *owner = session->owner;
    transfer->error[0] = '\0'; /* left from an earlier session */
    bool goes = mq_smtp_check(session, transfer);
    if (!goes || !transfer->enter(transfer, MQ_PHASE_ENVELOPE)) {
        mq_transport_give_back(owner->transport, transfer,
                               goes ? MQ_TRANSFER_LEASE_OVER : MQ_TRANSFER_DONE);
        return false;
    }
    bool plain = owner->no_params || (transfer->transport_flags & MQ_SMTP_TRANSFER_PLAIN) != 0;
    bool reset = session->open_transaction && !behind;
    struct mq_smtp_tx *tx = behind ? mq_smtp_follower(session) : mq_smtp_current(session);
    *tx = (struct mq_smtp_tx){.transfer = transfer,
                              .used = true,
                              .plain = plain,
                              .behind = behind,
                              .next = reset ? MQ_SMTP_RSET : MQ_SMTP_MAIL,
                              .mail_at = UINT64_MAX,
                              .mail_ms = mq_smtp_now_ms(session)};
    if (++session->mails >= owner->dsn->mails_per_connection) {
        session->last = true;
    }
    if (!behind) {
        mq_smtp_set_state(session, MQ_SMTP_ENVELOPE);
    } else if (owner->following == MQ_SMTP_FOLLOW_TRY) {
        tx->trial = owner->trying = true;
    }
    return true;
}

/* Ends an idle session. */
static void quit(struct mq_smtp_session *session)
{
    if (session->state == MQ_SMTP_IDLE) {
        mq_smtp_expect(session, MQ_SMTP_QUIT, 0, 0);
        session->out_pos = session->out_len = 0;
        put(session, "QUIT\r\n");
        mq_smtp_set_state(session, MQ_SMTP_QUITTING);
    }
}

static void take_follower(struct mq_smtp_session *session)
{
    struct mq_smtp_owner *owner = session->owner;
    while (mq_smtp_session_may_follow(session)) {
        struct mq_transfer *transfer = owner->next(owner, true);
        if (transfer == NULL || begin(session, transfer, true)) {
            return;
        }
    }
}

static void fill(struct mq_smtp_session *session)
{
    struct mq_smtp_tx *current = mq_smtp_current(session);
    append_commands(session, current);
    if (session->state == MQ_SMTP_BODY && current->dot_at == 0) {
        append_body(session, current);
    }
    if (session->state != MQ_SMTP_CLOSED && current->dot_at != 0) {
        take_follower(session);
        append_commands(session, mq_smtp_follower(session));
    }
}

static void take_work(struct mq_smtp_session *session)
{
    struct mq_smtp_owner *owner = session->owner;
    while (mq_smtp_session_may_begin(session)) {
        struct mq_transfer *transfer = owner->next(owner, false);
        if (transfer == NULL || begin(session, transfer, false)) {
            break;
        }
    }
    if (session->last) {
        quit(session);
    }
}

/* Writes from the buffer; false: nothing more can be written now. */
static bool write_some(struct mq_smtp_session *session)
{
    size_t len = session->out_len - session->out_pos;
    size_t n = 0;
    enum mq_io io =
        session->channel->ops->send(session->channel, session->out + session->out_pos, len, &n);
    if (io == MQ_IO_OK) {
        session->out_pos += n;
        session->sent += n;
        session->wants_write = false;
        session->maybe_sent =
            session->maybe_sent < session->sent ? session->sent : session->maybe_sent;
        if (session->state == MQ_SMTP_BODY) {
            uint64_t dot_at = mq_smtp_current(session)->dot_at;
            bool all = dot_at != 0 && session->sent >= dot_at;
            mq_smtp_set_state(session, all ? MQ_SMTP_AWAITING : MQ_SMTP_BODY);
        }
        return true;
    }
    if (session->channel->opaque) {
        session->maybe_sent = session->sent + len;
    }
    session->wants_write = io == MQ_IO_AGAIN;
    if (io != MQ_IO_AGAIN) {
        session->write_failed = true;
    }
    return false;
}

/* Takes work from the pool and writes until the socket takes no more. */
static void write_all(struct mq_smtp_session *session)
{
    uint64_t cycle_ends = session->sent + TURN_BYTES;
    while (session->channel != NULL) {
        if (session->sent >= cycle_ends) {
            session->wants_write = true;
            break;
        }
        if (session->out_pos == session->out_len) {
            session->out_pos = session->out_len = 0;
            take_work(session);
            if (session->channel != NULL && session->out_len == 0) {
                fill(session);
            }
            if (session->channel == NULL || session->out_len == 0) {
                break;
            }
        }
        if (!write_some(session)) {
            break;
        }
    }
}

/* ---- what the pool calls ---- */

void mq_smtp_session_init(struct mq_smtp_session *session, struct mq_smtp_owner *owner)
{
    memset(session, 0, offsetof(struct mq_smtp_session, expected));
    session->owner = owner;
    session->deadline_ms = INT64_MAX;
}

void mq_smtp_session_ready(struct mq_smtp_session *session, struct mq_channel *channel,
                           const struct mq_smtp_caps *caps)
{
    session->channel = channel;
    if (session->owner->lhlo != NULL) {
        mq_smtp_hello_begin(session);
    } else {
        mq_smtp_greeted(session, caps);
    }
}

void mq_smtp_session_check_timeout(struct mq_smtp_session *session, int64_t now_ms)
{
    static const char *const silence[MQ_SMTP_STATE_COUNT] = {
        [MQ_SMTP_CONNECTING] = "the relay did not greet in time",
        [MQ_SMTP_ENVELOPE] = "the relay did not answer in time",
        [MQ_SMTP_BODY] = "the relay stopped reading the message",
        [MQ_SMTP_AWAITING] = "the relay did not answer the end of the message in time",
        [MQ_SMTP_QUITTING] = "",
    };
    if (now_ms >= session->deadline_ms && session->state == MQ_SMTP_IDLE) {
        mq_smtp_session_quit(session);
    } else if (now_ms >= session->deadline_ms && silence[session->state] != NULL) {
        session->silent = true;
        mq_smtp_cut_off(session, silence[session->state]);
    }
}

void mq_smtp_session_recall(struct mq_smtp_session *session)
{
    struct mq_smtp_tx *follower = mq_smtp_follower(session);
    if (session->state == MQ_SMTP_ENVELOPE) {
        mq_smtp_close(session, "");
    } else if (follower->used) {
        /* The follower's envelope is out: without a body, only the connection's end can end it. */
        mq_smtp_give_back(session, follower);
        session->closing = true;
    }
}

void mq_smtp_session_pump(struct mq_smtp_session *session)
{
    write_all(session);
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
    quit(session);
    mq_smtp_session_pump(session);
}
