/* The tables and their versions: version 2 added `subject`, version 3 the counters, the history,
 * `resent_of` and `uncertain_to`, version 4 the windows of limits, `paid_to`, `waits_for` and
 * `relay`, version 5 the suppressions, `scope` and `cleared`, the campaigns, their recipients and
 * `recipient_id`, version 6 the bounces. The migration can be run again: it adds columns that an
 * earlier version lacks, and tables and indexes that somebody dropped. */
#include "queue/sql/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/ascii.h"
#include "db/db.h"
#include "queue/config/keys.h"
#include "queue/config/settings.h"
#include "queue/handle.h"
#include "queue/queue.h"
#include "queue/sql/descriptor.h"
#include "queue/suppress/suppress.h"

/* The newest column is of version 5; mq_schema_open() also looks for what version 6 added. No other
 * program's table is likely to have the other one. */
#define NEWEST_COLUMN (mq_columns[MQ_COL_COUNT - 1].name)
#define OWN_COLUMN    (mq_columns[MQ_COL_PARKED_FOR].name)

static const struct mq_column body_columns[] = {{.name = "id"}, {.name = "content"}};
static const struct mq_column spent_columns[] = {{.name = "at"}, {.name = "n"}};
static const struct mq_column window_columns[] = {{.name = "scope"}, {.name = "at"}, {.name = "n"}};
static const struct mq_column count_columns[] = {{.name = "hour"},  {.name = "mail_type"},
                                                 {.name = "event"}, {.name = "part"},
                                                 {.name = "mails"}, {.name = "recipients"}};
static const struct mq_column log_columns[] = {
    {.name = "id"},        {.name = "at"},      {.name = "job_id"},     {.name = "reference"},
    {.name = "mail_type"}, {.name = "subject"}, {.name = "relay"},      {.name = "event"},
    {.name = "phase"},     {.name = "attempt"}, {.name = "recipients"}, {.name = "uncertain"},
    {.name = "reply"},     {.name = "ms"},      {.name = "waited"}};
static const struct mq_column suppression_columns[] = {
    {.name = "hash"},    {.name = "scope"},  {.name = "reason"},    {.name = "seq"},
    {.name = "address"}, {.name = "source"}, {.name = "created_at"}};
static const struct mq_column campaign_columns[] = {
    {.name = "id"},          {.name = "name"},       {.name = "state"},
    {.name = "mail_type"},   {.name = "priority"},   {.name = "max_attempts"},
    {.name = "message_id"},  {.name = "relay"},      {.name = "envelope_from"},
    {.name = "scope"},       {.name = "list_url"},   {.name = "start_at"},
    {.name = "created_at"},  {.name = "started_at"}, {.name = "finished_at"},
    {.name = "on_finished"}, {.name = "last_id"},    {.name = "fed_to"},
    {.name = "recipients"},  {.name = "fed"},        {.name = "sent"},
    {.name = "suppressed"},  {.name = "uncertain"}};
static const struct mq_column recipient_columns[] = {
    {.name = "id"},   {.name = "campaign_id"}, {.name = "hash"},   {.name = "address"},
    {.name = "name"}, {.name = "fields"},      {.name = "cleared"}};
static const struct mq_column bounce_columns[] = {
    {.name = "hash"}, {.name = "event"}, {.name = "at"}, {.name = "kind"}, {.name = "n"}};
static const struct mq_column config_columns[] = {{.name = "key"}, {.name = "value"}};

/* A table of the queue, and the columns that distinguish it from another program's. */
struct shape {
    const char *table;
    const struct mq_column *columns; /* the first one is the primary key */
    size_t count;
};

static const char *name_of(const struct mq_queue *queue, const struct mq_column *column)
{
    bool is_reference = queue && column == &mq_columns[MQ_COL_REFERENCE];
    return is_reference ? queue->names.reference : column->name;
}

const char *mq_queue_column(const struct mq_queue *queue, size_t i)
{
    return i < MQ_COL_COUNT ? name_of(queue, &mq_columns[i]) : NULL;
}

