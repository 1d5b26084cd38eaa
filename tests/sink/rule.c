/* The script's language: turns each line into a struct rule. */
#include <stdlib.h>
#include <string.h>

#include "script.h"

enum { REASON_MAX = 160 };

static const char *const stage_names[STAGES + 1] = {
    "accept", "connect", "ehlo", "helo", "starttls", "authcmd", "auth", "mail", "rcpt",
    "data",   "body",    "dot",  "rset", "noop",     "quit",    "idle", "any",
};

static const struct {
    const char *name;
    enum action action;
} actions[] = {
    {"keep", ACTION_KEEP},   {"close", ACTION_CLOSE}, {"drop", ACTION_DROP},
    {"reset", ACTION_RESET}, {"stall", ACTION_STALL}, {"stop-reading", ACTION_STOP_READING},
};

enum kind {
    NUMBER,
    RANGE,
    GLOB,
    REPLY,
    RAW,
    BEHIND,
    THEN,
    HIDE,
    PERCENT,
    YES_NO,
    SINCE,
    UNTIL,
    SKIP
};

static const struct key {
    const char *name;
    enum kind kind;
    size_t offset;
} keys[] = {
    {"match", GLOB, offsetof(struct rule, match)},
    {"from", GLOB, offsetof(struct rule, from)},
    {"testid", GLOB, offsetof(struct rule, testid)},
    {"connection", RANGE, offsetof(struct rule, connection)},
    {"conn-nth", RANGE, offsetof(struct rule, connection_nth)},
    {"open", RANGE, offsetof(struct rule, open)},
    {"mails", RANGE, offsetof(struct rule, mails)},
    {"nth", RANGE, offsetof(struct rule, nth)},
    {"after", SKIP, offsetof(struct rule, nth)},
    {"every", NUMBER, offsetof(struct rule, every)},
    {"times", NUMBER, offsetof(struct rule, times)},
    {"from-ms", SINCE, offsetof(struct rule, window_ms)},
    {"until-ms", UNTIL, offsetof(struct rule, window_ms)},
    {"after-ms", NUMBER, offsetof(struct rule, after_ms)},
    {"bytes", NUMBER, offsetof(struct rule, bytes)},
    {"percent", PERCENT, offsetof(struct rule, percent)},
    {"tls", YES_NO, offsetof(struct rule, tls)},
    {"reply", REPLY, offsetof(struct rule, reply)},
    {"raw", RAW, offsetof(struct rule, reply)},
    {"behind", BEHIND, offsetof(struct rule, behind)},
    {"then", THEN, offsetof(struct rule, then)},
    {"accept", YES_NO, offsetof(struct rule, accept)},
    {"hide", HIDE, offsetof(struct rule, hide)},
    {"delay-ms", RANGE, offsetof(struct rule, delay_ms)},
    {"then-delay-ms", RANGE, offsetof(struct rule, then_delay_ms)},
    {"partial", NUMBER, offsetof(struct rule, partial)},
    {"split", NUMBER, offsetof(struct rule, split)},
    {"split-ms", NUMBER, offsetof(struct rule, split_ms)},
    {"repeat", NUMBER, offsetof(struct rule, repeat)},
};

const char *stage_name(enum stage stage)
{
    return stage_names[stage];
}

static bool action_parse(const char *name, enum action *action)
{
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        if (strcmp(actions[i].name, name) == 0) {
            *action = actions[i].action;
            return true;
        }
    }
    return false;
}

unsigned capability_mask(const char *names)
{
    static const char *const known[] = {"PIPELINING",          "8BITMIME", "SMTPUTF8", "SIZE",
                                        "ENHANCEDSTATUSCODES", "STARTTLS", "AUTH"};
    unsigned mask = 0;
    while (*names != '\0') {
        size_t length = strcspn(names, ",");
        unsigned bit = 0;
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
            if (strlen(known[i]) == length && strncasecmp(known[i], names, length) == 0) {
                bit = 1U << i;
            }
        }
        if (bit == 0) {
            return 0;
        }
        mask |= bit;
        names += length;
        names += *names == ',';
    }
    return mask;
}

