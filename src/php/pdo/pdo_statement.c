/* Statements, values and rows of the PDO driver. */
#include "php/pdo/pdo_statement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"
#include "php/guard.h"
#include "php/pdo/mysql.h"

#define QUOTED_OCTETS_MAX (64 * 1024)

struct options {
    const struct mq_pdo *self;
    bool unnamed;
    zval *out;
};

static void make_options(void *context)
{
    const struct options *options = context;
    zval list;
    array_init_size(&list, 1);
    add_next_index_string(&list, "PDOStatement");
    array_init_size(options->out, 4);
    add_index_zval(options->out, MQ_PDO_ATTR_STATEMENT_CLASS, &list);
    if (mq_pdo_is_pgsql(options->self)) {
        /* The server always gets parameters separately; PDO reads the whole result at once. */
        add_index_bool(options->out, MQ_PDO_ATTR_EMULATE_PREPARES, false);
        add_index_bool(options->out, MQ_PDO_PGSQL_ATTR_DISABLE_PREPARES, options->unnamed);
        add_index_long(options->out, MQ_PDO_ATTR_PREFETCH, 1);
    }
}

/* The number of a parameter ("?2") at `mark`, from 0; -1: a question mark within a string. */
static int parameter_at(const char *mark, const char **end)
{
    char *after = (char *)mark + 1;
    long n = mq_is_digit(mark[1]) ? strtol(mark + 1, &after, 10) : 0;
    *end = after;
    return (int)n - 1;
}

/* Turns each ?n into a plain "?", because PDO has no numbered parameters. */
static enum mq_status make_text(struct mq_pdo *self, const char *sql, zval *out,
                                struct mq_error *err)
{
    struct mq_buffer text = {0};
    for (const char *mark; (mark = strchr(sql, '?')) != NULL;) {
        mq_buffer_str(&text, (struct mq_str){sql, (size_t)(mark + 1 - sql)});
        parameter_at(mark, &sql);
    }
    mq_buffer_cstr(&text, sql);
    enum mq_status status =
        text.failed ? mq_error_nomem(err) : mq_pdo_string(self, mq_buffer_view(&text), out, err);
    mq_buffer_clear(&text);
    return status;
}

/* Calls PDO::prepare($text, [PDO::ATTR_STATEMENT_CLASS => ['PDOStatement']]): the application may
 * have set another class for its own statements. */
static enum mq_status call_prepare(struct mq_pdo *self, const char *sql, bool unnamed, zval *out,
                                   struct mq_error *err)
{
    zval args[2];
    struct options options = {self, unnamed, &args[1]};
    MQ_TRY(make_text(self, sql, &args[0], err));
    if (!mq_php_survives(make_options, &options)) {
        return mq_pdo_bailed(self, err);
    }
    enum mq_status status =
        mq_pdo_call(self, (struct mq_php_method){&self->object, "prepare", args, 2}, out, err);
    if (status == MQ_BAILOUT) {
        return status;
    }
    zval_ptr_dtor(&args[0]);
    zval_ptr_dtor(&args[1]);
    if (status == MQ_OK && Z_TYPE_P(out) != IS_OBJECT) {
        mq_pdo_drop(self, out);
        status = mq_error_set(err, MQ_DATABASE, "database", "PDO::prepare() gave no statement");
    }
    return status;
}

/* `young`: the server need not keep the statement yet. For MySQL this switches the connection's
 * attribute, because PDO's driver ignores the statement's option. */
static enum mq_status prepare(struct mq_pdo *self, const char *sql, bool young, zval *out,
                              struct mq_error *err)
{
    bool emulates = mq_pdo_is_mysql(self) && self->native && young;
    enum mq_status status = emulates ? mq_pdo_emulate(self, true, err) : MQ_OK;
    if (status == MQ_OK) {
        status = call_prepare(self, sql, young || self->unnamed, out, err);
    }
    if (emulates && !self->bailed) {
        mq_pdo_emulate(self, false, NULL);
    }
    return status;
}

/* Makes a PHP string of the text, with '?' for all but ASCII: the database may lack the rest. */
static enum mq_status make_ascii(struct mq_pdo *self, struct mq_str text, zval *out,
                                 struct mq_error *err)
{
    struct mq_buffer ascii = {0};
    while (text.len > 0) {
        uint32_t code;
        size_t octets = mq_utf8_next(text, &code);
        mq_buffer_char(&ascii, octets == 1 && code < 0x80 ? *text.data : '?');
        text.data += octets ? octets : 1;
        text.len -= octets ? octets : 1;
    }
    enum mq_status status =
        ascii.failed ? mq_error_nomem(err) : mq_pdo_string(self, mq_buffer_view(&ascii), out, err);
    mq_buffer_clear(&ascii);
    return status;
}

