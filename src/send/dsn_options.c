/* For relays that need other times, TLS or names than the usual ones: the options of a transport's
 * DSN, one table of names, schemes, types and rules. */
#include <arpa/inet.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "send/dsn_text.h"

#define SECOND_MAX   86400
#define MAILS_MAX    1000000
#define SESSIONS_MAX 1000

/* Which schemes an option is for. */
enum {
    FOR_SMTP = 1,
    FOR_SENDMAIL = 2,
    FOR_FILE = 4,
    FOR_SES = 8,
    FOR_MAILGUN = 16,
    FOR_ACCOUNT = 32,
    FOR_LMTP = 64,
    FOR_RELAYS = FOR_SMTP | FOR_LMTP
};
#define FOR_APIS (FOR_SES | FOR_MAILGUN | FOR_ACCOUNT)
#define FOR_NET  (FOR_SMTP | FOR_APIS) /* those with connections of our own, perhaps with TLS */

enum type { TEXT, WORD, BOOL, SECONDS, COUNT, SESSIONS, COMMAND };

struct option {
    const char *name;
    unsigned schemes;
    enum type type;
    size_t offset; /* in struct mq_dsn, of the member that the option sets */
    const char *rule;
    const char *words; /* WORD: in the order of the enum; BOOL: false and true alternate */
    bool (*is_valid)(const char *text); /* TEXT; NULL: any text is valid */
};

static bool is_ehlo(const char *text)
{
    return text[strspn(text, MQ_DSN_NAME_CHARS ":[]")] == '\0' && strlen(text) <= 253;
}

static bool is_ip(const char *text)
{
    unsigned char binary[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, text, binary) == 1 || inet_pton(AF_INET6, text, binary) == 1;
}

static bool is_proxy(const char *text)
{
    const char *end = strstr(text, "://");
    struct mq_str scheme = {text, end ? (size_t)(end - text) : 0};
    return mq_str_word(scheme, "http https socks4 socks4a socks5 socks5h", mq_str_equal) >= 0 &&
           end[3] != '\0';
}

static bool is_region(const char *text)
{
    size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");
    return text[len] == '\0' && len <= 32;
}

static const char login_words[] = "password oauth2 xoauth2 oauthbearer";
static const char tls_words[] = "auto none required";
static const char family_words[] = "auto 4 6";
static const char *const family_names[] = {"auto", "IPv4", "IPv6"};
static const char pipelining_words[] = "auto 0 1 dot";
static const char bool_words[] = "0 1 false true no yes off on";
static const char seconds_rule[] = "must be a number of seconds from 0.001 to 86400";

_Static_assert(MQ_LOGIN_PASSWORD == 0 && MQ_LOGIN_OAUTH2 == 1 && MQ_LOGIN_XOAUTH2 == 2 &&
                   MQ_LOGIN_OAUTHBEARER == 3,
               "as login_words");
_Static_assert(MQ_TLS_AUTO == 0 && MQ_TLS_NONE == 1 && MQ_TLS_REQUIRED == 2, "as tls_words");
_Static_assert(MQ_FAMILY_ANY == 0 && MQ_FAMILY_4 == 1 && MQ_FAMILY_6 == 2, "as family_words");
_Static_assert(MQ_PIPELINING_LEARN == 0 && MQ_PIPELINING_NONE == 1 && MQ_PIPELINING_GROUP == 2 &&
                   MQ_PIPELINING_DOT == 3,
               "as pipelining_words");

#define MEMBER(name) offsetof(struct mq_dsn, name)

