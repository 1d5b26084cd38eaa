/* For people who set a transport: parses its DSN. Passwords never get into an error's text. */
#include "send/dsn.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "core/ascii.h"
#include "send/dsn_text.h"

#define HOST_MAX       253
#define API_TIMEOUT_MS 120000

static enum mq_status parse_scheme(struct mq_str *text, struct mq_dsn *dsn, struct mq_error *err)
{
    static const struct {
        const char *spelling, *scheme;
    } schemes[] = {{"smtp", "smtp"},
                   {"smtps", "smtps"},
                   {"lmtp", "lmtp"},
                   {"smtp+lmtp", "lmtp"},
                   {"null", "null"},
                   {"sendmail", "sendmail"},
                   {"file", "file"},
                   {"ses+https", "ses+https"},
                   {"mailgun+https", "mailgun+https"},
                   {"microsoftgraph+https", "microsoftgraph+https"},
                   {"gmail+https", "gmail+https"}};
    struct mq_str scheme;
    if (mq_dsn_cut(text, ':', &scheme) && mq_str_begins(*text, "//")) {
        *text = mq_str_skip(*text, 2);
        for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
            if (mq_str_equal_nocase(scheme, mq_str_of(schemes[i].spelling))) {
                dsn->scheme = schemes[i].scheme;
                return MQ_OK;
            }
        }
    }
    return mq_dsn_bad(err, "it does not begin with a scheme that is known; write "
                           "smtp://user:password@host:587, smtps://user:password@host:465, "
                           "lmtp:///run/dovecot/lmtp, sendmail://default, file:///directory, "
                           "null://null, or a mail API's ses+https://, mailgun+https://, "
                           "microsoftgraph+https:// or gmail+https://");
}

static bool is_ipv6(const char *host)
{
    struct in6_addr binary;
    return inet_pton(AF_INET6, host, &binary) == 1;
}

static bool is_host(const char *host)
{
    size_t len = strspn(host, MQ_DSN_NAME_CHARS);
    return len > 0 && len <= HOST_MAX && host[len] == '\0' && host[0] != '-';
}

/* The error's text repeats no input: a password with an unencoded character can be anywhere. */
static enum mq_status bad_authority(struct mq_error *err)
{
    return mq_dsn_bad(
        err,
        "what follows :// must be host, host:port or user:password@host:port, without path or "
        "fragment; the port is 1 to 65535, IPv6 is [2001:db8::1], non-ASCII hosts are A-labels "
        "(xn--...); in user and password write : / @ ? # % as %3A %2F %40 %3F %23 %25");
}

static enum mq_status parse_user(struct mq_str text, struct mq_dsn *dsn, struct mq_error *err)
{
    struct mq_str user = text;
    bool has_password = mq_dsn_cut(&text, ':', &user);
    if (user.len == 0 || (has_password && mq_str_find(text, ':') < text.len)) {
        return bad_authority(err);
    }
    MQ_TRY(mq_dsn_decode(user, &dsn->user, err));
    return has_password ? mq_dsn_decode(text, &dsn->password, err) : MQ_OK;
}

/* host, host:port or [IPv6]:port */
static enum mq_status parse_host(struct mq_str text, struct mq_dsn *dsn, struct mq_error *err)
{
    struct mq_str host = text, before = {"", 0};
    bool bracketed = text.len > 0 && text.data[0] == '[' && mq_dsn_cut(&text, ']', &host);
    host = mq_str_skip(host, bracketed);
    bool has_port = mq_dsn_cut(&text, ':', bracketed ? &before : &host);
    if (has_port) {
        dsn->port = (int)mq_dsn_count(text, 65535);
    }
    if ((has_port && dsn->port == 0) || before.len > 0 ||
        (bracketed && !has_port && text.len > 0)) {
        return bad_authority(err);
    }
    MQ_TRY(mq_dsn_decode(host, &dsn->host, err));
    return (bracketed ? is_ipv6(dsn->host) : is_host(dsn->host)) ? MQ_OK : bad_authority(err);
}

