/* Reads the DSN of a server: what it contains, and which parts can be printed. */
#include "db/server_dsn.h"

#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"

#define BLANKS     " \t\r\n\v\f"
#define PREFIX_LEN strlen("pgsql:")

bool mq_server_dsn_is(struct mq_str text)
{
    return mq_str_begins_nocase(text, "pgsql:") || mq_str_begins_nocase(text, "mysql:");
}

bool mq_server_dsn_is_foreign(struct mq_str text)
{
    static const char schemes[] =
        "postgres postgresql mariadb sqlsrv dblib oci odbc firebird ibm sqlite2 uri";
    struct mq_str scheme = {text.data, mq_str_find(text, ':')};
    if (scheme.len < text.len && mq_str_word(scheme, schemes, mq_str_equal_nocase) >= 0) {
        return true;
    }
    return !mq_str_begins_nocase(text, "sqlite:") && text.len > 0 &&
           memmem(text.data, text.len, "://", 3) != NULL;
}

struct reader {
    const char *at;
    const char *end;
    bool mysql;
};

/* One name=value of the text. */
struct item {
    struct mq_str name;
    struct mq_str value;
};

static void skip(struct reader *reader, const char *set)
{
    while (reader->at < reader->end && strchr(set, *reader->at)) {
        reader->at++;
    }
}

static bool read_name(struct reader *reader, struct item *item)
{
    item->name.data = reader->at;
    while (reader->at < reader->end && (mq_is_alnum(*reader->at) || *reader->at == '_')) {
        reader->at++;
    }
    item->name.len = (size_t)(reader->at - item->name.data);
    skip(reader, BLANKS);
    return item->name.len > 0 && reader->at < reader->end && *reader->at++ == '=';
}

/* PDO's grammar: a semicolon ends the value; two semicolons mean one within the value. */
static bool read_mysql_value(struct reader *reader)
{
    for (; reader->at < reader->end; reader->at++) {
        bool two = reader->end - reader->at > 1 && reader->at[1] == ';';
        if (*reader->at == ';' && !two) {
            break;
        }
        reader->at += *reader->at == ';';
    }
    return true;
}

/* libpq's grammar (its manual, "Keyword/Value Connection Strings"). PDO first turns each semicolon
 * into a blank, also in quotes. So returns false for a semicolon in a value, or an open quote. */
static bool read_pgsql_value(struct reader *reader)
{
    bool quoted = reader->at < reader->end && *reader->at == '\'';
    const char *ends = quoted ? "'" : BLANKS ";";
    reader->at += quoted;
    while (reader->at < reader->end && !strchr(ends, *reader->at)) {
        reader->at += *reader->at == '\\' && reader->at + 1 < reader->end;
        if (*reader->at++ == ';') {
            return false;
        }
    }
    bool closed = reader->at < reader->end;
    reader->at += quoted && closed;
    return closed || !quoted;
}

static bool read_item(struct reader *reader, struct item *item)
{
    if (!read_name(reader, item)) {
        return false;
    }
    skip(reader, reader->mysql ? "" : BLANKS);
    item->value.data = reader->at;
    bool read = reader->mysql ? read_mysql_value(reader) : read_pgsql_value(reader);
    item->value.len = (size_t)(reader->at - item->value.data);
    return read;
}

static bool has_word(struct mq_str text, const char *word)
{
    for (; text.len > 0; text.data++, text.len--) {
        if (mq_str_begins_nocase(text, word)) {
            return true;
        }
    }
    return false;
}

/* Shows addresses and names only, because other items can contain a secret. Even dbname can: libpq
 * takes dbname=postgres://user:password@… */
static void show(struct mq_buffer *shown, const struct item *item)
{
    static const char names[] = "host hostaddr port dbname service unix_socket charset";
    if (mq_str_word(item->name, names, mq_str_equal) >= 0 && !has_word(item->value, "://") &&
        !has_word(item->value, "=")) {
        mq_buffer_cstr(shown, shown->len > PREFIX_LEN ? ";" : "");
        mq_buffer_str(shown, item->name);
        mq_buffer_char(shown, '=');
        mq_buffer_str(shown, item->value);
    }
}

/* PDO ignores other names, so a mistyped "prot" would silently connect to another server. */
static const char mysql_names[] = "host port dbname unix_socket charset user password";

/* Paths of files are not secret. libpq 18 also has oauth_client_secret, scram_client_key and
 * scram_server_key. */
static bool is_secret(struct mq_str name)
{
    return (has_word(name, "pass") && !has_word(name, "file")) || has_word(name, "secret") ||
           mq_str_begins_nocase(name, "scram_");
}

static enum mq_status take_item(struct mq_server_dsn *dsn, struct mq_buffer *shown,
                                const struct item *item, struct mq_error *err)
{
    bool given = item->value.len > 0 && !mq_str_equal(item->value, MQ_STR("''"));
    if (dsn->mysql && mq_str_word(item->name, mysql_names, mq_str_equal) < 0) {
        return mq_error_set(err, MQ_CONFIG, "database",
                            "$database: the DSN has a name that PDO does not know for MySQL: "
                            "there are host, port, dbname, unix_socket, charset, user and "
                            "password, with semicolons between (two within a value are one)");
    }
    dsn->has_user = dsn->has_user || mq_str_equal(item->name, MQ_STR("user"));
    dsn->has_password = dsn->has_password || mq_str_equal(item->name, MQ_STR("password"));
    dsn->has_secret = dsn->has_secret || (given && is_secret(item->name)) ||
                      (has_word(item->value, "://") && has_word(item->value, "@"));
    if (mq_str_equal(item->name, MQ_STR("connect_timeout"))) {
        /* A blank, a quote or NUL follows the number, so strtol() stops there. */
        dsn->connect_timeout_s = strtol(item->value.data + (*item->value.data == '\''), NULL, 10);
    }
    show(shown, item);
    return MQ_OK;
}

static enum mq_status read_items(struct reader *reader, struct mq_server_dsn *dsn,
                                 struct mq_buffer *shown, struct mq_error *err)
{
    enum mq_status status = MQ_OK;
    skip(reader, BLANKS ";");
    while (status == MQ_OK && reader->at < reader->end) {
        struct item item;
        if (!read_item(reader, &item)) {
            return mq_error_set(err, MQ_CONFIG, "database",
                                "$database: the DSN is not name=value throughout, with semicolons "
                                "between, such as %s:host=db;dbname=app; a value with a blank or "
                                "semicolon in it is better given by other ways",
                                reader->mysql ? "mysql" : "pgsql");
        }
        status = take_item(dsn, shown, &item, err);
        skip(reader, BLANKS ";");
    }
    return status;
}

enum mq_status mq_server_dsn_parse(struct mq_str text, struct mq_server_dsn *out,
                                   struct mq_error *err)
{
    struct mq_buffer shown = {0};
    bool mysql = mq_str_begins_nocase(text, "mysql:");
    struct reader reader = {text.data + PREFIX_LEN, text.data + text.len, mysql};
    if (memchr(text.data, '\0', text.len)) {
        return mq_error_set(err, MQ_CONFIG, "database", "$database: the DSN has a null byte");
    }
    *out = (struct mq_server_dsn){.mysql = mysql};
    mq_buffer_cstr(&shown, mysql ? "mysql:" : "pgsql:");
    enum mq_status status = read_items(&reader, out, &shown, err);
    out->shown = status == MQ_OK ? mq_buffer_take(&shown) : NULL;
    mq_buffer_clear(&shown);
    return status == MQ_OK && !out->shown ? mq_error_nomem(err) : status;
}
