/*
 * From an event to bytes on the wire: the script decides first, then the sink's own reply goes
 * out, at once or after a delay. Nothing is written to the socket here: what the caller logs
 * after reply_play() is in the log before the reply can be read.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "conn.h"

static int reply_code(const char *text, size_t length)
{
    /* A client believes the last line of a reply whose lines have different codes. */
    const char *newline = length > 1 ? memrchr(text, '\n', length - 1) : NULL;
    if (newline != NULL) {
        length -= (size_t)(newline + 1 - text);
        text = newline + 1;
    }
    if (length < 3) {
        return 0;
    }
    int code = 0;
    for (int i = 0; i < 3; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return 0;
        }
        code = code * 10 + (text[i] - '0');
    }
    return code;
}

static enum action action_after(const struct rule *rule, enum stage stage, int code)
{
    if (rule != NULL && rule->then != ACTION_NONE) {
        return rule->then;
    }
    if (rule != NULL && rule->partial >= 0) {
        return ACTION_CLOSE;
    }
    /* 421 announces the end of the connection: RFC 5321 3.8 */
    return code == 421 || (stage == STAGE_QUIT && code == 221) ? ACTION_CLOSE : ACTION_NONE;
}

void reply_deliver(struct conn *c)
{
    const struct rule *rule = c->rule;
    c->reply_pending = false;
    c->held = false;
    if (c->accept_pending) {
        c->accept_pending = false;
        if (conn_peer_gone(c)) {
            smtp_end_transaction(c);
        } else {
            smtp_accept(c);
        }
    }
    if (rule == NULL || !rule->silent) {
        const char *text = rule != NULL && rule->has_reply ? rule->reply.data : c->reply;
        size_t length = rule != NULL && rule->has_reply ? rule->reply.length : c->reply_length;
        int64_t repeat = rule != NULL ? rule->repeat : 1;
        if (rule != NULL && rule->partial >= 0 && (size_t)rule->partial < length) {
            length = (size_t)rule->partial;
        }
        log_transcript(c, '>', text, length);
        for (int64_t i = 0; i < repeat; i++) {
            buffer_add(&c->out, text, length);
        }
        if (rule != NULL && rule->behind.length > 0) {
            log_transcript(c, '>', rule->behind.data, rule->behind.length);
            buffer_add(&c->out, rule->behind.data, rule->behind.length);
        }
    }
    if (c->after != ACTION_NONE || c->start_tls || (rule != NULL && rule->split > 0)) {
        c->has_after = true;
        c->held = true;
    }
}

static int reply_send(struct conn *c, enum stage stage, const struct rule *rule)
{
    int code = reply_code(c->reply, c->reply_length);
    if (rule != NULL && rule->has_reply) {
        code = reply_code(rule->reply.data, rule->reply.length);
    } else if (rule != NULL && rule->silent) {
        code = 0;
    }
    c->rule = rule;
    c->after = action_after(rule, stage, code);
    int64_t delay_ms = rule != NULL ? random_in(&c->sink->random, rule->delay_ms) : 0;
    if (delay_ms == 0 && stage == STAGE_DOT && code / 100 == 2) {
        delay_ms = random_in(&c->sink->random, c->sink->options.delay_dot_ms);
    }
    if (delay_ms > 0) {
        c->held = true;
        c->reply_pending = true;
        conn_arm(c, TIMER_REPLY, delay_ms);
    } else {
        reply_deliver(c);
    }
    return code;
}

static void reply_format(struct conn *c, const char *format, va_list arguments)
{
    int length = vsnprintf(c->reply, sizeof c->reply - 2, format, arguments);
    size_t used = (size_t)length < sizeof c->reply - 2 ? (size_t)length : sizeof c->reply - 3;
    memcpy(c->reply + used, "\r\n", 3);
    c->reply_length = used + 2;
}

int reply_play(struct conn *c, enum stage stage, const char *argument, const char *format, ...)
{
    struct event event = {.stage = stage, .argument = argument};
    va_list arguments;
    va_start(arguments, format);
    reply_format(c, format, arguments);
    va_end(arguments);
    c->stage_count[stage]++;
    return reply_send(c, stage, script_match(c, &event));
}

void reply_plain(struct conn *c, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    reply_format(c, format, arguments);
    va_end(arguments);
    reply_send(c, STAGE_ANY, NULL);
}

static void ehlo_lines(struct conn *c)
{
    const struct options *o = &c->sink->options;
    unsigned have = c->capabilities;
    char size[40] = "250-SIZE\r\n", auth[128];
    if (o->size > 0) {
        snprintf(size, sizeof size, "250-SIZE %lld\r\n", (long long)o->size);
    }
    snprintf(auth, sizeof auth, "250-AUTH %.100s\r\n", o->auth_mechanisms);
    int length =
        snprintf(c->reply, sizeof c->reply, "250-%.200s\r\n%s%s%s%s%s%s%s", o->hostname,
                 have & CAP_PIPELINING ? "250-PIPELINING\r\n" : "", have & CAP_SIZE ? size : "",
                 have & CAP_STARTTLS ? "250-STARTTLS\r\n" : "", have & CAP_AUTH ? auth : "",
                 have & CAP_ENHANCED ? "250-ENHANCEDSTATUSCODES\r\n" : "",
                 have & CAP_8BITMIME ? "250-8BITMIME\r\n" : "",
                 have & CAP_SMTPUTF8 ? "250-SMTPUTF8\r\n" : "");
    c->reply_length = (size_t)length;
    char *last = c->reply;
    for (char *p = c->reply; (p = strchr(p, '\n')) != NULL && p[1] != '\0'; p++) {
        last = p + 1;
    }
    last[3] = ' ';
}

/* Records the capabilities in a scripted EHLO reply, so that a client that uses others is
 * noticed. */
static unsigned capabilities_in(const struct buffer *reply)
{
    unsigned mask = 0;
    for (size_t i = 0; i + 5 < reply->length; i++) {
        if (reply->data[i] == '\n' || i == 0) {
            const char *word = reply->data + i + (i == 0 ? 4 : 5);
            const char *end = reply->data + reply->length;
            char name[32];
            size_t length = 0;
            while (word + length < end && length < sizeof name - 1 &&
                   strchr(" =\r\n", word[length]) == NULL) {
                name[length] = word[length];
                length++;
            }
            name[length] = '\0';
            mask |= capability_mask(name);
        }
    }
    return mask;
}

int reply_ehlo(struct conn *c, const char *argument)
{
    struct event event = {.stage = STAGE_EHLO, .argument = argument};
    c->stage_count[STAGE_EHLO]++;
    const struct rule *rule = script_match(c, &event);
    if (rule != NULL) {
        c->capabilities &= ~rule->hide;
    }
    ehlo_lines(c);
    if (rule != NULL && rule->has_reply) {
        c->capabilities = capabilities_in(&rule->reply);
    }
    return reply_send(c, STAGE_EHLO, rule);
}

bool reply_fault(struct conn *c, const struct event *event)
{
    c->stage_count[event->stage]++;
    const struct rule *rule = script_match(c, event);
    if (rule == NULL || (!rule->has_reply && rule->then == ACTION_NONE)) {
        return false;
    }
    c->reply_length = 0;
    reply_send(c, event->stage, rule);
    return true;
}
