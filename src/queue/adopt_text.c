/* The text of CREATE TABLE, as SQLite keeps it: read by tokens, and written anew with the queue's
 * columns in place of the old ones. */
#include <stdlib.h>
#include <string.h>

#include "queue/adopt.h"
#include "queue/token.h"

static const struct mq_column *own(const struct mq_adopt *self, struct mq_token token)
{
    size_t count;
    const struct mq_column *columns = mq_schema_columns(&count);
    for (size_t i = 0; i < count; i++) {
        if (mq_token_names(token, mq_adopt_name(self, &columns[i]))) {
            return &columns[i];
        }
    }
    return NULL;
}

/* Whether the text names a column of the queue. */
static bool mentions(const struct mq_adopt *self, struct mq_str text)
{
    struct mq_reader outer = mq_reader_of(text);
    for (struct mq_token t = mq_token_next(&outer); t.kind != MQ_TOKEN_END;
         t = mq_token_next(&outer)) {
        if (t.kind == MQ_TOKEN_GROUP ? mentions(self, mq_token_inside(t.text))
                                     : t.kind != MQ_TOKEN_LITERAL && own(self, t) != NULL) {
            return true;
        }
    }
    return false;
}

static bool is_key(const struct mq_column *column)
{
    return column && (column->kind == MQ_COLUMN_ID || column->kind == MQ_COLUMN_REFERENCE ||
                      strcmp(column->name, "mail_type") == 0);
}

/* ---- clauses ---- */

static void skip_conflict(struct mq_reader *r)
{
    struct mq_reader ahead = *r;
    if (mq_token_skip(&ahead, "ON") && mq_token_skip(&ahead, "CONFLICT")) {
        mq_token_next(&ahead);
        *r = ahead;
    }
}

/* Behind REFERENCES: the table, its columns, actions, MATCH, DEFERRABLE. */
static void skip_references(struct mq_reader *r)
{
    static const char *const words[] = {
        "ON", "DELETE", "UPDATE",    "SET",      "NULL",      "CASCADE",    "RESTRICT",
        "NO", "ACTION", "INITIALLY", "DEFERRED", "IMMEDIATE", "DEFERRABLE", "DEFAULT"};
    mq_token_next(r);
    if (mq_token_peek(*r).kind == MQ_TOKEN_GROUP) {
        mq_token_next(r);
    }
    for (bool more = true; more;) {
        struct mq_reader ahead = *r;
        more = false;
        if (mq_token_skip(&ahead, "MATCH")) {
            mq_token_next(&ahead);
            *r = ahead;
            more = true;
        } else if (mq_token_skip(&ahead, "NOT") && mq_token_skip(&ahead, "DEFERRABLE")) {
            *r = ahead;
            more = true;
        }
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && !more; i++) {
            more = mq_token_skip(r, words[i]);
        }
    }
}

/* What of an old column of the queue's own is kept: foreign keys, how words compare, and that it is
 * unique where others refer to it. */
static void write_kept(const struct mq_adopt *self, const struct mq_column *column,
                       struct mq_reader r, struct mq_buffer *out)
{
    for (struct mq_token t = mq_token_next(&r); t.kind != MQ_TOKEN_END; t = mq_token_next(&r)) {
        if (mq_token_is(t, "REFERENCES")) {
            skip_references(&r);
        } else if (mq_token_is(t, "COLLATE")) {
            mq_token_next(&r);
        } else if (self->referred && column->kind != MQ_COLUMN_ID &&
                   (mq_token_is(t, "PRIMARY") || mq_token_is(t, "UNIQUE"))) {
            mq_buffer_cstr(out, " UNIQUE");
            continue;
        } else {
            continue;
        }
        if (mq_token_is(t, "REFERENCES") || (is_key(column) && column->kind != MQ_COLUMN_ID)) {
            mq_buffer_char(out, ' ');
            mq_buffer_append(out, t.text.data, (size_t)(r.at - t.text.data));
        }
    }
}

/* Reads over a clause that the new table's column does not have; `instead` is what comes in its
 * place. */
static bool skip_unfit(const struct mq_adopt *self, const struct mq_adopt_column *column,
                       struct mq_reader *r, const char **instead)
{
    struct mq_reader ahead = *r;
    *instead = "";
    if (mq_token_skip(&ahead, "CONSTRAINT")) {
        mq_token_next(&ahead);
    }
    if (mq_token_skip(&ahead, "PRIMARY")) {
        mq_token_skip(&ahead, "KEY");
        if (!mq_token_skip(&ahead, "ASC")) {
            mq_token_skip(&ahead, "DESC");
        }
        skip_conflict(&ahead);
        mq_token_skip(&ahead, "AUTOINCREMENT");
        *instead = " UNIQUE";
    } else if (column->must && mq_token_skip(&ahead, "NOT") && mq_token_skip(&ahead, "NULL")) {
        skip_conflict(&ahead);
    } else if (mq_token_skip(&ahead, "CHECK") && mq_token_peek(ahead).kind == MQ_TOKEN_GROUP &&
               mentions(self, mq_token_inside(mq_token_peek(ahead).text))) {
        mq_token_next(&ahead);
        skip_conflict(&ahead);
    } else {
        return false;
    }
    *r = ahead;
    return true;
}