static int hex_digit(char c)
{
    const char *digits = "0123456789abcdef";
    const char *found = c != '\0' ? strchr(digits, c | 0x20) : NULL;
    return found != NULL ? (int)(found - digits) : -1;
}

/* One character of a value, escapes resolved; *pp moves after it. -1: malformed escape. */
static int character_parse(const char **pp)
{
    const char *p = *pp;
    if (*p != '\\') {
        *pp = p + 1;
        return (unsigned char)*p;
    }
    static const char from[] = "nrt0\\\"", to[] = "\n\r\t\0\\\"";
    const char *found = p[1] != '\0' ? strchr(from, p[1]) : NULL;
    if (found != NULL) {
        *pp = p + 2;
        return (unsigned char)to[found - from];
    }
    if (p[1] != 'x' || hex_digit(p[2]) < 0 || hex_digit(p[3]) < 0) {
        return -1;
    }
    *pp = p + 4;
    return hex_digit(p[2]) * 16 + hex_digit(p[3]);
}

/* A word, or "a quoted value"; backslashes escape within quotes only, so that globs keep theirs.
 * Appends it and a NUL that is not counted. */
static bool value_parse(const char **pp, struct buffer *value)
{
    const char *p = *pp;
    if (*p == '"') {
        p++;
        while (*p != '"') {
            int c = *p == '\0' ? -1 : character_parse(&p);
            if (c < 0) {
                return false;
            }
            char byte = (char)c;
            buffer_add(value, &byte, 1);
        }
        p++;
    } else {
        size_t length = strcspn(p, " \t");
        buffer_add(value, p, length);
        p += length;
    }
    buffer_add(value, "", 1);
    value->length--;
    *pp = p;
    return *p == '\0' || *p == ' ' || *p == '\t';
}

/* \n in a reply stands for CRLF, and the last line gets its own. */
static void reply_lines(struct buffer *reply, const struct buffer *value)
{
    for (size_t i = 0; i < value->length; i++) {
        if (value->data[i] == '\n' && (i == 0 || value->data[i - 1] != '\r')) {
            buffer_add(reply, "\r", 1);
        }
        buffer_add(reply, value->data + i, 1);
    }
    if (reply->length == 0 || reply->data[reply->length - 1] != '\n') {
        buffer_add(reply, "\r\n", 2);
    }
}

static bool text_set(struct rule *rule, const struct key *key, const struct buffer *value)
{
    char *field = (char *)rule + key->offset;
    switch (key->kind) {
    case GLOB:
        free(*(char **)field);
        *(char **)field = text_copy(value->data, value->length);
        return true;
    case REPLY:
        reply_lines(&rule->reply, value);
        rule->has_reply = true;
        return true;
    case RAW:
        buffer_add(&rule->reply, value->data, value->length);
        rule->has_reply = true;
        return true;
    case BEHIND:
        buffer_add(&rule->behind, value->data, value->length);
        return true;
    case THEN:
        return action_parse(value->data, &rule->then);
    case HIDE:
        rule->hide = capability_mask(value->data);
        return rule->hide != 0;
    default:
        return false;
    }
}

static bool key_set(struct rule *rule, const struct key *key, const struct buffer *value)
{
    char *field = (char *)rule + key->offset;
    const char *text = value->data;
    char *end = NULL;
    int64_t number = 0;
    switch (key->kind) {
    case NUMBER:
        return number_parse(text, (int64_t *)(void *)field);
    case RANGE:
        return range_parse(text, (struct range *)(void *)field);
    case SKIP:
        if (!number_parse(text, &number)) {
            return false;
        }
        rule->nth.from = number + 1;
        return true;
    case SINCE:
        return number_parse(text, &rule->window_ms.from);
    case UNTIL:
        return number_parse(text, &rule->window_ms.to);
    case PERCENT:
        rule->percent = strtod(text, &end);
        return end != text && *end == '\0';
    case YES_NO:
        if (strcmp(text, "1") != 0 && strcmp(text, "0") != 0) {
            return false;
        }
        *(int *)(void *)field = text[0] == '1';
        return true;
    default:
        return text_set(rule, key, value);
    }
}

