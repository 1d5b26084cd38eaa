#include "db/server_dsn.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TIMEOUT_MAX_S 3600
#define BLANKS        " \t\r\n\v\f"
#define PREFIX_LEN    strlen("pgsql:")

static bool has_prefix(struct mq_str text, const char *prefix)
{
    size_t len = strlen(prefix);
    return text.len >= len && strncasecmp(text.data, prefix, len) == 0;
}

bool mq_server_dsn_is(struct mq_str text)
{
    return has_prefix(text, "pgsql:") || has_prefix(text, "mysql:");
}

/* ---- reading ---- */

/* One name=value. */
struct item {
    struct mq_str name;
    struct mq_buffer value; /* without quotes and escapes */
};

/* Where the text is read. */
struct reader {
    const char *at;
    const char *end;
    bool mysql;
};

static void skip(struct reader *reader, const char *set)
{
    while (reader->at < reader->end && strchr(set, *reader->at)) {
        reader->at++;
    }
}

static bool read_name(struct reader *reader, struct item *item)
{
    const char *begin = reader->at;
    while (reader->at < reader->end &&
           (isalnum((unsigned char)*reader->at) || *reader->at == '_')) {
        reader->at++;
    }
    item->name = (struct mq_str){begin, (size_t)(reader->at - begin)};
    skip(reader, BLANKS);
    if (item->name.len == 0 || reader->at == reader->end || *reader->at != '=') {
        return false;
    }
    reader->at++;
    return true;
}

/* PDO's own grammar: up to a semicolon, and two of them are one in the value. */
static bool read_mysql_value(struct reader *reader, struct item *item)
{
    for (; reader->at < reader->end; reader->at++) {
        if (*reader->at == ';' && (reader->at + 1 == reader->end || *++reader->at != ';')) {
            break;
        }
        mq_buffer_char(&item->value, *reader->at);
    }
    return true;
}

/* libpq's grammar (its manual, "Keyword/Value Connection Strings"), in which PDO lets a semicolon
 * stand for a blank. False: a quote is not closed. */
static bool read_pgsql_value(struct reader *reader, struct item *item)
{
    skip(reader, BLANKS);
    bool quoted = reader->at < reader->end && *reader->at == '\'';
    reader->at += quoted;
    for (; reader->at < reader->end; reader->at++) {
        if (quoted ? *reader->at == '\'' : strchr(BLANKS ";", *reader->at) != NULL) {
            reader->at += quoted;
            return true;
        }
        if (*reader->at == '\\' && reader->at + 1 < reader->end) {
            reader->at++;
        }
        mq_buffer_char(&item->value, *reader->at);
    }
    return !quoted;
}

static bool read_item(struct reader *reader, struct item *item)
{
    return read_name(reader, item) &&
           (reader->mysql ? read_mysql_value(reader, item) : read_pgsql_value(reader, item));
}

/* ---- writing ---- */

static void write_pgsql_value(struct mq_buffer *out, struct mq_str value)
{
    mq_buffer_char(out, '\'');
    for (size_t i = 0; i < value.len; i++) {
        if (value.data[i] == '\'' || value.data[i] == '\\') {
            mq_buffer_char(out, '\\');
        }
        mq_buffer_char(out, value.data[i]);
    }
    mq_buffer_char(out, '\'');
}

static bool is_plain(struct mq_str value)
{
    for (size_t i = 0; i < value.len; i++) {
        if (strchr(BLANKS ";'\\", value.data[i])) {
            return false;
        }
    }
    return value.len > 0;
}

static void write_value(struct mq_buffer *out, struct mq_str value, bool mysql)
{
    if (!mysql && !is_plain(value)) {
        write_pgsql_value(out, value);
        return;
    }
    for (size_t i = 0; i < value.len; i++) {
        mq_buffer_char(out, value.data[i]);
        if (value.data[i] == ';') {
            mq_buffer_char(out, ';');
        }
    }
}

/* What is made of the items. */
struct writer {
    struct mq_server_dsn *dsn;
    struct mq_buffer text;
    struct mq_buffer shown;
    bool has_encoding;
    bool has_name; /* the application's, which the server's lists of sessions show */
};

static void write_next(struct mq_buffer *out, struct mq_str text)
{
    mq_buffer_cstr(out, out->len > PREFIX_LEN ? ";" : "");
    mq_buffer_str(out, text);
}

static void write_item(struct mq_buffer *out, const struct item *item, bool mysql)
{
    write_next(out, item->name);
    mq_buffer_char(out, '=');
    write_value(out, mq_buffer_view(&item->value), mysql);
}

static bool is(const struct item *item, const char *name)
{
    return mq_str_equal(item->name, mq_str_of(name));
}

static bool is_one_of(const struct item *item, const char *const *names)
{
    for (; *names; names++) {
        if (is(item, *names)) {
            return true;
        }
    }
    return false;
}

