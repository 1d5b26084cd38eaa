/* The grammar of limits in windows, and for whom a limit holds. */
#include "policy/limits.h"

#include <string.h>

#include "core/ascii.h"
#include "core/clock.h"

#define FORM                                                                                       \
    "a limit is N/LENGTH, as 60/1h; then \"mails\" if it does not count recipients; then "         \
    "\"per relay\", \"per sender\", \"per sender domain\" or \"per recipient domain\", which can " \
    "name one: per relay smtp.example.org, per sender shop@example.org, per sender "               \
    "@example.org, to @example.net"

#define SESSIONS_FORM \
    "sessions are N to a domain: \"5 to @example.net\", or \"20 per recipient domain\""

static enum mq_status wrong(struct mq_str limit, const char *what, struct mq_error *err)
{
    return mq_error_set(err, MQ_INVALID, "", "\"%.*s\": %s", (int)mq_utf8_cut(limit, 60),
                        limit.len ? limit.data : "", what);
}

#define DIGITS_MAX 10

/* Takes a number above 0 off the text; 0 if it does not begin with one, or with one of more
 * digits. */
static int64_t cut_number(struct mq_str *text)
{
    int64_t n = 0;
    size_t i = 0;
    for (; i < text->len && i <= DIGITS_MAX && mq_is_digit(text->data[i]); i++) {
        n = n * 10 + (text->data[i] - '0');
    }
    *text = mq_str_skip(*text, i);
    return i <= DIGITS_MAX ? n : 0;
}

/* Takes the next word off the text, which is trimmed. */
static struct mq_str cut_word(struct mq_str *text)
{
    size_t n = 0;
    while (n < text->len && !mq_is_space(text->data[n])) {
        n++;
    }
    struct mq_str word = mq_str_cut(text, n);
    *text = mq_str_trim(*text);
    return word;
}

static bool is_word(struct mq_str word, const char *name)
{
    return mq_str_equal_nocase(word, mq_str_of(name));
}

/* Parses "N/LENGTH". */
static enum mq_status parse_amount(struct mq_str word, struct mq_limit *out, struct mq_error *err)
{
    static const int64_t units[] = {1, 60, 3600, MQ_DAY_S};
    struct mq_str rest = word;
    out->n = cut_number(&rest);
    if (out->n <= 0 || out->n > MQ_LIMIT_N_MAX) {
        return wrong(word, "N must be from 1 to 1000000000; " FORM, err);
    }
    if (rest.len == 0 || rest.data[0] != '/') {
        return wrong(word, "behind N a slash and the window's length are missing; " FORM, err);
    }
    rest = mq_str_skip(rest, 1);
    int64_t count = cut_number(&rest);
    int unit = mq_str_word(rest, "s m h d", mq_str_equal);
    if (count <= 0 || unit < 0 || count > MQ_LIMIT_DAYS_MAX * MQ_DAY_S / units[unit]) {
        return wrong(word,
                     "the window's length must be from 1s to 31d: a number above 0, then s, m, h "
                     "or d",
                     err);
    }
    out->length_s = count * units[unit];
    return MQ_OK;
}

/* Checks whom a limit names: a relay, a mailbox, or a domain with an @ before it. */
static enum mq_status check_only(const struct mq_limit *limit, struct mq_error *err)
{
    struct mq_str only = limit->only;
    size_t at = mq_str_find(only, '@');
    bool domain = limit->scope == MQ_SCOPE_DOMAIN || limit->scope == MQ_SCOPE_TO;
    if (is_word(only, "mails") || is_word(only, "recipients")) {
        return wrong(limit->text, "what is counted stands before \"per\" or \"to\"; " FORM, err);
    }
    if (only.len == 0 || limit->scope == MQ_SCOPE_RELAY || (at == 0 && only.len > 1) ||
        (!domain && at + 1 < only.len)) {
        return MQ_OK;
    }
    return wrong(limit->text,
                 domain ? "a domain is written with an @ before it; " FORM
                        : "a sender is a mailbox, or a domain behind an @; " FORM,
                 err);
}

