#include "queue/token.h"

#include <string.h>

struct mq_reader mq_reader_of(struct mq_str s)
{
    return (struct mq_reader){s.data, s.data + s.len};
}

static void skip_blank(struct mq_reader *r)
{
    for (;;) {
        size_t left = (size_t)(r->end - r->at);
        const char *stop = NULL;
        if (left > 0 && strchr(" \t\r\n\f", *r->at)) {
            stop = r->at + 1;
        } else if (left > 1 && memcmp(r->at, "--", 2) == 0) {
            stop = memchr(r->at, '\n', left);
            stop = stop ? stop : r->end;
        } else if (left > 1 && memcmp(r->at, "/*", 2) == 0) {
            stop = memmem(r->at + 2, left - 2, "*/", 2);
            stop = stop ? stop + 2 : r->end;
        } else {
            return;
        }
        r->at = stop;
    }
}

static bool in_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || (unsigned char)c >= 0x80;
}

/* Behind the quoted name or string that begins here; a doubled quote is one within. */
static const char *quoted_end(struct mq_reader r)
{
    char close = *r.at == '[' ? ']' : *r.at;
    const char *at = r.at + 1;
    while (at < r.end) {
        if (*at++ == close) {
            if (close == ']' || at == r.end || *at != close) {
                return at;
            }
            at++;
        }
    }
    return r.end;
}

/* Behind the parenthesis that closes the one that begins here. */
static const char *group_end(struct mq_reader r)
{
    int depth = 0;
    while (r.at < r.end) {
        skip_blank(&r);
        if (r.at == r.end) {
            break;
        }
        char c = *r.at;
        if (strchr("'\"`[", c)) {
            r.at = quoted_end(r);
            continue;
        }
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        r.at++;
        if (depth == 0) {
            break;
        }
    }
    return r.at;
}

struct mq_token mq_token_next(struct mq_reader *r)
{
    skip_blank(r);
    struct mq_token token = {MQ_TOKEN_END, {r->at, 0}};
    const char *stop = r->at;
    if (r->at == r->end) {
        return token;
    }
    if (in_word(*r->at)) {
        token.kind = MQ_TOKEN_WORD;
        while (stop < r->end && in_word(*stop)) {
            stop++;
        }
    } else if (strchr("'\"`[", *r->at)) {
        token.kind = *r->at == '\'' ? MQ_TOKEN_LITERAL : MQ_TOKEN_QUOTED;
        stop = quoted_end(*r);
    } else if (*r->at == '(') {
        token.kind = MQ_TOKEN_GROUP;
        stop = group_end(*r);
    } else {
        token.kind = *r->at == ',' ? MQ_TOKEN_COMMA : MQ_TOKEN_OTHER;
        stop++;
    }
    token.text.len = (size_t)(stop - r->at);
    r->at = stop;
    return token;
}

struct mq_token mq_token_peek(struct mq_reader r)
{
    return mq_token_next(&r);
}

bool mq_token_is(struct mq_token token, const char *word)
{
    return token.kind == MQ_TOKEN_WORD && mq_str_equal_nocase(token.text, mq_str_of(word));
}

struct mq_str mq_token_inside(struct mq_str quoted)
{
    bool closed = quoted.len >= 2;
    return (struct mq_str){quoted.data + 1, closed ? quoted.len - 2 : 0};
}

/* Without the quotes around it, and those within are doubled. */
static bool unquoted_equal(struct mq_str quoted, const char *name)
{
    struct mq_str text = mq_token_inside(quoted);
    char close = quoted.data[quoted.len - 1];
    size_t i = 0;
    for (; i < text.len && *name; i++, name++) {
        struct mq_str one = {text.data + i, 1};
        if (!mq_str_equal_nocase(one, (struct mq_str){name, 1})) {
            return false;
        }
        i += text.data[i] == close && close != ']';
    }
    return i == text.len && !*name;
}

bool mq_token_names(struct mq_token token, const char *name)
{
    if (token.kind == MQ_TOKEN_QUOTED || token.kind == MQ_TOKEN_LITERAL) {
        return unquoted_equal(token.text, name);
    }
    return token.kind == MQ_TOKEN_WORD && mq_token_is(token, name);
}

bool mq_token_skip(struct mq_reader *r, const char *word)
{
    if (!mq_token_is(mq_token_peek(*r), word)) {
        return false;
    }
    mq_token_next(r);
    return true;
}

bool mq_token_has(struct mq_str text, const char *word)
{
    struct mq_reader r = mq_reader_of(text);
    for (struct mq_token t = mq_token_next(&r); t.kind != MQ_TOKEN_END; t = mq_token_next(&r)) {
        if (mq_token_is(t, word)) {
            return true;
        }
    }
    return false;
}
