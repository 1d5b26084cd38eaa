#include "send/sendmail_command.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/dsn.h"

#define OWN_NAME "mailqueue"

static enum mq_status bad(struct mq_error *err, const char *what)
{
    return mq_error_set(err, MQ_CONFIG, "transport", "transport: %s", what);
}

static bool is(const char *word, const char *other)
{
    return strcmp(word, other) == 0;
}

/* -t -i -v, also as one word. */
static bool is_flags(const char *word)
{
    return word[0] == '-' && word[1] != '\0' && strspn(word + 1, "tiv") == strlen(word + 1);
}

static bool is_address(const char *value)
{
    return is(value, "<>") || strchr(value, '@') != NULL;
}

/* A value of -f or -r, perhaps a user's name; not a script's path and not code, which interpreters
 * take there. */
static bool is_sender(const char *value)
{
    return is_address(value) || strcspn(value, " /()[]{};\"'\\") == strlen(value);
}

/* How many words from here name a sender. */
static size_t sender_words(char *const *words, size_t count)
{
    const char *word = words[0];
    if (strncmp(word, "--from=", 7) == 0) {
        return 1;
    }
    bool is_short = word[0] == '-' && (word[1] == 'f' || word[1] == 'r');
    if (is_short && word[2] != '\0') {
        return is_address(word + 2) ? 1 : 0;
    }
    if ((is_short || is(word, "--from")) && count > 1 && is_sender(words[1])) {
        return 2;
    }
    return 0;
}

/* Options that say "the recipients are in the message" or "the sender is". */
static bool is_from_message(const char *word)
{
    return is(word, "--read-recipients") || is(word, "--read-envelope-from");
}

/* One that stays; *dot_ends: no -i was among them so far. */
static bool add_option(struct mq_strings *out, const char *word, bool *dot_ends)
{
    char kept[8] = "-";
    if (!is_flags(word) || strlen(word) >= sizeof kept) {
        *dot_ends = *dot_ends && !is(word, "-oi");
        return mq_strings_add(out, mq_str_of(word));
    }
    size_t n = 1;
    for (const char *p = word + 1; *p != '\0'; p++) {
        if (*p != 't') {
            kept[n++] = *p;
        }
        *dot_ends = *dot_ends && *p != 'i';
    }
    kept[n] = '\0';
    return n == 1 || mq_strings_add(out, mq_str_of(kept));
}

static enum mq_status check_words(const struct mq_strings *words, struct mq_error *err)
{
    if (words->items[0][0] != '/') {
        return bad(err, "the command must begin with the program's whole path, such as "
                        "/usr/sbin/sendmail; no PATH is searched");
    }
    for (size_t i = 1; i < words->count; i++) {
        const char *word = words->items[i];
        if (is(word, "-bs")) {
            return bad(err, "the command has -bs, a program that speaks SMTP; write "
                            "smtp://localhost, or the command without -bs");
        }
        if (strncmp(word, "-b", 2) == 0 && strlen(word) == 3 && word[2] != 'm') {
            return bad(err, "the command has a mode (-b) that takes no mail; remove it");
        }
        if (is(word, "--") && i + 1 < words->count) {
            return bad(err, "the command has words behind \"--\", which would be recipients of "
                            "every mail; remove them");
        }
    }
    return MQ_OK;
}

static enum mq_status prepare(const struct mq_strings *words, struct mq_strings *out,
                              struct mq_error *err)
{
    bool dot_ends = true;
    bool kept = mq_strings_add(out, mq_str_of(words->items[0]));
    for (size_t i = 1; kept && i < words->count; i++) {
        size_t skipped = sender_words(words->items + i, words->count - i);
        if (skipped > 0) {
            i += skipped - 1;
        } else if (!is_from_message(words->items[i]) && !is(words->items[i], "--")) {
            kept = add_option(out, words->items[i], &dot_ends);
        }
    }
    if (kept && dot_ends) {
        kept = mq_strings_add(out, MQ_STR("-i"));
    }
    return kept ? MQ_OK : mq_error_nomem(err);
}

enum mq_status mq_sendmail_command_parse(const char *command, struct mq_strings *words,
                                         struct mq_error *err)
{
    struct mq_strings given, prepared;
    mq_strings_init(&given);
    mq_strings_init(&prepared);
    enum mq_status status = mq_dsn_split_command(mq_str_of(command), &given, err);
    if (status == MQ_OK) {
        status = check_words(&given, err);
    }
    if (status == MQ_OK) {
        status = prepare(&given, &prepared, err);
    }
    if (status == MQ_OK) {
        mq_strings_clear(words);
        *words = prepared;
    } else {
        mq_strings_clear(&prepared);
    }
    mq_strings_clear(&given);
    return status;
}

/* ---- the program ---- */

static bool is_named_so(const char *path)
{
    const char *slash = strrchr(path, '/');
    return is(slash ? slash + 1 : path, OWN_NAME);
}

static bool is_same_file(const struct stat *info, const char *path)
{
    struct stat other;
    return path != NULL && stat(path, &other) == 0 && other.st_dev == info->st_dev &&
           other.st_ino == info->st_ino;
}

/* By its name, also behind links and an interpreter, or as the same file. */
static bool is_ours(const struct mq_strings *words, const struct stat *info, const char *own)
{
    char *real = realpath(words->items[0], NULL);
    bool ours = is_named_so(words->items[0]) || (real != NULL && is_named_so(real)) ||
                is_same_file(info, own);
    free(real);
    for (size_t i = 1; i + 1 < words->count; i++) {
        ours = ours || (is_named_so(words->items[i]) && is(words->items[i + 1], "sendmail"));
    }
    return ours;
}

enum mq_status mq_sendmail_command_check(const struct mq_strings *words, const char *own,
                                         struct mq_error *err)
{
    const char *program = words->items[0];
    struct stat info;
    if (stat(program, &info) != 0) {
        return MQ_OK;
    }
    if (!S_ISREG(info.st_mode) || faccessat(AT_FDCWD, program, X_OK, AT_EACCESS) != 0) {
        return mq_error_set(err, MQ_CONFIG, "transport",
                            "transport: %.200s is no program that this user may run; name one such "
                            "as /usr/sbin/sendmail",
                            program);
    }
    if (is_ours(words, &info, own)) {
        return mq_error_set(err, MQ_CONFIG, "transport",
                            "transport: %.200s would put each mail into the queue again; name the "
                            "program that sends it, such as "
                            "sendmail://default?command=/usr/sbin/sendmail, or use smtp://",
                            program);
    }
    return MQ_OK;
}

/* ---- the vector ---- */

static char *borrowed(const char *word)
{
    return (char *)(uintptr_t)word; /* nobody writes to it; exec's prototype is older than const */
}

char **mq_sendmail_command_argv(const struct mq_strings *words, const struct mq_delivery *delivery)
{
    /* As exec's limits go: a job has 100 recipients at most, of 320 bytes each. */
    char **argv = calloc(words->count + delivery->target_count + 4, sizeof *argv);
    size_t n = 0;
    if (argv == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < words->count; i++) {
        argv[n++] = words->items[i];
    }
    argv[n++] = borrowed("-f");
    /* The null reverse-path: an empty word would be dropped by some, taken for the user by others.
     */
    argv[n++] = borrowed(delivery->from[0] != '\0' ? delivery->from : "<>");
    argv[n++] = borrowed("--");
    for (size_t i = 0; i < delivery->target_count; i++) {
        argv[n++] = borrowed(delivery->targets[i].address);
    }
    return argv;
}