/* Parses what follows "per". */
static enum mq_status parse_scope(struct mq_str rest, struct mq_limit *out, struct mq_error *err)
{
    struct mq_str scope = cut_word(&rest);
    out->only = cut_word(&rest);
    bool domain = is_word(out->only, "domain");
    if (is_word(scope, "relay")) {
        out->scope = MQ_SCOPE_RELAY;
    } else if (is_word(scope, "sender")) {
        out->scope = domain ? MQ_SCOPE_DOMAIN : MQ_SCOPE_SENDER;
    } else if (is_word(scope, "recipient") && domain) {
        out->scope = MQ_SCOPE_TO;
    } else {
        return wrong(
            out->text,
            "\"per\" needs relay, sender, sender domain or recipient domain behind it; " FORM, err);
    }
    if (domain && out->scope != MQ_SCOPE_RELAY) {
        out->only = cut_word(&rest);
    }
    MQ_TRY(check_only(out, err));
    return rest.len == 0 ? MQ_OK : wrong(rest, "is not expected here; " FORM, err);
}

/* Parses what follows "to": a domain. */
static enum mq_status parse_to(struct mq_str rest, struct mq_limit *out, struct mq_error *err)
{
    out->scope = MQ_SCOPE_TO;
    out->only = cut_word(&rest);
    if (out->only.len == 0) {
        return wrong(out->text, "\"to\" needs a domain behind it, as @example.net; " FORM, err);
    }
    MQ_TRY(check_only(out, err));
    return rest.len == 0 ? MQ_OK : wrong(rest, "is not expected here; " FORM, err);
}

static enum mq_status parse_one(struct mq_str text, struct mq_limit *out, struct mq_error *err)
{
    *out = (struct mq_limit){.text = text};
    MQ_TRY(parse_amount(cut_word(&text), out, err));
    struct mq_str rest = text;
    struct mq_str word = cut_word(&rest);
    out->mails = is_word(word, "mails");
    if (out->mails || is_word(word, "recipients")) {
        word = cut_word(&rest);
    }
    if (word.len == 0) {
        return MQ_OK;
    }
    return is_word(word, "per")  ? parse_scope(rest, out, err)
           : is_word(word, "to") ? parse_to(rest, out, err)
                                 : wrong(word, "is not a word of a limit; " FORM, err);
}

/* The larger of two limits of one window would have no effect: probably a mistake. */
static bool same_window(const struct mq_limit *a, const struct mq_limit *b)
{
    return a->length_s == b->length_s && a->mails == b->mails && a->scope == b->scope &&
           mq_str_equal_nocase(a->only, b->only);
}

static enum mq_status parse_all(struct mq_str text,
                                enum mq_status (*parse)(struct mq_str, struct mq_limit *,
                                                        struct mq_error *),
                                struct mq_limits *out, struct mq_error *err)
{
    bool more = mq_str_trim(text).len > 0;
    out->count = 0;
    while (more) {
        more = mq_str_find(text, ',') < text.len;
        struct mq_str one = mq_str_trim(mq_str_cut_at(&text, ','));
        if (out->count == MQ_LIMITS_MAX) {
            return wrong(one, "there are more than 16 limits: leave some out", err);
        }
        struct mq_limit *limit = &out->items[out->count];
        MQ_TRY(parse(one, limit, err));
        for (size_t i = 0; i < out->count; i++) {
            if (same_window(&out->items[i], limit)) {
                return wrong(one, "another limit is for the same window: keep one of the two", err);
            }
        }
        out->count++;
    }
    return MQ_OK;
}

enum mq_status mq_limits_parse(struct mq_str text, struct mq_limits *out, struct mq_error *err)
{
    return parse_all(text, parse_one, out, err);
}

/* Whether this is a domain with an @ before it. */
static bool is_domain(struct mq_str text)
{
    struct mq_str name = text.len > 0 ? mq_str_skip(text, 1) : text;
    return name.len > 0 && text.data[0] == '@' && mq_str_find(name, '@') == name.len &&
           mq_str_find(name, ' ') == name.len;
}

/* Parses "N to @domain" or "N per recipient domain". */
static enum mq_status parse_sessions(struct mq_str text, struct mq_limit *out, struct mq_error *err)
{
    *out = (struct mq_limit){.text = text};
    struct mq_str number = cut_word(&text);
    out->n = cut_number(&number);
    if (out->n <= 0 || out->n > MQ_SESSIONS_N_MAX || number.len > 0) {
        return wrong(out->text, "N must be from 1 to 1000; " SESSIONS_FORM, err);
    }
    struct mq_str word = cut_word(&text);
    bool any =
        is_word(word, "per") && is_word(cut_word(&text), "recipient") && is_word(text, "domain");
    out->scope = MQ_SCOPE_TO;
    out->only = any ? out->only : text;
    return any || (is_word(word, "to") && is_domain(text)) ? MQ_OK
                                                           : wrong(out->text, SESSIONS_FORM, err);
}

