/* Turns the errorInfo of a PDOException into a status, by which the worker tries again or ends, and
 * a cure for the log. */
#include "php/pdo/call.h"

#include <stdio.h>
#include <string.h>

#include "zend_exceptions.h"

#include "core/ascii.h"
#include "php/pdo/server.h"
#include "php_mailqueue.h"

/* What a failure is, and what helps. */
struct meaning {
    enum mq_status status;
    const char *cure; /* NULL: none is known */
};

#define IS_LOST "the connection is lost"
#define SHORT   "keep other connections' transactions short, or raise "

/* The codes by dialect: SQLite's primary result codes (sqlite.org/rescode.html), PostgreSQL's
 * SQLSTATEs or beginnings of them (its manual, appendix "Error Codes"), and the errors of MySQL and
 * MariaDB, with those of the client library (from 2000 on). The first line that fits is used. HY000
 * stands for a lost connection, because libpq has no code for that. */
static const struct {
    struct meaning is;
    const char *codes[MQ_DIALECT_COUNT];
} meanings[] = {
    {{MQ_IO, IS_LOST ": open a new PDO and a MailQueue with it; what was being committed may be "
                     "stored or not"},
     {NULL, "25P03 25P04 57P 08 HY000", "1053 1927 2006 2013 2055 4031"}},
    {{MQ_TX_ABORTED, "another transaction was faster: run it again"}, {NULL, "40001", "1020 3101"}},
    {{MQ_TX_ABORTED, "a deadlock with another transaction: run it again"}, {NULL, "40P01", "1213"}},
    {{MQ_BUSY, SHORT "PDO::ATTR_TIMEOUT; and read this connection's results to their end "
                     "(fetchAll()) first"},
     {"5"}},
    {{MQ_BUSY, SHORT "lock_timeout"}, {NULL, "55P03"}},
    {{MQ_BUSY, SHORT "statement_timeout"}, {NULL, "57014"}},
    {{MQ_BUSY,
      SHORT "busyTimeout (with a PDO of your own: innodb_lock_wait_timeout, lock_wait_timeout)"},
     {NULL, NULL, "1205"}},
    {{MQ_BUSY, SHORT "max_statement_time (MySQL: max_execution_time)"}, {NULL, NULL, "1969 3024"}},
    {{MQ_BUSY, "somebody ended the statement: try again"}, {NULL, NULL, "1317"}},
    {{MQ_BUSY, "too many connections: try again, or raise max_connections"},
     {NULL, "53300", "1040"}},
    {{MQ_BUSY, "the server is not ready (Galera: wsrep_ready; or offline mode): try again later"},
     {NULL, NULL, "1047 3032 3168"}},
    {{MQ_BUSY, "try again later, or raise the server's limit for this user or host"},
     {NULL, NULL, "1129 1203 1226"}},
    {{MQ_BUSY, "raise max_prepared_stmt_count, or set PDO::ATTR_EMULATE_PREPARES"},
     {NULL, NULL, "1461"}},
    {{MQ_BUSY,
      "read this connection's results to their end (fetchAll()) first, or use buffered queries"},
     {"6", NULL, "2014"}},
    {{MQ_DUPLICATE, NULL}, {NULL, NULL, "1062"}},
    {{MQ_DATABASE, "a statement before this one failed: roll the transaction back"},
     {NULL, "25P02"}},
    {{MQ_DATABASE, "the database's encoding lacks that letter: use one in UTF8"}, {NULL, "22P05"}},
    {{MQ_DATABASE, "run `mailqueue migrate`, or look at the search_path"}, {NULL, "42P01"}},
    {{MQ_DATABASE, "run `mailqueue migrate`, or look at the database's name"},
     {NULL, NULL, "1146"}},
    {{MQ_DATABASE, "run `mailqueue migrate`"}, {NULL, "42703", "1054 1176"}},
    {{MQ_DATABASE, "raise the server's max_allowed_packet, then connect again"},
     {NULL, NULL, "1153"}},
    {{MQ_CONFIG, "choose a database: dbname= in the DSN"}, {NULL, NULL, "1046"}},
    {{MQ_CONFIG, "the client library cannot do what the server or the DSN demands (character set, "
                 "TLS, protocol, authentication)"},
     {NULL, NULL, "2019 2026 2054 2059 2061"}},
    {{MQ_CONFIG, "set the server's binlog_format to ROW or MIXED"}, {NULL, NULL, "1665"}},
    {{MQ_SCHEMA, "the table is not as the queue made it: make the column wider"},
     {NULL, NULL, "1264 1406"}},
    {{MQ_SCHEMA, "the table is not as the queue made it: make its character set utf8mb4"},
     {NULL, NULL, "1366"}},
    {{MQ_READONLY, "give this user write access to the file and its directory"}, {"8"}},
    {{MQ_READONLY, "grant this user the rights on the database, the queue's tables and sequence"},
     {NULL, "42501", "1044 1142 1143"}},
    {{MQ_READONLY, "use a connection and a transaction that may write, and the primary server"},
     {NULL, "25006", "1290 1792 1836"}},
    {{MQ_FULL, "free space on the disk, or raise the quota"}, {"13", "53100", "1021 1114"}},
    {{MQ_NOMEM, "look at the memory of the server, and at what this process may have"},
     {"7", "53200", "1037 1038 1041 2008"}},
    {{MQ_IO, "look at the log of the server or the system, and at the disk"}, {"10", "58", "1030"}},
    {{MQ_CORRUPT, "look at the log, restore from a backup or build the index again"},
     {"11", "XX001 XX002", "1034 1194 1712"}},
    {{MQ_CORRUPT, "check the path: the file is not a database"}, {"26"}},
    {{MQ_CANTOPEN, "check the path and the rights of the directory"}, {"14"}},
};

