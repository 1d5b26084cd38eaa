/* What went wrong in a PDO object: a PDOException's errorInfo as a status with a cure. */
#include "php/pdo/call.h"

#include <string.h>

#include "zend_exceptions.h"

#include "core/buffer.h"
#include "php_mailqueue.h"

/* What a failure is, and what helps. */
struct meaning {
    enum mq_status status;
    const char *cure; /* NULL: none is known */
};

/* SQLite's primary result codes (sqlite.org/rescode.html). */
static const struct {
    zend_long code;
    struct meaning is;
} sqlite_codes[] = {
    {5,
     {MQ_BUSY, "keep other connections' transactions short, or raise PDO::ATTR_TIMEOUT; and read "
               "this connection's results to their end (fetchAll()) first"}},
    {6, {MQ_BUSY, "end the statement of this connection that still reads"}},
    {7, {MQ_NOMEM, "raise the memory that the process may have"}},
    {8, {MQ_READONLY, "give this user write access to the file and its directory"}},
    {10, {MQ_IO, "look at the system's log and the disk"}},
    {11, {MQ_CORRUPT, "restore the file from a backup"}},
    {13, {MQ_FULL, "free space on the disk or raise the quota"}},
    {14, {MQ_CANTOPEN, "check the path and the rights of the directory"}},
    {26, {MQ_CORRUPT, "check the path: the file is no database"}},
};

#define IS_LOST "the connection is lost"
#define LOST                                                                        \
    {                                                                               \
        MQ_IO, IS_LOST ": open a PDO anew and a MailQueue with it; what was being " \
                       "committed may be stored or not"                             \
    }

/* PostgreSQL's, and classes of them: the first that fits (its manual, appendix "Error Codes"). */
static const struct {
    const char *state;
    struct meaning is;
} pgsql_states[] = {
    {"40001", {MQ_TX_ABORTED, "another transaction was faster: run it again"}},
    {"40P01", {MQ_TX_ABORTED, "a deadlock with another transaction: run it again"}},
    {"55P03", {MQ_BUSY, "keep other connections' transactions short, or raise lock_timeout"}},
    {"57014", {MQ_BUSY, "keep other connections' transactions short, or raise statement_timeout"}},
    {"22P05", {MQ_DATABASE, "the database's encoding lacks that letter: use one in UTF8"}},
    {"25P03", LOST}, /* idle_in_transaction_session_timeout */
    {"26000",
     {MQ_TX_ABORTED, "the connection's prepared statements were deallocated: run it again, best "
                     "without DISCARD ALL and DEALLOCATE ALL"}},
    {"57P", LOST},
    {"08", LOST},
    {"25P02", {MQ_DATABASE, "a statement before this one failed: roll the transaction back"}},
    {"25006", {MQ_READONLY, "use a connection that may write, and the primary server"}},
    {"42P01", {MQ_DATABASE, "run `mailqueue migrate`, or look at the search_path"}},
    {"42703", {MQ_DATABASE, "run `mailqueue migrate`"}},
    {"42501", {MQ_READONLY, "grant the rights on the queue's tables and on their sequence"}},
    {"53100", {MQ_FULL, "free space on the server's disk"}},
    {"53200", {MQ_NOMEM, "look at the server's memory"}},
    {"58", {MQ_IO, "look at the server's log and its disk"}},
    {"XX001", {MQ_CORRUPT, "look at the server's log, restore from a backup"}},
    {"XX002", {MQ_CORRUPT, "look at the server's log: an index may have to be built anew"}},
};

