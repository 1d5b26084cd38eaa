/* Makes another program's job table the queue's (SQLite only). */
#ifndef MQ_QUEUE_ADOPT_H
#define MQ_QUEUE_ADOPT_H

#include "queue/internal.h"

/* Rebuilds the job table where it has at least reference, mail_type and status, but lacks columns
 * or has what the queue cannot work with: no AUTOINCREMENT id, a NOT NULL reference, a CHECK on
 * columns of the queue, times that are no integers. Within the migration's transaction, foreign
 * keys being off (below). Rows, ids, other columns, foreign keys, indexes and triggers are kept.
 * Any other table, and none, is left as it is. MQ_SCHEMA names the rows or the column that stand
 * in the way, and the cure. */
enum mq_status mq_adopt(struct mq_queue *queue, struct mq_error *err);

/* Foreign keys are switched off around the transaction, for DROP TABLE would delete what refers to
 * the rows, and within one they cannot be. *enforced: they were on, and leaving switches them on
 * again. Within a transaction of the application's both do nothing. */
enum mq_status mq_adopt_enter(struct mq_queue *queue, bool *enforced, struct mq_error *err);
void mq_adopt_leave(struct mq_queue *queue, bool enforced);

/* ---- what the adopt_*.c share ---- */

#define MQ_ADOPT_NEW "mail_queue_adopted" /* what the new table is called until the old is gone */

/* A column of the old table. */
struct mq_adopt_column {
    char *name;
    const struct mq_column *own; /* NULL: the application's */
    bool generated;
    bool text; /* is not declared INTEGER */
    bool not_null;
    bool must; /* NOT NULL without a default */
    int key;   /* place in the primary key from 1; 0: not in it */
};

struct mq_adopt {
    struct mq_queue *queue;
    int64_t now_s;
    char *table; /* in the application's own case */
    char *sql;   /* its CREATE TABLE */
    struct mq_adopt_column *columns;
    size_t count;
    const char *rowid;       /* its name; NULL: there is none, or columns have all of its names */
    bool referred;           /* another table's foreign key names a column other than id */
    struct mq_strings later; /* indexes and triggers, to be made again */
};

/* The old table's column of that name, or NULL. */
const struct mq_adopt_column *mq_adopt_find(const struct mq_adopt *self, const char *name);
/* What the column is called; the reference's is configured. */
const char *mq_adopt_name(const struct mq_adopt *self, const struct mq_column *column);
/* Appends the name in backticks, whatever is in it. */
void mq_adopt_quote(struct mq_buffer *out, const char *name);
/* Runs a statement that was written into `sql`, and empties it. */
enum mq_status mq_adopt_run(struct mq_adopt *self, struct mq_buffer *sql, struct mq_error *err);
/* The same for a query; rows are read by mq_sql_next(). */
enum mq_status mq_adopt_query(struct mq_adopt *self, struct mq_buffer *sql, struct mq_error *err);

/* The first column of the first row, 0 where there is none. ?1 is the table, ?2 the reference. */
enum mq_status mq_adopt_int(struct mq_adopt *self, const char *sql, int64_t *value,
                            struct mq_error *err);

/* adopt_keys.c: refuses, or notes in `referred`, what other tables' foreign keys need. */
enum mq_status mq_adopt_check_referring(struct mq_adopt *self, struct mq_error *err);
/* What must be as it was, whatever the text of the old table had in it. */
struct mq_adopt_census {
    int64_t rows;
    int64_t foreign_keys;
    int64_t violations;
};
enum mq_status mq_adopt_census(struct mq_adopt *self, struct mq_adopt_census *out,
                               struct mq_error *err);
bool mq_adopt_census_same(const struct mq_adopt_census *a, const struct mq_adopt_census *b);

/* adopt_text.c: whether the table's text has what calls for a rebuild. */
bool mq_adopt_text_unfit(struct mq_adopt *self);
/* Appends the new table's CREATE TABLE; false: the old one's text cannot be read. */
bool mq_adopt_create(struct mq_adopt *self, struct mq_buffer *out);
/* Appends a CREATE INDEX whose index has another name. */
void mq_adopt_index_renamed(struct mq_buffer *out, struct mq_str sql, const char *name);

/* adopt_rows.c: refuses rows whose values would be lost or misread. */
enum mq_status mq_adopt_check(struct mq_adopt *self, struct mq_error *err);
/* Copies all rows into the new table. */
enum mq_status mq_adopt_copy(struct mq_adopt *self, struct mq_error *err);

#endif
