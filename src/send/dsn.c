/* Parses the DSN of a transport. Passwords never get into an error's text. */
#include "send/dsn.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"
#include "send/dsn_options.h"
#include "send/dsn_text.h"

#define HOST_MAX 253

static enum mq_status parse_scheme(struct mq_str *text, struct mq_dsn *dsn, struct mq_error *err)
{
    static const char *const schemes[] = {"smtp", "smtps", "null", "sendmail", "file"};
    struct mq_str scheme;
    if (mq_dsn_cut(text, ':', &scheme) && text->len >= 2 && memcmp(text->data, "//", 2) == 0) {
        for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
            if (mq_str_equal_nocase(scheme, mq_str_of(schemes[i]))) {
                text->data += 2;
                text->len -= 2;
                dsn->tls = i == 1 ? MQ_TLS_IMPLICIT : MQ_TLS_AUTO;
                dsn->scheme = mq_str_dup(mq_str_of(schemes[i]));
                return dsn->scheme ? MQ_OK : mq_error_nomem(err);
            }
        }
    }
    return mq_dsn_bad(err, "it does not begin with a scheme that is known; write "
                           "smtp://user:password@host:587, smtps://user:password@host:465, "
                           "sendmail://default, file:///directory or null://null");
}

static enum mq_status parse_user(struct mq_str text, struct mq_dsn *dsn, struct mq_error *err)
{
    struct mq_str user = text;
    bool has_password = mq_dsn_cut(&text, ':', &user);
    if (user.len == 0) {
        return mq_dsn_bad(err,
                          "there is no user name before the \"@\"; write smtp://user:password@host "
                          "or smtp://host");
    }
    if (has_password && text.len > 0 && memchr(text.data, ':', text.len) != NULL) {
        return mq_dsn_bad(err,
                          "there is more than one \":\" before the \"@\"; write \":\" in user and "
                          "password as %3A");
    }
    enum mq_status status = mq_dsn_decode(user, &dsn->user, err);
    if (status == MQ_OK && has_password) {
        status = mq_dsn_decode(text, &dsn->password, err);
    }
    return status;
}

static bool is_host(struct mq_str host)
{
    if (host.len == 0 || host.len > HOST_MAX || host.data[0] == '-') {
        return false;
    }
    for (size_t i = 0; i < host.len; i++) {
        char c = host.data[i];
        if (!mq_is_alnum(c) && c != '-' && c != '_' && c != '.') {
            return false;
        }
    }
    return true;
}

static bool is_ipv6(const char *host)
{
    struct in6_addr binary;
    return inet_pton(AF_INET6, host, &binary) == 1;
}

static enum mq_status parse_host(struct mq_str text, struct mq_dsn *dsn, struct mq_error *err)
{
    struct mq_str host = text;
    bool bracketed = text.len > 0 && text.data[0] == '[';
    bool has_port;
    if (bracketed) {
        text.data++;
        text.len--;
        if (!mq_dsn_cut(&text, ']', &host) || (text.len > 0 && text.data[0] != ':')) {
            return mq_dsn_bad(
                err, "the host's \"[\" has no \"]\" before the port; write [2001:db8::1]:25");
        }
        has_port = text.len > 0;
        text.data += has_port;
        text.len -= has_port;
    } else {
        has_port = mq_dsn_cut(&text, ':', &host);
    }
    if (has_port) {
        dsn->port = (int)mq_dsn_count(text, 65535);
        if (dsn->port == 0) {
            return mq_dsn_bad(
                err, "the port must be a number from 1 to 65535; write \":\", \"/\", \"@\" "
                     "and \"?\" in user and password percent-encoded (%3A %2F %40 %3F)");
        }
    }
    if (!bracketed && !is_host(host)) {
        return mq_dsn_bad(err,
                          "the host is missing or has a character that no host name has; write "
                          "non-ASCII names in A-labels (xn--...), IPv6 addresses in brackets");
    }
    enum mq_status status = mq_dsn_decode(host, &dsn->host, err);
    if (status == MQ_OK && bracketed && !is_ipv6(dsn->host)) {
        status = mq_dsn_bad(err, "what is in brackets is no IPv6 address; write [2001:db8::1]");
    }
    return status;
}

static enum mq_status parse_authority(struct mq_str text, struct mq_dsn *dsn, struct mq_error *err)
{
    struct mq_str user;
    if (mq_dsn_cut(&text, '@', &user)) {
        if (memchr(text.data, '@', text.len) != NULL) {
            return mq_dsn_bad(
                err, "there is more than one \"@\" in it; write \"@\" in user and password "
                     "as %40");
        }
        enum mq_status status = parse_user(user, dsn, err);
        if (status != MQ_OK) {
            return status;
        }
    }
    return parse_host(text, dsn, err);
}

/* What is local has neither user nor port. */
static enum mq_status parse_local(struct mq_str text, struct mq_dsn *dsn, struct mq_error *err)
{
    if (mq_dsn_is(dsn, "sendmail")) {
        if (!mq_str_equal_nocase(text, MQ_STR("default"))) {
            return mq_dsn_bad(err, "behind sendmail:// only \"default\" can stand; write "
                                   "sendmail://default or sendmail://default?command=/usr/sbin/"
                                   "sendmail%20-t%20-i");
        }
    } else if (text.len > 0 && !mq_str_equal_nocase(text, MQ_STR("localhost"))) {
        return mq_dsn_bad(err, "file:// takes a directory of this host; write file:///directory "
                               "with three slashes");
    }
    bool named = mq_dsn_is(dsn, "sendmail");
    dsn->host = mq_str_dup(named ? MQ_STR("default") : MQ_STR(""));
    return dsn->host ? MQ_OK : mq_error_nomem(err);
}

