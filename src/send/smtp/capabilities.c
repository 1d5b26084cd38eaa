/* Reads the relay's replies to EHLO. */
#include "send/smtp/capabilities.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"

/* Whether the keyword of an EHLO line is `name`, in any case (RFC 5321, section 4.1.1.1). */
static bool is_keyword(struct mq_str line, const char *name)
{
    size_t len = strlen(name);
    return mq_str_begins_nocase(line, name) && (line.len == len || line.data[len] == ' ');
}

/* Adds the names of "AUTH PLAIN LOGIN" or of the old "AUTH=PLAIN LOGIN"; some relays send both. */
static void read_mechanisms(struct mq_greeting *greeting, struct mq_str names)
{
    size_t used = strlen(greeting->mechanisms);
    if (used > 0) {
        used =
            mq_str_printable(greeting->mechanisms, sizeof greeting->mechanisms, used, MQ_STR(" "));
    }
    mq_str_printable(greeting->mechanisms, sizeof greeting->mechanisms, used, mq_str_trim(names));
}

static void read_keyword(struct mq_greeting *greeting, struct mq_str line)
{
    struct mq_smtp_caps *caps = &greeting->caps;
    if (line.len > 5 && mq_str_equal_nocase((struct mq_str){line.data, 4}, MQ_STR("AUTH")) &&
        (line.data[4] == ' ' || line.data[4] == '=')) {
        read_mechanisms(greeting, (struct mq_str){line.data + 5, line.len - 5});
    } else if (is_keyword(line, "PIPELINING")) {
        caps->pipelining = true;
    } else if (is_keyword(line, "8BITMIME")) {
        caps->eightbit = true;
    } else if (is_keyword(line, "SMTPUTF8")) {
        caps->smtputf8 = true;
    } else if (is_keyword(line, "DSN")) {
        caps->dsn = true;
    } else if (is_keyword(line, "SIZE")) {
        size_t max = 0;
        for (size_t i = 5; i < line.len && mq_is_digit(line.data[i]); i++) {
            max = max > SIZE_MAX / 10 - 1 ? max : max * 10 + (size_t)(line.data[i] - '0');
        }
        caps->size = true;
        caps->size_max = max;
    }
}

static void read_refusal(struct mq_greeting *greeting, struct mq_str text, int code, bool more)
{
    char *refusal = greeting->refusal;
    size_t used = greeting->refusing ? strlen(refusal) : 0;
    if (used == 0) {
        used = (size_t)snprintf(refusal, sizeof greeting->refusal, "%d", code);
    }
    if (text.len > 0) {
        used = mq_str_printable(refusal, sizeof greeting->refusal, used, MQ_STR(" "));
        mq_str_printable(refusal, sizeof greeting->refusal, used, mq_str_trim(text));
    }
    greeting->refusing = more;
}

void mq_greeting_line(struct mq_greeting *greeting, struct mq_str line)
{
    line = mq_str_trim(line);
    if (line.len < 3 || line.data[0] < '2' || line.data[0] > '5') {
        return;
    }
    int code = (line.data[0] - '0') * 100 + (line.data[1] - '0') * 10 + (line.data[2] - '0');
    bool more = line.len > 3 && line.data[3] == '-';
    struct mq_str text = {line.data + 4, line.len > 4 ? line.len - 4 : 0};
    if (code >= 400) {
        read_refusal(greeting, text, code, more);
        /* After a refused EHLO comes HELO, whose reply names no extensions. */
        greeting->in_ehlo = false;
    } else if (code == 220) {
        /* The greeting, or the answer to STARTTLS: what was offered before it does not count
         * (RFC 3207, section 4.2). */
        greeting->caps = (struct mq_smtp_caps){0};
        greeting->mechanisms[0] = '\0';
        greeting->in_ehlo = true;
        greeting->first = true;
    } else if (code == 235) {
        greeting->logged_in = true;
    } else if (code == 334) {
        greeting->challenged = true;
    } else if (code == 250 && greeting->in_ehlo) {
        if (!greeting->first && text.len > 0) {
            read_keyword(greeting, text);
        }
        greeting->first = false;
        greeting->in_ehlo = more;
    }
}
