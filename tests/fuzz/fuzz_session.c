/* SMTP and LMTP sessions against a hostile relay: whatever it says and whenever it hangs up, what
 * is on the wire is SMTP, a body goes out only after MAIL, RCPT and DATA were accepted, it is the
 * mail's, and each mail comes back once, "accepted" where the dot got a 2xx, and nowhere else. In
 * LMTP, each recipient has a reply to the dot.
 *
 * The first four bytes choose extensions, mails, LMTP, message and writes; the rest is what the
 * relay says, with 0xFF before a letter of act(). */
#include "fuzz.h"

#include <stdio.h>
#include <string.h>

#include "mime/wire/message.h"
#include "relay.h"

#define SESSIONS 8

static struct mq_buffer big;

static int64_t clock_us(void *context)
{
    (void)context;
    return (1000000 + w.now_ms / 1000) * 1000000;
}

static int64_t clock_ms(void *context)
{
    (void)context;
    return w.now_ms;
}

static enum mq_io channel_send(struct mq_channel *channel, const void *data, size_t len, size_t *n)
{
    (void)channel;
    REQUIRE(len > 0 && len <= MQ_SMTP_CHUNK);
    if (w.broken) {
        return MQ_IO_ERROR;
    }
    if (w.blocked) {
        return MQ_IO_AGAIN;
    }
    *n = w.cut > 0 && len > w.cut ? w.cut : len;
    relay_reads(data, *n);
    return MQ_IO_OK;
}

static enum mq_io channel_recv(struct mq_channel *channel, void *data, size_t len, size_t *n)
{
    (void)channel;
    if (w.left == 0) {
        return w.reset ? MQ_IO_ERROR : w.eof ? MQ_IO_EOF : MQ_IO_AGAIN;
    }
    *n = w.left < len ? w.left : len;
    memcpy(data, w.says, *n);
    w.says += *n;
    w.left -= *n;
    return MQ_IO_OK;
}

static void channel_close(struct mq_channel *channel)
{
    (void)channel;
}

static const struct mq_channel_ops channel_ops = {channel_send, channel_recv, channel_close};

static struct mq_transfer *next(struct mq_smtp_owner *owner, bool behind)
{
    (void)owner;
    (void)behind;
    for (size_t i = 0; i < w.mail_count; i++) {
        if (w.mails[i].waiting) {
            w.mails[i].waiting = w.mails[i].entered = false;
            return &w.mails[i].transfer;
        }
    }
    return NULL;
}

/* Not sent again if a relay may have accepted it. */
static void require_not_sent(const struct mail *mail)
{
    for (size_t i = 0; i < mail->transfer.target_count; i++) {
        REQUIRE(!mail->dot_sent || !relay_took(mail, i) || mail->dot[i] >= 400);
    }
}

static void require_result(const struct mail *mail, size_t i)
{
    const struct mq_target *target = &mail->targets[i];
    bool taken = relay_took(mail, i) && mail->data_code == 354 && mail->dot_sent;
    bool sent = taken && mail->dot[i] / 100 == 2;
    REQUIRE((target->result == MQ_OUTCOME_DELIVERED) == sent);
    REQUIRE(!taken || mail->dot[i] != 0 || target->result == MQ_OUTCOME_UNCERTAIN);
    REQUIRE(target->result != MQ_OUTCOME_UNCERTAIN || taken);
    REQUIRE(target->result != MQ_OUTCOME_RELEASED || target->code >= 400);
    REQUIRE(memchr(target->reply, '\0', sizeof target->reply) != NULL);
}

static void done(struct mq_transfer *transfer)
{
    struct mail *mail = (struct mail *)transfer;
    REQUIRE(!mail->done && !mail->waiting);
    mail->done = true;
    if (!mail->entered) { /* refused here: nothing was sent */
        return;
    }
    if (transfer->end != MQ_TRANSFER_DONE) {
        require_not_sent(mail);
        return;
    }
    for (size_t i = 0; i < transfer->target_count; i++) {
        require_result(mail, i);
    }
}

static void again(struct mq_transfer *transfer)
{
    struct mail *mail = (struct mail *)transfer;
    REQUIRE(!mail->done && !mail->waiting && mail->entered);
    require_not_sent(mail);
    for (size_t i = 0; i < transfer->target_count; i++) {
        REQUIRE(mail->targets[i].result == MQ_OUTCOME_RELEASED && mail->targets[i].code == 0);
    }
    mail->waiting = true;
}

