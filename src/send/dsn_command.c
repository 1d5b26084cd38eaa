/* For users of php.ini's sendmail_path, or of ?command=, which are written for a shell: splits the
 * command into words as a shell does, as far as that needs no shell. */
#include <string.h>

#include "core/ascii.h"
#include "send/dsn_text.h"

struct reader {
    struct mq_buffer word;
    bool in_word; /* a word has begun, perhaps an empty one ('') */
    char quote;   /* the open quote; NUL: none */
};

static enum mq_status end_word(struct reader *reader, struct mq_strings *words,
                               struct mq_error *err)
{
    bool kept = !reader->word.failed &&
                (!reader->in_word || mq_strings_add(words, mq_buffer_view(&reader->word)));
    mq_buffer_reset(&reader->word);
    reader->in_word = false;
    return kept ? MQ_OK : mq_error_nomem(err);
}

/* Also true for NUL outside single quotes, because strchr() finds it: no word can contain NUL. */
static bool needs_shell(const struct reader *reader, char c)
{
    if (reader->quote != '\0') {
        return reader->quote == '"' && strchr("$`", c) != NULL;
    }
    return strchr("|&;<>()$`", c) != NULL || (c == '~' && !reader->in_word);
}

static enum mq_status read_char(struct reader *reader, char c, struct mq_strings *words,
                                struct mq_error *err)
{
    if (needs_shell(reader, c)) {
        return mq_dsn_bad(err, "the command has one of | & ; < > ( ) $ ` ~ outside single quotes, "
                               "and no shell reads it; put it in single quotes, or the command in "
                               "a script");
    }
    if (reader->quote == '\0' && mq_is_space(c)) {
        return end_word(reader, words, err);
    }
    reader->in_word = true;
    if (reader->quote == '\0' && (c == '\'' || c == '"')) {
        reader->quote = c;
    } else if (c == reader->quote) {
        reader->quote = '\0';
    } else {
        mq_buffer_char(&reader->word, c);
    }
    return MQ_OK;
}

static bool escapes(const struct reader *reader, struct mq_str rest)
{
    return rest.data[0] == '\\' && rest.len > 1 && reader->quote != '\'' &&
           (reader->quote == '\0' || strchr("\"\\$`", rest.data[1]) != NULL);
}

enum mq_status mq_dsn_split_command(struct mq_str command, struct mq_strings *words,
                                    struct mq_error *err)
{
    struct reader reader = {.quote = '\0'};
    enum mq_status status = MQ_OK;
    mq_strings_clear(words);
    for (size_t i = 0; i < command.len && status == MQ_OK; i++) {
        if (escapes(&reader, (struct mq_str){command.data + i, command.len - i})) {
            mq_buffer_char(&reader.word, command.data[++i]);
            reader.in_word = true;
        } else {
            status = read_char(&reader, command.data[i], words, err);
        }
    }
    if (status == MQ_OK && reader.quote != '\0') {
        status = mq_dsn_bad(err, "a quote in the command is not closed; close it, or write it as "
                                 "\\\" or \\'");
    }
    if (status == MQ_OK) {
        status = end_word(&reader, words, err);
    }
    if (status == MQ_OK && (words->count == 0 || words->items[0][0] == '\0')) {
        status =
            mq_dsn_bad(err, "the command is empty; write one such as /usr/sbin/sendmail -t -i");
    }
    if (status != MQ_OK) {
        mq_strings_clear(words);
    }
    mq_buffer_clear(&reader.word);
    return status;
}