static const struct option options[] = {
    {"tls", FOR_NET | FOR_LMTP, WORD, MEMBER(tls), "must be auto, none or required", tls_words,
     NULL},
    {"cafile", FOR_NET, TEXT, MEMBER(cafile), NULL, NULL, NULL},
    {"verify_peer", FOR_NET, BOOL, MEMBER(verify_peer), "must be 1 or 0", bool_words, NULL},
    {"ehlo", FOR_RELAYS, TEXT, MEMBER(ehlo),
     "must be a host name or an address literal like [192.0.2.1]", NULL, is_ehlo},
    {"source_ip", FOR_NET | FOR_LMTP, TEXT, MEMBER(source_ip),
     "must be an IPv4 or IPv6 address of this host", NULL, is_ip},
    {"family", FOR_NET | FOR_LMTP, WORD, MEMBER(family), "must be 4, 6 or auto", family_words,
     NULL},
    {"proxy", FOR_NET, TEXT, MEMBER(proxy),
     "must begin with http://, https://, socks4://, socks4a://, socks5:// or socks5h://, followed "
     "by host and port",
     NULL, is_proxy},
    {"pipelining", FOR_RELAYS, WORD, MEMBER(pipelining), "must be auto, 0, 1 or dot",
     pipelining_words, NULL},
    {"connect_timeout", FOR_NET | FOR_LMTP, SECONDS, MEMBER(connect_timeout_ms), seconds_rule, NULL,
     NULL},
    {"command_timeout", FOR_RELAYS, SECONDS, MEMBER(command_timeout_ms), seconds_rule, NULL, NULL},
    {"data_timeout", FOR_RELAYS, SECONDS, MEMBER(data_timeout_ms), seconds_rule, NULL, NULL},
    {"block_timeout", FOR_NET | FOR_LMTP, SECONDS, MEMBER(block_timeout_ms), seconds_rule, NULL,
     NULL},
    {"final_timeout", FOR_NET | FOR_LMTP | FOR_SENDMAIL, SECONDS, MEMBER(final_timeout_ms),
     seconds_rule, NULL, NULL},
    {"idle_timeout", FOR_NET | FOR_LMTP, SECONDS, MEMBER(idle_ms), seconds_rule, NULL, NULL},
    {"max_mails", FOR_RELAYS, COUNT, MEMBER(mails_per_connection),
     "must be a number from 1 to 1000000", NULL, NULL},
    {"region", FOR_SES | FOR_MAILGUN, TEXT, MEMBER(region),
     "must be a region such as eu-west-1; Mailgun's are us and eu", NULL, is_region},
    {"session_token", FOR_SES, TEXT, MEMBER(session_token), NULL, NULL, NULL},
    {"name", FOR_SES, TEXT, MEMBER(name), NULL, NULL, NULL},
    {"auth", FOR_SMTP, WORD, MEMBER(login), "must be password, oauth2, xoauth2 or oauthbearer",
     login_words, NULL},
    {"account", FOR_SMTP | FOR_ACCOUNT, TEXT, MEMBER(account), NULL, NULL, NULL},
    {"command", FOR_SENDMAIL, COMMAND, MEMBER(command), NULL, NULL, NULL},
    {"connections", FOR_NET | FOR_LMTP | FOR_SENDMAIL, SESSIONS, MEMBER(connections),
     "must be a number from 1 to 1000", NULL, NULL},
};

#define OPTION_COUNT (sizeof options / sizeof *options)

/* Options of Symfony Mailer for SMTP that have another name here. */
static const struct alias {
    const char *name, *ours;
    const char *no, *yes; /* what is written for a no or a yes; NULL: the value is the same */
} aliases[] = {{"local_domain", "ehlo", NULL, NULL},
               {"restart_threshold", "max_mails", NULL, NULL},
               {"auto_tls", "tls", "none", "auto"},
               {"require_tls", "tls", "auto", "required"}};

/* Options of Symfony Mailer that do not exist here, and what does the same. */
static const struct {
    const char *name, *instead;
} strangers[] = {
    {"restart_threshold_sleep", "leave it out: a new session begins as soon as there is mail"},
    {"ping_threshold", "leave it out: a session ends after idle_timeout, and none is used that is "
                       "dead"},
    {"max_per_second", "set the config key mailLimits, such as \"5/1s mails per relay\""},
    {"peer_fingerprint", "give cafile a PEM file with the relay's certificate"}};

static unsigned scheme_of(const struct mq_dsn *dsn)
{
    static const struct {
        const char *scheme;
        unsigned bit;
    } others[] = {{"sendmail", FOR_SENDMAIL},
                  {"file", FOR_FILE},
                  {"lmtp", FOR_LMTP},
                  {"ses+https", FOR_SES},
                  {"mailgun+https", FOR_MAILGUN},
                  {"microsoftgraph+https", FOR_ACCOUNT},
                  {"gmail+https", FOR_ACCOUNT}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (mq_dsn_is(dsn, others[i].scheme)) {
            return others[i].bit;
        }
    }
    return FOR_SMTP;
}

