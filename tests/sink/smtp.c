/* RFC 5321: commands, their order, the transaction. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "conn.h"

void smtp_end_transaction(struct conn *c)
{
    c->mail.open = false;
    c->mail.count = 0;
    c->mail.recipients.length = 0;
    c->mail.from[0] = '\0';
    c->mail.eight_bit = c->mail.utf8 = false;
}

void smtp_forget(struct conn *c)
{
    smtp_end_transaction(c);
    c->helo = c->authenticated = false;
    c->capabilities = 0;
}

void smtp_greet(struct conn *c)
{
    struct sink *sink = c->sink;
    int64_t limit = sink->options.max_connections;
    if (limit > 0 && (int64_t)sink->counters.open > limit) {
        sink->counters.refused++;
        reply_plain(c, "421 4.7.0 %s too many connections", sink->options.hostname);
        return;
    }
    int code = reply_play(c, STAGE_CONNECT, "", "220 %s ESMTP mq-sink", sink->options.hostname);
    c->refused = code != 220;
}

static void ehlo(struct conn *c, char *argument)
{
    const struct options *o = &c->sink->options;
    if (*argument == '\0') {
        reply_plain(c, "501 5.5.4 a name is missing");
        return;
    }
    c->capabilities = o->capabilities;
    if (c->ssl != NULL || c->sink->tls == NULL) {
        c->capabilities &= ~(unsigned)CAP_STARTTLS;
    }
    if (o->auth_user == NULL || (o->auth_tls_only && c->ssl == NULL)) {
        c->capabilities &= ~(unsigned)CAP_AUTH;
    }
    if (reply_ehlo(c, argument) == 250) {
        c->helo = true;
        smtp_end_transaction(c);
    }
}

static void helo(struct conn *c, char *argument)
{
    if (*argument == '\0') {
        reply_plain(c, "501 5.5.4 a name is missing");
        return;
    }
    c->capabilities = 0;
    if (reply_play(c, STAGE_HELO, argument, "250 %s", c->sink->options.hostname) == 250) {
        c->helo = true;
        smtp_end_transaction(c);
    }
}

static void starttls(struct conn *c, char *argument)
{
    if (*argument != '\0') {
        reply_plain(c, "501 5.5.4 no parameters allowed");
        return;
    }
    if ((c->capabilities & CAP_STARTTLS) == 0) {
        log_violation(c, "not-offered", "STARTTLS");
        reply_plain(c, "502 5.5.1 not offered");
        return;
    }
    c->in_start = c->in_end; /* RFC 3207 4.2: never believed once the session is encrypted */
    if (reply_play(c, STAGE_STARTTLS, "", "220 2.0.0 ready to start TLS") == 220) {
        c->start_tls = c->has_after = c->held = true;
    }
}

static void auth(struct conn *c, char *argument)
{
    if ((c->capabilities & CAP_AUTH) == 0) {
        log_violation(c, "not-offered", "AUTH");
        reply_plain(c, "503 5.5.1 AUTH is not offered");
    } else if (c->authenticated || c->mail.open) {
        log_violation(c, "sequence", "AUTH");
        reply_plain(c, "503 5.5.1 not now");
    } else {
        auth_begin(c, argument);
    }
}

static bool is_ascii(const char *text)
{
    for (; *text != '\0'; text++) {
        if ((*text & 0x80) != 0) {
            return false;
        }
    }
    return true;
}

/* A parameter of MAIL that was not offered, or is wrong: replies, and returns false. */
static bool parameter_refuse(struct conn *c, const char *parameter)
{
    log_violation(c, "parameter", parameter);
    reply_plain(c, "555 5.5.4 parameter not supported: %.100s", parameter);
    return false;
}

static bool parameter_size(struct conn *c, const char *parameter)
{
    int64_t size = 0;
    if ((c->capabilities & CAP_SIZE) == 0 || !number_parse(parameter + 5, &size)) {
        return parameter_refuse(c, parameter);
    }
    if (c->sink->options.size > 0 && size > c->sink->options.size) {
        reply_plain(c, "552 5.3.4 message too big");
        return false;
    }
    return true;
}