static bool pair_parse(struct rule *rule, const char *name, size_t length, const char **pp)
{
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (strlen(keys[i].name) != length || strncmp(keys[i].name, name, length) != 0) {
            continue;
        }
        struct buffer value = {0};
        bool parsed = value_parse(pp, &value) && key_set(rule, &keys[i], &value);
        buffer_free(&value);
        return parsed;
    }
    return false;
}

/* One word, key=value or an action; *pp moves after it. */
static bool word_parse(struct rule *rule, const char **pp)
{
    const char *word = *pp;
    size_t length = strcspn(word, "= \t");
    if (word[length] == '=') {
        *pp = word + length + 1;
        return pair_parse(rule, word, length, pp);
    }
    char name[32];
    if (length >= sizeof name) {
        return false;
    }
    memcpy(name, word, length);
    name[length] = '\0';
    *pp = word + length;
    rule->silent = true;
    return action_parse(name, &rule->then);
}

static bool stage_parse(const char **pp, enum stage *stage)
{
    const char *p = *pp;
    if (strncmp(p, "at", 2) != 0 || (p[2] != ' ' && p[2] != '\t')) {
        return false;
    }
    p += 2 + strspn(p + 2, " \t");
    size_t length = strcspn(p, " \t");
    for (int i = 0; i <= STAGES; i++) {
        if (strlen(stage_names[i]) == length && strncmp(stage_names[i], p, length) == 0) {
            *stage = (enum stage)i;
            *pp = p + length;
            return true;
        }
    }
    return false;
}

void rule_clear(struct rule *rule)
{
    free(rule->match);
    free(rule->from);
    free(rule->testid);
    buffer_free(&rule->reply);
    buffer_free(&rule->behind);
}

/* A rule that could never do what it says is an error, so that no test is surprised by it. */
static bool rule_check(const struct rule *rule, char *reason)
{
    bool unasked = rule->stage == STAGE_ACCEPT || rule->stage == STAGE_BODY ||
                   rule->stage == STAGE_IDLE || rule->stage == STAGE_AUTHCMD;
    if (unasked && !rule->has_reply && rule->then == ACTION_NONE) {
        snprintf(reason, REASON_MAX, "'%s' needs a reply, raw bytes or an action",
                 stage_names[rule->stage]);
        return false;
    }
    if (rule->silent && (rule->has_reply || rule->behind.length > 0)) {
        snprintf(reason, REASON_MAX, "an action beside a reply is written then=ACTION");
        return false;
    }
    if (rule->accept >= 0 && rule->stage != STAGE_DOT) {
        snprintf(reason, REASON_MAX, "accept= is for 'at dot' only");
        return false;
    }
    if (rule->hide != 0 && rule->stage != STAGE_EHLO) {
        snprintf(reason, REASON_MAX, "hide= is for 'at ehlo' only");
        return false;
    }
    return true;
}

bool rule_parse(struct rule *rule, const char *line, char *error)
{
    const struct range any = {0, INT64_MAX};
    *rule = (struct rule){
        .connection = any,
        .connection_nth = any,
        .open = any,
        .mails = any,
        .window_ms = any,
        .nth = any,
        .times = -1,
        .percent = 100,
        .tls = -1,
        .accept = -1,
        .partial = -1,
        .split_ms = 1,
        .repeat = 1,
        .bytes = 1,
    };
    const char *p = line;
    if (!stage_parse(&p, &rule->stage)) {
        snprintf(error, REASON_MAX, "expected 'at STAGE', found '%.60s'", line);
        return false;
    }
    for (p += strspn(p, " \t"); *p != '\0' && *p != '#'; p += strspn(p, " \t")) {
        const char *word = p;
        if (!word_parse(rule, &p)) {
            snprintf(error, REASON_MAX, "not understood: '%.80s'", word);
            return false;
        }
    }
    return rule_check(rule, error);
}
