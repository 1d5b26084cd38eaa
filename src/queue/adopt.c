#include "queue/adopt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- helpers ---- */

const struct mq_adopt_column *mq_adopt_find(const struct mq_adopt *self, const char *name)
{
    for (size_t i = 0; i < self->count; i++) {
        if (strcasecmp(self->columns[i].name, name) == 0) {
            return &self->columns[i];
        }
    }
    return NULL;
}

const char *mq_adopt_name(const struct mq_adopt *self, const struct mq_column *column)
{
    return column->name ? column->name : self->queue->names.reference;
}

void mq_adopt_quote(struct mq_buffer *out, const char *name)
{
    mq_buffer_char(out, '`');
    for (; *name; name++) {
        mq_buffer_append(out, "``", *name == '`' ? 2 : 0);
        if (*name != '`') {
            mq_buffer_char(out, *name);
        }
    }
    mq_buffer_char(out, '`');
}

enum mq_status mq_adopt_query(struct mq_adopt *self, struct mq_buffer *sql, struct mq_error *err)
{
    struct mq_db *db = self->queue->db;
    struct mq_query query = {-1, sql->data, NULL, 0};
    enum mq_status status = sql->failed ? mq_error_nomem(err) : db->driver->run(db, &query, err);
    mq_buffer_clear(sql);
    return status;
}

enum mq_status mq_adopt_run(struct mq_adopt *self, struct mq_buffer *sql, struct mq_error *err)
{
    struct mq_query query = {-1, sql->data, NULL, 0};
    enum mq_status status =
        sql->failed ? mq_error_nomem(err) : mq_db_exec(self->queue->db, &query, err);
    mq_buffer_clear(sql);
    return status;
}

/* ?1 is the table, ?2 the reference column. */
static enum mq_status ask(struct mq_adopt *self, const char *sql, struct mq_error *err)
{
    struct mq_db *db = self->queue->db;
    struct mq_value values[] = {mq_cstr(self->queue->names.table),
                                mq_cstr(self->queue->names.reference)};
    struct mq_query query = {-1, sql, values, strstr(sql, "?2") ? 2 : strstr(sql, "?1") ? 1 : 0};
    return db->driver->run(db, &query, err);
}

enum mq_status mq_adopt_int(struct mq_adopt *self, const char *sql, int64_t *value,
                            struct mq_error *err)
{
    bool row = false;
    *value = 0;
    enum mq_status status = ask(self, sql, err);
    if (status == MQ_OK) {
        status = mq_sql_next(self->queue, &row, err);
    }
    if (status == MQ_OK && row) {
        *value = mq_sql_column_int(self->queue, 0);
        mq_sql_finish(self->queue);
    }
    return status;
}

static enum mq_status execute(struct mq_adopt *self, const char *sql, struct mq_error *err)
{
    return mq_db_exec(self->queue->db, &(struct mq_query){-1, sql, NULL, 0}, err);
}

/* ---- what is there ---- */

static char *copy_column(struct mq_queue *queue, int index)
{
    struct mq_str s = mq_sql_column_str(queue, index);
    return mq_str_dup(s.data ? s : MQ_STR(""));
}

/* Leaves table NULL where there is none that can be read. */
static enum mq_status read_table(struct mq_adopt *self, struct mq_error *err)
{
    bool row = false;
    enum mq_status status = ask(self,
                                "SELECT name, sql FROM main.sqlite_master "
                                "WHERE type = 'table' AND name = ?1 COLLATE NOCASE "
                                "AND sql LIKE 'CREATE TABLE %'",
                                err);
    if (status == MQ_OK) {
        status = mq_sql_next(self->queue, &row, err);
    }
    if (status != MQ_OK || !row) {
        return status;
    }
    self->table = copy_column(self->queue, 0);
    self->sql = copy_column(self->queue, 1);
    mq_sql_finish(self->queue);
    return self->table && self->sql ? MQ_OK : mq_error_nomem(err);
}