/* MySQL's and MariaDB's, of the server and of the client library (2000 and later). */
static const struct {
    zend_long code;
    struct meaning is;
} mysql_codes[] = {
    {1020, {MQ_TX_ABORTED, "another transaction was faster: run it again"}},
    {1021, {MQ_FULL, "free space on the server's disk"}},
    {1030, {MQ_IO, "look at the server's log and its disk"}},
    {1034, {MQ_CORRUPT, "look at the server's log, restore from a backup"}},
    {1037, {MQ_NOMEM, "look at the server's memory"}},
    {1038, {MQ_NOMEM, "look at the server's memory"}},
    {1040, {MQ_BUSY, "the server has too many connections: try again, or raise max_connections"}},
    {1041, {MQ_NOMEM, "look at the server's memory"}},
    {1044, {MQ_READONLY, "grant this user the rights on the database"}},
    {1046, {MQ_CONFIG, "choose a database: dbname= in the DSN"}},
    {1053, LOST},
    {1054, {MQ_DATABASE, "run `mailqueue migrate`"}},
    {1062, {MQ_DUPLICATE, NULL}},
    {1114, {MQ_FULL, "free space on the server's disk"}},
    {1142, {MQ_READONLY, "grant this user the rights on the queue's tables"}},
    {1143, {MQ_READONLY, "grant this user the rights on the queue's tables"}},
    {1146, {MQ_DATABASE, "run `mailqueue migrate`, or look at the database's name"}},
    {1153, {MQ_DATABASE, "raise the server's max_allowed_packet, then connect anew"}},
    {1176, {MQ_DATABASE, "make the queue's index again"}},
    {1194, {MQ_CORRUPT, "look at the server's log, restore from a backup"}},
    {1205,
     {MQ_BUSY, "keep other connections' transactions short, or raise "
               "innodb_lock_wait_timeout"}},
    {1213, {MQ_TX_ABORTED, "a deadlock with another transaction: run it again"}},
    {1264, {MQ_SCHEMA, "the table is not as the queue made it: make the column wider"}},
    {1290, {MQ_READONLY, "use a connection that may write, and the primary server"}},
    {1317, {MQ_BUSY, "somebody ended the statement: try again"}},
    {1366, {MQ_SCHEMA, "the table is not as the queue made it: make its character set utf8mb4"}},
    {1406, {MQ_SCHEMA, "the table is not as the queue made it: make the column wider"}},
    {1461, {MQ_BUSY, "raise max_prepared_stmt_count, or set PDO::ATTR_EMULATE_PREPARES"}},
    {1665, {MQ_CONFIG, "set the server's binlog_format to ROW or MIXED"}},
    {1712, {MQ_CORRUPT, "look at the server's log: an index may have to be built anew"}},
    {1792, {MQ_READONLY, "use a transaction that may write, and the primary server"}},
    {1836, {MQ_READONLY, "use a connection that may write, and the primary server"}},
    {1927, LOST},
    {1969, {MQ_BUSY, "keep other connections' transactions short, or raise max_statement_time"}},
    {2006, LOST},
    {2008, {MQ_NOMEM, "raise the memory that the process may have"}},
    {2013, LOST},
    {2014,
     {MQ_BUSY, "read this connection's results to their end (fetchAll()) first, or use "
               "buffered queries"}},
    {2055, LOST},
    {3024, {MQ_BUSY, "keep other connections' transactions short, or raise max_execution_time"}},
    {3101, {MQ_TX_ABORTED, "another transaction was faster: run it again"}},
    {4031, LOST},
};

/* errorInfo[1], the driver's own code; 0 where there is none. */
static zend_long driver_code(zend_object *thrown)
{
    zval *info = mq_php_property(thrown, "errorInfo");
    zval *code = Z_TYPE_P(info) == IS_ARRAY ? zend_hash_index_find(Z_ARRVAL_P(info), 1) : NULL;
    return code && Z_TYPE_P(code) == IS_LONG ? Z_LVAL_P(code) : 0;
}

/* errorInfo[0]; "" where there is none. */
static const char *sqlstate(zend_object *thrown)
{
    zval *info = mq_php_property(thrown, "errorInfo");
    zval *state = Z_TYPE_P(info) == IS_ARRAY ? zend_hash_index_find(Z_ARRVAL_P(info), 0) : NULL;
    return state && Z_TYPE_P(state) == IS_STRING ? Z_STRVAL_P(state) : "";
}

enum { SQLITE_BUSY_SNAPSHOT = 517, WAITED_MS = 100 };

static struct meaning sqlite_meaning(const struct mq_pdo *self, zend_object *thrown)
{
    zend_long code = driver_code(thrown) & 0xff;
    if (driver_code(thrown) == SQLITE_BUSY_SNAPSHOT) {
        return (struct meaning){
            MQ_BUSY, "your transaction has read before it wrote, and another connection wrote "
                     "since: roll back and repeat it, beginning with exec('BEGIN IMMEDIATE'), or "
                     "write first"};
    }
    /* Without PDO::SQLITE_ATTR_EXTENDED_RESULT_CODES that one is like others, but comes at once. */
    if (code == 5 && self->joined && mq_pdo_now_ms() - self->called_ms < WAITED_MS) {
        return (struct meaning){
            MQ_BUSY, "another connection is writing, or wrote since your transaction first read "
                     "(SQLite does not wait then): roll back and repeat it, beginning with "
                     "exec('BEGIN IMMEDIATE'), which waits as long as PDO::ATTR_TIMEOUT says"};
    }
    for (size_t i = 0; i < sizeof(sqlite_codes) / sizeof(sqlite_codes[0]); i++) {
        if (sqlite_codes[i].code == code) {
            return sqlite_codes[i].is;
        }
    }
    return (struct meaning){MQ_DATABASE, NULL};
}

static struct meaning mysql_meaning(zend_object *thrown)
{
    zend_long code = driver_code(thrown);
    for (size_t i = 0; i < sizeof(mysql_codes) / sizeof(mysql_codes[0]); i++) {
        if (mysql_codes[i].code == code) {
            return mysql_codes[i].is;
        }
    }
    return (struct meaning){MQ_DATABASE, NULL};
}

/* Where libpq gives no code: whether it has lost the connection. Asked without mq_pdo_call(), which
 * comes here. */