/* Empty is as good as not given. */
static bool keep(char **place, struct item *item)
{
    free(*place);
    *place = NULL;
    if (item->value.len == 0) {
        return true;
    }
    *place = mq_buffer_take(&item->value);
    return *place != NULL;
}

static enum mq_status take_timeout(struct mq_server_dsn *dsn, const struct item *item,
                                   struct mq_error *err)
{
    char *end = NULL;
    long seconds = item->value.len ? strtol(item->value.data, &end, 10) : -1;
    if (seconds < 1 || seconds > TIMEOUT_MAX_S || *end) {
        return mq_error_set(err, MQ_CONFIG, "database",
                            "$database: connect_timeout must be a number of seconds, 1 to %d",
                            TIMEOUT_MAX_S);
    }
    dsn->connect_timeout_s = seconds;
    return MQ_OK;
}

/* PDO passes over what it does not know: a mistyped "chraset" would do harm unseen. */
static enum mq_status check_mysql_name(const struct item *item, struct mq_error *err)
{
    static const char *const known[] = {"host", "port", "dbname", "unix_socket", "charset", NULL};
    return is_one_of(item, known)
               ? MQ_OK
               : mq_error_set(err, MQ_CONFIG, "database",
                              "$database: the DSN has a name that PDO does not know for MySQL: "
                              "there are host, port, dbname, unix_socket, charset, user and "
                              "password, with semicolons between (two within a value are one)");
}

static bool has_word(struct mq_str text, const char *word)
{
    size_t len = strlen(word);
    for (size_t i = 0; i + len <= text.len; i++) {
        if (strncasecmp(text.data + i, word, len) == 0) {
            return true;
        }
    }
    return false;
}

/* By whatever name another driver or a later libpq knows it, or within a URI in libpq's dbname. */
static bool is_secret(const struct item *item)
{
    struct mq_str value = mq_buffer_view(&item->value);
    return (has_word(item->name, "pass") && !is(item, "passfile")) || has_word(item->name, "pwd") ||
           has_word(item->name, "secret") || has_word(item->name, "scram_") ||
           (has_word(value, "://") && has_word(value, "@"));
}

static enum mq_status take_item(struct writer *writer, struct item *item, struct mq_error *err)
{
    struct mq_server_dsn *dsn = writer->dsn;
    bool secret = item->value.len > 0 && is_secret(item);
    dsn->has_secret = dsn->has_secret || secret;
    if (is(item, "user") || is(item, "password")) {
        return keep(is(item, "user") ? &dsn->user : &dsn->password, item) ? MQ_OK
                                                                          : mq_error_nomem(err);
    }
    if (dsn->mysql) {
        enum mq_status status = check_mysql_name(item, err);
        if (status != MQ_OK) {
            return status;
        }
        writer->has_encoding = writer->has_encoding || is(item, "charset");
    } else if (is(item, "connect_timeout")) {
        return take_timeout(dsn, item, err);
    } else if (is(item, "sslpassword")) {
        /* With a blank: PDO looks for "password=" and would then not add the other one. */
        write_next(&writer->text, MQ_STR("sslpassword ="));
        write_pgsql_value(&writer->text, mq_buffer_view(&item->value));
        return MQ_OK;
    }
    static const char *const names[] = {"application_name", "fallback_application_name", NULL};
    writer->has_encoding = writer->has_encoding || is(item, "client_encoding");
    writer->has_name = writer->has_name || is_one_of(item, names);
    write_item(&writer->text, item, dsn->mysql);
    if (!secret) {
        write_item(&writer->shown, item, dsn->mysql);
    }
    return MQ_OK;
}

static enum mq_status read_items(struct reader *reader, struct writer *writer, struct mq_error *err)
{
    enum mq_status status = MQ_OK;
    for (skip(reader, BLANKS ";"); status == MQ_OK && reader->at < reader->end;
         skip(reader, BLANKS ";")) {
        struct item item;
        mq_buffer_init(&item.value);
        if (!read_item(reader, &item)) {
            status = mq_error_set(err, MQ_CONFIG, "database",
                                  "$database: the DSN is not name=value throughout, with "
                                  "semicolons between, such as %s:host=db;dbname=app; a value with "
                                  "a blank or semicolon in it is better given by other ways",
                                  reader->mysql ? "mysql" : "pgsql");
        } else if (item.value.failed) {
            status = mq_error_nomem(err);
        } else {
            status = take_item(writer, &item, err);
        }
        mq_buffer_clear(&item.value);
    }
    return status;
}

/* The queue's texts are UTF-8 whatever the database has. */
static void add_defaults(struct writer *writer)
{
    bool mysql = writer->dsn->mysql;
    if (!writer->has_encoding) {
        write_next(&writer->text,
                   mysql ? MQ_STR("charset=utf8mb4") : MQ_STR("client_encoding=UTF8"));
    }
    if (!writer->has_name && !mysql) {
        write_next(&writer->text, MQ_STR("fallback_application_name=mailqueue"));
    }
}

