/* The options of a transport's DSN: one table of names, schemes and setters. */
#include "send/dsn_options.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"
#include "send/dsn_text.h"

#define HOST_MAX   253
#define SECOND_MAX 86400
#define MAILS_MAX  1000000

/* Which schemes an option is for. */
enum { FOR_SMTP = 1, FOR_SENDMAIL = 2, FOR_FILE = 4 };

struct option {
    const char *name;
    unsigned schemes;
    enum mq_status (*set)(struct mq_dsn *dsn, size_t offset, const char *value,
                          struct mq_error *err);
    size_t offset; /* of the member that it sets */
};

static enum mq_status set_tls(struct mq_dsn *dsn, size_t offset, const char *value,
                              struct mq_error *err)
{
    (void)offset;
    bool none = strcmp(value, "none") == 0;
    bool implicit = dsn->tls == MQ_TLS_IMPLICIT;
    if (implicit && none) {
        return mq_dsn_bad(err, "tls=none contradicts smtps://; write smtp:// or leave tls out");
    }
    if (!none && strcmp(value, "required") != 0 && strcmp(value, "auto") != 0) {
        return mq_dsn_bad(err, "option tls must be auto, none or required");
    }
    if (!implicit) {
        dsn->tls = none ? MQ_TLS_NONE : value[0] == 'r' ? MQ_TLS_REQUIRED : MQ_TLS_AUTO;
    }
    return MQ_OK;
}

static bool *bool_at(struct mq_dsn *dsn, size_t offset)
{
    return (bool *)(void *)((char *)dsn + offset);
}

static int64_t *int_at(struct mq_dsn *dsn, size_t offset)
{
    return (int64_t *)(void *)((char *)dsn + offset);
}

static char **text_at(struct mq_dsn *dsn, size_t offset)
{
    return (char **)(void *)((char *)dsn + offset);
}

static enum mq_status set_bool(struct mq_dsn *dsn, size_t offset, const char *value,
                               struct mq_error *err)
{
    static const char *const yes[] = {"1", "true", "yes", "on"};
    static const char *const no[] = {"0", "false", "no", "off"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        if (strcmp(value, yes[i]) == 0 || strcmp(value, no[i]) == 0) {
            *bool_at(dsn, offset) = strcmp(value, yes[i]) == 0;
            return MQ_OK;
        }
    }
    return mq_dsn_bad(err, "option verify_peer must be 1 or 0");
}

static enum mq_status set_text(struct mq_dsn *dsn, size_t offset, const char *value,
                               struct mq_error *err)
{
    char *copy = mq_str_dup(mq_str_of(value));
    if (copy == NULL) {
        return mq_error_nomem(err);
    }
    char **member = text_at(dsn, offset);
    free(*member);
    *member = copy;
    return MQ_OK;
}

/* Read once here, so that a DSN that cannot be used is known as such where it is given. */
static enum mq_status set_command(struct mq_dsn *dsn, size_t offset, const char *value,
                                  struct mq_error *err)
{
    struct mq_strings words;
    mq_strings_init(&words);
    enum mq_status status = mq_dsn_split_command(mq_str_of(value), &words, err);
    mq_strings_clear(&words);
    return status == MQ_OK ? set_text(dsn, offset, value, err) : status;
}

static enum mq_status set_ehlo(struct mq_dsn *dsn, size_t offset, const char *value,
                               struct mq_error *err)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  ".-_:[]";
    if (strspn(value, allowed) != strlen(value) || strlen(value) > HOST_MAX) {
        return mq_dsn_bad(err,
                          "option ehlo must be a host name or an address literal like [192.0.2.1]");
    }
    return set_text(dsn, offset, value, err);
}

static enum mq_status set_ip(struct mq_dsn *dsn, size_t offset, const char *value,
                             struct mq_error *err)
{
    unsigned char binary[sizeof(struct in6_addr)];
    if (inet_pton(AF_INET, value, binary) != 1 && inet_pton(AF_INET6, value, binary) != 1) {
        return mq_dsn_bad(err, "option source_ip must be an IPv4 or IPv6 address of this host");
    }
    return set_text(dsn, offset, value, err);
}

