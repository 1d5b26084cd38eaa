/* A value of SQL: a bound parameter or a column of a row. */
#ifndef MQ_DB_VALUE_H
#define MQ_DB_VALUE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/buffer.h"

enum mq_value_type { MQ_NULL, MQ_INT, MQ_TEXT, MQ_BLOB };

/* The bytes are borrowed. Those of a parameter must stay valid until the result is read to its end
 * or finished. Those of a column are valid until next() or finish(); its text ends with a NUL. */
struct mq_value {
    enum mq_value_type type;
    bool for_people; /* text; '?' may replace letters that the database cannot store */
    int64_t i;
    struct mq_str s;
};

static inline struct mq_value mq_null(void)
{
    return (struct mq_value){.type = MQ_NULL};
}
static inline struct mq_value mq_int(int64_t i)
{
    return (struct mq_value){.type = MQ_INT, .i = i};
}
static inline struct mq_value mq_text(struct mq_str s)
{
    return (struct mq_value){.type = s.data ? MQ_TEXT : MQ_NULL, .s = s};
}
static inline struct mq_value mq_blob(struct mq_str s)
{
    return (struct mq_value){.type = MQ_BLOB, .s = s};
}

static inline struct mq_value mq_int_or_null(int64_t i)
{
    return i ? mq_int(i) : mq_null();
}
static inline struct mq_value mq_cstr(const char *s) /* NULL gives an SQL NULL */
{
    return mq_text(mq_str_of(s));
}
/* A text that only people read. */
static inline struct mq_value mq_note(struct mq_str s)
{
    return (struct mq_value){.type = s.data ? MQ_TEXT : MQ_NULL, .for_people = true, .s = s};
}

/* Sets *number if the value is a number, also as text: connections can be set to return texts. */
static inline void mq_value_int(struct mq_value value, int64_t *number)
{
    if (value.type == MQ_INT) {
        *number = value.i;
    } else if (value.type == MQ_TEXT) {
        char *end;
        int64_t told = strtoll(value.s.data, &end, 10);
        *number = value.s.len > 0 && end == value.s.data + value.s.len ? told : *number;
    }
}

#endif