static enum mq_status make_value(struct mq_pdo *self, const struct mq_value *value, zval args[2],
                                 struct mq_error *err)
{
    switch (value->type) {
    case MQ_INT:
        ZVAL_LONG(&args[0], (zend_long)value->i);
        ZVAL_LONG(&args[1], MQ_PDO_PARAM_INT);
        break;
    case MQ_TEXT:
    case MQ_BLOB:
        ZVAL_LONG(&args[1], value->type == MQ_BLOB ? MQ_PDO_PARAM_LOB : MQ_PDO_PARAM_STR);
        return value->for_people && self->ascii ? make_ascii(self, value->s, &args[0], err)
                                                : mq_pdo_string(self, value->s, &args[0], err);
    case MQ_NULL:
        ZVAL_NULL(&args[0]);
        ZVAL_LONG(&args[1], MQ_PDO_PARAM_NULL);
        break;
    }
    return MQ_OK;
}

static enum mq_status bind_value(struct mq_pdo *self, int number, const struct mq_value *value,
                                 struct mq_error *err)
{
    zval args[3];
    ZVAL_LONG(&args[0], number);
    MQ_TRY(make_value(self, value, &args[1], err));
    enum mq_status status = mq_pdo_call(
        self, (struct mq_php_method){&self->current->object, "bindvalue", args, 3}, NULL, err);
    if (status != MQ_BAILOUT) {
        zval_ptr_dtor(&args[1]);
    }
    return status;
}

static enum mq_status bind_values(struct mq_pdo *self, const struct mq_query *query,
                                  struct mq_error *err)
{
    const char *sql = query->sql;
    int place = 0;
    while ((sql = strchr(sql, '?')) != NULL) {
        int n = parameter_at(sql, &sql);
        if (n >= query->param_count) {
            return mq_error_set(err, MQ_DATABASE, "database", "a statement lacks parameter %d",
                                n + 1);
        }
        MQ_TRY(n < 0 ? MQ_OK : bind_value(self, ++place, &query->params[n], err));
    }
    return MQ_OK;
}

/* Replaces each stream in a row by its contents: PDO gives PostgreSQL's bytea as streams. */
static void read_streams(void *context)
{
    zval *value;
    ZEND_HASH_FOREACH_VAL (Z_ARRVAL_P((zval *)context), value) {
        php_stream *stream;
        if (Z_TYPE_P(value) != IS_RESOURCE) {
            continue;
        }
        php_stream_from_zval_no_verify(stream, value);
        zend_string *all = stream ? php_stream_copy_to_mem(stream, PHP_STREAM_COPY_ALL, 0) : NULL;
        zval_ptr_dtor(value);
        ZVAL_STR(value, all ? all : ZSTR_EMPTY_ALLOC());
    }
    ZEND_HASH_FOREACH_END();
}

/* Reads the next row; *row: whether there is one. */
static enum mq_status fetch(struct mq_pdo *self, bool *row, struct mq_error *err)
{
    zval arg;
    mq_pdo_drop_row(self);
    ZVAL_LONG(&arg, MQ_PDO_FETCH_NUM);
    enum mq_status status = mq_pdo_call(
        self, (struct mq_php_method){&self->current->object, "fetch", &arg, 1}, &self->row, err);
    *row = status == MQ_OK && Z_TYPE(self->row) == IS_ARRAY;
    if (*row) {
        SEPARATE_ARRAY(&self->row); /* a subclass may keep the array */
    }
    if (*row && mq_pdo_is_pgsql(self) && !mq_php_survives(read_streams, &self->row)) {
        *row = false;
        return mq_pdo_bailed(self, err);
    }
    return status;
}

/* Calls a method that returns a number; *count is -1 if it returned none. */
static enum mq_status ask_count(struct mq_pdo *self, const char *method, int64_t *count,
                                struct mq_error *err)
{
    zval result;
    enum mq_status status = mq_pdo_call(
        self, (struct mq_php_method){&self->current->object, method, NULL, 0}, &result, err);
    *count = status == MQ_OK && Z_TYPE(result) == IS_LONG ? Z_LVAL(result) : -1;
    mq_pdo_drop(self, &result);
    return status;
}