/* smtp:///run/relay: a Unix socket. */
static enum mq_status parse_socket(struct mq_str path, struct mq_dsn *dsn, struct mq_error *err)
{
    if (mq_str_find(path, '#') < path.len) {
        return bad_authority(err);
    }
    MQ_TRY(mq_dsn_decode(path, &dsn->path, err));
    if (strlen(dsn->path) >= sizeof((struct sockaddr_un *)NULL)->sun_path) {
        return mq_dsn_bad(err, "the path of the socket has more than 107 octets; give a shorter "
                               "one, such as that of a symbolic link");
    }
    return mq_dsn_decode(MQ_STR(""), &dsn->host, err);
}

static enum mq_status parse_remote(struct mq_str text, struct mq_str path, struct mq_dsn *dsn,
                                   struct mq_error *err)
{
    struct mq_str user;
    bool socket = path.len > 1 && (mq_dsn_is(dsn, "smtp") || mq_dsn_is(dsn, "lmtp"));
    if (!socket && path.len > 0 && !mq_str_equal(path, MQ_STR("/"))) {
        return bad_authority(err);
    }
    if (mq_dsn_cut(&text, '@', &user)) {
        bool once = mq_str_find(text, '@') == text.len;
        MQ_TRY(once ? parse_user(user, dsn, err) : bad_authority(err));
    }
    if (socket) {
        return text.len == 0 ? parse_socket(path, dsn, err) : bad_authority(err);
    }
    return parse_host(text, dsn, err);
}

static enum mq_status parse_sendmail(struct mq_str text, struct mq_str path, struct mq_dsn *dsn,
                                     struct mq_error *err)
{
    if (!mq_str_equal_nocase(text, MQ_STR("default")) ||
        (path.len > 0 && !mq_str_equal(path, MQ_STR("/")))) {
        return mq_dsn_bad(err, "only \"default\" can follow sendmail://, no path; "
                               "write sendmail://default or sendmail://default?command=/usr/sbin/"
                               "sendmail%20-t%20-i");
    }
    return mq_dsn_decode(MQ_STR("default"), &dsn->host, err);
}

static enum mq_status parse_file(struct mq_str text, struct mq_str path, struct mq_dsn *dsn,
                                 struct mq_error *err)
{
    while (path.len > 1 && path.data[path.len - 1] == '/') {
        path.len--;
    }
    if ((text.len > 0 && !mq_str_equal_nocase(text, MQ_STR("localhost"))) || path.len < 2 ||
        path.data[1] == '/' || mq_str_find(path, '#') < path.len) {
        return mq_dsn_bad(err, "file:// takes a directory of this host; write file:///directory "
                               "with three slashes, and \"#\" in it as %23");
    }
    MQ_TRY(mq_dsn_decode(path, &dsn->path, err));
    return mq_dsn_decode(MQ_STR(""), &dsn->host, err);
}

/* LMTP is spoken on one host or within a network of servers, and here without TLS and login. */
static enum mq_status check_lmtp(struct mq_dsn *dsn, struct mq_error *err)
{
    if (dsn->user != NULL) {
        return mq_dsn_bad(err, "lmtp:// has no login; remove user and password");
    }
    if (dsn->tls == MQ_TLS_REQUIRED) {
        return mq_dsn_bad(err, "lmtp:// has no TLS; remove tls=required, or take smtp://");
    }
    if (dsn->tls != MQ_TLS_NONE && !mq_dsn_is_loopback(dsn)) {
        return mq_dsn_bad(err, "lmtp:// has no TLS; give a socket (lmtp:///run/dovecot/lmtp), a "
                               "server of this host, or tls=none for a network that you trust");
    }
    dsn->tls = MQ_TLS_NONE;
    return MQ_OK;
}

/* What a scheme says besides its options. */
static enum mq_status apply_scheme(struct mq_dsn *dsn, struct mq_error *err)
{
    bool plain = dsn->tls == MQ_TLS_NONE;
    if (mq_dsn_is(dsn, "lmtp")) {
        return check_lmtp(dsn, err);
    }
    if (mq_dsn_is(dsn, "smtps") && plain) {
        return mq_dsn_bad(err, "tls=none contradicts smtps://; write smtp:// or leave it out");
    }
    if (mq_dsn_is_http(dsn) && plain && !mq_dsn_is_loopback(dsn)) {
        return mq_dsn_bad(err, "tls=none is only for an API on this host (127.0.0.1, ::1, "
                               "localhost): its key would go out unencrypted; leave it out");
    }
    if (mq_dsn_is(dsn, "smtps") || (mq_dsn_is_http(dsn) && !plain)) {
        dsn->tls = MQ_TLS_IMPLICIT;
    }
    if (mq_dsn_is(dsn, "file") || mq_dsn_is(dsn, "null")) {
        dsn->final_timeout_ms = 0;
    }
    return MQ_OK;
}