enum mq_status mq_sessions_parse(struct mq_str text, struct mq_limits *out, struct mq_error *err)
{
    return parse_all(text, parse_sessions, out, err);
}

int64_t mq_sessions_to(const struct mq_limits *sessions, const char *domain)
{
    int64_t n = 0;
    for (size_t i = 0; i < sessions->count; i++) {
        const struct mq_limit *one = &sessions->items[i];
        if (one->only.len > 0 && mq_str_equal_nocase(one->only, mq_str_of(domain))) {
            return one->n;
        }
        n = one->only.len == 0 ? one->n : n;
    }
    return n;
}

void mq_limits_add(struct mq_limits *limits, const struct mq_limits *more)
{
    size_t before = limits->count;
    for (size_t i = 0; i < more->count; i++) {
        size_t at = 0;
        while (at < before && !same_window(&limits->items[at], &more->items[i])) {
            at++;
        }
        at = at < before ? at : limits->count++;
        if (at >= before || more->items[i].n < limits->items[at].n) {
            limits->items[at] = more->items[i];
        }
    }
}

/* The host and the port in a relay's name, or all of it: "smtp://user:***@[::1]:25" has "[::1]:25".
 */
static struct mq_str place_of(const char *relay)
{
    const char *scheme = strstr(relay, "://");
    if (!scheme) {
        return mq_str_of(relay);
    }
    struct mq_str rest = {scheme + 3, strcspn(scheme + 3, "/?")};
    for (size_t at = mq_str_find(rest, '@'); at < rest.len; at = mq_str_find(rest, '@')) {
        rest = mq_str_skip(rest, at + 1);
    }
    return rest;
}

static struct mq_str host_of(struct mq_str place)
{
    if (place.len > 0 && place.data[0] == '[') {
        place = mq_str_skip(place, 1);
        return (struct mq_str){place.data, mq_str_find(place, ']')};
    }
    return (struct mq_str){place.data, mq_str_find(place, ':')};
}

static bool relay_is(const char *relay, struct mq_str name)
{
    struct mq_str place = place_of(relay);
    return mq_str_equal(mq_str_of(relay), name) || mq_str_equal_nocase(place, name) ||
           mq_str_equal_nocase(host_of(place), name);
}

/* The domain with the @ before it; empty if there is none. */
static struct mq_str at_domain(struct mq_str address)
{
    size_t at = address.len;
    while (at > 0 && address.data[at - 1] != '@') {
        at--;
    }
    return at > 0 ? mq_str_skip(address, at - 1) : (struct mq_str){NULL, 0};
}

bool mq_limit_holds(const struct mq_limit *limit, const char *relay, const char *from,
                    struct mq_str *who)
{
    struct mq_str sender = mq_str_of(from);
    struct mq_str domain = at_domain(sender);
    struct mq_str only = limit->only;
    *who = (struct mq_str){NULL, 0};
    switch (limit->scope) {
    case MQ_SCOPE_ALL:
        return true;
    case MQ_SCOPE_RELAY:
        *who = mq_str_of(relay);
        return who->len > 0 && (only.len == 0 || relay_is(relay, only));
    case MQ_SCOPE_SENDER:
        *who = sender;
        return domain.len > 0 && (only.len == 0 || mq_str_equal_nocase(sender, only) ||
                                  mq_str_equal_nocase(domain, only));
    case MQ_SCOPE_DOMAIN:
        *who = domain;
        return domain.len > 0 && (only.len == 0 || mq_str_equal_nocase(domain, only));
    case MQ_SCOPE_TO:
        break;
    }
    return false;
}

bool mq_limit_holds_to(const struct mq_limit *limit, const char *recipient, struct mq_str *who)
{
    *who = at_domain(mq_str_of(recipient));
    return limit->scope == MQ_SCOPE_TO && who->len > 0 &&
           (limit->only.len == 0 || mq_str_equal_nocase(*who, limit->only));
}