static bool add_column(struct mq_adopt *self)
{
    struct mq_queue *queue = self->queue;
    struct mq_adopt_column *columns =
        realloc(self->columns, (self->count + 1) * sizeof(*self->columns));
    if (!columns) {
        return false;
    }
    self->columns = columns;
    struct mq_adopt_column *column = &columns[self->count];
    memset(column, 0, sizeof(*column));
    column->name = copy_column(queue, 0);
    if (!column->name) {
        return false;
    }
    self->count++;
    column->own = mq_schema_column(column->name);
    if (strcasecmp(column->name, queue->names.reference) == 0) {
        size_t count;
        column->own = mq_schema_columns(&count);
        while (column->own->name) {
            column->own++;
        }
    }
    column->text = !mq_str_equal_nocase(mq_sql_column_str(queue, 1), MQ_STR("INTEGER"));
    column->not_null = mq_sql_column_int(queue, 2) != 0;
    column->must = column->not_null && mq_sql_column_int(queue, 3) != 0;
    column->key = (int)mq_sql_column_int(queue, 4);
    column->generated = mq_sql_column_int(queue, 5) > 1;
    return true;
}

static enum mq_status read_columns(struct mq_adopt *self, struct mq_error *err)
{
    bool row = true;
    enum mq_status status = ask(self,
                                "SELECT name, type, `notnull`, dflt_value IS NULL, pk, hidden "
                                "FROM pragma_table_xinfo(?1)",
                                err);
    while (status == MQ_OK) {
        status = mq_sql_next(self->queue, &row, err);
        if (status != MQ_OK || !row) {
            break;
        }
        if (!add_column(self)) {
            mq_sql_finish(self->queue);
            return mq_error_nomem(err);
        }
    }
    return status;
}

/* Whether it is a mail queue at all, and another program's. */
static bool wants_rebuild(struct mq_adopt *self)
{
    static const char *const least[] = {NULL, "mail_type", "status"};
    size_t count;
    const struct mq_column *columns = mq_schema_columns(&count);
    for (size_t i = 0; i < sizeof(least) / sizeof(least[0]); i++) {
        if (!mq_adopt_find(self, least[i] ? least[i] : self->queue->names.reference)) {
            return false;
        }
    }
    bool wanted = mq_adopt_text_unfit(self);
    for (size_t i = 0; i < count && !wanted; i++) {
        const struct mq_adopt_column *old = mq_adopt_find(self, mq_adopt_name(self, &columns[i]));
        wanted = !old || (columns[i].kind == MQ_COLUMN_TIME && old->text) ||
                 (columns[i].kind == MQ_COLUMN_REFERENCE && old->not_null);
    }
    for (size_t i = 0; i < self->count && !wanted; i++) {
        wanted = !self->columns[i].own && self->columns[i].must;
    }
    return wanted;
}

/* ---- what is made again ---- */

/* An index whose name the queue needs goes on under another. */
static bool is_queue_index(const struct mq_adopt *self, struct mq_str name)
{
    static const char *const suffixes[] = {"key", "due", "lease", "parked", "rest", "expiry"};
    char own[MQ_NAME_MAX + 16];
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        snprintf(own, sizeof(own), "%s_%s", self->queue->names.table, suffixes[i]);
        if (mq_str_equal_nocase(name, mq_str_of(own))) {
            return true;
        }
    }
    return false;
}

static bool remember_one(struct mq_adopt *self)
{
    struct mq_queue *queue = self->queue;
    struct mq_str name = mq_sql_column_str(queue, 0);
    struct mq_str sql = mq_sql_column_str(queue, 1);
    if (mq_sql_column_int(queue, 2) == 0 || !is_queue_index(self, name)) {
        return mq_strings_add(&self->later, sql);
    }
    char other[MQ_NAME_MAX + 32];
    struct mq_buffer text;
    snprintf(other, sizeof(other), "%.*s_old", (int)name.len, name.data);
    mq_buffer_init(&text);
    mq_adopt_index_renamed(&text, sql, other);
    bool ok = !text.failed && mq_strings_add(&self->later, mq_buffer_view(&text));
    mq_buffer_clear(&text);
    return ok;
}