/* What is between the authority and the options, its slash included. */
static enum mq_status parse_path(struct mq_str text, struct mq_dsn *dsn, struct mq_error *err)
{
    if (!mq_dsn_is(dsn, "file")) {
        if (text.len == 0 || mq_str_equal(text, MQ_STR("/"))) {
            return MQ_OK;
        }
        return mq_dsn_bad(err, "there is a path or fragment behind the host; remove it, and write "
                               "\"/\" and \"#\" in user and password as %2F and %23");
    }
    if (text.len > 0 && memchr(text.data, '#', text.len) != NULL) {
        return mq_dsn_bad(err, "write \"#\" in the directory as %23");
    }
    while (text.len > 1 && text.data[text.len - 1] == '/') {
        text.len--;
    }
    if (text.len < 2 || text.data[1] == '/') {
        return mq_dsn_bad(err, "file:// needs a directory; write file:///directory");
    }
    return mq_dsn_decode(text, &dsn->path, err);
}

static struct mq_dsn defaults(void)
{
    /* RFC 5321, section 4.5.3.2, where it speaks of the step. */
    return (struct mq_dsn){.verify_peer = true,
                           .connect_timeout_ms = 30000,
                           .command_timeout_ms = 300000,
                           .data_timeout_ms = 120000,
                           .block_timeout_ms = 180000,
                           .final_timeout_ms = 600000,
                           .idle_ms = 10000,
                           .mails_per_connection = 100};
}

enum mq_status mq_dsn_parse(struct mq_str text, struct mq_dsn *out, struct mq_error *err)
{
    struct mq_dsn dsn = defaults();
    enum mq_status status = parse_scheme(&text, &dsn, err);
    if (status != MQ_OK) {
        goto out;
    }
    size_t end = 0;
    while (end < text.len && memchr("/?#", text.data[end], 3) == NULL) {
        end++;
    }
    struct mq_str authority = {text.data, end};
    bool local = mq_dsn_is(&dsn, "sendmail") || mq_dsn_is(&dsn, "file");
    status = local ? parse_local(authority, &dsn, err) : parse_authority(authority, &dsn, err);
    if (status != MQ_OK) {
        goto out;
    }
    struct mq_str path = {text.data + end, text.len - end};
    struct mq_str options = path;
    bool has_options = mq_dsn_cut(&options, '?', &path);
    status = parse_path(path, &dsn, err);
    if (status == MQ_OK && has_options) {
        status = mq_dsn_parse_options(options, &dsn, err);
    }
    if (status == MQ_OK) {
        *out = dsn;
        return MQ_OK;
    }
out:
    mq_dsn_clear(&dsn);
    return status;
}

static void wipe(char *secret)
{
    volatile char *p = secret; /* a plain memset before free is optimised away */
    while (p != NULL && *p != '\0') {
        *p++ = '\0';
    }
    free(secret);
}

void mq_dsn_clear(struct mq_dsn *dsn)
{
    wipe(dsn->password);
    wipe(dsn->command); /* some programs take a password in an option */
    free(dsn->scheme);
    free(dsn->user);
    free(dsn->host);
    free(dsn->path);
    free(dsn->cafile);
    free(dsn->ehlo);
    free(dsn->source_ip);
    free(dsn->proxy);
    *dsn = (struct mq_dsn){0};
}

static void append_encoded(struct mq_buffer *out, const char *text, const char *also)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-._~!$&'()*+,;=";
    for (const char *p = text; *p != '\0'; p++) {
        if (strchr(plain, *p) != NULL || strchr(also, *p) != NULL) {
            mq_buffer_char(out, *p);
        } else {
            mq_buffer_printf(out, "%%%02X", (unsigned)(unsigned char)*p);
        }
    }
}

/* The program, and whether there is more: an option can be a password. -t and -i say nothing. */
static void append_command(struct mq_buffer *out, const char *command)
{
    struct mq_strings words;
    mq_strings_init(&words);
    mq_buffer_cstr(out, "?command=");
    if (mq_dsn_split_command(mq_str_of(command), &words, NULL) != MQ_OK) {
        mq_buffer_cstr(out, "***");
    } else {
        append_encoded(out, words.items[0], "/");
    }
    for (size_t i = 1; i < words.count; i++) {
        if (strcmp(words.items[i], "-t") != 0 && strcmp(words.items[i], "-i") != 0) {
            mq_buffer_cstr(out, "%20***");
            break;
        }
    }
    mq_strings_clear(&words);
}

char *mq_dsn_redacted(const struct mq_dsn *dsn)
{
    struct mq_buffer out;
    mq_buffer_init(&out);
    mq_buffer_printf(&out, "%s://", dsn->scheme);
    if (dsn->user != NULL) {
        append_encoded(&out, dsn->user, "");
        mq_buffer_cstr(&out, dsn->password ? ":***@" : "@");
    }
    mq_buffer_printf(&out, is_ipv6(dsn->host) ? "[%s]" : "%s", dsn->host);
    if (dsn->port != 0) {
        mq_buffer_printf(&out, ":%d", dsn->port);
    }
    if (dsn->path != NULL) {
        append_encoded(&out, dsn->path, "/");
    }
    if (dsn->command != NULL) {
        append_command(&out, dsn->command);
    }
    return mq_buffer_take(&out);
}

bool mq_dsn_is_loopback(const struct mq_dsn *dsn)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (mq_str_equal_nocase(mq_str_of(dsn->host), MQ_STR("localhost"))) {
        return true;
    }
    if (inet_pton(AF_INET, dsn->host, &v4) == 1) {
        return ntohl(v4.s_addr) >> 24 == 127;
    }
    if (inet_pton(AF_INET6, dsn->host, &v6) == 1) {
        return IN6_IS_ADDR_LOOPBACK(&v6);
    }
    return false;
}
