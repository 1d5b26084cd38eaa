/* Asks a server about itself, for diagnostics(): one query for each dialect. */
#include "php/pdo/server_about.h"

#include <sys/time.h>

#include "php/pdo/own.h"
#include "php/pdo/pdo_statement.h"

/* The columns of about_texts. */
enum {
    VERSION,
    CLOCK_MS,             /* the server's, since 1970 */
    FLAGS,                /* autovacuum, read only, standby, encrypted */
    OLDEST_S = FLAGS + 4, /* NULL: this user cannot see it */
    COLUMNS
};

/* By dialect; NULL: it is not a server. */
static const char *const about_texts[MQ_DIALECT_COUNT] = {
    [MQ_PGSQL] =
        "SELECT current_setting('server_version'), "
        "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint, "
        "(current_setting('autovacuum') = 'on')::int, "
        "(current_setting('transaction_read_only') = 'on')::int, "
        "pg_is_in_recovery()::int, "
        "coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false)::int, "
        "(SELECT floor(extract(epoch FROM clock_timestamp() - min(xact_start)))::bigint "
        "FROM pg_stat_activity WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid())",
    /* The comments in the SQL name the schema in which MySQL or MariaDB has session_status. Few
     * users have the privilege to see other transactions. */
    [MQ_MYSQL] =
        "SELECT VERSION(), CAST(UNIX_TIMESTAMP(SYSDATE(3)) * 1000 AS SIGNED), 1, "
        "CONCAT(@@global.read_only) NOT IN ('0', 'OFF'), 0, COALESCE((SELECT variable_value <> '' "
        "FROM /*!80001 performance_schema */ /*M! information_schema */ .session_status "
        "WHERE variable_name = 'Ssl_cipher'), 0), NULL",
};

static const char *const table_texts[MQ_DIALECT_COUNT] = {
    [MQ_SQLITE] = "SELECT 1 FROM sqlite_master WHERE type IN ('table', 'view') AND lower(name) = "
                  "lower(?1)",
    [MQ_PGSQL] =
        "SELECT 1 FROM pg_catalog.pg_class WHERE relname IN (?1, lower(?1)) AND relkind IN "
        "('r','p','v','f') AND pg_catalog.pg_table_is_visible(oid)",
    [MQ_MYSQL] = "SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE() "
                 "AND table_name = ?1",
};

static const char *const kinds[MQ_DIALECT_COUNT] = {[MQ_PGSQL] = "pgsql", [MQ_MYSQL] = "mysql"};

static double host_ms(void)
{
    struct timeval now;
    gettimeofday(&now, NULL);
    return (double)now.tv_sec * 1e3 + (double)now.tv_usec / 1e3;
}

static void add_server(zval *server, const char *kind, const struct mq_value *values,
                       double between_ms)
{
    static const char *const flags[] = {"autovacuum", "readOnly", "standby", "encrypted"};
    int64_t clock_ms = 0, oldest_s = 0;
    mq_value_int(values[CLOCK_MS], &clock_ms);
    mq_value_int(values[OLDEST_S], &oldest_s);
    add_assoc_string(server, "kind", kind);
    add_assoc_stringl(server, "version", values[VERSION].s.len ? values[VERSION].s.data : "",
                      values[VERSION].s.len);
    add_assoc_double(server, "ahead", ((double)clock_ms - between_ms) / 1e3);
    for (int i = 0; i < 4; i++) {
        int64_t on = 0;
        mq_value_int(values[FLAGS + i], &on);
        add_assoc_bool(server, flags[i], on != 0);
    }
    if (values[OLDEST_S].type == MQ_NULL) {
        add_assoc_null(server, "oldestTransaction");
    } else {
        add_assoc_long(server, "oldestTransaction", (zend_long)oldest_s);
    }
}

enum mq_status mq_php_server_about(struct mq_db *db, zval *array, struct mq_error *err)
{
    struct mq_value values[COLUMNS];
    struct mq_row row = {values, COLUMNS, false};
    struct mq_query query = {.slot = -1, .sql = about_texts[db->driver->dialect]};
    if (query.sql == NULL) {
        add_assoc_null(array, "server");
        return MQ_OK;
    }
    double before_ms = host_ms();
    enum mq_status status = mq_db_row(db, &query, &row, err);
    if (status != MQ_OK || !row.found) {
        mq_db_finish(db);
        return status;
    }
    zval server;
    bool shared = false;
    array_init(&server);
    add_server(&server, kinds[db->driver->dialect], values, (before_ms + host_ms()) / 2);
    mq_db_finish(db);
    if (db->driver->dialect == MQ_PGSQL) {
        status = mq_pdo_shares_sessions(mq_pdo_of(db), &shared, err);
    }
    add_assoc_bool(&server, "sharesSessions", shared);
    add_assoc_zval(array, "server", &server);
    return status;
}

enum mq_status mq_php_server_has_table(struct mq_db *db, const char *name, bool *has,
                                       struct mq_error *err)
{
    const struct mq_value params[] = {mq_text(mq_str_of(name))};
    const struct mq_query query = {
        .slot = -1,
        .sql = table_texts[db->driver->dialect],
        .params = params,
        .param_count = 1,
    };
    struct mq_value value;
    struct mq_row row = {.values = &value, .count = 1};
    if (query.sql == NULL) {
        *has = true; /* unknown */
        return MQ_OK;
    }
    enum mq_status status = mq_db_row(db, &query, &row, err);
    if (status == MQ_OK) {
        *has = row.found;
        mq_db_finish(db);
    }
    return status;
}
