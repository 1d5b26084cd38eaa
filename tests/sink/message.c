/* The bytes between 354 and the final dot (RFC 5321 4.1.1.4, 4.5.2). Only CRLF ends a line: an end
 * of the message that only a lenient receiver would see is data here, and a violation. */
#include <string.h>

#include "conn.h"

#define FNV_OFFSET 0xcbf29ce484222325U
#define FNV_PRIME  0x100000001b3U
enum { LINE_MAX_CRLF = 1000 }; /* RFC 5321 4.5.3.1.6, with the CRLF */

void message_begin(struct conn *c)
{
    struct buffer text = c->message.text;
    text.length = 0;
    c->message = (struct message){.hash = FNV_OFFSET, .text = text};
}

static void emit(struct conn *c, const char *data, size_t length)
{
    struct message *m = &c->message;
    uint64_t hash = m->hash;
    unsigned char bits = m->bits;
    for (size_t i = 0; i < length; i++) {
        bits |= (unsigned char)data[i];
        hash = (hash ^ (unsigned char)data[i]) * FNV_PRIME;
    }
    m->hash = hash;
    m->bits = bits;
    m->size += (int64_t)length;
    bool keep = c->sink->options.save_dir != NULL;
    if (!keep && !m->header_done && m->text.length < HEADER_MAX) {
        size_t before = m->text.length > 3 ? m->text.length - 3 : 0;
        buffer_add(&m->text, data, length);
        m->header_done =
            memmem(m->text.data + before, m->text.length - before, "\r\n\r\n", 4) != NULL;
    } else if (keep) {
        buffer_add(&m->text, data, length);
    }
}

static void count_line(struct message *m, size_t length, bool ended)
{
    m->line_length += length;
    if (m->line_length > LINE_MAX_CRLF) {
        m->long_line = true;
    }
    if (ended) {
        m->line_length = 0;
    }
}

/* Text up to the next LF, or all there is. Returns how much. */
static size_t feed_text(struct conn *c, const char *data, size_t length)
{
    struct message *m = &c->message;
    const char *newline = memchr(data, '\n', length);
    size_t taken = newline != NULL ? (size_t)(newline - data) + 1 : length;
    size_t text = newline != NULL ? taken - 1 : taken;
    bool ends_cr = text > 0 && data[text - 1] == '\r';
    const char *cr = data;
    size_t inner = ends_cr ? text - 1 : text;

    while (inner > 0 && (cr = memchr(cr, '\r', (size_t)(data + inner - cr))) != NULL) {
        log_violation(c, "bare-cr", "in the message");
        cr++;
    }
    emit(c, data, taken);
    if (newline == NULL) {
        m->state = ends_cr ? BODY_CR : BODY_TEXT;
    } else if (ends_cr) {
        m->state = BODY_LINE_START;
    } else {
        log_violation(c, "bare-lf", "in the message");
        m->state = BODY_TEXT;
    }
    count_line(m, taken, m->state == BODY_LINE_START);
    return taken;
}

/* A CR was the last byte. Returns how much was taken: the LF, or nothing. */
static size_t feed_after_cr(struct conn *c, char byte)
{
    if (byte == '\n') {
        emit(c, "\n", 1);
        count_line(&c->message, 1, true);
        c->message.state = BODY_LINE_START;
        return 1;
    }
    log_violation(c, "bare-cr", "in the message");
    c->message.state = BODY_TEXT;
    return 0;
}

/* The line's first byte was a dot, which is not stored yet. */
static size_t feed_after_dot(struct conn *c, char byte)
{
    struct message *m = &c->message;
    if (m->state == BODY_DOT && byte == '\r') {
        m->state = BODY_DOT_CR;
        return 1;
    }
    if (m->state == BODY_DOT) {
        if (byte != '.') {
            log_violation(c, "unstuffed-dot", "a line starts with a lone dot");
        }
        m->state = BODY_TEXT;
        return 0;
    }
    log_violation(c, "unstuffed-dot", "a line starts with a lone dot");
    log_violation(c, "bare-cr", "in the message");
    emit(c, "\r", 1);
    m->state = BODY_TEXT;
    return 0;
}

size_t message_feed(struct conn *c, const char *data, size_t length, bool *done)
{
    struct message *m = &c->message;
    size_t at = 0;
    *done = false;
    while (at < length && !*done) {
        switch (m->state) {
        case BODY_LINE_START:
            m->state = data[at] == '.' ? BODY_DOT : BODY_TEXT;
            at += data[at] == '.';
            break;
        case BODY_TEXT:
            at += feed_text(c, data + at, length - at);
            break;
        case BODY_CR:
            at += feed_after_cr(c, data[at]);
            break;
        case BODY_DOT:
            at += feed_after_dot(c, data[at]);
            break;
        case BODY_DOT_CR:
            if (data[at] == '\n') {
                at++;
                *done = true;
            } else {
                at += feed_after_dot(c, data[at]);
            }
            break;
        }
    }
    m->received += (int64_t)at;
    return at;
}

/* The value of the first header field of that name, trimmed. */
static void find_testid(struct message *m)
{
    static const char name[] = "X-Test-Id:";
    const char *p = m->text.data, *end = p + m->text.length;
    while (p < end) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        const char *stop = newline != NULL ? newline : end;
        if (p < stop && *p == '\r') {
            return;
        }
        if ((size_t)(stop - p) >= sizeof name - 1 && strncasecmp(p, name, sizeof name - 1) == 0) {
            p += sizeof name - 1;
            for (; p < stop && (*p == ' ' || *p == '\t'); p++) {
            }
            for (; stop > p && (stop[-1] == ' ' || stop[-1] == '\t' || stop[-1] == '\r'); stop--) {
            }
            size_t length = (size_t)(stop - p);
            length = length < sizeof m->testid ? length : sizeof m->testid - 1;
            memcpy(m->testid, p, length);
            m->testid[length] = '\0';
            return;
        }
        p = stop + 1;
    }
}

void message_end(struct conn *c)
{
    struct message *m = &c->message;
    if (m->text.length > 0) {
        find_testid(m);
    }
    if (m->long_line) {
        log_violation(c, "long-line", "more than 1000 octets in a line of the message");
    }
    if ((m->bits & 0x80) != 0 && !c->mail.eight_bit) {
        log_violation(c, "8bit", "the message has 8-bit bytes without BODY=8BITMIME");
    }
}