/* The parts that a login needs, and those that contradict it. */
static enum mq_status check_login(const struct mq_dsn *dsn, struct mq_error *err)
{
    if (dsn->login == MQ_LOGIN_PASSWORD) {
        return dsn->account == NULL || mq_dsn_is_http(dsn)
                   ? MQ_OK
                   : mq_dsn_bad(err, "option account is for auth=oauth2; write both or neither");
    }
    if (dsn->account == NULL) {
        return mq_dsn_bad(err, "auth=oauth2 needs an account; write &account=NAME, and make it "
                               "with mailqueue login");
    }
    if (dsn->user == NULL) {
        return mq_dsn_bad(err, "auth=oauth2 needs the mailbox as the user; write "
                               "smtp://name%40example.org@host:587?auth=oauth2&account=NAME");
    }
    return dsn->password == NULL
               ? MQ_OK
               : mq_dsn_bad(err, "auth=oauth2 takes a token and no password; remove the password");
}

static enum mq_status parse(struct mq_str text, struct mq_dsn *dsn, struct mq_error *err)
{
    enum mq_status status = MQ_OK;
    size_t end = 0;
    MQ_TRY(parse_scheme(&text, dsn, err));
    while (end < text.len && memchr("/?#", text.data[end], 3) == NULL) {
        end++;
    }
    struct mq_str path = {text.data + end, text.len - end};
    struct mq_str options = path;
    bool has_options = mq_dsn_cut(&options, '?', &path);
    text.len = end;
    if (mq_dsn_is(dsn, "sendmail")) {
        status = parse_sendmail(text, path, dsn, err);
    } else if (mq_dsn_is(dsn, "file")) {
        status = parse_file(text, path, dsn, err);
    } else {
        status = parse_remote(text, path, dsn, err);
    }
    MQ_TRY(status);
    if (mq_dsn_is_http(dsn)) {
        dsn->final_timeout_ms = API_TIMEOUT_MS;
    }
    MQ_TRY(has_options ? mq_dsn_parse_options(options, dsn, err) : MQ_OK);
    MQ_TRY(check_login(dsn, err));
    return apply_scheme(dsn, err);
}

enum mq_status mq_dsn_parse(struct mq_str text, struct mq_dsn *out, struct mq_error *err)
{
    /* The command, data, block and final timeouts are those of RFC 5321, section 4.5.3.2. */
    struct mq_dsn dsn = {.verify_peer = true,
                         .connect_timeout_ms = 30000,
                         .command_timeout_ms = 300000,
                         .data_timeout_ms = 120000,
                         .block_timeout_ms = 180000,
                         .final_timeout_ms = 600000,
                         .idle_ms = 10000,
                         .mails_per_connection = 100};
    enum mq_status status = parse(text, &dsn, err);
    if (status == MQ_OK) {
        *out = dsn;
    } else {
        mq_dsn_clear(&dsn);
    }
    return status;
}

void mq_dsn_clear(struct mq_dsn *dsn)
{
    mq_dsn_wipe(dsn->password);
    mq_dsn_wipe(dsn->session_token);
    for (size_t i = 0; i < dsn->command.count; i++) {
        mq_dsn_wipe(dsn->command.items[i]); /* some programs take a password in an option */
    }
    free(dsn->command.items);
    free(dsn->user);
    free(dsn->host);
    free(dsn->path);
    free(dsn->account);
    free(dsn->cafile);
    free(dsn->ehlo);
    free(dsn->source_ip);
    free(dsn->proxy);
    free(dsn->region);
    free(dsn->name);
    *dsn = (struct mq_dsn){0};
}

/* The sub-delims of RFC 3986, which need no encoding in any part. */
#define PLAIN "!$&'()*+,;="
/* The characters of AWS's key ids. */
#define KEY_ID_CHARS "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