static enum mq_status execute(struct mq_pdo *self, const struct mq_query *query,
                              struct mq_error *err)
{
    int64_t columns = 0;
    struct mq_php_method run = {&self->current->object, "execute", NULL, 0};
    MQ_TRY(bind_values(self, query, err));
    MQ_TRY(mq_pdo_call(self, run, NULL, err));
    self->answered_ms = mq_pdo_now_ms();
    if (self->base.driver->dialect != MQ_SQLITE) {
        MQ_TRY(ask_count(self, "rowcount", &self->changes, err));
    }
    MQ_TRY(ask_count(self, "columncount", &columns, err));
    return columns > 0 ? fetch(self, &self->row_ready, err) : MQ_OK;
}

/* Sets a savepoint before a statement outside begin(). If the statement failed without one,
 * PostgreSQL would abort the application's whole transaction. */
static enum mq_status guard(struct mq_pdo *self, struct mq_error *err)
{
    bool within = false;
    if (self->begun || !mq_pdo_is_pgsql(self)) {
        return MQ_OK;
    }
    MQ_TRY(mq_pdo_in_transaction(self, &within, err));
    if (within) {
        MQ_TRY(mq_pdo_exec(self, "SAVEPOINT mailqueue_guard", err));
    }
    self->guarded = within;
    return MQ_OK;
}

static void end_guard(struct mq_pdo *self, bool failed)
{
    if (!self->guarded || self->bailed) {
        return;
    }
    zend_object *cause = mq_php_pdo_take_cause();
    self->guarded = false;
    if (failed) {
        mq_pdo_undo(self, "ROLLBACK TO mailqueue_guard");
    }
    mq_pdo_exec(self, "RELEASE mailqueue_guard", NULL);
    mq_pdo_keep_cause(self, cause);
}

/* Whether to prepare a statement at once because of large values: in its text they take more room,
 * and the server has a limit. Only if the application has switched emulated prepares off. */
static bool is_large(const struct mq_pdo *self, const struct mq_query *query)
{
    size_t octets = 0;
    for (int i = 0; i < query->param_count; i++) {
        octets += query->params[i].s.len;
    }
    return self->native && octets > QUOTED_OCTETS_MAX;
}

/* Counts a use. *young: the server does not keep the statement yet. Returns true if it must keep it
 * from this use on. */
static bool grows_up(struct mq_pdo *self, const struct mq_query *query,
                     struct mq_pdo_statement *statement, bool *young)
{
    bool was_young = statement->uses <= MQ_PDO_UNPREPARED_USES;
    if (is_large(self, query)) {
        statement->uses = MQ_PDO_UNPREPARED_USES + 1;
    } else if (was_young) {
        statement->uses++;
    }
    *young = statement->uses <= MQ_PDO_UNPREPARED_USES;
    if (query->slot < 0) {
        statement->uses = 0;
    }
    return was_young && !*young && self->base.driver->dialect != MQ_SQLITE;
}

/* Makes the statement of a query ready to be executed. */
static enum mq_status make_ready(struct mq_pdo *self, const struct mq_query *query,
                                 struct mq_pdo_statement *statement, struct mq_error *err)
{
    bool young;
    if (grows_up(self, query, statement, &young) || query->slot < 0) {
        mq_pdo_drop(self, &statement->object);
    }
    if (Z_ISUNDEF(statement->object)) {
        MQ_TRY(prepare(self, query->sql, young, &statement->object, err));
    }
    bool quotes = !self->native || young;
    return mq_pdo_is_mysql(self) ? mq_pdo_mysql_fits(self, query, quotes, err) : MQ_OK;
}

enum mq_status mq_pdo_run(struct mq_db *db, const struct mq_query *query, struct mq_error *err)
{
    struct mq_pdo *self = mq_pdo_of(db);
    struct mq_pdo_statement *statement =
        &self->slots[query->slot < 0 ? MQ_PDO_SINGLE : query->slot];
    mq_pdo_finish(db);
    MQ_TRY(mq_pdo_is_mysql(self) ? mq_pdo_mysql_measure(self, query, err) : MQ_OK);
    MQ_TRY(mq_pdo_enter(self, err));
    enum mq_status status = make_ready(self, query, statement, err);
    if (status == MQ_OK) {
        status = guard(self, err);
    }
    if (status == MQ_OK) {
        self->current = statement;
        status = execute(self, query, err);
        end_guard(self, status != MQ_OK);
    }
    if (status != MQ_OK || !self->row_ready) {
        mq_pdo_finish(db);
    }
    self->fresh = self->fresh && status != MQ_OK;
    return status;
}