enum mq_status mq_server_dsn_parse(struct mq_str text, struct mq_server_dsn *out,
                                   struct mq_error *err)
{
    struct mq_server_dsn dsn = {.mysql = has_prefix(text, "mysql:")};
    struct writer writer = {.dsn = &dsn};
    struct reader reader = {text.data + PREFIX_LEN, text.data + text.len, dsn.mysql};
    enum mq_status status = MQ_OK;
    mq_buffer_init(&writer.text);
    mq_buffer_init(&writer.shown);
    mq_buffer_cstr(&writer.text, dsn.mysql ? "mysql:" : "pgsql:");
    mq_buffer_cstr(&writer.shown, dsn.mysql ? "mysql:" : "pgsql:");
    if (memchr(text.data, '\0', text.len)) {
        status = mq_error_set(err, MQ_CONFIG, "database", "$database: the DSN has a null byte");
        goto out;
    }
    status = read_items(&reader, &writer, err);
    if (status != MQ_OK) {
        goto out;
    }
    add_defaults(&writer);
    dsn.text = mq_buffer_take(&writer.text);
    dsn.shown = mq_buffer_take(&writer.shown);
    if (!dsn.text || !dsn.shown) {
        status = mq_error_nomem(err);
    }
out:
    mq_buffer_clear(&writer.text);
    mq_buffer_clear(&writer.shown);
    if (status == MQ_OK) {
        *out = dsn;
    } else {
        mq_server_dsn_clear(&dsn);
    }
    return status;
}

static void wipe(char *secret)
{
    volatile char *p = secret; /* a plain memset before free is optimised away */
    while (p && *p) {
        *p++ = '\0';
    }
}

void mq_server_dsn_clear(struct mq_server_dsn *dsn)
{
    wipe(dsn->password);
    wipe(dsn->text); /* a key's password may be in it */
    free(dsn->text);
    free(dsn->shown);
    free(dsn->user);
    free(dsn->password);
    memset(dsn, 0, sizeof *dsn);
}

/* ---- any database ---- */

bool mq_server_dsn_is_foreign(struct mq_str text)
{
    static const char *const schemes[] = {
        "postgres:", "postgresql:", "mariadb:", "sqlsrv:",  "dblib:", "oci:",
        "odbc:",     "firebird:",   "ibm:",     "sqlite2:", "uri:",   NULL};
    for (size_t i = 0; schemes[i]; i++) {
        if (has_prefix(text, schemes[i])) {
            return true;
        }
    }
    return !has_prefix(text, "sqlite:") && has_word(text, "://");
}

/* Where "password=…" begins to be a secret; else the text's length. */
static size_t find_secret(struct mq_str text)
{
    static const char *const words[] = {"password", "pwd"};
    for (size_t i = 0; i < text.len; i++) {
        for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++) {
            struct mq_str rest = {text.data + i, text.len - i};
            struct reader reader = {text.data + i + strlen(words[w]), text.data + text.len, false};
            if (!has_prefix(rest, words[w])) {
                continue;
            }
            skip(&reader, BLANKS);
            if (reader.at + 1 < reader.end && *reader.at == '=') {
                return (size_t)(reader.at + 1 - text.data);
            }
        }
    }
    return text.len;
}

static bool may_have_password(struct mq_str text)
{
    return has_word(text, "pass") || has_word(text, "pwd") || has_word(text, "@");
}

static char *scheme_of(struct mq_str text)
{
    const char *colon = memchr(text.data, ':', text.len);
    return mq_str_dup((struct mq_str){text.data, colon ? (size_t)(colon + 1 - text.data) : 0});
}

static char *describe_server(struct mq_str text, bool *password)
{
    struct mq_server_dsn dsn;
    if (mq_server_dsn_parse(text, &dsn, NULL) != MQ_OK) {
        *password = may_have_password(text);
        return scheme_of(text);
    }
    char *shown = dsn.shown;
    *password = dsn.has_secret;
    dsn.shown = NULL;
    mq_server_dsn_clear(&dsn);
    return shown;
}

char *mq_server_dsn_describe(struct mq_str text, bool *password)
{
    while (text.len > 0 &&
           isspace((unsigned char)*text.data)) { /* no DSN then, but a secret still */
        text.data++;
        text.len--;
    }
    if (mq_server_dsn_is(text)) {
        return describe_server(text, password);
    }
    if (mq_server_dsn_is_foreign(text)) {
        *password = may_have_password(text);
        return scheme_of(text);
    }
    size_t len = find_secret(text);
    struct mq_buffer shown;
    mq_buffer_init(&shown);
    mq_buffer_str(&shown, (struct mq_str){text.data, len});
    mq_buffer_cstr(&shown, len < text.len ? "***" : "");
    *password = len < text.len;
    return mq_buffer_take(&shown);
}