/* Appends the program, and *** if it has options other than -t and -i: any can be a password. */
static void append_command(struct mq_buffer *out, const struct mq_strings *words)
{
    mq_buffer_cstr(out, "?command=");
    mq_dsn_encode(out, mq_str_of(words->items[0]), PLAIN "/");
    for (size_t i = 1; i < words->count; i++) {
        if (strcmp(words->items[i], "-t") != 0 && strcmp(words->items[i], "-i") != 0) {
            mq_buffer_cstr(out, "%20***");
            break;
        }
    }
}

/* The first part of an API's login is a key. SES's is only the id of one, and tells accounts apart;
 * but that of temporary keys changes every few hours (option `name` does that for them), and text
 * that does not look like an id may be the secret in the wrong place. */
static bool shows_user(const struct mq_dsn *dsn)
{
    if (mq_dsn_is(dsn, "ses+https")) {
        return dsn->session_token == NULL && dsn->user[strspn(dsn->user, KEY_ID_CHARS)] == '\0';
    }
    return !mq_dsn_is(dsn, "mailgun+https");
}

/* Mailgun's second part is a domain, no secret. */
static void append_login(struct mq_buffer *out, const struct mq_dsn *dsn)
{
    if (dsn->user == NULL) {
        return;
    }
    mq_dsn_encode(out, mq_str_of(shows_user(dsn) ? dsn->user : "***"), PLAIN);
    if (dsn->password != NULL) {
        mq_buffer_char(out, ':');
        bool is_domain = mq_dsn_is(dsn, "mailgun+https");
        mq_dsn_encode(out, mq_str_of(is_domain ? dsn->password : "***"), PLAIN);
    }
    mq_buffer_char(out, '@');
}

char *mq_dsn_redacted(const struct mq_dsn *dsn)
{
    struct mq_buffer out = {0};
    mq_buffer_printf(&out, "%s://", dsn->scheme);
    append_login(&out, dsn);
    mq_buffer_printf(&out, is_ipv6(dsn->host) ? "[%s]" : "%s", dsn->host);
    if (dsn->port != 0) {
        mq_buffer_printf(&out, ":%d", dsn->port);
    }
    if (dsn->path != NULL) {
        mq_dsn_encode(&out, mq_str_of(dsn->path), PLAIN "/");
    }
    if (dsn->command.count > 0) {
        append_command(&out, &dsn->command);
    }
    if (dsn->region != NULL) {
        mq_buffer_printf(&out, "?region=%s", dsn->region);
    }
    if (dsn->name != NULL) {
        mq_buffer_cstr(&out, dsn->region != NULL ? "&name=" : "?name=");
        mq_dsn_encode(&out, mq_str_of(dsn->name), "");
    }
    if (dsn->account != NULL && mq_dsn_is_http(dsn)) { /* SMTP's is told by the user */
        mq_buffer_cstr(&out, "?account=");
        mq_dsn_encode(&out, mq_str_of(dsn->account), PLAIN);
    }
    return mq_buffer_take(&out);
}

/* Whether the URL is like http://user:password@proxy. */
static bool has_login(struct mq_str url)
{
    const char *scheme = url.len > 0 ? memmem(url.data, url.len, "://", 3) : NULL;
    struct mq_str rest = scheme ? mq_str_skip(url, (size_t)(scheme - url.data) + 3) : url;
    const char *at = rest.len > 0 ? memrchr(rest.data, '@', rest.len) : NULL;
    return at && memchr(rest.data, ':', (size_t)(at - rest.data));
}

bool mq_dsn_has_secret(struct mq_str text)
{
    struct mq_error err;
    struct mq_dsn dsn;
    if (mq_dsn_parse(text, &dsn, &err) != MQ_OK) {
        return has_login(text);
    }
    bool is_key = dsn.user && !shows_user(&dsn);
    bool has = dsn.password || dsn.session_token || is_key || has_login(mq_str_of(dsn.proxy));
    mq_dsn_clear(&dsn);
    return has;
}

const char *mq_dsn_local_path(const struct mq_dsn *dsn)
{
    return dsn->command.count > 0 ? dsn->command.items[0] : dsn->path;
}

bool mq_dsn_is_loopback(const struct mq_dsn *dsn)
{
    return dsn->path != NULL || mq_host_is_loopback(dsn->host);
}
