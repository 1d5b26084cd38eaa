/* Reads a sendmail command and removes what would give the mail other recipients or a sender. */
#include "send/sendmail/command.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "send/dsn.h"

#define OWN_NAME "mailqueue"

static enum mq_status bad(struct mq_error *err, const char *what)
{
    return mq_error_set(err, MQ_CONFIG, "transport", "transport: %s", what);
}

static bool is(const char *word, const char *other)
{
    return strcmp(word, other) == 0;
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

/* ---- options ---- */

/* sendmail's letters with a value, in the same word or the next. */
#define WITH_VALUE "ABCFLNORVXbefhopr"
/* With one in the same word, if any: sendmail's, then those of small programs (-slocalhost). */
#define WITH_ATTACHED_VALUE \
    "dMqQ"                  \
    "aHSs"

struct reading {
    const struct mq_strings *given;
    size_t at; /* the word to be read */
    struct mq_strings *out;
    bool dot_ends; /* no -i so far */
};

static const char *following(const struct reading *reading)
{
    return reading->at + 1 < reading->given->count ? reading->given->items[reading->at + 1] : NULL;
}

static bool keep(struct reading *reading, const char *word)
{
    reading->at++;
    return mq_strings_add(reading->out, mq_str_of(word));
}

/* `word` has `count` letters without a value behind its hyphen: those but -t, "the recipients are
 * in the message", then the rest. */
static bool keep_letters(struct reading *reading, const char *word, size_t count, const char *rest)
{
    size_t n = 1;
    char *kept = malloc(1 + count + strlen(rest) + 1);
    if (kept == NULL) {
        return false;
    }
    kept[0] = '-';
    for (size_t i = 1; i <= count; i++) {
        if (word[i] != 't') {
            kept[n++] = word[i];
        }
        reading->dot_ends = reading->dot_ends && word[i] != 'i';
    }
    strcpy(kept + n, rest);
    bool done = true;
    if (kept[1] != '\0') {
        done = keep(reading, kept);
    } else {
        reading->at++;
    }
    free(kept);
    return done;
}

static enum mq_status check_mode(const char *mode, struct mq_error *err)
{
    if (is(mode, "s")) {
        return bad(err, "the command has -bs, a program that speaks SMTP; write "
                        "smtp://localhost, or the command without -bs");
    }
    if (strlen(mode) == 1 && mode[0] != 'm') {
        return bad(err, "the command has a mode (-b) that takes no mail; remove it");
    }
    return MQ_OK;
}

/* Whether a value of -f or -r names a sender, which the queue gives; "" behind it, no word either:
 * what follows must not become one. */
static bool names_sender(const char *attached, const char *value)
{
    return attached[0] != '\0' ? is_address(attached) : value == NULL || is_sender(value);
}

/* The letters of a word before its last, which has a value; then that letter, called `last`. */
struct option {
    const char *word;
    size_t count;         /* letters without a value */
    const char *last;     /* the letter, with what is attached to it */
    const char *attached; /* "": the value is the next word */
    const char *next;     /* that word, if it is the value and there is one */
};

static enum mq_status kept(bool done, struct mq_error *err)
{
    return done ? MQ_OK : mq_error_nomem(err);
}

/* -b: how the program runs. */
static enum mq_status read_mode(struct option *option, struct mq_error *err)
{
    const char *mode = option->next != NULL ? option->next : option->attached;
    enum mq_status status = mode[0] != '\0' ? check_mode(mode, err) : MQ_OK;
    if (option->attached[0] == 'm') {
        option->last =
            "bm"; /* sendmail reads one letter of the mode, others read flags behind it */
    }
    return status;
}

/* A word of letters, read as getopt() does. */
static enum mq_status read_letters(struct reading *reading, struct mq_error *err)
{
    struct option option = {.word = reading->given->items[reading->at]};
    option.count = strcspn(option.word + 1, WITH_VALUE WITH_ATTACHED_VALUE);
    option.last = option.word + 1 + option.count;
    if (*option.last == '\0' || strchr(WITH_ATTACHED_VALUE, *option.last) != NULL) {
        return kept(keep_letters(reading, option.word, option.count, option.last), err);
    }
    const char letter = *option.last;
    option.attached = option.last + 1;
    option.next = option.attached[0] == '\0' ? following(reading) : NULL;
    const char *value = option.next != NULL ? option.next : option.attached;
    if (letter == 'b') {
        enum mq_status status = read_mode(&option, err);
        if (status != MQ_OK) {
            return status;
        }
    }
    if ((letter == 'f' || letter == 'r') && names_sender(option.attached, option.next)) {
        reading->at += option.next != NULL;
        return kept(keep_letters(reading, option.word, option.count, ""), err);
    }
    reading->dot_ends = reading->dot_ends && !(letter == 'o' && is(value, "i"));
    return kept(keep_letters(reading, option.word, option.count, option.last) &&
                    (option.next == NULL || keep(reading, option.next)),
                err);
}

/* Also what says that sender or recipients are in the message: they are given. */
static enum mq_status read_long(struct reading *reading, struct mq_error *err)
{
    const char *word = reading->given->items[reading->at];
    const char *next = following(reading);
    if (word[2] == '\0' && next != NULL) {
        return bad(err, "the command has words behind \"--\", which would be recipients of "
                        "every mail; remove them");
    }
    bool from_message = is(word, "--read-recipients") || is(word, "--read-envelope-from");
    if (word[2] == '\0' || from_message || strncmp(word, "--from=", 7) == 0) {
        reading->at++;
        return MQ_OK;
    }
    if (strncmp(word, "--read", 6) == 0) {
        return bad(err, "the command has an option that begins with --read and that is not known: "
                        "recipients from the message would get the mail again; remove it");
    }
    if (is(word, "--from") && next != NULL && is_sender(next)) {
        reading->at += 2;
        return MQ_OK;
    }
    return kept(keep(reading, word), err);
}

static enum mq_status read_word(struct reading *reading, struct mq_error *err)
{
    const char *word = reading->given->items[reading->at];
    if (word[0] != '-' || word[1] == '\0') {
        return kept(keep(reading, word), err);
    }
    return word[1] == '-' ? read_long(reading, err) : read_letters(reading, err);
}

static enum mq_status prepare(const struct mq_strings *words, struct mq_strings *out,
                              struct mq_error *err)
{
    struct reading reading = {.given = words, .out = out, .dot_ends = true};
    enum mq_status status = MQ_OK;
    if (words->items[0][0] != '/') {
        return bad(err, "the command must begin with the program's whole path, such as "
                        "/usr/sbin/sendmail; no PATH is searched");
    }
    if (!keep(&reading, words->items[0])) {
        return mq_error_nomem(err);
    }
    while (status == MQ_OK && reading.at < words->count) {
        status = read_word(&reading, err);
    }
    if (status == MQ_OK && reading.dot_ends && !mq_strings_add(out, MQ_STR("-i"))) {
        status = mq_error_nomem(err);
    }
    return status;
}

enum mq_status mq_sendmail_command_parse(const char *command, struct mq_strings *words,
                                         struct mq_error *err)
{
    struct mq_strings given, prepared;
    mq_strings_init(&given);
    mq_strings_init(&prepared);
    enum mq_status status = mq_dsn_split_command(mq_str_of(command), &given, err);
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

bool mq_sendmail_command_takes_status(const struct mq_strings *words)
{
    char *real = realpath(words->items[0], NULL);
    char *slash = real != NULL ? strrchr(real, '/') : NULL;
    bool takes = slash != NULL && (is(slash, "/sendmail") || is(slash, "/sendmail.postfix"));
    if (takes) {
        struct mq_buffer beside;
        mq_buffer_init(&beside);
        mq_buffer_append(&beside, real, (size_t)(slash - real));
        mq_buffer_cstr(&beside, "/postconf");
        takes = !beside.failed && access(beside.data, X_OK) == 0;
        mq_buffer_clear(&beside);
    }
    free(real);
    return takes;
}

/* ---- the vector ---- */

static char *borrowed(const char *word)
{
    return (char *)(uintptr_t)word; /* never written to: exec's prototype is older than const */
}

/* -N, -R and -V, as far as they are asked for; `text` has room for -N's value. Returns how many
 * words. */
static size_t put_status(const struct mq_notify *notify, char **argv, char *text)
{
    size_t n = 0;
    if (notify->when != 0) {
        mq_notify_rcpt_params(notify, text);
        argv[n++] = borrowed("-N");
        argv[n++] = strchr(text, '=') + 1;
    }
    if (notify->ret != MQ_NOTIFY_RET_UNSAID) {
        argv[n++] = borrowed("-R");
        argv[n++] = borrowed(notify->ret == MQ_NOTIFY_RET_FULL ? "full" : "hdrs");
    }
    if (notify->envid[0] != '\0') {
        argv[n++] = borrowed("-V");
        argv[n++] = borrowed(notify->envid);
    }
    return n;
}

char **mq_sendmail_command_argv(const struct mq_strings *words, const struct mq_transfer *transfer,
                                bool status)
{
    /* As exec's limits go: a job has 100 recipients at most, of 320 bytes each. */
    size_t room = words->count + transfer->target_count + 10;
    char **argv = calloc(1, room * sizeof *argv + MQ_NOTIFY_PARAMS_ROOM);
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
    argv[n++] = borrowed(transfer->from[0] != '\0' ? transfer->from : "<>");
    if (status) {
        n += put_status(&transfer->notify, argv + n, (char *)(argv + room));
    }
    argv[n++] = borrowed("--");
    for (size_t i = 0; i < transfer->target_count; i++) {
        argv[n++] = borrowed(transfer->targets[i].address);
    }
    return argv;
}