static bool is_cut(struct mq_pdo *self)
{
    zval arg, value;
    zend_object *thrown = NULL;
    ZVAL_LONG(&arg, MQ_PDO_ATTR_CONNECTION_STATUS);
    struct mq_php_method method = {&self->object, "getattribute", &arg, 1};
    if (Z_ISUNDEF(self->object) || self->bailed) {
        return false;
    }
    self->calling = true;
    enum mq_php_call_end end = mq_php_call_method(&method, &value, &thrown);
    self->calling = false;
    if (end == MQ_PHP_CALL_BAILED) {
        self->bailed = true;
        return false;
    }
    bool cut = Z_TYPE(value) == IS_STRING && strncmp(Z_STRVAL(value), "Bad connection", 14) == 0;
    mq_pdo_drop(self, &value);
    if (thrown) {
        zval dropped;
        ZVAL_OBJ(&dropped, thrown);
        mq_pdo_drop(self, &dropped);
    }
    return cut;
}

/* Failures that only a pooler causes: no other client deallocates statements of a connection of our
 * own. And PDO itself drops a statement that has its name in the server already, which fails in a
 * transaction where nothing of ours has. */
static bool is_pooled(const struct mq_pdo *self, const char *state, struct mq_str text)
{
    if (strcmp(state, "26000") == 0) {
        return self->own.dsn != NULL;
    }
    if (strcmp(state, "25P02") == 0) {
        return self->begun && !self->joined && !self->aborted;
    }
    return strcmp(state, "42P05") == 0 ||
           (strcmp(state, "08P01") == 0 && text.data && strstr(text.data, "bind message"));
}

static struct meaning pgsql_meaning(struct mq_pdo *self, zend_object *thrown, struct mq_str text)
{
    const char *state = sqlstate(thrown);
    if (strcmp(state, "22P05") == 0 && !self->ascii) {
        self->ascii = self->again = true;
        return (struct meaning){MQ_TX_ABORTED, "texts for people are stored as ASCII from now on"};
    }
    if (is_pooled(self, state, text)) {
        return (struct meaning){strcmp(state, "26000") == 0 ? MQ_TX_ABORTED : MQ_DATABASE,
                                MQ_PDO_POOLER ": " MQ_PDO_POOLER_CURE
                                              "; enqueue() alone may use a DSN, or a PDO with "
                                              "PDO::ATTR_EMULATE_PREPARES"};
    }
    for (size_t i = 0; i < sizeof(pgsql_states) / sizeof(pgsql_states[0]); i++) {
        if (strncmp(state, pgsql_states[i].state, strlen(pgsql_states[i].state)) == 0) {
            return pgsql_states[i].is;
        }
    }
    bool unknown = !*state || strcmp(state, "HY000") == 0;
    return unknown && is_cut(self) ? (struct meaning)LOST : (struct meaning){MQ_DATABASE, NULL};
}

bool mq_pdo_cause_is_nested(void)
{
    zend_object *cause = MAILQUEUE_G(pdo_cause);
    if (!cause) {
        return false;
    }
    if (driver_code(cause) == 1568) { /* MySQL's */
        return true;
    }
    struct mq_str text = mq_php_exception_message(cause);
    return text.data && strstr(text.data, "within a transaction") != NULL;
}

/* The first line: PostgreSQL's others show the statement and values of rows. */
static struct mq_str first_line(struct mq_str text)
{
    const char *end = text.data ? memchr(text.data, '\n', text.len) : NULL;
    return end ? (struct mq_str){text.data, (size_t)(end - text.data)} : text;
}

static struct meaning meaning_of(struct mq_pdo *self, zend_object *thrown, struct mq_str message)
{
    switch (self->base.driver->dialect) {
    case MQ_PGSQL:
        return pgsql_meaning(self, thrown, message);
    case MQ_MYSQL:
        return mysql_meaning(thrown);
    default:
        return sqlite_meaning(self, thrown);
    }
}

enum mq_status mq_pdo_failed(struct mq_pdo *self, zend_object *thrown, struct mq_error *err)
{
    if (zend_is_unwind_exit(thrown) || zend_is_graceful_exit(thrown)) {
        /* exit() in a subclass: nothing that may be caught. */
        EG(exception) = thrown;
        return MQ_THROWN;
    }
    struct mq_str message = mq_php_exception_message(thrown);
    bool pgsql = mq_pdo_is_pgsql(self);
    struct meaning is = meaning_of(self, thrown, message);
    if (self->bailed) {
        return mq_error_set(err, MQ_BAILOUT, "", "PHP stopped with a fatal error");
    }
    self->stale = self->stale || (pgsql && strcmp(sqlstate(thrown), "26000") == 0);
    if (self->own.dsn && is.cure && strncmp(is.cure, IS_LOST, strlen(IS_LOST)) == 0) {
        is.cure = IS_LOST "; the next use opens it anew; what was being committed may be stored or "
                          "not";
    }
    self->aborted = self->aborted || (pgsql && self->begun);
    struct mq_buffer text;
    mq_buffer_init(&text);
    mq_buffer_printable(&text, pgsql ? first_line(message) : message);
    mq_error_set(err, is.status, "database", "%.500s%s%s", text.data ? text.data : "no message",
                 is.cure ? ": " : "", is.cure ? is.cure : "");
    mq_buffer_clear(&text);
    mq_pdo_keep_cause(self, thrown);
    return is.status;
}
