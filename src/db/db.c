/* What every driver gets for free. */
#include "db/db.h"

#include <stdlib.h>
#include <string.h>

enum mq_status mq_db_exec(struct mq_db *db, const struct mq_query *query, struct mq_error *err)
{
    enum mq_status status = db->driver->run(db, query, err);
    bool row = true;

    while (status == MQ_OK && row)
        status = db->driver->next(db, &row, err);
    db->driver->finish(db);
    return status;
}

enum mq_status mq_db_row(struct mq_db *db, const struct mq_query *query, struct mq_row *out,
                         struct mq_error *err)
{
    enum mq_status status = db->driver->run(db, query, err);
    bool row = false;

    if (status == MQ_OK)
        status = db->driver->next(db, &row, err);
    if (status != MQ_OK) {
        db->driver->finish(db);
        return status;
    }
    for (int i = 0; row && i < out->count; i++)
        out->values[i] = db->driver->column(db, i);
    out->found = row;
    return MQ_OK;
}

/* What follows a quoted string or a comment that begins at s, or s when none does. */
static const char *skip_quoted(const char *s)
{
    const char *end;

    if (s[0] == '\'' || s[0] == '"' || s[0] == '`') {
        /* A doubled quote ends one string and begins the next, which splits nothing. */
        end = strchr(s + 1, s[0]);
        return end ? end + 1 : s + strlen(s);
    }
    if (s[0] == '-' && s[1] == '-') {
        end = strchr(s, '\n');
        return end ? end + 1 : s + strlen(s);
    }
    if (s[0] == '/' && s[1] == '*') {
        end = strstr(s + 2, "*/");
        return end ? end + 2 : s + strlen(s);
    }
    return s;
}

/* End of the statement that begins at s: its ';' or the end of the text. */
static const char *statement_end(const char *s, bool *blank)
{
    *blank = true;
    while (*s && *s != ';') {
        const char *after = skip_quoted(s);

        if (after == s) {
            if (!strchr(" \t\r\n", *s))
                *blank = false;
            s++;
        } else {
            if (*s != '-' && *s != '/')
                *blank = false;
            s = after;
        }
    }
    return s;
}

enum mq_status mq_db_script(struct mq_db *db, const char *sql, struct mq_error *err)
{
    enum mq_status status = MQ_OK;

    while (status == MQ_OK && *sql) {
        bool blank;
        const char *end = statement_end(sql, &blank);

        if (!blank) {
            char *text = mq_str_dup((struct mq_str){sql, (size_t)(end - sql)});

            if (!text)
                return mq_error_nomem(err);
            status = mq_db_exec(db, &(struct mq_query){.slot = -1, .sql = text}, err);
            free(text);
        }
        sql = *end ? end + 1 : end;
    }
    return status;
}