const char *mq_queue_column_type(size_t i)
{
    const char *type = mq_columns[i].type;
    if (mq_text_begins(type, "INTEGER")) {
        return "integer";
    }
    bool is_wide = mq_text_begins(type, "{n}") || mq_text_begins(type, "{i}");
    return is_wide ? "bigint" : "text";
}

bool mq_schema_has_column(const char *name)
{
    for (size_t i = 0; i < MQ_COL_COUNT; i++) {
        if (strcasecmp(name, mq_columns[i].name) == 0) {
            return true;
        }
    }
    return false;
}

/* Reads the tables' version; 0 if there is none. */
static enum mq_status read_version(struct mq_queue *queue, int64_t *version, struct mq_error *err)
{
    struct mq_args args = MQ_ARGS(mq_cstr(queue->names.version_key));
    char *text = NULL;
    *version = 0;
    MQ_TRY(mq_sql_text_of(queue, MQ_SQL_CONFIG_GET, args, &text, err));
    bool number = !text || mq_config_parse_int(mq_str_of(text), version);
    free(text);
    return number
               ? MQ_OK
               : mq_error_set(err, MQ_SCHEMA, queue->names.version_key,
                              "config key %s is not a number: set it to the version of the tables "
                              "(%d is this extension's), or restore the config table",
                              queue->names.version_key, MQ_SCHEMA_VERSION);
}

static enum mq_status too_new(struct mq_queue *queue, int64_t version, struct mq_error *err)
{
    return mq_error_set(err, MQ_SCHEMA, queue->names.version_key,
                        "the tables have version %lld, this extension knows up to %d: upgrade the "
                        "mailqueue extension",
                        (long long)version, MQ_SCHEMA_VERSION);
}

/* Sets has[i] if the table has column i; the first one counts only as primary key. Sets *any if the
 * table exists. */
static enum mq_status find_columns(struct mq_queue *queue, const struct shape *shape, bool *has,
                                   bool *any, struct mq_error *err)
{
    struct mq_args args = MQ_ARGS(mq_cstr(shape->table));
    enum mq_status status = mq_sql_query(queue, MQ_SQL_COLUMNS_OF, args, err);
    while (mq_sql_next(queue, &status, err)) {
        *any = true;
        struct mq_str name = mq_sql_column_str(queue, 0);
        bool is_key = mq_sql_column_int(queue, 1) == 1;
        for (size_t i = 0; i < shape->count; i++) {
            bool same = mq_str_equal_nocase(name, mq_str_of(name_of(queue, &shape->columns[i])));
            has[i] = has[i] || (same && (i > 0 || is_key));
        }
    }
    return status;
}

/* Returns the error for a table that has the right name but is not the queue's. The table
 * stays as it is: only a person can decide that the queue takes it over (cli/Command/Adopt.php). */
static enum mq_status foreign(const struct shape *shape, const char *missing, struct mq_error *err)
{
    bool adoptable = shape->columns == mq_columns;
    return mq_error_set(err, MQ_SCHEMA, shape->table,
                        "a table %s exists that is not the queue's: it lacks %s. %sename it, "
                        "or give the queue another table",
                        shape->table, missing,
                        adoptable ? "Run `mailqueue adopt` to take over another program's mail, r"
                                  : "R");
}

/* Each version had the column for references, so the name that was given is wrong. If an empty column
 * were added, composing would find no reference, and mail would be deleted as orphaned. */
static enum mq_status no_reference(const struct mq_queue *queue, struct mq_error *err)
{
    return mq_error_set(err, MQ_SCHEMA, "referenceColumn",
                        "table %s has no column %s: give the name of its column for references "
                        "(referenceColumn, --reference-column)",
                        queue->names.table, queue->names.reference);
}

/* Whether the column can be added to a table of the queue that lacks it. */
static bool addable(const struct shape *shape, size_t i)
{
    const char *type = shape->columns[i].type;
    return i > 0 && i != MQ_COL_REFERENCE && shape->columns == mq_columns &&
           (!strstr(type, "NOT NULL") || strstr(type, "DEFAULT"));
}

