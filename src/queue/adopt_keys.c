/* Foreign keys to and from the old table. */
#include "queue/adopt.h"

#include <stdlib.h>
#include <string.h>

#define REFERRING                                                             \
    "FROM main.sqlite_master AS m JOIN pragma_foreign_key_list(m.name) AS f " \
    "WHERE m.type = 'table' AND f.`table` = ?1 COLLATE NOCASE "

/* REFERENCES without a column means the primary key, which will be another one. */
enum mq_status mq_adopt_check_referring(struct mq_adopt *self, struct mq_error *err)
{
    int64_t found = 0;
    const struct mq_adopt_column *id = mq_adopt_find(self, "id");
    enum mq_status status = mq_adopt_int(
        self, "SELECT count(*) " REFERRING "AND f.`to` <> 'id' COLLATE NOCASE", &found, err);
    self->referred = found > 0;
    if (status == MQ_OK && !(id && id->key == 1)) {
        status = mq_adopt_int(self, "SELECT count(*) " REFERRING "AND f.`to` IS NULL", &found, err);
        if (status == MQ_OK && found > 0) {
            status = mq_error_set(err, MQ_SCHEMA, self->queue->names.table,
                                  "table %s cannot become the queue's: a foreign key refers to its "
                                  "primary key without naming the column, and that will be id. "
                                  "Name the column in REFERENCES",
                                  self->table);
        }
    }
    return status;
}

/* Rows that foreign keys to and from the table complain of; -1 where a key is broken as such (its
 * parent has no unique one), which cannot be asked. */
static enum mq_status violations(struct mq_adopt *self, int64_t *count, struct mq_error *err)
{
    enum mq_status status =
        mq_adopt_int(self,
                     "SELECT count(*) FROM (SELECT ?1 AS child UNION SELECT m.name " REFERRING
                     ") AS c JOIN pragma_foreign_key_check(c.child)",
                     count, err);
    if (status == MQ_DATABASE) {
        *count = -1;
        return MQ_OK;
    }
    return status;
}

static enum mq_status foreign_keys(struct mq_adopt *self, int64_t *count, struct mq_error *err)
{
    return mq_adopt_int(self, "SELECT count(*) FROM pragma_foreign_key_list(?1)", count, err);
}

enum mq_status mq_adopt_census(struct mq_adopt *self, struct mq_adopt_census *out,
                               struct mq_error *err)
{
    char *sql =
        mq_sql_expand(self->queue->spelling, &self->queue->names, "SELECT count(*) FROM {t}");
    if (!sql) {
        return mq_error_nomem(err);
    }
    enum mq_status status = mq_adopt_int(self, sql, &out->rows, err);
    free(sql);
    if (status == MQ_OK) {
        status = foreign_keys(self, &out->foreign_keys, err);
    }
    return status == MQ_OK ? violations(self, &out->violations, err) : status;
}

bool mq_adopt_census_same(const struct mq_adopt_census *a, const struct mq_adopt_census *b)
{
    return a->rows == b->rows && a->foreign_keys == b->foreign_keys &&
           a->violations == b->violations;
}