static enum mq_status set_proxy(struct mq_dsn *dsn, size_t offset, const char *value,
                                struct mq_error *err)
{
    static const char *const schemes[] = {"http://",    "https://",  "socks4://",
                                          "socks4a://", "socks5://", "socks5h://"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t len = strlen(schemes[i]);
        if (strncmp(value, schemes[i], len) == 0 && value[len] != '\0') {
            return set_text(dsn, offset, value, err);
        }
    }
    return mq_dsn_bad(err, "option proxy must begin with http://, https://, socks4://, socks4a://, "
                           "socks5:// or socks5h://, followed by host and port");
}

static enum mq_status set_pipelining(struct mq_dsn *dsn, size_t offset, const char *value,
                                     struct mq_error *err)
{
    static const char *const names[] = {
        [MQ_PIPELINING_LEARN] = "auto",
        [MQ_PIPELINING_NONE] = "0",
        [MQ_PIPELINING_GROUP] = "1",
        [MQ_PIPELINING_DOT] = "dot",
    };
    (void)offset;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(value, names[i]) == 0) {
            dsn->pipelining = (enum mq_pipelining)i;
            return MQ_OK;
        }
    }
    return mq_dsn_bad(err, "option pipelining must be auto, 0, 1 or dot");
}

/* "30", "0.5" → milliseconds; false: not a number of seconds from 0.001 to a day. */
static bool parse_seconds(const char *text, int64_t *ms)
{
    int64_t value = 0;
    int decimals = -1; /* digits behind the dot so far; -1: no dot yet */
    size_t digits = 0;
    for (; *text != '\0'; text++) {
        if (*text == '.' && decimals < 0 && digits > 0) {
            decimals = 0;
        } else if (mq_is_digit(*text) && decimals < 3) {
            value = value * 10 + (*text - '0');
            decimals += decimals >= 0;
            digits++;
        } else {
            return false;
        }
        if (value > (int64_t)SECOND_MAX * 1000) {
            return false;
        }
    }
    for (int i = decimals < 0 ? 0 : decimals; i < 3; i++) {
        value *= 10;
    }
    if (digits == 0 || decimals == 0 || value < 1 || value > (int64_t)SECOND_MAX * 1000) {
        return false;
    }
    *ms = value;
    return true;
}

static enum mq_status set_seconds(struct mq_dsn *dsn, size_t offset, const char *value,
                                  struct mq_error *err)
{
    if (!parse_seconds(value, int_at(dsn, offset))) {
        return mq_dsn_bad(err, "a timeout must be a number of seconds from 0.001 to 86400");
    }
    return MQ_OK;
}

static enum mq_status set_count(struct mq_dsn *dsn, size_t offset, const char *value,
                                struct mq_error *err)
{
    int64_t count = mq_dsn_count(mq_str_of(value), MAILS_MAX);
    if (count == 0) {
        return mq_dsn_bad(err, "option max_mails must be a number from 1 to 1000000");
    }
    *int_at(dsn, offset) = count;
    return MQ_OK;
}

#define MEMBER(name) offsetof(struct mq_dsn, name)

static const struct option options[] = {
    {"tls", FOR_SMTP, set_tls, 0},
    {"cafile", FOR_SMTP, set_text, MEMBER(cafile)},
    {"verify_peer", FOR_SMTP, set_bool, MEMBER(verify_peer)},
    {"ehlo", FOR_SMTP, set_ehlo, MEMBER(ehlo)},
    {"source_ip", FOR_SMTP, set_ip, MEMBER(source_ip)},
    {"proxy", FOR_SMTP, set_proxy, MEMBER(proxy)},
    {"pipelining", FOR_SMTP, set_pipelining, 0},
    {"connect_timeout", FOR_SMTP, set_seconds, MEMBER(connect_timeout_ms)},
    {"command_timeout", FOR_SMTP, set_seconds, MEMBER(command_timeout_ms)},
    {"data_timeout", FOR_SMTP, set_seconds, MEMBER(data_timeout_ms)},
    {"block_timeout", FOR_SMTP, set_seconds, MEMBER(block_timeout_ms)},
    {"final_timeout", FOR_SMTP | FOR_SENDMAIL, set_seconds, MEMBER(final_timeout_ms)},
    {"idle_timeout", FOR_SMTP, set_seconds, MEMBER(idle_ms)},
    {"max_mails", FOR_SMTP, set_count, MEMBER(mails_per_connection)},
    {"command", FOR_SENDMAIL, set_command, MEMBER(command)},
};