static enum mq_status add_column(struct mq_queue *queue, const struct mq_column *column,
                                 struct mq_error *err)
{
    char text[200];
    bool is_recipient = column == &mq_columns[MQ_COL_RECIPIENT_ID];
    snprintf(text, sizeof(text), "ALTER TABLE {t} ADD COLUMN %s %s%s", column->name, column->type,
             is_recipient ? "{J}" : "");
    char *sql = mq_sql_expand(queue->dialect, &queue->names, text);
    enum mq_status status = sql ? mq_db_script(queue->db, sql, err) : mq_error_nomem(err);
    free(sql);
    return status;
}

/* Fails if the table exists and lacks one of our columns. If the version says that the table is
 * ours, first adds those that an earlier version lacks. */
static enum mq_status check_shape(struct mq_queue *queue, const struct shape *shape, bool is_ours,
                                  struct mq_error *err)
{
    bool has[MQ_COL_COUNT] = {false};
    bool any = false;
    char missing[400] = "";
    size_t used = 0;
    enum mq_status status = find_columns(queue, shape, has, &any, err);
    bool is_job_table = shape->columns == mq_columns && has[MQ_COL_ID];
    if (status == MQ_OK && is_ours && is_job_table && !has[MQ_COL_REFERENCE]) {
        return no_reference(queue, err); /* before ALTER TABLE, which MySQL commits */
    }
    for (size_t i = 0; i < shape->count && any && status == MQ_OK; i++) {
        if (!has[i] && is_ours && addable(shape, i)) {
            status = add_column(queue, &shape->columns[i], err);
        } else if (!has[i] && used < sizeof(missing)) {
            used += (size_t)snprintf(missing + used, sizeof(missing) - used, "%s%s%s",
                                     used ? ", " : "", name_of(queue, &shape->columns[i]),
                                     i == 0 ? " as primary key" : "");
        }
    }
    return status == MQ_OK && used ? foreign(shape, missing, err) : status;
}

static enum mq_status check_tables(struct mq_queue *queue, bool are_ours, struct mq_error *err)
{
    const struct shape shapes[] = {
        {queue->names.table, mq_columns, MQ_COL_COUNT},
        {queue->names.body, body_columns, 2},
        {queue->names.spent, spent_columns, 2},
        {queue->names.window, window_columns, 3},
        {queue->names.count, count_columns, sizeof(count_columns) / sizeof(count_columns[0])},
        {queue->names.log, log_columns, sizeof(log_columns) / sizeof(log_columns[0])},
        {queue->names.suppression, suppression_columns,
         sizeof(suppression_columns) / sizeof(suppression_columns[0])},
        {queue->names.campaign, campaign_columns,
         sizeof(campaign_columns) / sizeof(campaign_columns[0])},
        {queue->names.recipient, recipient_columns,
         sizeof(recipient_columns) / sizeof(recipient_columns[0])},
        {queue->names.bounce, bounce_columns, sizeof(bounce_columns) / sizeof(bounce_columns[0])},
    };
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        MQ_TRY(check_shape(queue, &shapes[i], are_ours, err));
    }
    return MQ_OK;
}

static enum mq_status run_script(struct mq_queue *queue, enum mq_sql script, struct mq_error *err)
{
    const char *sql = mq_sql_text(queue, script);
    return sql ? mq_db_script(queue->db, sql, err) : mq_error_nomem(err);
}

/* Creates the config table unless it exists. CREATE TABLE IF NOT EXISTS alone is not enough: the
 * application's table can be in another schema of the search path. */
static enum mq_status create_config(struct mq_queue *queue, struct mq_error *err)
{
    bool has[sizeof(config_columns) / sizeof(config_columns[0])] = {false};
    bool any = false;
    const struct shape shape = {queue->names.config, config_columns, 2};
    MQ_TRY(find_columns(queue, &shape, has, &any, err));
    if (any) {
        return MQ_OK;
    }
    /* Checks before anything is created, because MySQL commits each CREATE TABLE: nothing must
     * remain beside another program's tables. */
    MQ_TRY(check_tables(queue, false, err));
    return run_script(queue, MQ_SQL_CONFIG_TABLE, err);
}