/* Converts seconds ("30", "0.5") to milliseconds; 0: not a number, or out of range. */
static int64_t milliseconds(struct mq_str text)
{
    char digits[16] = "";
    struct mq_str whole = text;
    bool has_dot = mq_dsn_cut(&text, '.', &whole);
    size_t decimals = has_dot ? text.len : 0;
    if (whole.len == 0 || whole.len > 5 || decimals > 3 || (has_dot && decimals == 0)) {
        return 0;
    }
    snprintf(digits, sizeof digits, "%.*s%.*s%.*s", (int)whole.len, whole.data, (int)decimals,
             text.data, (int)(3 - decimals), "000");
    return mq_dsn_count(mq_str_of(digits), (int64_t)SECOND_MAX * 1000);
}

/* Sets the option's member (takes over a malloc'ed TEXT); false: *value breaks the rule. */
static bool set_value(struct mq_dsn *dsn, const struct option *option, char **value)
{
    void *member = (char *)dsn + option->offset;
    int word = mq_str_word(mq_str_of(*value), option->words ? option->words : "", mq_str_equal);
    switch (option->type) {
    case WORD:
        *(unsigned *)member = (unsigned)word;
        return word >= 0;
    case BOOL:
        *(bool *)member = word & 1;
        return word >= 0;
    case SECONDS:
        *(int64_t *)member = milliseconds(mq_str_of(*value));
        return *(int64_t *)member > 0;
    case COUNT:
    case SESSIONS:
        *(int64_t *)member =
            mq_dsn_count(mq_str_of(*value), option->type == COUNT ? MAILS_MAX : SESSIONS_MAX);
        return *(int64_t *)member > 0;
    default:
        *(char **)member = *value; /* the member was NULL: an option can be given once */
        *value = NULL;
        return option->is_valid == NULL || option->is_valid(*(char **)member);
    }
}

/* Fails with the list of the scheme's options. With `show`, the text also names the unknown option:
 * nothing in the options can be a piece of user or password. */
static enum mq_status unknown_option(const struct mq_dsn *dsn, struct mq_str name, bool show,
                                     struct mq_error *err)
{
    struct mq_buffer text = {0};
    mq_buffer_cstr(&text, "transport: unknown option");
    if (show) {
        name.len = mq_utf8_cut(name, 40);
        mq_buffer_cstr(&text, " \"");
        mq_buffer_printable(&text, name);
        mq_buffer_char(&text, '"');
    }
    mq_buffer_printf(&text, "; %s:// has", dsn->scheme);
    const char *before = " ";
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (options[i].schemes & scheme_of(dsn)) {
            mq_buffer_printf(&text, "%s%s", before, options[i].name);
            before = ", ";
        }
    }
    mq_buffer_cstr(&text, before[0] == ' ' ? " none" : "");
    enum mq_status status = text.failed
                                ? mq_error_nomem(err)
                                : mq_error_set(err, MQ_CONFIG, "transport", "%s", text.data);
    mq_buffer_clear(&text);
    return status;
}

/* An option as it was given. */
struct given {
    size_t at;                 /* in the table */
    const struct alias *alias; /* NULL: by our name */
    struct mq_str value;
};

/* Puts our word for a no or a yes in the place of the value. */
static const char *translate(struct given *given)
{
    const struct alias *alias = given->alias;
    if (alias == NULL || alias->yes == NULL) {
        return NULL;
    }
    int word = mq_str_word(given->value, bool_words, mq_str_equal);
    given->value = mq_str_of(word & 1 ? alias->yes : alias->no);
    return word < 0 ? "must be 1 or 0" : NULL;
}

/* Whether an option of Symfony's asks for the default, as auto_tls=1 and require_tls=0 do. */
static bool is_default(const struct given *given)
{
    return given->alias && given->alias->yes && mq_str_equal(given->value, MQ_STR("auto"));
}

