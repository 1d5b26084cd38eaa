/* Tokens of SQL: words, quoted names, and a pair of parentheses with all in it as one. */
#ifndef MQ_QUEUE_TOKEN_H
#define MQ_QUEUE_TOKEN_H

#include <stdbool.h>

#include "core/buffer.h"

enum mq_token_kind {
    MQ_TOKEN_END,
    MQ_TOKEN_WORD,
    MQ_TOKEN_QUOTED, /* "a", `a`, [a] */
    MQ_TOKEN_LITERAL,
    MQ_TOKEN_GROUP,
    MQ_TOKEN_COMMA,
    MQ_TOKEN_OTHER
};

struct mq_token {
    enum mq_token_kind kind;
    struct mq_str text; /* with its quotes or parentheses */
};

/* What is read, and where. */
struct mq_reader {
    const char *at;
    const char *end;
};

struct mq_reader mq_reader_of(struct mq_str s);
struct mq_token mq_token_next(struct mq_reader *r); /* over blanks and comments */
struct mq_token mq_token_peek(struct mq_reader r);
bool mq_token_skip(struct mq_reader *r, const char *word); /* whether that one was next */
bool mq_token_is(struct mq_token token, const char *word); /* unquoted, in whatever case */
bool mq_token_names(struct mq_token token, const char *name);
struct mq_str mq_token_inside(struct mq_str quoted);
/* Whether the word is in the text, outside of parentheses. */
bool mq_token_has(struct mq_str text, const char *word);

#endif