/* Takes the transfers that came back since the last call. */
static void collect(void)
{
    struct mq_transfer *transfer;
    while ((transfer = mq_transfer_take(&w.transport.done, NULL)) != NULL) {
        done(transfer);
    }
    while ((transfer = mq_transfer_take(&w.transport.pending, NULL)) != NULL) {
        again(transfer);
    }
    const struct mq_relay_trouble *trouble = &w.transport.trouble;
    REQUIRE(!w.transport.troubled || (trouble->reason[0] != '\0' && trouble->retry_after_s >= 0));
    w.transport.troubled = false; /* it belongs to another run */
}

static bool crowded(struct mq_smtp_owner *owner, const struct mq_smtp_tx *tx, const char *why,
                    int64_t wait_s)
{
    return owner == &w.owner && tx->transfer != NULL && why[0] != '\0' && wait_s >= 0;
}

static void closed(struct mq_smtp_owner *owner, struct mq_smtp_session *session, const char *why)
{
    (void)owner;
    REQUIRE(why != NULL && session->channel == NULL);
}

static bool enter(struct mq_transfer *transfer, enum mq_transfer_phase phase)
{
    struct mail *mail = (struct mail *)transfer;
    if (phase == MQ_PHASE_ENVELOPE) {
        mail->entered = true;
    } else if (phase == MQ_PHASE_BODY) {
        REQUIRE(mail->entered && !mail->dot_sent && mail->taken > 0 && mail->data_code == 354);
    } else if (phase == MQ_PHASE_PARTLY) {
        REQUIRE(w.owner.lhlo && mail->dot_sent);
    } else {
        bool accepted = false;
        for (size_t i = 0; i < transfer->target_count; i++) {
            accepted = accepted || (relay_took(mail, i) && mail->dot[i] / 100 == 2);
        }
        REQUIRE(accepted == (phase == MQ_PHASE_ACCEPTED));
    }
    return !w.lease_over || phase > MQ_PHASE_BODY;
}

static void says(const char *text, size_t len)
{
    w.says = text;
    w.left = len;
    while (w.session.channel != NULL && w.left > 0) {
        mq_smtp_session_readable(&w.session);
        collect();
    }
    w.left = 0;
}

static void connect_session(const uint8_t *how)
{
    struct mq_smtp_caps caps = {.pipelining = how[0] & 1,
                                .eightbit = how[0] & 2,
                                .smtputf8 = how[0] & 4,
                                .dsn = how[0] & 8,
                                .size = how[0] & 16,
                                .size_max = how[0] & 32 ? 30000 : 0};
    mq_buffer_reset(&w.line);
    w.in = NULL;
    w.in_body = w.lone = w.data_open = w.eof = w.reset = w.blocked = w.broken = false;
    w.head = w.count = 0;
    mq_smtp_session_init(&w.session, &w.owner);
    mq_smtp_session_ready(&w.session, &w.channel, &caps);
    mq_smtp_session_pump(&w.session);
    collect();
    if (w.owner.lhlo != NULL && (how[1] & 32) == 0) { /* else, what the input says */
        char text[128];
        int len = snprintf(
            text, sizeof text, "250-x\r\n%s%s%s%s250 x\r\n",
            how[0] & 32 ? "250-SIZE 30000\r\n" : "", how[0] & 1 ? "250-PIPELINING\r\n" : "",
            how[0] & 2 ? "250-8BITMIME\r\n" : "", how[0] & 4 ? "250-SMTPUTF8\r\n" : "");
        says("220 x\r\n", 7);
        says(text, (size_t)len);
    }
}