static enum mq_status remember(struct mq_adopt *self, struct mq_error *err)
{
    bool row = true;
    enum mq_status status = ask(self,
                                "SELECT name, sql, type = 'index' FROM main.sqlite_master "
                                "WHERE tbl_name = ?1 COLLATE NOCASE AND sql IS NOT NULL "
                                "AND type IN ('index','trigger') ORDER BY type, rowid",
                                err);
    while (status == MQ_OK) {
        status = mq_sql_next(self->queue, &row, err);
        if (status != MQ_OK || !row) {
            break;
        }
        if (!remember_one(self)) {
            mq_sql_finish(self->queue);
            return mq_error_nomem(err);
        }
    }
    return status;
}

/* ---- the rebuild: sqlite.org/lang_altertable.html, section 7 ---- */

static enum mq_status create(struct mq_adopt *self, struct mq_error *err)
{
    struct mq_buffer sql;
    mq_buffer_init(&sql);
    if (!mq_adopt_create(self, &sql)) {
        mq_buffer_clear(&sql);
        return mq_error_set(err, MQ_SCHEMA, self->queue->names.table,
                            "the definition of table %s cannot be read: rename it, or give the "
                            "queue another table",
                            self->table);
    }
    enum mq_status status = mq_adopt_run(self, &sql, err);
    if (status != MQ_OK) {
        return status;
    }
    /* Ids that were given once are not given again. */
    mq_buffer_cstr(&sql, "INSERT INTO sqlite_sequence(name, seq) SELECT '" MQ_ADOPT_NEW "', seq "
                         "FROM sqlite_sequence WHERE name = '");
    mq_buffer_cstr(&sql, self->table);
    mq_buffer_cstr(&sql, "' AND seq > 0");
    return mq_adopt_run(self, &sql, err);
}

static enum mq_status check_duplicates(struct mq_adopt *self, struct mq_error *err)
{
    struct mq_queue *queue = self->queue;
    struct mq_buffer sql;
    bool row = false;
    mq_buffer_init(&sql);
    char *text = mq_sql_expand(queue->spelling, &queue->names,
                               "SELECT {r}, mail_type, min(id), max(id) FROM " MQ_ADOPT_NEW
                               " WHERE {r} IS NOT NULL GROUP BY {r}, mail_type "
                               "HAVING count(*) > 1 LIMIT 1");
    if (!text) {
        return mq_error_nomem(err);
    }
    enum mq_status status = ask(self, text, err);
    free(text);
    if (status == MQ_OK) {
        status = mq_sql_next(queue, &row, err);
    }
    if (status != MQ_OK || !row) {
        return status;
    }
    char pair[200];
    size_t used = mq_str_printable(pair, 100, 0, mq_sql_column_str(queue, 0));
    used = mq_str_printable(pair, 110, used, MQ_STR("\", \""));
    mq_str_printable(pair, sizeof(pair), used, mq_sql_column_str(queue, 1));
    status = mq_error_set(err, MQ_SCHEMA, queue->names.reference,
                          "table %s cannot become the queue's: (\"%s\") is queued more than once, "
                          "in the rows %lld and %lld for example; reference and type are unique "
                          "in the queue. Delete what need not be sent; nothing was changed",
                          self->table, pair, (long long)mq_sql_column_int(queue, 2),
                          (long long)mq_sql_column_int(queue, 3));
    mq_sql_finish(queue);
    return status;
}

/* Without legacy_alter_table, views of the table that is gone would make the renaming fail, and
 * with it references to the name stay as they are written, which is what is wanted. */