/* Whether not to ask the server for a column, which costs a round trip: a queue with its own
 * connection creates tables when a statement fails, and within a transaction of the application,
 * tables cannot be created. Outside one, the caller creates them at once. */
static bool asks_later(struct mq_pdo *self)
{
    bool within = false;
    return self->own.dsn || (mq_pdo_in_transaction(self, &within, NULL) == MQ_OK && within);
}

/* Only prepares a SELECT, which reads nothing: after a read within a transaction, SQLite refuses to
 * write if another connection has committed meanwhile. */
bool mq_pdo_has_column(struct mq_db *db, const char *table, const char *column)
{
    struct mq_pdo *self = mq_pdo_of(db);
    zval found;
    char sql[400];
    int len =
        snprintf(sql, sizeof(sql), "SELECT \"%s\".\"%s\" FROM main.\"%s\"", table, column, table);
    if (db->driver->dialect != MQ_SQLITE) {
        return asks_later(self);
    }
    if (len >= (int)sizeof(sql)) {
        return false;
    }
    if (EG(exception)) {
        return true; /* a subclass called exit(): nothing more is asked */
    }
    mq_pdo_finish(db);
    if (mq_pdo_enter(self, NULL) != MQ_OK) {
        return false;
    }
    enum mq_status status = prepare(self, sql, true, &found, NULL);
    mq_pdo_drop(self, &found);
    mq_pdo_forget_cause(self);
    mq_pdo_finish(db);
    return status == MQ_OK || status == MQ_THROWN;
}

enum mq_status mq_pdo_next(struct mq_db *db, bool *row, struct mq_error *err)
{
    struct mq_pdo *self = mq_pdo_of(db);
    *row = false;
    if (!self->current) {
        return MQ_OK;
    }
    if (self->row_ready) {
        self->row_ready = false;
        *row = true;
        return MQ_OK;
    }
    enum mq_status status = fetch(self, row, err);
    if (!*row) {
        mq_pdo_finish(db);
    }
    return status;
}

struct mq_value mq_pdo_column(struct mq_db *db, int index)
{
    struct mq_pdo *self = mq_pdo_of(db);
    zval *value = Z_TYPE(self->row) == IS_ARRAY
                      ? zend_hash_index_find(Z_ARRVAL(self->row), (zend_ulong)index)
                      : NULL;
    switch (value ? Z_TYPE_P(value) : IS_NULL) {
    case IS_LONG:
        return mq_int(Z_LVAL_P(value));
    case IS_TRUE:
    case IS_FALSE:
        return mq_int(Z_TYPE_P(value) == IS_TRUE);
    case IS_DOUBLE:
        convert_to_string(value);
        ZEND_FALLTHROUGH;
    case IS_STRING:
        return mq_text((struct mq_str){Z_STRVAL_P(value), Z_STRLEN_P(value)});
    default:
        return mq_null();
    }
}

int mq_pdo_columns(struct mq_db *db)
{
    const struct mq_pdo *self = mq_pdo_of(db);
    return Z_TYPE(self->row) == IS_ARRAY ? (int)zend_hash_num_elements(Z_ARRVAL(self->row)) : 0;
}

void mq_pdo_finish(struct mq_db *db)
{
    struct mq_pdo *self = mq_pdo_of(db);
    struct mq_pdo_statement *statement = self->current;
    self->current = NULL;
    self->row_ready = false;
    mq_pdo_drop_row(self);
    if (statement && !self->bailed) {
        if (mq_pdo_call(self, (struct mq_php_method){&statement->object, "closecursor", NULL, 0},
                        NULL, NULL) == MQ_OK &&
            statement == &self->slots[MQ_PDO_SINGLE]) {
            mq_pdo_drop(self, &statement->object);
        }
    }
    if (!self->begun) {
        mq_pdo_leave(self);
    }
}

enum mq_status mq_pdo_ask(struct mq_pdo *self, const struct mq_query *query, int64_t *number,
                          struct mq_error *err)
{
    struct mq_value value = mq_null();
    struct mq_row row = {&value, 1, false};
    enum mq_status status = mq_db_row(&self->base, query, &row, err);
    if (status == MQ_OK && row.found) {
        mq_value_int(value, number);
    }
    mq_db_finish(&self->base);
    return status;
}