/* A column of the application's, with its comments. */
static void write_column(const struct mq_adopt *self, const struct mq_adopt_column *column,
                         struct mq_str text, struct mq_buffer *out)
{
    struct mq_reader r = mq_reader_of(text);
    const char *instead;
    mq_token_next(&r); /* the name, which may be a keyword */
    mq_buffer_append(out, text.data, (size_t)(r.at - text.data));
    while (mq_token_peek(r).kind != MQ_TOKEN_END) {
        const char *from = r.at;
        if (skip_unfit(self, column, &r, &instead)) {
            mq_buffer_cstr(out, instead);
            continue;
        }
        mq_token_next(&r);
        mq_buffer_append(out, from, (size_t)(r.at - from));
    }
}

/* ---- the table's own constraints ---- */

/* Whether the list (a, b COLLATE x, …) has no other column than id, reference and type. */
static bool only_own_keys(const struct mq_adopt *self, struct mq_str list)
{
    struct mq_reader r = mq_reader_of(list);
    bool first = true;
    for (struct mq_token t = mq_token_next(&r); t.kind != MQ_TOKEN_END; t = mq_token_next(&r)) {
        if (first && !is_key(own(self, t))) {
            return false;
        }
        first = t.kind == MQ_TOKEN_COMMA;
    }
    return true;
}

/* Keys of reference and type alone make way for the queue's, other primary keys become unique. */
static void write_key(const struct mq_adopt *self, struct mq_reader r, struct mq_buffer *out)
{
    struct mq_token list = mq_token_peek(r);
    struct mq_str rest = {r.at, (size_t)(r.end - r.at)};
    if (list.kind == MQ_TOKEN_GROUP &&
        (self->referred || !only_own_keys(self, mq_token_inside(list.text)))) {
        mq_buffer_cstr(out, ",\n UNIQUE");
        mq_buffer_str(out, rest);
    }
}

static void write_constraint(const struct mq_adopt *self, struct mq_str text, struct mq_buffer *out)
{
    struct mq_reader r = mq_reader_of(text);
    if (mq_token_skip(&r, "CONSTRAINT")) {
        mq_token_next(&r);
    }
    if (mq_token_skip(&r, "PRIMARY")) {
        mq_token_skip(&r, "KEY");
        write_key(self, r, out);
    } else if (mq_token_skip(&r, "UNIQUE")) {
        write_key(self, r, out);
    } else if (!mq_token_skip(&r, "CHECK") ||
               !mentions(self, (struct mq_str){r.at, (size_t)(r.end - r.at)})) {
        mq_buffer_cstr(out, ",\n");
        mq_buffer_str(out, text);
    }
}

/* ---- the whole ---- */

/* Calls for each definition between the commas; false when there is no list of them. */
struct definitions {
    struct mq_reader list;
    struct mq_str options; /* what follows the list */
};

static bool open_definitions(const struct mq_adopt *self, struct definitions *out)
{
    struct mq_reader r = mq_reader_of(mq_str_of(self->sql));
    if (!mq_token_skip(&r, "CREATE") || !mq_token_skip(&r, "TABLE")) {
        return false;
    }
    struct mq_token t = mq_token_next(&r);
    while (t.kind != MQ_TOKEN_GROUP && t.kind != MQ_TOKEN_END) {
        t = mq_token_next(&r);
    }
    out->list = mq_reader_of(mq_token_inside(t.text));
    out->options = (struct mq_str){r.at, (size_t)(r.end - r.at)};
    return t.kind == MQ_TOKEN_GROUP;
}

static bool next_definition(struct definitions *all, struct mq_str *out)
{
    const char *from = all->list.at;
    const char *end = from;
    struct mq_token t = mq_token_next(&all->list);
    if (t.kind == MQ_TOKEN_END) {
        return false;
    }
    while (t.kind != MQ_TOKEN_COMMA && t.kind != MQ_TOKEN_END) {
        end = all->list.at;
        t = mq_token_next(&all->list);
    }
    *out = (struct mq_str){from, (size_t)(end - from)};
    return true;
}

static bool is_constraint(struct mq_str definition)
{
    static const char *const words[] = {"CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"};
    struct mq_token first = mq_token_peek(mq_reader_of(definition));
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (mq_token_is(first, words[i])) {
            return true;
        }
    }
    return false;
}