/* Replies itself if it returns false. */
static bool mail_parameters(struct conn *c, char *parameters)
{
    char *rest = NULL;
    for (char *p = strtok_r(parameters, " ", &rest); p != NULL; p = strtok_r(NULL, " ", &rest)) {
        if (strncasecmp(p, "SIZE=", 5) == 0) {
            if (!parameter_size(c, p)) {
                return false;
            }
        } else if (strncasecmp(p, "BODY=", 5) == 0 && (c->capabilities & CAP_8BITMIME) != 0) {
            c->mail.eight_bit = strcasecmp(p + 5, "8BITMIME") == 0;
            if (!c->mail.eight_bit && strcasecmp(p + 5, "7BIT") != 0) {
                return parameter_refuse(c, p);
            }
        } else if (strcasecmp(p, "SMTPUTF8") == 0 && (c->capabilities & CAP_SMTPUTF8) != 0) {
            c->mail.utf8 = true;
        } else if (strncasecmp(p, "AUTH=", 5) != 0 || (c->capabilities & CAP_AUTH) == 0) {
            return parameter_refuse(c, p);
        }
    }
    return true;
}

/* RFC 6531: only with SMTPUTF8 may an address be other than ASCII. */
static bool address_allowed(struct conn *c, const char *address)
{
    if (c->mail.utf8 || is_ascii(address)) {
        return true;
    }
    log_violation(c, "utf8-address", address);
    reply_plain(c, "553 5.6.7 an address that is not ASCII needs SMTPUTF8");
    return false;
}

/* Replies itself if it returns false. */
static bool mail_allowed(struct conn *c)
{
    const struct options *o = &c->sink->options;
    if (!c->helo || c->mail.open) {
        log_violation(c, "sequence", c->helo ? "MAIL within a transaction" : "MAIL before EHLO");
        reply_plain(c, "503 5.5.1 %s", c->helo ? "a transaction is open" : "say EHLO first");
        return false;
    }
    if (o->require_tls && c->ssl == NULL) {
        reply_plain(c, "530 5.7.0 must issue a STARTTLS command first");
        return false;
    }
    if (o->require_auth && !c->authenticated) {
        reply_plain(c, "530 5.7.0 authentication required");
        return false;
    }
    if (o->max_mails > 0 && c->mails >= o->max_mails) {
        reply_plain(c, "421 4.7.0 too many messages on this connection");
        return false;
    }
    return true;
}

static void mail(struct conn *c, char *argument)
{
    if (!mail_allowed(c)) {
        return;
    }
    smtp_end_transaction(c);
    char *parameters = path_parse(argument, "FROM:", c->mail.from, sizeof c->mail.from);
    if (parameters == NULL) {
        log_violation(c, "syntax", "MAIL");
        reply_plain(c, "501 5.5.4 expected MAIL FROM:<address>");
        return;
    }
    if (!mail_parameters(c, parameters) || !address_allowed(c, c->mail.from)) {
        return;
    }
    c->message.testid[0] = '\0';
    c->mail.open = reply_play(c, STAGE_MAIL, c->mail.from, "250 2.1.0 Ok") / 100 == 2;
}

static void rcpt(struct conn *c, char *argument)
{
    char address[512];
    if (!c->mail.open) {
        reply_plain(c, "503 5.5.1 MAIL first");
        return;
    }
    char *parameters = path_parse(argument, "TO:", address, sizeof address);
    if (parameters == NULL || *parameters != '\0' || address[0] == '\0') {
        log_violation(c, "syntax", "RCPT");
        reply_plain(c, "501 5.5.4 expected RCPT TO:<address>");
        return;
    }
    if (!address_allowed(c, address)) {
        return;
    }
    int64_t limit = c->sink->options.max_recipients;
    if (limit > 0 && (int64_t)c->mail.count >= limit) {
        reply_plain(c, "452 4.5.3 too many recipients");
        return;
    }
    if (reply_play(c, STAGE_RCPT, address, "250 2.1.5 Ok") / 100 == 2) {
        buffer_add(&c->mail.recipients, address, strlen(address) + 1);
        c->mail.count++;
    }
}

static void data(struct conn *c, char *argument)
{
    if (!c->mail.open) {
        reply_plain(c, "503 5.5.1 MAIL first");
        return;
    }
    if (*argument != '\0') {
        reply_plain(c, "501 5.5.4 no parameters allowed");
        return;
    }
    const char *text =
        c->mail.count > 0 ? "354 end with a line that is a dot" : "554 5.5.1 no valid recipients";
    if (reply_play(c, STAGE_DATA, "", "%s", text) == 354) {
        c->phase = PHASE_DATA;
        message_begin(c);
    }
}

void smtp_accept(struct conn *c)
{
    struct counters *n = &c->sink->counters;
    c->mails++;
    n->mails++;
    n->recipients += c->mail.count;
    n->bytes += (uint64_t)c->message.size;
    if (c->sink->options.save_dir != NULL) {
        message_save(c);
    }
    log_accepted(c);
    smtp_end_transaction(c);
}