#define OPTION_COUNT (sizeof options / sizeof *options)

static unsigned scheme_of(const struct mq_dsn *dsn)
{
    return mq_dsn_is(dsn, "sendmail") ? FOR_SENDMAIL : mq_dsn_is(dsn, "file") ? FOR_FILE : FOR_SMTP;
}

/* "a, b and c": what the scheme takes. */
static void list_options(struct mq_buffer *out, unsigned scheme)
{
    size_t left = 0;
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        left += (options[i].schemes & scheme) != 0;
    }
    mq_buffer_cstr(out, left > 0 ? "allowed are " : "there are none for file://");
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (options[i].schemes & scheme) {
            left--;
            mq_buffer_cstr(out, options[i].name);
            mq_buffer_cstr(out, left > 1 ? ", " : left > 0 ? " and " : "");
        }
    }
}

static enum mq_status bad_option(const struct mq_dsn *dsn, const char *what, struct mq_error *err)
{
    struct mq_buffer allowed;
    mq_buffer_init(&allowed);
    list_options(&allowed, scheme_of(dsn));
    enum mq_status status = allowed.failed ? mq_error_nomem(err)
                                           : mq_error_set(err, MQ_CONFIG, "transport",
                                                          "transport: %s; %s", what, allowed.data);
    mq_buffer_clear(&allowed);
    return status;
}

/* named: nothing in the options can be a piece of user or password, so that they may be shown. */
static enum mq_status unknown_option(const struct mq_dsn *dsn, struct mq_str name, bool named,
                                     struct mq_error *err)
{
    char shown[60] = "unknown option";
    if (named) {
        size_t used = mq_str_printable(shown, sizeof shown, strlen(shown), MQ_STR(" \""));
        used = mq_str_printable(shown, sizeof shown - 1, used, name);
        mq_str_printable(shown, sizeof shown, used, MQ_STR("\""));
    }
    return bad_option(dsn, shown, err);
}

static enum mq_status misplaced_option(const struct mq_dsn *dsn, const char *name,
                                       struct mq_error *err)
{
    char what[80];
    snprintf(what, sizeof what, "option %s does not apply to %s://", name, dsn->scheme);
    return bad_option(dsn, what, err);
}

static size_t find_option(struct mq_str name)
{
    size_t i = 0;
    while (i < OPTION_COUNT && !mq_str_equal(name, mq_str_of(options[i].name))) {
        i++;
    }
    return i;
}

static enum mq_status set_option(struct mq_dsn *dsn, size_t i, struct mq_str value, unsigned *seen,
                                 struct mq_error *err)
{
    if (*seen & 1u << i || value.len == 0) {
        return mq_error_set(err, MQ_CONFIG, "transport", "transport: option %s %s", options[i].name,
                            value.len == 0 ? "has no value" : "is given twice");
    }
    *seen |= 1u << i;
    char *decoded = NULL;
    enum mq_status status = mq_dsn_decode(value, &decoded, err);
    if (status == MQ_OK) {
        status = options[i].set(dsn, options[i].offset, decoded, err);
    }
    free(decoded);
    return status;
}

enum mq_status mq_dsn_parse_options(struct mq_str text, struct mq_dsn *dsn, struct mq_error *err)
{
    unsigned seen = 0;
    bool may_show = text.len == 0 || memchr(text.data, '@', text.len) == NULL;
    while (text.len > 0) {
        struct mq_str name;
        struct mq_str value = text;
        if (!mq_dsn_cut(&text, '&', &value)) {
            text.len = 0;
        }
        if (!mq_dsn_cut(&value, '=', &name)) {
            return mq_dsn_bad(err, "an option has no \"=\"; write ?name=value&name=value");
        }
        size_t i = find_option(name);
        if (i == OPTION_COUNT) {
            return unknown_option(dsn, name, may_show, err);
        }
        if (!(options[i].schemes & scheme_of(dsn))) {
            return misplaced_option(dsn, options[i].name, err);
        }
        enum mq_status status = set_option(dsn, i, value, &seen, err);
        if (status != MQ_OK) {
            return status;
        }
    }
    return MQ_OK;
}
