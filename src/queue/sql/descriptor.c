/* The table of the job table's columns, and what statements are made of by it. */
#include "queue/sql/descriptor.h"

#include <string.h>

#include "queue/job.h"

#define READ_NOT           MQ_READ_NOT, 0
#define READ_INT(member)   MQ_READ_INT, offsetof(struct mq_job, member)
#define READ_INT64(member) MQ_READ_INT64, offsetof(struct mq_job, member)
#define READ_TEXT(member)  MQ_READ_TEXT, offsetof(struct mq_job, member)

#define ROW(symbol, name, type, read, sql, value) {name, type, read, sql},
const struct mq_column mq_columns[MQ_COL_COUNT] = {MQ_COLUMNS(ROW)};

void mq_columns_write(struct mq_buffer *out, bool types, bool fresh)
{
    const char *comma = "";
    for (size_t i = 0; i < MQ_COL_COUNT; i++) {
        if (fresh && !mq_columns[i].sql) {
            continue;
        }
        mq_buffer_cstr(out, comma);
        mq_buffer_cstr(out, mq_columns[i].name);
        if (types) {
            mq_buffer_char(out, ' ');
            mq_buffer_cstr(out, mq_columns[i].type);
        }
        comma = ", ";
    }
}

int mq_columns_write_values(struct mq_buffer *out, int first)
{
    char before = '(';
    for (size_t i = 0; i < MQ_COL_COUNT; i++) {
        const char *sql = mq_columns[i].sql;
        if (!sql) {
            continue;
        }
        const char *mark = strchr(sql, '?');
        mq_buffer_char(out, before);
        mq_buffer_append(out, sql, mark ? (size_t)(mark - sql) : strlen(sql));
        if (mark) {
            mq_buffer_printf(out, "?%d%s", first++, mark + 1);
        }
        before = ',';
    }
    mq_buffer_char(out, ')');
    return first;
}