static void make_mails(const uint8_t *how)
{
    static const char *const messages[] = {"Subject: x\r\n\r\nhello\r\n", "",
                                           ".\r\n..\r\n\r\n.x\r\n",
                                           "Subject: \r\n\r\n.\r\nQUIT\r\n"};
    static const char *const from[MAILS] = {"m0@y", "m1@y", "m2@y", "m3@y"};
    static char to[MAILS][TARGETS][8];
    w.mail_count = 1 + how[1] % MAILS;
    while (big.len < 40000) {
        mq_buffer_cstr(&big, ".\r\n.line of a long message\r\n");
    }
    for (size_t i = 0; i < w.mail_count; i++) {
        struct mail *mail = &w.mails[i];
        mail->waiting = true;
        mail->transfer.from = from[i];
        mail->transfer.targets = mail->targets;
        mail->transfer.target_count = 1 + how[1] / 4 % TARGETS;
        mail->transfer.prefix = mq_str_of(how[2] & 8 ? ".X: y\r\n" : "");
        mail->transfer.message = mq_str_of(messages[how[2] % 4]);
        if (how[2] & 4) {
            mail->transfer.message = mq_buffer_view(&big);
        }
        mail->transfer.flags = how[2] & 16 ? MQ_MESSAGE_8BIT : 0;
        mail->transfer.enter = enter;
        for (size_t k = 0; k < TARGETS; k++) {
            memcpy(to[i][k], "t0m0@x", 7);
            to[i][k][1] = (char)('0' + k);
            to[i][k][3] = (char)('0' + i);
            mail->targets[k].address = to[i][k];
        }
    }
}

/* Positive replies: to all commands without one, or to one command. */
static void agree(bool all)
{
    for (size_t n = all ? COMMANDS : 1; n > 0 && w.count > 0 && w.session.channel != NULL; n--) {
        bool data = w.commands[w.head].verb == 'D';
        says(data ? "354 x\r\n" : "250 x\r\n", 7);
    }
}

static void act(uint8_t letter)
{
    w.eof = w.eof || letter == 'e';
    w.reset = w.reset || letter == 'x';
    w.broken = w.broken || letter == 'w';
    w.blocked = w.blocked != (letter == 'b');
    w.lease_over = w.lease_over != (letter == 'l');
    if (letter == '+' || letter == 'g') {
        agree(letter == '+');
    } else if (letter == 't') {
        w.now_ms = w.session.deadline_ms < INT64_MAX ? w.session.deadline_ms : w.now_ms;
        mq_smtp_session_check_timeout(&w.session, w.now_ms);
    } else if (letter == 'r') {
        mq_smtp_session_recall(&w.session);
    } else if (letter == 'e' || letter == 'x') {
        mq_smtp_session_readable(&w.session);
    } else {
        mq_smtp_session_pump(&w.session);
    }
    collect();
}

static void run(const uint8_t *how, const uint8_t *data, size_t size)
{
    connect_session(how);
    for (size_t sessions = 1; size > 0 && sessions <= SESSIONS;) {
        const uint8_t *end = memchr(data, 0xFF, size);
        size_t len = end != NULL ? (size_t)(end - data) : size;
        says((const char *)data, len);
        data += len;
        size -= len;
        if (size >= 2 && w.session.channel != NULL) {
            act(data[1]);
        }
        data += size < 2 ? size : 2;
        size -= size < 2 ? size : 2;
        if (w.session.channel == NULL && size > 0) {
            connect_session(how);
            sessions++;
        }
    }
    if (w.session.channel != NULL) {
        mq_smtp_session_lost(&w.session, "over");
    }
    collect();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4) {
        return 0;
    }
    memset(&w, 0, sizeof w);
    w.channel.ops = &channel_ops;
    w.now_ms = 1000;
    w.cut = data[3];
    w.transport.clock = (struct mq_clock){clock_us, clock_ms, NULL};
    w.dsn = (struct mq_dsn){.command_timeout_ms = 300000,
                            .data_timeout_ms = 120000,
                            .block_timeout_ms = 180000,
                            .final_timeout_ms = 600000,
                            .idle_ms = 10000,
                            .mails_per_connection = data[2] & 32 ? 2 : 100};
    w.owner =
        (struct mq_smtp_owner){.transport = &w.transport,
                               .dsn = &w.dsn,
                               .lhlo = data[1] & 16 ? "me" : NULL,
                               .following = data[0] & 128 ? MQ_SMTP_FOLLOW_TRY : MQ_SMTP_FOLLOW_DOT,
                               .next = next,
                               .closed = closed,
                               .crowded = crowded,
                               .heard = relay_heard};
    make_mails(data);
    run(data, data + 4, size - 4);
    for (size_t i = 0; i < w.mail_count; i++) {
        REQUIRE(w.mails[i].done != w.mails[i].waiting);
    }
    for (int i = 0; i < MQ_SMTP_STATE_COUNT; i++) {
        REQUIRE(w.owner.in_state[i] == 0);
    }
    REQUIRE(!w.owner.trying);
    mq_buffer_clear(&w.line);
    mq_buffer_clear(&w.body);
    return 0;
}