/* The CHECK of a definition that names a column of the queue, as one of its own column does. */
static bool checks_own(const struct mq_adopt *self, struct mq_str definition)
{
    struct mq_reader r = mq_reader_of(definition);
    for (struct mq_token t = mq_token_next(&r); t.kind != MQ_TOKEN_END; t = mq_token_next(&r)) {
        if (mq_token_is(t, "CHECK") && mentions(self, mq_token_peek(r).text)) {
            return true;
        }
    }
    return false;
}

/* A column of that name hides the rowid. */
static void name_rowid(struct mq_adopt *self, bool without)
{
    static const char *const names[] = {"rowid", "_rowid_", "oid"};
    for (size_t i = 0; i < 3 && !without && !self->rowid; i++) {
        self->rowid = mq_adopt_find(self, names[i]) ? NULL : names[i];
    }
}

bool mq_adopt_text_unfit(struct mq_adopt *self)
{
    struct definitions all;
    struct mq_str definition;
    bool increments = false;
    bool unfit = false;
    if (!open_definitions(self, &all)) {
        return false;
    }
    name_rowid(self, mq_token_has(all.options, "ROWID"));
    while (next_definition(&all, &definition)) {
        const struct mq_column *column = own(self, mq_token_peek(mq_reader_of(definition)));
        increments = increments || (column && column->kind == MQ_COLUMN_ID &&
                                    mq_token_has(definition, "AUTOINCREMENT"));
        unfit = unfit || checks_own(self, definition);
    }
    return unfit || !increments;
}

static const struct mq_adopt_column *column_of(const struct mq_adopt *self, struct mq_str text)
{
    struct mq_token first = mq_token_peek(mq_reader_of(text));
    for (size_t i = 0; i < self->count; i++) {
        if (mq_token_names(first, self->columns[i].name)) {
            return &self->columns[i];
        }
    }
    return NULL;
}

static void write_own(const struct mq_adopt *self, const struct mq_column *column,
                      struct mq_buffer *out)
{
    mq_adopt_quote(out, mq_adopt_name(self, column));
    mq_buffer_char(out, ' ');
    char *declaration =
        mq_sql_expand(self->queue->spelling, &self->queue->names, column->declaration);
    if (declaration) {
        mq_buffer_cstr(out, declaration);
    } else {
        out->failed = true;
    }
    free(declaration);
}

static bool write_columns(const struct mq_adopt *self, struct mq_buffer *out)
{
    struct definitions all;
    struct mq_str definition;
    const char *comma = "";
    if (!open_definitions(self, &all)) {
        return false;
    }
    while (next_definition(&all, &definition) && !is_constraint(definition)) {
        const struct mq_adopt_column *column = column_of(self, definition);
        if (!column) {
            return false;
        }
        mq_buffer_cstr(out, comma);
        comma = ",\n ";
        if (column->own) {
            struct mq_reader r = mq_reader_of(definition);
            mq_token_next(&r);
            write_own(self, column->own, out);
            write_kept(self, column->own, r, out);
        } else {
            write_column(self, column, definition, out);
        }
    }
    return true;
}

bool mq_adopt_create(struct mq_adopt *self, struct mq_buffer *out)
{
    struct definitions all;
    struct mq_str definition;
    size_t count;
    const struct mq_column *columns = mq_schema_columns(&count);
    mq_buffer_cstr(out, "CREATE TABLE " MQ_ADOPT_NEW " (\n ");
    if (!write_columns(self, out) || !open_definitions(self, &all)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!mq_adopt_find(self, mq_adopt_name(self, &columns[i]))) {
            mq_buffer_cstr(out, ",\n ");
            write_own(self, &columns[i], out);
        }
    }
    while (next_definition(&all, &definition)) {
        if (is_constraint(definition)) {
            write_constraint(self, definition, out);
        }
    }
    mq_buffer_cstr(out, mq_token_has(all.options, "STRICT") ? "\n) STRICT" : "\n)");
    return true;
}

void mq_adopt_index_renamed(struct mq_buffer *out, struct mq_str sql, const char *name)
{
    struct mq_reader r = mq_reader_of(sql);
    while (!mq_token_is(mq_token_peek(r), "INDEX") && mq_token_peek(r).kind != MQ_TOKEN_END) {
        mq_token_next(&r);
    }
    mq_token_next(&r);
    mq_buffer_append(out, sql.data, (size_t)(r.at - sql.data));
    mq_buffer_char(out, ' ');
    mq_adopt_quote(out, name);
    mq_token_next(&r); /* the old one */
    mq_buffer_append(out, r.at, (size_t)(r.end - r.at));
}
