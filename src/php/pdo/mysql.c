/* The parts of the PDO driver that only MySQL and MariaDB need. */
#include "php/pdo/mysql.h"

#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"

/* ---- opening ---- */

/* In these charsets, a character can end with the octet of a backslash. A message's octets are not
 * characters of them, so quoting them with backslashes would not be safe. */
static const char split_quotes[] = "big5 cp932 gb18030 gbk sjis";

static enum mq_status check_session(struct mq_pdo *self, const struct mq_value *values,
                                    struct mq_error *err)
{
    struct mq_str client = values[1].s;
    if (values[0].type == MQ_NULL) {
        return mq_error_set(err, MQ_CONFIG, "database",
                            "$database: the connection has chosen no database: add dbname= to the "
                            "DSN");
    }
    if (!mq_str_equal(client, values[2].s) ||
        mq_str_word(client, split_quotes, mq_str_equal_nocase) >= 0) {
        return mq_error_set(err, MQ_CONFIG, "database",
                            "$database: the connection's character set is %.*s for statements and "
                            "%.*s for comparisons, which would change stored text: add "
                            "charset=utf8mb4 to the DSN",
                            (int)client.len, client.data, (int)values[2].s.len, values[2].s.data);
    }
    mq_value_int(values[3], &self->packet_max);
    return MQ_OK;
}

static enum mq_status look(struct mq_pdo *self, struct mq_error *err)
{
    struct mq_value values[4];
    struct mq_row row = {values, 4, false};
    struct mq_query query = {-1,
                             "SELECT DATABASE(), @@character_set_client, "
                             "@@character_set_connection, @@max_allowed_packet",
                             NULL, 0};
    enum mq_status status = mq_db_row(&self->base, &query, &row, err);
    if (status == MQ_OK) {
        status = row.found ? check_session(self, values, err)
                           : mq_error_set(err, MQ_DATABASE, "database",
                                          "the server says nothing of the connection");
    }
    mq_db_finish(&self->base);
    return status;
}

/* Whether the connection is our own, and its DSN says what check_session() would find. If the DSN
 * has a name several times, PDO uses the last value. */
static bool is_plain(const struct mq_pdo *self)
{
    const char *dsn = self->own.dsn;
    bool plain = dsn && strstr(dsn, "dbname=");
    for (const char *at = dsn; plain && (at = strstr(at, "charset=")); at++) {
        plain = mq_text_begins(at, "charset=utf8mb4");
    }
    return plain;
}

/* Saves the round trip on a plain connection: then the largest packet is asked for before the first
 * large statement. */
enum mq_status mq_pdo_mysql_look(struct mq_pdo *self, struct mq_error *err)
{
    self->packet_max = 0;
    return is_plain(self) ? MQ_OK : look(self, err);
}

/* ---- transactions ---- */

/* Without autocommit, every statement already belongs to a transaction of the application. SET
 * TRANSACTION applies only to the next transaction. It fails within one, and so reveals a
 * transaction that START TRANSACTION would commit. On our own connection, INSERTs save this round
 * trip: no other code can have begun a transaction there, and INSERTs work alike at any level. */
enum mq_status mq_pdo_mysql_begin(struct mq_pdo *self, bool *joins, struct mq_error *err)
{
    bool automatic = true;
    MQ_TRY(mq_pdo_flag(self, MQ_PDO_ATTR_AUTOCOMMIT, &automatic, err));
    *joins = !automatic;
    if (*joins) {
        return MQ_OK;
    }
    if (!self->own.dsn || !self->inserts) {
        MQ_TRY(mq_pdo_exec(self, "SET TRANSACTION ISOLATION LEVEL READ COMMITTED", err));
    }
    return mq_pdo_exec(self, "START TRANSACTION", err);
}

/* A deadlock undoes the transaction, but the client library notices that only at the next success.
 * Until then PDO reports an open transaction, and each of our statements would be committed by
 * itself. */
enum mq_status mq_pdo_mysql_joined(struct mq_pdo *self, struct mq_error *err)
{
    bool within = false;
    bool automatic = false;
    MQ_TRY(mq_pdo_in_transaction(self, &within, err));
    if (!within) {
        MQ_TRY(mq_pdo_flag(self, MQ_PDO_ATTR_AUTOCOMMIT, &automatic, err));
    }
    return automatic ? mq_error_set(err, MQ_DATABASE, "database",
                                    "the server has undone the transaction that was open on this "
                                    "connection, as after a deadlock: roll back and repeat it")
                     : MQ_OK;
}

/* ---- sizes ---- */

#define PACKET_SURE (256 << 10) /* octets that every server is expected to take */

/* Octets of a statement with its values, before PDO quotes them. */
static int64_t plain_size(const struct mq_query *query)
{
    int64_t size = (int64_t)strlen(query->sql) + 32 * (int64_t)query->param_count;
    for (int i = 0; i < query->param_count; i++) {
        size += (int64_t)query->params[i].s.len;
    }
    return size;
}

enum mq_status mq_pdo_mysql_measure(struct mq_pdo *self, const struct mq_query *query,
                                    struct mq_error *err)
{
    bool asks = self->packet_max <= 0 && plain_size(query) > PACKET_SURE;
    return asks ? look(self, err) : MQ_OK;
}

/* Octets of a value that PDO quotes into the text of a statement. */
static int64_t quoted_size(struct mq_str s)
{
    int64_t size = (int64_t)s.len;
    for (size_t i = 0; i < s.len; i++) {
        size += strchr("\n\r\\'\"\x1a", s.data[i]) != NULL; /* strchr() finds NUL too */
    }
    return size;
}

enum mq_status mq_pdo_mysql_fits(struct mq_pdo *self, const struct mq_query *query, bool quotes,
                                 struct mq_error *err)
{
    int64_t plain = plain_size(query);
    int64_t quoted = plain;
    if (self->packet_max <= 0 || plain <= self->packet_max / 2) {
        return MQ_OK;
    }
    for (int i = 0; i < query->param_count; i++) {
        quoted += quoted_size(query->params[i].s) - (int64_t)query->params[i].s.len;
    }
    int64_t size = quotes ? quoted : plain;
    return size <= self->packet_max
               ? MQ_OK
               : mq_error_set(err, MQ_FULL, "database",
                              "the message is too large for this server: a statement with it has "
                              "%lld octets, and max_allowed_packet is %lld: raise that on the "
                              "server, then connect again; or make the message smaller",
                              (long long)size, (long long)self->packet_max);
}
