/* The relay of fuzz_session.c: reads commands and messages, and knows which reply is to which. */
#include "relay.h"

#include <string.h>

struct world w;

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
    memset(w.in->dot, 0, sizeof w.in->dot);
    w.in->mail_code = w.in->data_code = 0;
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

bool relay_took(const struct mail *mail, size_t i)
{
    return mail->mail_code / 100 == 2 && mail->asked[i] / 100 == 2;
}

static void read_command(const char *line)
{
    if (w.session.hello != NULL) {
        REQUIRE(strcmp(line, "LHLO me") == 0);
        return;
    }
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
    for (size_t i = 0; i < transfer->target_count; i++) {
        if (w.owner.lhlo ? relay_took(w.in, i) : i == 0) {
            push('.', i);
        }
    }
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

void relay_reads(const char *data, size_t len)
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
        for (size_t i = 0; i < TARGETS; i++) {
            mail->dot[i] = w.owner.lhlo && i != command->target ? mail->dot[i] : code;
        }
        break;
    }
}

void relay_heard(struct mq_smtp_owner *owner, int code)
{
    (void)owner;
    if (w.count > 0) {
        struct command command = w.commands[w.head];
        w.head = (w.head + 1) % COMMANDS;
        w.count--;
        answered(&command, code);
    }
}
