/* Takes user and password out of a server's DSN and says what may be printed. PDO reads the rest.
 */
#include "db/server_dsn.h"

#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"

#define TIMEOUT_MAX_S 3600
#define BLANKS        " \t\r\n\v\f"
#define PREFIX_LEN    strlen("pgsql:")

bool mq_server_dsn_is(struct mq_str text)
{
    return mq_str_begins_nocase(text, "pgsql:") || mq_str_begins_nocase(text, "mysql:");
}

bool mq_server_dsn_is_foreign(struct mq_str text)
{
    static const char *const schemes[] = {
        "postgres:", "postgresql:", "mariadb:", "sqlsrv:",  "dblib:", "oci:",
        "odbc:",     "firebird:",   "ibm:",     "sqlite2:", "uri:"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        if (mq_str_begins_nocase(text, schemes[i])) {
            return true;
        }
    }
    return !mq_str_begins_nocase(text, "sqlite:") && text.len > 0 &&
           memmem(text.data, text.len, "://", 3) != NULL;
}

/* ---- reading ---- */

struct reader {
    const char *at;
    const char *end;
    bool mysql;
};

/* One name=value. */
struct item {
    struct mq_str name;
    struct mq_str raw;      /* the value as it stands in the text */
    struct mq_buffer value; /* without quotes and escapes */
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

/* PDO's grammar: the value ends at a semicolon; two of them are one in the value. */
static bool read_mysql_value(struct reader *reader, struct item *item)
{
    for (; reader->at < reader->end; reader->at++) {
        if (*reader->at == ';') {
            if (reader->at + 1 == reader->end || reader->at[1] != ';') {
                break;
            }
            reader->at++;
        }
        mq_buffer_char(&item->value, *reader->at);
    }
    return true;
}

/* libpq's grammar (its manual, "Keyword/Value Connection Strings"), in which PDO lets a semicolon
 * stand for a blank. False: a quote is not closed. */
static bool read_pgsql_value(struct reader *reader, struct item *item)
{
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
    if (!read_name(reader, item)) {
        return false;
    }
    if (!reader->mysql) {
        skip(reader, BLANKS);
    }
    item->raw.data = reader->at;
    bool read = reader->mysql ? read_mysql_value(reader, item) : read_pgsql_value(reader, item);
    item->raw.len = (size_t)(reader->at - item->raw.data);
    return read;
}

/* ---- what the items say ---- */

struct writer {
    struct mq_server_dsn *dsn;
    struct mq_buffer text;
    struct mq_buffer shown;
    bool has_encoding;
    bool has_name; /* of the application, which the server's lists of sessions show */
};

static void write_item(struct mq_buffer *out, const struct item *item, const char *equals)
{
    mq_buffer_cstr(out, out->len > PREFIX_LEN ? ";" : "");
    mq_buffer_str(out, item->name);
    mq_buffer_cstr(out, equals);
    mq_buffer_str(out, item->raw);
}

static bool is(const struct item *item, const char *name)
{
    return mq_str_equal(item->name, mq_str_of(name));
}

/* Takes the value; an empty one counts as not given. */
static void keep(char **field, struct item *item)
{
    free(*field);
    *field = mq_buffer_take(&item->value);
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

/* PDO ignores other names: a mistyped "prot" would connect to another server unnoticed. */
static bool is_mysql_name(const struct item *item)
{
    return is(item, "host") || is(item, "port") || is(item, "dbname") || is(item, "unix_socket") ||
           is(item, "charset");
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

/* Under the name that any driver has for it, or within a URI in libpq's dbname. */
static bool is_secret(const struct item *item)
{
    struct mq_str value = mq_buffer_view(&item->value);
    return (has_word(item->name, "pass") && !is(item, "passfile")) || has_word(item->name, "pwd") ||
           has_word(item->name, "secret") || has_word(item->name, "scram_") ||
           (has_word(value, "://") && has_word(value, "@"));
}

/* What the text has already needs no default. */
static void note_name(struct writer *writer, const struct item *item)
{
    bool mysql = writer->dsn->mysql;
    writer->has_encoding = writer->has_encoding || is(item, mysql ? "charset" : "client_encoding");
    writer->has_name =
        writer->has_name || is(item, "application_name") || is(item, "fallback_application_name");
}

static enum mq_status take_item(struct writer *writer, struct item *item, struct mq_error *err)
{
    struct mq_server_dsn *dsn = writer->dsn;
    bool secret = item->value.len > 0 && is_secret(item);
    dsn->has_secret = dsn->has_secret || secret;
    if (is(item, "user") || is(item, "password")) {
        keep(is(item, "user") ? &dsn->user : &dsn->password, item);
        return MQ_OK;
    }
    if (dsn->mysql && !is_mysql_name(item)) {
        return mq_error_set(err, MQ_CONFIG, "database",
                            "$database: the DSN has a name that PDO does not know for MySQL: "
                            "there are host, port, dbname, unix_socket, charset, user and "
                            "password, with semicolons between (two within a value are one)");
    }
    if (!dsn->mysql && is(item, "connect_timeout")) {
        return take_timeout(dsn, item, err);
    }
    note_name(writer, item);
    /* With a blank: in "sslpassword=" PDO would find "password=" and not add the password. */
    write_item(&writer->text, item, secret && !dsn->mysql ? " =" : "=");
    if (!secret) {
        write_item(&writer->shown, item, "=");
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

/* The queue's texts are UTF-8, whatever encoding the database has. */
static void add_defaults(struct writer *writer)
{
    bool mysql = writer->dsn->mysql;
    const char *between = writer->text.len > PREFIX_LEN ? ";" : "";
    if (!writer->has_encoding) {
        mq_buffer_cstr(&writer->text, between);
        mq_buffer_cstr(&writer->text, mysql ? "charset=utf8mb4" : "client_encoding=UTF8");
    }
    if (!writer->has_name && !mysql) {
        mq_buffer_cstr(&writer->text, ";fallback_application_name=mailqueue");
    }
}

enum mq_status mq_server_dsn_parse(struct mq_str text, struct mq_server_dsn *out,
                                   struct mq_error *err)
{
    struct mq_server_dsn dsn = {.mysql = mq_str_begins_nocase(text, "mysql:")};
    struct writer writer = {.dsn = &dsn};
    struct reader reader = {text.data + PREFIX_LEN, text.data + text.len, dsn.mysql};
    if (memchr(text.data, '\0', text.len)) {
        return mq_error_set(err, MQ_CONFIG, "database", "$database: the DSN has a null byte");
    }
    mq_buffer_init(&writer.text);
    mq_buffer_init(&writer.shown);
    mq_buffer_cstr(&writer.text, dsn.mysql ? "mysql:" : "pgsql:");
    mq_buffer_cstr(&writer.shown, dsn.mysql ? "mysql:" : "pgsql:");
    enum mq_status status = read_items(&reader, &writer, err);
    if (status == MQ_OK) {
        add_defaults(&writer);
        dsn.text = mq_buffer_take(&writer.text);
        dsn.shown = mq_buffer_take(&writer.shown);
        status = dsn.text && dsn.shown ? MQ_OK : mq_error_nomem(err);
    }
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
