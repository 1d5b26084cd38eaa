/* The words of a command line, read as a shell reads them as far as one is not needed. */
#include <string.h>

#include "send/dsn_text.h"

struct reader {
    struct mq_str rest;
    struct mq_buffer word;
    bool in_word; /* also of an empty one: '' */
};

static char take(struct reader *reader)
{
    char c = *reader->rest.data;
    reader->rest.data++;
    reader->rest.len--;
    return c;
}

/* The rest of a quoted piece. */
static enum mq_status read_quoted(struct reader *reader, char quote, struct mq_error *err)
{
    while (reader->rest.len > 0) {
        char c = take(reader);
        if (c == quote) {
            return MQ_OK;
        }
        if (quote == '"' && (c == '$' || c == '`')) {
            return mq_dsn_bad(err,
                              "the command has a \"$\" or \"`\" in double quotes, and no shell "
                              "reads it; put it in single quotes, or the command in a script");
        }
        bool escapes = quote == '"' && c == '\\' && reader->rest.len > 0 &&
                       strchr("\"\\$`", *reader->rest.data) != NULL;
        mq_buffer_char(&reader->word, escapes ? take(reader) : c);
    }
    return mq_dsn_bad(err, "a quote in the command is not closed; close it, or write it as \\\" or "
                           "\\'");
}

static enum mq_status read_char(struct reader *reader, struct mq_error *err)
{
    char c = take(reader);
    if (c == '\'' || c == '"') {
        reader->in_word = true;
        return read_quoted(reader, c, err);
    }
    if (strchr("|&;<>()$`", c) != NULL || (c == '~' && !reader->in_word)) {
        return mq_dsn_bad(err, "the command has one of | & ; < > ( ) $ ` ~ outside quotes, and no "
                               "shell reads it; put it in single quotes, or the command in a "
                               "script");
    }
    if (c == '\\' && reader->rest.len == 0) {
        return mq_dsn_bad(err, "the command ends with a backslash; remove it");
    }
    reader->in_word = true;
    mq_buffer_char(&reader->word, c == '\\' ? take(reader) : c);
    return MQ_OK;
}

static enum mq_status end_word(struct reader *reader, struct mq_strings *words,
                               struct mq_error *err)
{
    bool kept = !reader->word.failed;
    if (kept && reader->in_word) {
        kept = mq_strings_add(words, mq_buffer_view(&reader->word));
    }
    mq_buffer_reset(&reader->word);
    reader->in_word = false;
    return kept ? MQ_OK : mq_error_nomem(err);
}

enum mq_status mq_dsn_split_command(struct mq_str command, struct mq_strings *words,
                                    struct mq_error *err)
{
    struct reader reader = {.rest = command};
    struct mq_strings found;
    enum mq_status status = MQ_OK;
    mq_strings_init(&found);
    mq_buffer_init(&reader.word);
    while (status == MQ_OK && reader.rest.len > 0) {
        if (strchr(" \t\r\n", *reader.rest.data) != NULL && *reader.rest.data != '\0') {
            take(&reader);
            status = end_word(&reader, &found, err);
        } else if (*reader.rest.data == '\0') {
            status = mq_dsn_bad(err, "there is a control character in the command; remove it");
        } else {
            status = read_char(&reader, err);
        }
    }
    if (status == MQ_OK) {
        status = end_word(&reader, &found, err);
    }
    if (status == MQ_OK && (found.count == 0 || found.items[0][0] == '\0')) {
        status =
            mq_dsn_bad(err, "the command is empty; write one such as /usr/sbin/sendmail -t -i");
    }
    if (status == MQ_OK) {
        struct mq_strings old = *words;
        *words = found;
        found = old;
    }
    mq_strings_clear(&found);
    mq_buffer_clear(&reader.word);
    return status;
}