static struct meaning look_up(enum mq_dialect dialect, const char *code)
{
    for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) {
        const char *codes = meanings[i].codes[dialect];
        struct mq_str begin = mq_str_of(code);
        while (codes && begin.len > 0) {
            if (mq_str_word(begin, codes, mq_str_equal) >= 0) {
                return meanings[i].is;
            }
            begin.len = dialect == MQ_PGSQL ? begin.len - 1 : 0;
        }
    }
    return (struct meaning){MQ_DATABASE, NULL};
}

static struct meaning look_up_number(enum mq_dialect dialect, zend_long code)
{
    char text[24];
    snprintf(text, sizeof(text), ZEND_LONG_FMT, code);
    return look_up(dialect, text);
}

bool mq_pdo_mysql_refuses(zend_long code)
{
    bool by_server = (code > 0 && code < 2000) || code >= 3000;
    enum mq_status status = look_up_number(MQ_MYSQL, code).status;
    return by_server ? status != MQ_BUSY && status != MQ_IO : status == MQ_CONFIG;
}

/* An element of the exception's errorInfo: 0 is the SQLSTATE, 1 the driver's own code. */
static zval *info_of(zend_object *thrown, zend_ulong index)
{
    zval *info = mq_php_property(thrown, "errorInfo");
    zval *found = Z_TYPE_P(info) == IS_ARRAY ? zend_hash_index_find(Z_ARRVAL_P(info), index) : NULL;
    return found ? found : &EG(uninitialized_zval);
}

/* The driver's own code of an exception; 0 if it has none. */
static zend_long driver_code(zend_object *thrown)
{
    zval *code = info_of(thrown, 1);
    return Z_TYPE_P(code) == IS_LONG ? Z_LVAL_P(code) : 0;
}

enum { SQLITE_BUSY_SNAPSHOT = 517, WAITED_MS = 100 };

