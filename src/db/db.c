/* Functions that use any driver. */
#include "db/db.h"

#include <stdlib.h>
#include <string.h>

enum mq_status mq_db_exec(struct mq_db *db, const struct mq_query *query, struct mq_error *err)
{
    enum mq_status status = db->driver->run(db, query, err);
    bool row = true;
    while (status == MQ_OK && row) {
        status = db->driver->next(db, &row, err);
    }
    db->driver->finish(db);
    return status;
}

enum mq_status mq_db_row(struct mq_db *db, const struct mq_query *query, struct mq_row *out,
                         struct mq_error *err)
{
    enum mq_status status = db->driver->run(db, query, err);
    bool row = false;
    if (status == MQ_OK) {
        status = db->driver->next(db, &row, err);
    }
    if (status != MQ_OK) {
        db->driver->finish(db);
        return status;
    }
    for (int i = 0; row && i < out->count; i++) {
        out->values[i] = db->driver->column(db, i);
    }
    out->found = row;
    return MQ_OK;
}

enum mq_status mq_db_script(struct mq_db *db, const char *sql, struct mq_error *err)
{
    enum mq_status status = MQ_OK;
    for (size_t len; status == MQ_OK && *sql; sql += len + (sql[len] == ';')) {
        len = strcspn(sql, ";");
        if (strspn(sql, " \t\r\n") < len) {
            char *text = mq_str_dup((struct mq_str){sql, len});

            if (!text) {
                return mq_error_nomem(err);
            }
            status = mq_db_exec(db, &(struct mq_query){.slot = -1, .sql = text}, err);
            free(text);
        }
    }
    return status;
}
