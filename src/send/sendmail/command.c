/* Reads a sendmail command. Removes what would give the mail other recipients or a sender. */
#include "send/sendmail/command.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "send/dsn_text.h"

#define OWN_NAME "mailqueue"

static bool is(const char *word, const char *other)
{
    return strcmp(word, other) == 0;
}

static bool is_address(const char *value)
{
    return is(value, "<>") || strchr(value, '@') != NULL;
}

/* Whether the value of -f or -r is a sender: an address or a user's name. After -f or -r, an
 * interpreter takes the path or the code of a script, which is not a sender. */
static bool is_sender(const char *value)
{
    return is_address(value) || strcspn(value, " /()[]{};\"'\\") == strlen(value);
}

/* ---- options ---- */

/* Short options that have a value, in the same word or the next: sendmail's, and those of small
 * programs such as msmtp. */
#define WITH_VALUE "ABCFLNORVXbefhoprdMqQaHSs"

struct reading {
    struct mq_strings *words;
    size_t at;     /* the word to be read */
    size_t kept;   /* number of words kept so far; the next one goes here */
    bool dot_ends; /* a line with only a dot ends the mail; -i makes it false */
};

static const char *following(const struct reading *reading)
{
    return reading->at + 1 < reading->words->count ? reading->words->items[reading->at + 1] : NULL;
}

static enum mq_status keep(struct reading *reading)
{
    reading->words->items[reading->kept++] = reading->words->items[reading->at++];
    return MQ_OK;
}

static enum mq_status drop(struct reading *reading, size_t count)
{
    while (count-- > 0) {
        free(reading->words->items[reading->at++]);
    }
    return MQ_OK;
}

/* Reads -f or -r. Drops the option as the last word too: what we add would become its value. */
static enum mq_status read_sender(struct reading *reading, const char *word)
{
    const char *next = following(reading);
    if (word[2] != '\0' ? !is_address(word + 2) : next != NULL && !is_sender(next)) {
        return keep(reading);
    }
    return drop(reading, word[2] == '\0' && next != NULL ? 2 : 1);
}

/* Reads options without values: keeps all but -t, which takes recipients from the message. */
static enum mq_status read_letters(struct reading *reading, char *word)
{
    char *end = word + 1;
    for (const char *p = word + 1; *p != '\0'; p++) {
        if (*p != 't') {
            *end++ = *p;
        }
        reading->dot_ends = reading->dot_ends && *p != 'i';
    }
    *end = '\0';
    return end > word + 1 ? keep(reading) : drop(reading, 1);
}

static enum mq_status read_short(struct reading *reading, char *word, struct mq_error *err)
{
    size_t letters = strcspn(word + 1, WITH_VALUE);
    if (word[1 + letters] == '\0') {
        return read_letters(reading, word);
    }
    if (letters > 0) {
        return mq_dsn_bad(
            err, "the command has several options in one word, the last with a value; write "
                 "each as a word of its own, such as -t -oi");
    }
    if (word[1] == 'f' || word[1] == 'r') {
        return read_sender(reading, word);
    }
    if (is(word, "-bs")) {
        return mq_dsn_bad(err, "the command has -bs, a program that speaks SMTP; write "
                               "smtp://localhost, or the command without -bs");
    }
    if (word[1] == 'b' && !is(word, "-bm")) {
        return mq_dsn_bad(err, "the command has a mode (-b) that takes no mail; remove it");
    }
    reading->dot_ends = reading->dot_ends && !is(word, "-oi");
    return keep(reading);
}

/* Reads a long option. Drops those that set sender or recipients: the queue gives both. */
static enum mq_status read_long(struct reading *reading, const char *word, struct mq_error *err)
{
    const char *next = following(reading);
    if (word[2] == '\0' && next != NULL) {
        return mq_dsn_bad(err, "the command has words after \"--\", which would be recipients of "
                               "every mail; remove them");
    }
    bool from_message = is(word, "--read-recipients") || is(word, "--read-envelope-from");
    if (word[2] == '\0' || from_message || strncmp(word, "--from=", 7) == 0) {
        return drop(reading, 1);
    }
    if (strncmp(word, "--read", 6) == 0) {
        return mq_dsn_bad(
            err, "the command has an option that begins with --read and that is not known: "
                 "recipients from the message would get the mail again; remove it");
    }
    if (is(word, "--from") && next != NULL && is_sender(next)) {
        return drop(reading, 2);
    }
    return keep(reading);
}

enum mq_status mq_sendmail_command_parse(struct mq_strings *words, struct mq_error *err)
{
    struct reading reading = {.words = words, .dot_ends = true};
    enum mq_status status = MQ_OK;
    if (words->items[0][0] != '/') {
        return mq_dsn_bad(err, "the command must begin with the program's whole path, such as "
                               "/usr/sbin/sendmail; no PATH is searched");
    }
    while (reading.at < words->count) {
        char *word = words->items[reading.at];
        if (status != MQ_OK || word[0] != '-' || word[1] == '\0') {
            keep(&reading);
        } else if (word[1] == '-') {
            status = read_long(&reading, word, err);
        } else {
            status = read_short(&reading, word, err);
        }
    }
    words->count = reading.kept;
    if (status == MQ_OK && reading.dot_ends && !mq_strings_add(words, MQ_STR("-i"))) {
        status = mq_error_nomem(err);
    }
    return status;
}

/* ---- the program ---- */

static bool is_named_so(const char *path)
{
    const char *slash = strrchr(path, '/');
    return is(slash ? slash + 1 : path, OWN_NAME);
}

/* Whether the command is our own program: by name (also through a link or an interpreter), or
 * because it is the same file as `own`. */
static bool is_ours(const struct mq_strings *words, const struct stat *info, const char *own)
{
    struct stat other;
    char *real = realpath(words->items[0], NULL);
    bool ours = is_named_so(words->items[0]) || (real != NULL && is_named_so(real)) ||
                (own != NULL && stat(own, &other) == 0 && other.st_dev == info->st_dev &&
                 other.st_ino == info->st_ino);
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
                            "transport: %.200s is not a program that this user may run; name one "
                            "such as /usr/sbin/sendmail",
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
        memcpy(slash, "/postconf", sizeof "/postconf"); /* no longer than what it replaces */
        takes = access(real, X_OK) == 0;
    }
    free(real);
    return takes;
}

/* ---- the vector ---- */

static char *borrowed(const char *word)
{
    return (char *)(uintptr_t)word; /* never written to: exec's prototype is older than const */
}

/* Adds -N, -R and -V if the mail asks for them; `text` has room for -N's value. Returns the number
 * of words added. */
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
    /* The vector stays within exec's limits: at most 100 recipients of 320 bytes each. */
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
    /* <> is the null reverse-path: some programs drop an empty word, others read it as the user. */
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