static enum mq_status lock_schema(struct mq_queue *queue, struct mq_error *err)
{
    int64_t got = 1;
    if (mq_sql_has(queue, MQ_SQL_QUIET)) {
        MQ_TRY(mq_sql_exec(queue, MQ_SQL_QUIET, MQ_NO_ARGS, err));
    }
    if (mq_sql_has(queue, MQ_SQL_LOCK_SCHEMA)) {
        MQ_TRY(mq_sql_int(queue, MQ_SQL_LOCK_SCHEMA, MQ_NO_ARGS, &got, err));
    }
    return got ? MQ_OK
               : mq_error_set(err, MQ_BUSY, "database",
                              "another process has been making or upgrading the queue's tables for "
                              "a minute: try again when it is done");
}

/* Releases the lock if it does not end with the transaction. If that fails, the connection is lost,
 * and the lock with it. */
static void unlock_schema(struct mq_queue *queue)
{
    if (mq_sql_has(queue, MQ_SQL_UNLOCK_SCHEMA)) {
        mq_sql_exec(queue, MQ_SQL_UNLOCK_SCHEMA, MQ_NO_ARGS, NULL);
    }
}

/* Makes what suppressions need in the config table, under the lock, so that no two processes make a
 * key. */
static enum mq_status make_suppression_key(struct mq_queue *queue, struct mq_error *err)
{
    const struct mq_config_key *keys[] = {&mq_config_keys[MQ_KEY_SUPPRESSION_KEY],
                                          &mq_config_keys[MQ_KEY_SUPPRESSED]};
    char secret[2 * MQ_SUPPRESSION_KEY + 1];
    mq_random_hex(secret, MQ_SUPPRESSION_KEY);
    for (int i = 0; i < 2; i++) {
        char *there = NULL;
        struct mq_args args = MQ_ARGS(mq_cstr(keys[i]->name));
        MQ_TRY(mq_sql_text_of(queue, MQ_SQL_CONFIG_GET, args, &there, err));
        bool has = there && *there;
        free(there);
        MQ_TRY(has ? MQ_OK : mq_config_put(queue, keys[i]->name, i == 0 ? secret : "0", err));
    }
    return MQ_OK;
}

/* Migrates under the lock. Reads the version again: another process may have been faster. */
static enum mq_status migrate_locked(struct mq_queue *queue, struct mq_error *err)
{
    int64_t version = 0;
    char text[16];
    MQ_TRY(lock_schema(queue, err));
    MQ_TRY(create_config(queue, err));
    MQ_TRY(read_version(queue, &version, err));
    if (version > MQ_SCHEMA_VERSION) {
        return too_new(queue, version, err);
    }
    MQ_TRY(check_tables(queue, version > 0, err));
    MQ_TRY(run_script(queue, MQ_SQL_TABLES, err));
    MQ_TRY(make_suppression_key(queue, err));
    snprintf(text, sizeof(text), "%d", MQ_SCHEMA_VERSION);
    return version == MQ_SCHEMA_VERSION ? MQ_OK
                                        : mq_config_put(queue, queue->names.version_key, text, err);
}

enum mq_status mq_queue_migrate(struct mq_queue *queue, int *version, struct mq_error *err)
{
    struct mq_db *db = queue->db;
    enum mq_status status = db->driver->begin(db, err);
    if (status == MQ_OK && db->driver->joined(db)) {
        status = mq_error_set(err, MQ_SCHEMA, queue->names.version_key,
                              "the queue's tables must be created or upgraded, which is not done "
                              "within the application's transaction: run `mailqueue migrate`");
    }
    bool locked = status == MQ_OK;
    if (locked) {
        status = migrate_locked(queue, err);
    }
    if (status == MQ_OK) {
        status = db->driver->commit(db, err);
    }
    if (status != MQ_OK) {
        db->driver->rollback(db);
    }
    if (locked) {
        unlock_schema(queue);
    }
    MQ_TRY(status);
    queue->ready = true;
    if (version) {
        *version = MQ_SCHEMA_VERSION;
    }
    return MQ_OK;
}

