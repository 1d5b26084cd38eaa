/* SMTP sessions against a hostile relay: whatever it says and whenever it hangs up, what is on the
 * wire is SMTP, a body goes out only after MAIL, RCPT and DATA were accepted, it is the mail's, and
 * each mail comes back once, "accepted" where the dot got a 2xx, and nowhere else. The first four
 * bytes choose extensions, mails, message and writes; the rest is what the relay says, with 0xFF
 * before a letter of act(). */
#include "fuzz.h"

#include <string.h>

#include "mime/wire/message.h"
#include "send/dsn.h"
#include "send/smtp/session.h"
#include "send/transport.h"

#define MAILS    4
#define TARGETS  4
#define COMMANDS 256
#define SESSIONS 8

/* A mail, and what the relay knows about its last transaction. */
struct mail {
    struct mq_transfer transfer; /* first */
    struct mq_target targets[TARGETS];
    bool waiting, done, entered;
    int asked[TARGETS]; /* 0: no; 1: RCPT was sent; otherwise the reply's code */
    int mail_code, data_code, dot_code;
    bool dot_sent;
    size_t taken; /* recipients accepted */
};

struct command {
    char verb; /* M, R, D, '.', S (RSET), Q */
    struct mail *mail;
    size_t target;
};

static struct world {
    struct mq_channel channel;     /* first */
    struct mq_transport transport; /* gets finished transfers, and those to repeat */
    struct mq_dsn dsn;
    struct mq_smtp_owner owner;
    struct mq_smtp_session session;
    struct mail mails[MAILS];
    size_t mail_count;
    int64_t now_ms;
    /* the relay: what it has read, and how much of that has no reply yet */
    struct mq_buffer line, body;
    struct mail *in; /* of the last MAIL */
    bool in_body, lone, data_open;
    struct command commands[COMMANDS];
    size_t head, count;
    const char *says; /* what it will say */
    size_t left;
    bool eof, reset, blocked, broken, lease_over;
    size_t cut;
} w;

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

static void push(char verb, size_t target)
{
    REQUIRE(w.count < COMMANDS);
    w.commands[(w.head + w.count++) % COMMANDS] = (struct command){verb, w.in, target};
}

static void read_mail(const char *line)
{
    REQUIRE(line[10] == '<' && line[11] == 'm');
    size_t i = (size_t)(line[12] - '0');
    REQUIRE(i < w.mail_count && !w.mails[i].done && w.mails[i].entered);
    w.in = &w.mails[i];
    memset(w.in->asked, 0, sizeof w.in->asked);
    w.in->mail_code = w.in->data_code = w.in->dot_code = 0;
    w.in->dot_sent = false;
    w.in->taken = 0;
    push('M', 0);
}

static void read_rcpt(const char *line)
{
    REQUIRE(w.in != NULL && line[8] == '<' && line[9] == 't' && line[11] == 'm');
    size_t i = (size_t)(line[10] - '0');
    REQUIRE(i < w.in->transfer.target_count && w.in->asked[i] == 0);
    REQUIRE(&w.mails[line[12] - '0'] == w.in);
    w.in->asked[i] = 1;
    push('R', i);
}

static void read_command(const char *line)
{
    REQUIRE(!w.data_open); /* nothing goes after DATA before its reply */
    for (const char *c = line; *c != '\0'; c++) {
        REQUIRE(*c >= 32 && *c < 127);
    }
    if (strncmp(line, "MAIL FROM:", 10) == 0) {
        read_mail(line);
    } else if (strncmp(line, "RCPT TO:", 8) == 0) {
        read_rcpt(line);
    } else if (strcmp(line, "DATA") == 0) {
        REQUIRE(w.in != NULL);
        w.data_open = true;
        push('D', 0);
    } else if (strcmp(line, "RSET") == 0) {
        push('S', 0);
    } else {
        REQUIRE(strcmp(line, "QUIT") == 0);
        push('Q', 0);
    }
}

