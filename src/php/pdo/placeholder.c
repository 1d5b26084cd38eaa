/* From the queue's numbered parameters to PDO's placeholders, which have no numbers: ?2 in a text
 * may come first, or twice. */
#include "php/pdo/statement.h"

#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"

/* Makes room for as many placeholders as the text can have. */
static bool make_order(struct mq_pdo_statement *statement, const char *sql)
{
    size_t marks = 0;
    for (const char *at = strchr(sql, '?'); at; at = strchr(at + 1, '?')) {
        marks++;
    }
    unsigned short *order = realloc(statement->order, (marks + 1) * sizeof(*order));
    statement->order = order ? order : statement->order;
    statement->placeholders = 0;
    return order != NULL;
}

/* A mark without a number is within a string. */
char *mq_pdo_number_placeholders(const char *sql, struct mq_pdo_statement *statement)
{
    char *text = make_order(statement, sql) ? malloc(strlen(sql) + 1) : NULL;
    char *out = text;
    while (text && *sql) {
        *out++ = *sql++;
        if (sql[-1] == '?' && mq_is_digit(*sql)) {
            char *end;
            long n = strtol(sql, &end, 10);
            statement->order[statement->placeholders++] = (unsigned short)(n - 1);
            sql = end;
        }
    }
    if (text) {
        *out = '\0';
    }
    return text;
}
