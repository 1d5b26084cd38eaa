/* The options of sendmail_path and of mail()'s fifth argument, as far as they name the envelope. */
#include "php/capture/command_line.h"

#include <string.h>

#include "zend_smart_str.h"

#include "php/ini.h"

/* ---- words ---- */

/* A command line as the shell reads it. Of PHP's escaping (escapeshellcmd()) this remains: special
 * characters, backslashes and quotes without a partner stand for themselves. */
struct words {
    const char *rest;
    bool escaped;
};

static bool opens_quote(const struct words *words, const char *p)
{
    return (*p == '"' || *p == '\'') && (!words->escaped || strchr(p + 1, *p) != NULL);
}

/* Takes one character of a word; returns where the next one is. */
static const char *take_character(const struct words *words, const char *p, char *quote,
                                  smart_str *word)
{
    if (words->escaped && *p == '\n') { /* an escaped line end joins what is around it */
        return p + 1;
    }
    if (*quote ? *p == *quote : opens_quote(words, p)) {
        *quote = *quote ? '\0' : *p;
        return p + 1;
    }
    p += !words->escaped && *p == '\\' && *quote != '\'' && p[1];
    smart_str_appendc(word, *p);
    return p + 1;
}

/* The next word, or NULL; the caller releases it. */
static zend_string *next_word(struct words *words)
{
    const char *between = words->escaped ? " \t" : " \t\n";
    const char *p = words->rest + strspn(words->rest, " \t\n");
    smart_str word = {0};
    char quote = '\0';
    if (*p == '\0') {
        return NULL;
    }
    while (*p && (quote || !strchr(between, *p))) {
        p = take_character(words, p, &quote, &word);
    }
    words->rest = p;
    smart_str_0(&word);
    return word.s ? word.s : ZSTR_EMPTY_ALLOC();
}

/* ---- options ---- */

static void release(zend_string **s)
{
    if (*s) {
        zend_string_release(*s);
        *s = NULL;
    }
}

static void replace(zend_string **s, const char *value)
{
    release(s);
    *s = zend_string_init(value, strlen(value), 0);
}

static void take_value(struct mq_capture_command *out, char option, const char *value)
{
    if (option == 'f' || option == 'r') {
        replace(&out->sender, value);
    } else if (option == 'F') {
        replace(&out->name, value);
    }
}

/* One word of options ("-ti", "-fann@example.org", "-f" with its value in the next word). */
static void take_options(struct words *words, const char *letters, struct mq_capture_command *out)
{
    static const char with_value[] = "ABCFLNORVXbefhopr";
    static const char with_attached_value[] = "dMqQ";
    for (; *letters; letters++) {
        if (strchr(with_attached_value, *letters)) {
            return;
        }
        if (!strchr(with_value, *letters)) {
            continue;
        }
        if (letters[1]) {
            take_value(out, *letters, letters + 1);
            return;
        }
        zend_string *value = next_word(words);
        if (value) {
            take_value(out, *letters, ZSTR_VAL(value));
            zend_string_release(value);
        }
        return;
    }
}

static void add_recipient(struct mq_capture_command *out, const zend_string *word)
{
    zend_string *list =
        out->recipients ? zend_strpprintf(0, "%s, %s", ZSTR_VAL(out->recipients), ZSTR_VAL(word))
                        : zend_string_init(ZSTR_VAL(word), ZSTR_LEN(word), 0);
    release(&out->recipients);
    out->recipients = list;
}

static void read_words(struct words *words, bool recipients, struct mq_capture_command *out)
{
    bool options = true;
    zend_string *word;
    while ((word = next_word(words)) != NULL) {
        const char *text = ZSTR_VAL(word);
        if (options && strcmp(text, "--") == 0) {
            options = false;
        } else if (options && text[0] == '-' && text[1] == '-') {
            /* A long option, which some programs have. */
        } else if (options && text[0] == '-' && text[1]) {
            take_options(words, text + 1, out);
        } else if (recipients && ZSTR_LEN(word) > 0) {
            add_recipient(out, word);
        }
        zend_string_release(word);
    }
}

/* Words of sendmail_path that are no options may be anything: a wrapper's command, an account. */
void mq_capture_command_read(const zend_string *parameters, struct mq_capture_command *out)
{
    const char *path = MQ_PHP_INI("sendmail_path");
    const char *forced = MQ_PHP_INI("mail.force_extra_parameters");
    struct words words = {path ? path : "", false};
    memset(out, 0, sizeof *out);
    read_words(&words, false, out);
    if (forced || parameters) {
        words = (struct words){forced ? forced : ZSTR_VAL(parameters), true};
        read_words(&words, true, out);
    }
}

void mq_capture_command_clear(struct mq_capture_command *command)
{
    release(&command->sender);
    release(&command->name);
    release(&command->recipients);
}