/* The dot came: the body must be the mail's, complete. */
static void read_dot(void)
{
    struct mq_transfer *transfer = &w.in->transfer;
    struct mq_str body = mq_buffer_view(&w.body);
    w.in_body = false;
    push('.', 0);
    REQUIRE(!w.lone);
    size_t prefix = transfer->prefix.len;
    REQUIRE(body.len == prefix + transfer->message.len);
    REQUIRE(prefix == 0 || memcmp(body.data, transfer->prefix.data, prefix) == 0);
    REQUIRE(body.len == prefix ||
            memcmp(body.data + prefix, transfer->message.data, transfer->message.len) == 0);
    w.in->dot_sent = true;
}

static void read_line(void)
{
    struct mq_str line = mq_buffer_view(&w.line);
    if (!w.in_body) {
        mq_buffer_char(&w.line, '\0');
        read_command(w.line.data);
    } else if (line.len == 1 && line.data[0] == '.') {
        read_dot();
    } else {
        REQUIRE(!w.lone);
        if (line.len > 0 && line.data[0] == '.') {
            REQUIRE(line.len > 1 && line.data[1] == '.');
            line.data++;
            line.len--;
        }
        mq_buffer_str(&w.body, line);
        mq_buffer_cstr(&w.body, "\r\n");
    }
    mq_buffer_reset(&w.line);
}

static void relay_reads(const char *data, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        bool after_cr = w.line.len > 0 && w.line.data[w.line.len - 1] == '\r';
        REQUIRE(after_cr == (data[i] == '\n'));
        if (data[i] == '\n') {
            w.line.len--;
            read_line();
        } else {
            mq_buffer_char(&w.line, data[i]);
        }
    }
}

static void answered(const struct command *command, int code)
{
    struct mail *mail = command->mail;
    switch (command->verb) {
    case 'M':
        mail->mail_code = code;
        break;
    case 'R':
        mail->asked[command->target] = code;
        mail->taken += code / 100 == 2 && mail->mail_code / 100 == 2;
        break;
    case 'D':
        w.data_open = false;
        mail->data_code = code;
        w.in_body = code == 354 && mail->mail_code / 100 == 2;
        w.lone = mail->taken == 0;
        mq_buffer_reset(&w.body);
        break;
    case '.':
        mail->dot_code = code;
        break;
    }
}

/* The session reads a reply: it belongs to the oldest command. */
static void heard(struct mq_smtp_owner *owner, int code)
{
    (void)owner;
    if (w.count > 0) {
        answered(&w.commands[w.head], code);
        w.head = (w.head + 1) % COMMANDS;
        w.count--;
    }
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
    REQUIRE(!mail->dot_sent || mail->dot_code >= 400);
}

static void require_result(const struct mail *mail, size_t i)
{
    const struct mq_target *target = &mail->targets[i];
    bool taken = mail->mail_code / 100 == 2 && mail->asked[i] / 100 == 2 &&
                 mail->data_code == 354 && mail->dot_sent;
    bool sent = taken && mail->dot_code / 100 == 2;
    REQUIRE((target->result == MQ_OUTCOME_DELIVERED) == sent);
    REQUIRE(!taken || mail->dot_code != 0 || target->result == MQ_OUTCOME_UNCERTAIN);
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
    } else if (phase == MQ_PHASE_ACCEPTED) {
        REQUIRE(mail->dot_sent && mail->dot_code / 100 == 2);
    } else {
        REQUIRE(mail->dot_code / 100 != 2);
    }
    return !w.lease_over || phase > MQ_PHASE_BODY;
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
                               .following = data[0] & 128 ? MQ_SMTP_FOLLOW_TRY : MQ_SMTP_FOLLOW_DOT,
                               .next = next,
                               .closed = closed,
                               .crowded = crowded,
                               .heard = heard};
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