static struct meaning sqlite_meaning(const struct mq_pdo *self, zend_object *thrown)
{
    zend_long code = driver_code(thrown) & 0xff;
    /* Without PDO::SQLITE_ATTR_EXTENDED_RESULT_CODES, SQLITE_BUSY_SNAPSHOT comes as a plain
     * SQLITE_BUSY, but at once; other ones come after a wait. */
    if (driver_code(thrown) == SQLITE_BUSY_SNAPSHOT ||
        (code == 5 && self->joined && mq_pdo_now_ms() - self->called_ms < WAITED_MS)) {
        return (struct meaning){
            MQ_BUSY, "another connection is writing, or wrote since your transaction first read "
                     "(SQLite does not wait then): roll back and repeat it, beginning with "
                     "exec('BEGIN IMMEDIATE'), which waits as long as PDO::ATTR_TIMEOUT says"};
    }
    return look_up_number(MQ_SQLITE, code);
}

/* Whether the server lacks a statement that it was to keep, or has another one of that name. Then
 * the application has sent DISCARD ALL, or a pooler has given us another session. If PDO tried to
 * deallocate this one, the transaction is aborted although none of our statements failed. */
static bool is_stale(const struct mq_pdo *self, const char *state, const char *message)
{
    bool aborted = strcmp(state, "25P02") == 0;
    bool foreign = strcmp(state, "08P01") == 0 && strstr(message, "bind message") != NULL;
    return foreign || strcmp(state, "26000") == 0 || strcmp(state, "42P05") == 0 ||
           (aborted && self->begun && !self->joined && !self->aborted);
}

static struct meaning pgsql_meaning(struct mq_pdo *self, zend_object *thrown)
{
    zval *info = info_of(thrown, 0);
    const char *state = Z_TYPE_P(info) == IS_STRING ? Z_STRVAL_P(info) : "";
    if (strcmp(state, "22P05") == 0 && !self->ascii) {
        self->ascii = self->again = true;
        return (struct meaning){MQ_TX_ABORTED, "texts for people are stored as ASCII from now on"};
    }
    if (is_stale(self, state, mq_php_exception_message(thrown).data)) {
        self->stale = self->unnamed = self->again = true;
        return (struct meaning){MQ_TX_ABORTED, "the connection's prepared statements were "
                                               "deallocated: run it again"};
    }
    return look_up(MQ_PGSQL, state);
}

bool mq_pdo_cause_is_nested(void)
{
    zend_object *cause = MAILQUEUE_G(pdo_cause);
    if (!cause) {
        return false;
    }
    if (driver_code(cause) == 1568) { /* ER_CANT_CHANGE_TX_CHARACTERISTICS */
        return true;
    }
    struct mq_str text = mq_php_exception_message(cause);
    return text.data && strstr(text.data, "within a transaction") != NULL;
}

static struct meaning meaning_of(struct mq_pdo *self, zend_object *thrown)
{
    switch (self->base.driver->dialect) {
    case MQ_PGSQL:
        return pgsql_meaning(self, thrown);
    case MQ_MYSQL:
        return look_up_number(MQ_MYSQL, driver_code(thrown));
    default:
        return sqlite_meaning(self, thrown);
    }
}

enum mq_status mq_pdo_failed(struct mq_pdo *self, zend_object *thrown, struct mq_error *err)
{
    if (zend_is_unwind_exit(thrown) || zend_is_graceful_exit(thrown)) {
        /* exit() in a subclass must not be caught. */
        EG(exception) = thrown;
        return MQ_THROWN;
    }
    struct mq_str message = mq_php_exception_message(thrown);
    bool pgsql = mq_pdo_is_pgsql(self);
    struct meaning is = meaning_of(self, thrown);
    if (self->own.dsn && is.cure && mq_text_begins(is.cure, IS_LOST)) {
        is.cure =
            IS_LOST "; the next use opens it again; what was being committed may be stored or "
                    "not";
    }
    self->aborted = self->aborted || (pgsql && self->begun);
    struct mq_buffer text = {0};
    if (pgsql) { /* further lines show the statement and values of rows */
        message.len = strcspn(message.data, "\n");
    }
    mq_buffer_printable(&text, message);
    mq_error_set(err, is.status, "database", "%.500s%s%s", text.data ? text.data : "no message",
                 is.cure ? ": " : "", is.cure ? is.cure : "");
    mq_buffer_clear(&text);
    mq_pdo_keep_cause(self, thrown);
    return is.status;
}
