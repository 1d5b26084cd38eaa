/* The options of sendmail_path and of mail()'s fifth argument, as far as they name the envelope. */
#include "php/capture/command_line.h"

#include <string.h>

#include "zend_smart_str.h"

#include "php/capture/header_text.h"
#include "php/ini.h"

/* The next word of a command line, or NULL; the caller releases it. PHP escapes the fifth argument
 * (escapeshellcmd()), so special characters, backslashes and quotes without a partner stand for
 * themselves, and a line end joins what is around it. */
static zend_string *next_word(const char **rest)
{
    const char *p = *rest + strspn(*rest, " \t\n");
    smart_str word = {0};
    char quote = '\0';
    if (*p == '\0') {
        return NULL;
    }
    for (; *p && (quote || (*p != ' ' && *p != '\t')); p++) {
        bool is_quote = *p == '"' || *p == '\'';
        if (quote ? *p == quote : is_quote && strchr(p + 1, *p)) {
            quote = quote ? '\0' : *p;
        } else if (*p != '\n') {
            smart_str_appendc(&word, *p);
        }
    }
    *rest = p;
    return smart_str_extract(&word);
}

/* ---- options ---- */

static void take_value(struct mq_capture_command *out, char option, const char *value)
{
    zend_string **target = option == 'f' || option == 'r' ? &out->sender
                           : option == 'F'                ? &out->name
                                                          : NULL;
    if (target) {
        mq_capture_replace(target, zend_string_init(value, strlen(value), 0));
    }
}

/* One word of options ("-ti", "-fann@example.org", "-f" with its value in the next word). */
static void take_options(const char **words, const char *letters, struct mq_capture_command *out)
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

static void add_recipient(struct mq_capture_command *out, zend_string *word)
{
    zend_string *line = mq_capture_one_line(word);
    const char *before = out->recipients ? ZSTR_VAL(out->recipients) : "";
    mq_capture_replace(&out->recipients,
                       strpprintf(0, "%s%s%s", before, *before ? ", " : "", ZSTR_VAL(line)));
    zend_string_release(line);
}

static void read_words(const char *words, bool recipients, struct mq_capture_command *out)
{
    bool options = true;
    zend_string *word;
    while ((word = next_word(&words)) != NULL) {
        const char *text = ZSTR_VAL(word);
        if (options && strcmp(text, "--") == 0) {
            options = false;
        } else if (options && text[0] == '-' && text[1] == '-') {
            /* A long option, which some programs have. */
        } else if (options && text[0] == '-' && text[1]) {
            take_options(&words, text + 1, out);
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
    memset(out, 0, sizeof *out);
    read_words(path ? path : "", false, out);
    read_words(forced ? forced : parameters ? ZSTR_VAL(parameters) : "", true, out);
}

void mq_capture_command_clear(struct mq_capture_command *command)
{
    mq_capture_replace(&command->sender, NULL);
    mq_capture_replace(&command->name, NULL);
    mq_capture_replace(&command->recipients, NULL);
}