void smtp_dot(struct conn *c)
{
    char text[96];
    int64_t limit = c->sink->options.size;
    bool possible = false;
    if (limit > 0 && c->message.size > limit) {
        snprintf(text, sizeof text, "552 5.3.4 message too big");
    } else if (c->mail.count == 0) {
        snprintf(text, sizeof text, "554 5.5.1 no valid recipients");
    } else {
        possible = true;
        snprintf(text, sizeof text, "250 2.0.0 Ok: %llu on connection %llu",
                 (unsigned long long)c->sink->counters.mails + 1, (unsigned long long)c->number);
    }
    bool accepted = reply_play(c, STAGE_DOT, c->message.testid, "%s", text) / 100 == 2;
    if (c->rule != NULL && c->rule->accept >= 0) {
        accepted = c->rule->accept == 1;
    }
    if (!accepted || !possible) {
        smtp_end_transaction(c);
    } else if (c->sink->options.decide_late && c->reply_pending) {
        c->accept_pending = true;
    } else {
        smtp_accept(c);
    }
}

static void rset(struct conn *c, char *argument)
{
    if (reply_play(c, STAGE_RSET, argument, "250 2.0.0 Ok") / 100 == 2) {
        smtp_end_transaction(c);
    }
}

static void noop(struct conn *c, char *argument)
{
    reply_play(c, STAGE_NOOP, argument, "250 2.0.0 Ok");
}

static void vrfy(struct conn *c, char *argument)
{
    (void)argument;
    reply_plain(c, "252 2.5.0 send it and see");
}

static void quit(struct conn *c, char *argument)
{
    reply_play(c, STAGE_QUIT, argument, "221 2.0.0 bye");
}

static const struct command {
    const char *name;
    void (*run)(struct conn *c, char *argument);
    bool last; /* nothing may follow in the same group: RFC 2920 3.1, RFC 3207, RFC 4954 */
} commands[] = {
    {"MAIL", mail, false},        {"RCPT", rcpt, false}, {"DATA", data, true},
    {"RSET", rset, false},        {"QUIT", quit, true},  {"EHLO", ehlo, true},
    {"HELO", helo, true},         {"NOOP", noop, true},  {"AUTH", auth, true},
    {"STARTTLS", starttls, true}, {"VRFY", vrfy, true},
};

static void check_group(struct conn *c, const struct command *command)
{
    if (c->in_start == c->in_end) {
        return;
    }
    if (command->last) {
        log_violation(c, "early-input", command->name);
    } else if ((c->capabilities & CAP_PIPELINING) == 0) {
        log_violation(c, "pipelining", command->name);
    }
}

static void run_command(struct conn *c, char *line)
{
    size_t length = strcspn(line, " ");
    char *argument = line + length;
    if (*argument == ' ') {
        argument++;
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strlen(commands[i].name) != length ||
            strncasecmp(commands[i].name, line, length) != 0) {
            continue;
        }
        check_group(c, &commands[i]);
        if (c->refused && commands[i].run != quit) {
            reply_plain(c, "503 5.5.1 no service here");
            return;
        }
        commands[i].run(c, argument);
        return;
    }
    log_violation(c, "unknown-command", line);
    reply_plain(c, "500 5.5.2 unknown command");
}

/* RFC 5321 2.3.8: commands end with CRLF; a lone CR or LF is wrong. */
static bool line_is_sound(struct conn *c, const char *line, size_t length)
{
    bool crlf = length > 0 && line[length - 1] == '\r';
    size_t inner = crlf ? length - 1 : length;
    if (!crlf) {
        log_violation(c, "bare-lf", "in a command");
    }
    const char *kind = NULL;
    if (memchr(line, '\r', inner) != NULL) {
        kind = "bare-cr";
    } else if (memchr(line, '\0', inner) != NULL) {
        kind = "nul";
    }
    if (kind != NULL) {
        log_violation(c, kind, "in a command");
    }
    return crlf && kind == NULL;
}

void smtp_line(struct conn *c, char *line, size_t length)
{
    log_transcript(c, '<', line, length + 1);
    if (!line_is_sound(c, line, length)) {
        reply_plain(c, "500 5.5.2 a line must end in CRLF and hold no CR or NUL");
        return;
    }
    line[length - 1] = '\0';
    if (c->phase == PHASE_AUTH) {
        auth_line(c, line);
    } else {
        run_command(c, line);
    }
}