/* Reads the version once. *old: the tables are missing or older. If they are not, only tables of
 * this version are ready. */
static enum mq_status look(struct mq_queue *queue, int64_t *version, bool *old,
                           struct mq_error *err)
{
    *version = MQ_SCHEMA_VERSION;
    *old = false;
    if (queue->ready) {
        return MQ_OK;
    }
    enum mq_status status = read_version(queue, version, err);
    /* A new file has no config table. If something else is wrong, the migration fails as well. */
    bool missing = status == MQ_DATABASE || status == MQ_SCHEMA;
    *old = missing || (status == MQ_OK && *version < MQ_SCHEMA_VERSION);
    queue->ready = status == MQ_OK && *version == MQ_SCHEMA_VERSION;
    return missing ? MQ_OK : status;
}

/* Upgrades tables of an older version, or makes them (version 0). A user who may only read is told
 * why the queue wants to write. */
static enum mq_status upgrade(struct mq_queue *queue, int64_t version, struct mq_error *err)
{
    struct mq_error why = {.text = ""};
    enum mq_status status = mq_queue_migrate(queue, NULL, &why);
    if (status == MQ_READONLY && version > 0) {
        return mq_error_set(err, status, why.field,
                            "the tables have version %lld and must be upgraded to %d before they "
                            "can be read: run `mailqueue migrate` as a user who may write (%s)",
                            (long long)version, MQ_SCHEMA_VERSION, why.text);
    }
    if (status != MQ_OK && err) {
        *err = why;
    }
    return status;
}

static enum mq_status prepare(struct mq_queue *queue, bool newer_is_fine, struct mq_error *err)
{
    int64_t version;
    bool old;
    MQ_TRY(look(queue, &version, &old, err));
    if (old) {
        return upgrade(queue, version, err);
    }
    return queue->ready || newer_is_fine ? MQ_OK : too_new(queue, version, err);
}

enum mq_status mq_queue_prepare(struct mq_queue *queue, struct mq_error *err)
{
    return prepare(queue, false, err);
}

bool mq_schema_is(struct mq_queue *queue, struct mq_str version)
{
    int64_t number = 0;
    if (!queue->ready && mq_config_parse_int(version, &number)) {
        queue->ready = number == MQ_SCHEMA_VERSION;
    }
    return queue->ready;
}

enum mq_status mq_schema_check(struct mq_queue *queue, struct mq_error *err)
{
    int64_t version;
    bool old;
    MQ_TRY(look(queue, &version, &old, err));
    if (old) {
        return mq_error_set(err, MQ_SCHEMA, queue->names.version_key,
                            "the queue's tables are missing or older than this extension: open the "
                            "queue again, or run `mailqueue migrate`");
    }
    return queue->ready ? MQ_OK : too_new(queue, version, err);
}

enum mq_status mq_schema_open(struct mq_queue *queue, struct mq_error *err)
{
    struct mq_db *db = queue->db;
    bool there = db->driver->has_column(db, queue->names.table, NEWEST_COLUMN) &&
                 db->driver->has_column(db, queue->names.table, OWN_COLUMN) &&
                 db->driver->has_column(db, queue->names.count, "mails") &&
                 db->driver->has_column(db, queue->names.log, "waited") &&
                 db->driver->has_column(db, queue->names.window, "scope") &&
                 db->driver->has_column(db, queue->names.suppression, "seq") &&
                 db->driver->has_column(db, queue->names.campaign, "fed_to") &&
                 db->driver->has_column(db, queue->names.recipient, "hash") &&
                 db->driver->has_column(db, queue->names.bounce, "event") &&
                 db->driver->has_column(db, queue->names.config, "value");
    return there ? MQ_OK : prepare(queue, true, err);
}
