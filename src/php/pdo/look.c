/* Checks a PDO object: which database it has, and whether the queue can live there. */
#include "core/ascii.h"
#include "php/pdo/own.h"

#include <stdlib.h>
#include <string.h>

#include "ext/standard/php_versioning.h"

#include "php/pdo/mysql.h"

static enum mq_status check_driver(struct mq_pdo *self, struct mq_error *err)
{
    static const char *const names[MQ_DIALECT_COUNT] = {
        [MQ_SQLITE] = "sqlite", [MQ_PGSQL] = "pgsql", [MQ_MYSQL] = "mysql"};
    zval name;
    enum mq_status status = MQ_OK;
    MQ_TRY(mq_pdo_attribute(self, MQ_PDO_ATTR_DRIVER_NAME, &name, err));
    bool known = false;
    for (int i = 0; i < MQ_DIALECT_COUNT && !known; i++) {
        known = Z_TYPE(name) == IS_STRING && strcmp(Z_STRVAL(name), names[i]) == 0;
        self->base.driver = known ? &self->drivers[i] : self->base.driver;
    }
    if (!known) {
        status = mq_error_set(
            err, MQ_CONFIG, "database",
            "$database: PDO's driver %.30s is not supported by this version; "
            "give a PDO of PostgreSQL, MySQL, MariaDB or of an SQLite file, or the file's "
            "path",
            Z_TYPE(name) == IS_STRING ? Z_STRVAL(name) : "(unknown)");
    }
    mq_pdo_drop(self, &name);
    return status;
}

/* Finds the main database's file, beside which a worker keeps its files; none if in memory. */
static enum mq_status find_path(struct mq_pdo *self, struct mq_error *err)
{
    struct mq_value columns[3]; /* the row of "main" comes first */
    struct mq_value *file = &columns[2];
    struct mq_row row = {columns, 3, false};
    /* Not a SELECT, which would begin to read the database. */
    struct mq_query query = {-1, "PRAGMA database_list", NULL, 0};
    enum mq_status status = mq_db_row(&self->base, &query, &row, err);
    if (status == MQ_OK && row.found && file->type == MQ_TEXT && file->s.len > 0) {
        self->path = mq_str_dup(file->s);
        status = self->path ? MQ_OK : mq_error_nomem(err);
    }
    mq_db_finish(&self->base);
    return status;
}

/* Requires the versions that brought SKIP LOCKED, ON CONFLICT and JSON_TABLE. */
static enum mq_status check_version(struct mq_pdo *self, struct mq_error *err)
{
    zval version;
    enum mq_status status = MQ_OK;
    MQ_TRY(mq_pdo_attribute(self, MQ_PDO_ATTR_SERVER_VERSION, &version, err));
    const char *text = Z_TYPE(version) == IS_STRING ? Z_STRVAL(version) : "";
    bool pgsql = mq_pdo_is_pgsql(self);
    bool maria = !pgsql && strstr(text, "MariaDB") != NULL;
    /* MariaDB before 11 says "5.5.5-10.11.6-MariaDB" over the wire. */
    const char *shown = maria && mq_text_begins(text, "5.5.5-") ? text + 6 : text;
    self->base.returning = pgsql || maria;
    self->ends_idle = pgsql && php_version_compare(shown, "9.6") >= 0;
    if (php_version_compare(shown, pgsql ? "9.5" : maria ? "10.6" : "8.0.4") < 0) {
        status = mq_error_set(
            err, MQ_CONFIG, "database",
            "$database: the server is %s %.60s, and the queue needs %s): upgrade the server",
            pgsql   ? "PostgreSQL"
            : maria ? "MariaDB"
                    : "MySQL",
            *shown ? shown : "of an unknown version",
            pgsql ? "9.5 or later (SELECT ... FOR UPDATE SKIP LOCKED"
                  : "MySQL 8.0.4 or MariaDB 10.6 or later (SELECT ... FOR UPDATE SKIP LOCKED, "
                    "JSON_TABLE");
    }
    mq_pdo_drop(self, &version);
    return status;
}

/* An application whose pooler does not support prepared statements has switched them off. */
static enum mq_status look_at_prepares(struct mq_pdo *self, struct mq_error *err)
{
    bool emulates, disabled;
    MQ_TRY(mq_pdo_flag(self, MQ_PDO_ATTR_EMULATE_PREPARES, &emulates, err));
    MQ_TRY(mq_pdo_flag(self, MQ_PDO_PGSQL_ATTR_DISABLE_PREPARES, &disabled, err));
    self->unnamed = emulates || disabled || self->unnamed;
    return MQ_OK;
}

enum mq_status mq_pdo_look(struct mq_pdo *self, struct mq_error *err)
{
    MQ_TRY(check_driver(self, err));
    if (self->base.driver->dialect == MQ_SQLITE) {
        return find_path(self, err);
    }
    MQ_TRY(check_version(self, err));
    return mq_pdo_is_mysql(self) ? mq_pdo_mysql_look(self, err) : look_at_prepares(self, err);
}

/* Reads the id of the server's process, which the server sent when the connection began. A pooler
 * sends a number of its own. */
enum mq_status mq_pdo_announced(struct mq_pdo *self, int64_t *pid, struct mq_error *err)
{
    zval value;
    MQ_TRY(mq_pdo_attribute(self, MQ_PDO_ATTR_SERVER_INFO, &value, err));
    if (Z_TYPE(value) == IS_STRING && mq_text_begins(Z_STRVAL(value), "PID: ")) {
        *pid = strtol(Z_STRVAL(value) + 5, NULL, 10);
    }
    mq_pdo_drop(self, &value);
    return MQ_OK;
}