static enum mq_status set_option(struct mq_dsn *dsn, struct given *given, unsigned *seen,
                                 struct mq_error *err)
{
    const struct option *option = &options[given->at];
    const char *name = given->alias ? given->alias->name : option->name;
    char *decoded = NULL;
    const char *wrong = given->value.len == 0 ? "has no value" : translate(given);
    if (wrong == NULL && is_default(given)) {
        return MQ_OK;
    }
    wrong = wrong == NULL && *seen & 1u << given->at ? "is given twice" : wrong;
    enum mq_status status = wrong == NULL ? mq_dsn_decode(given->value, &decoded, err) : MQ_CONFIG;
    *seen |= 1u << given->at;
    if (status == MQ_OK && option->type == COMMAND) {
        status = mq_dsn_split_command(mq_str_of(decoded), &dsn->command, err);
    } else if (status == MQ_OK && !set_value(dsn, option, &decoded)) {
        wrong = option->rule;
    }
    mq_dsn_wipe(decoded);
    return wrong == NULL ? status
                         : mq_error_set(err, MQ_CONFIG, "transport", "transport: option %s%s%s %s",
                                        name, given->alias ? ", here " : "",
                                        given->alias ? option->name : "", wrong);
}

static enum mq_family family_of(const char *address)
{
    unsigned char binary[sizeof(struct in6_addr)];
    return address == NULL                             ? MQ_FAMILY_ANY
           : inet_pton(AF_INET, address, binary) == 1  ? MQ_FAMILY_4
           : inet_pton(AF_INET6, address, binary) == 1 ? MQ_FAMILY_6
                                                       : MQ_FAMILY_ANY;
}

/* A socket of one family cannot connect to an address of the other. */
static enum mq_status match_families(struct mq_dsn *dsn, struct mq_error *err)
{
    const struct {
        const char *name;
        enum mq_family family;
    } given[] = {{"source_ip", family_of(dsn->source_ip)},
                 {"family", dsn->family},
                 {"the host", family_of(dsn->proxy ? NULL : dsn->host)}};
    size_t first = 0;
    for (size_t i = 1; i < sizeof given / sizeof *given; i++) {
        if (given[first].family == MQ_FAMILY_ANY) {
            first = i;
        } else if (given[i].family != MQ_FAMILY_ANY && given[i].family != given[first].family) {
            return mq_error_set(err, MQ_CONFIG, "transport",
                                "transport: %s is %s, but %s is %s; change one of them",
                                given[first].name, family_names[given[first].family], given[i].name,
                                family_names[given[i].family]);
        }
    }
    dsn->family = given[first].family;
    return MQ_OK;
}

/* Finds the option of a name, also of Symfony's; false: the scheme has none. */
static bool find_option(const struct mq_dsn *dsn, struct mq_str name, struct given *given)
{
    unsigned scheme = scheme_of(dsn);
    for (size_t i = 0; scheme == FOR_SMTP && i < sizeof aliases / sizeof *aliases; i++) {
        given->alias = mq_str_equal(name, mq_str_of(aliases[i].name)) ? &aliases[i] : given->alias;
    }
    name = given->alias ? mq_str_of(given->alias->ours) : name;
    while (given->at < OPTION_COUNT && (!mq_str_equal(name, mq_str_of(options[given->at].name)) ||
                                        !(options[given->at].schemes & scheme))) {
        given->at++;
    }
    return given->at < OPTION_COUNT;
}

/* Says what does here what an option of Symfony's does. */
static enum mq_status not_here(const struct mq_dsn *dsn, struct mq_str name, bool show,
                               struct mq_error *err)
{
    for (size_t i = 0; scheme_of(dsn) == FOR_SMTP && i < sizeof strangers / sizeof *strangers;
         i++) {
        if (mq_str_equal(name, mq_str_of(strangers[i].name))) {
            return mq_error_set(err, MQ_CONFIG, "transport", "transport: there is no option %s; %s",
                                strangers[i].name, strangers[i].instead);
        }
    }
    return unknown_option(dsn, name, show, err);
}

enum mq_status mq_dsn_parse_options(struct mq_str text, struct mq_dsn *dsn, struct mq_error *err)
{
    unsigned seen = 0;
    bool may_show = text.len == 0 || memchr(text.data, '@', text.len) == NULL;
    while (text.len > 0) {
        struct mq_str name;
        struct given given = {.value = text};
        if (!mq_dsn_cut(&text, '&', &given.value)) {
            text.len = 0;
        }
        if (!mq_dsn_cut(&given.value, '=', &name)) {
            return mq_dsn_bad(err, "an option has no \"=\"; write ?name=value&name=value");
        }
        MQ_TRY(find_option(dsn, name, &given) ? set_option(dsn, &given, &seen, err)
                                              : not_here(dsn, name, may_show, err));
    }
    return match_families(dsn, err);
}