static enum mq_status replace(struct mq_adopt *self, struct mq_error *err)
{
    struct mq_buffer sql;
    int64_t legacy = 0;
    mq_buffer_init(&sql);
    enum mq_status status = mq_adopt_int(self, "PRAGMA legacy_alter_table", &legacy, err);
    if (status == MQ_OK) {
        mq_buffer_cstr(&sql, "DROP TABLE ");
        mq_adopt_quote(&sql, self->table);
        status = mq_adopt_run(self, &sql, err);
    }
    if (status == MQ_OK && !legacy) {
        status = execute(self, "PRAGMA legacy_alter_table = ON", err);
    }
    if (status == MQ_OK) {
        mq_buffer_cstr(&sql, "ALTER TABLE " MQ_ADOPT_NEW " RENAME TO ");
        mq_adopt_quote(&sql, self->table);
        status = mq_adopt_run(self, &sql, err);
        if (!legacy) {
            enum mq_status back =
                execute(self, "PRAGMA legacy_alter_table = OFF", status == MQ_OK ? err : NULL);
            status = status == MQ_OK ? back : status;
        }
    }
    for (size_t i = 0; i < self->later.count && status == MQ_OK; i++) {
        status = execute(self, self->later.items[i], err);
    }
    return status;
}

static enum mq_status rebuild(struct mq_adopt *self, struct mq_error *err)
{
    struct mq_adopt_census before;
    struct mq_adopt_census after;
    enum mq_status status = mq_adopt_census(self, &before, err);
    if (status == MQ_OK) {
        status = create(self, err);
    }
    if (status == MQ_OK) {
        status = mq_adopt_copy(self, err);
    }
    if (status == MQ_OK) {
        status = check_duplicates(self, err);
    }
    if (status == MQ_OK) {
        status = replace(self, err);
    }
    if (status == MQ_OK) {
        status = mq_adopt_census(self, &after, err);
    }
    if (status == MQ_OK && !mq_adopt_census_same(&before, &after)) {
        status = mq_error_set(err, MQ_SCHEMA, self->queue->names.table,
                              "table %s cannot become the queue's: rows or foreign keys would be "
                              "lost (%lld and %lld; violated: %lld, before: %lld). Nothing was "
                              "changed",
                              self->table, (long long)(before.rows - after.rows),
                              (long long)(before.foreign_keys - after.foreign_keys),
                              (long long)after.violations, (long long)before.violations);
    }
    return status;
}

static void clear(struct mq_adopt *self)
{
    for (size_t i = 0; i < self->count; i++) {
        free(self->columns[i].name);
    }
    free(self->columns);
    free(self->table);
    free(self->sql);
    mq_strings_clear(&self->later);
}

enum mq_status mq_adopt(struct mq_queue *queue, struct mq_error *err)
{
    struct mq_adopt self = {.queue = queue};
    int64_t enforced = 0;
    mq_strings_init(&self.later);
    enum mq_status status = read_table(&self, err);
    if (status == MQ_OK && self.table) {
        status = read_columns(&self, err);
    }
    if (status != MQ_OK || !self.table || !wants_rebuild(&self)) {
        goto out;
    }
    self.now_s = queue->clock.now_s(queue->clock.context);
    status = mq_adopt_int(&self, "PRAGMA foreign_keys", &enforced, err);
    if (status == MQ_OK && enforced) {
        status = mq_error_set(err, MQ_DATABASE, "foreign_keys",
                              "foreign keys could not be switched off to make table %s the queue's",
                              self.table);
    }
    if (status == MQ_OK) {
        status = mq_adopt_check_referring(&self, err);
    }
    if (status == MQ_OK) {
        status = mq_adopt_check(&self, err);
    }
    if (status == MQ_OK) {
        status = remember(&self, err);
    }
    if (status == MQ_OK) {
        status = rebuild(&self, err);
    }
out:
    clear(&self);
    return status;
}

enum mq_status mq_adopt_enter(struct mq_queue *queue, bool *enforced, struct mq_error *err)
{
    struct mq_adopt self = {.queue = queue};
    int64_t on = 0;
    *enforced = false;
    enum mq_status status = mq_adopt_int(&self, "PRAGMA foreign_keys", &on, err);
    if (status == MQ_OK && on) {
        status = execute(&self, "PRAGMA foreign_keys = OFF", err);
        *enforced = status == MQ_OK;
    }
    return status;
}

void mq_adopt_leave(struct mq_queue *queue, bool enforced)
{
    struct mq_adopt self = {.queue = queue};
    if (enforced) {
        execute(&self, "PRAGMA foreign_keys = ON", NULL);
    }
}
