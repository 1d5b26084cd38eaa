/* Parses and matches the rules of a verdict file. */
#include "policy/rules.h"

#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"
#include "core/clock.h"

#define WORD_MAX 200 /* bytes of a word or a text */

struct mq_rules {
    char *text; /* the rules' strings point into it */
    size_t count;
    struct mq_rule items[MQ_RULES_MAX];
};

/* ---- reading a line ---- */

struct line {
    const char *file;
    int number;
    char *at;
    bool quoted; /* the last word was in quotes */
    struct mq_error *err;
};

static enum mq_status bad(const struct line *line, const char *what, struct mq_str word,
                          const char *cure)
{
    char shown[80];
    mq_str_printable(shown, sizeof shown, 0, word);
    return mq_error_set(line->err, MQ_CONFIG, "verdicts", "verdicts: %s, line %d: %s \"%s\"; %s",
                        line->file, line->number, what, shown, cure);
}

/* Reads a text in quotes, where \" and \\ are a quote and a backslash; NULL data: it does not end.
 */
static struct mq_str take_quoted(struct line *line)
{
    char *from = ++line->at, *to = from;
    while (*line->at != '\0' && *line->at != '"') {
        line->at += line->at[0] == '\\' && (line->at[1] == '"' || line->at[1] == '\\');
        *to++ = *line->at++;
    }
    if (*line->at == '\0') {
        return (struct mq_str){NULL, 0};
    }
    line->at++;
    return (struct mq_str){from, (size_t)(to - from)};
}

/* Takes the next word; an empty one at the end of the line. */
static enum mq_status take_word(struct line *line, struct mq_str *out)
{
    while (mq_is_blank(*line->at)) {
        line->at++;
    }
    line->quoted = *line->at == '"';
    if (line->quoted) {
        *out = take_quoted(line);
    } else {
        size_t len = strcspn(line->at, " \t\"");
        *out = (struct mq_str){line->at, len};
        line->at += len;
    }
    bool ends = *line->at == '\0' || mq_is_blank(*line->at);
    if (out->data == NULL || !ends) {
        return bad(line, "a quote is open or within a word in", mq_str_of(line->at),
                   "put quotes around the whole text, and \\\" for a quote in it");
    }
    if (out->len > WORD_MAX || (line->quoted && out->len == 0)) {
        return bad(line, "the length does not fit of", *out, "write 1 to 200 bytes");
    }
    return MQ_OK;
}

static enum mq_status take_stage(struct line *line, struct mq_rule *rule)
{
    struct mq_str word;
    MQ_TRY(take_word(line, &word));
    int at = mq_str_word(word, MQ_STAGE_NAMES " any", mq_str_equal);
    if (at < 0 || line->quoted) {
        return bad(line, "the second word is not a stage:", word,
                   "write connect, mail, rcpt, data, dot or any");
    }
    rule->stages = at > MQ_STAGE_DOT ? (1u << (MQ_STAGE_DOT + 1)) - 1 : 1u << at;
    return MQ_OK;
}

/* ---- what the reply must be ---- */

/* "450", "4xx" */
static bool read_code(struct mq_str word, char out[4])
{
    if (word.len != 3 || (word.data[0] != '4' && word.data[0] != '5')) {
        return false;
    }
    for (size_t i = 0; i < 3; i++) {
        out[i] = mq_ascii_lower(word.data[i]);
        if (!mq_is_digit(out[i]) && out[i] != 'x') {
            return false;
        }
    }
    return true;
}

/* "4.7.1", "4.7.*" */
static bool read_enhanced(struct mq_str word, int out[3])
{
    for (int i = 0; i < 3; i++) {
        struct mq_str part = i < 2 ? mq_str_cut_at(&word, '.') : word;
        bool any = i > 0 && mq_str_equal(part, MQ_STR("*"));
        int value = 0;
        for (size_t n = 0; n < part.len && !any; n++) {
            if (!mq_is_digit(part.data[n]) || part.len > 3) {
                return false;
            }
            value = 10 * value + (part.data[n] - '0');
        }
        out[i] = any ? -1 : value;
        if (part.len == 0) {
            return false;
        }
    }
    return out[0] == 4 || out[0] == 5;
}

/* Reads one condition; false: the word is not one. */
static bool read_condition(const struct line *line, struct mq_str word, struct mq_rule *rule)
{
    char code[4] = "";
    int enhanced[3] = {0};
    if (line->quoted) {
        bool first = rule->words.data == NULL;
        rule->words = word;
        return first;
    }
    if (read_code(word, code) && rule->code[0] == '\0') {
        memcpy(rule->code, code, sizeof code);
        return true;
    }
    if (read_enhanced(word, enhanced) && rule->enhanced[0] == 0) {
        memcpy(rule->enhanced, enhanced, sizeof enhanced);
        return true;
    }
    return mq_str_equal(word, MQ_STR("*"));
}

/* ---- what it means ---- */

static enum mq_status check_verdict(const struct line *line, struct mq_str word,
                                    struct mq_rule *rule)
{
    unsigned all = mq_verdict_stages(rule->verdict);
    if ((rule->stages & all) == 0) {
        return bad(line, "at this stage no reply can have the verdict", word,
                   "at connect these can be: relay, sessions, connect");
    }
    rule->stages &= all;
    return MQ_OK;
}

/* Reads the conditions up to the verdict, which is the first word that is not a condition. */
static enum mq_status take_reply(struct line *line, struct mq_rule *rule)
{
    struct mq_str word;
    bool conditions = false;
    MQ_TRY(take_word(line, &word));
    while (read_condition(line, word, rule)) {
        conditions = true;
        MQ_TRY(take_word(line, &word));
    }
    int verdict = -1;
    for (int i = 0; i <= MQ_TROUBLE_PROTOCOL && !line->quoted; i++) {
        const char *name = mq_verdict_name((enum mq_outcome)i);
        bool can_be = mq_verdict_stages((enum mq_outcome)i) != 0;
        verdict = can_be && mq_str_equal(word, mq_str_of(name)) ? i : verdict;
    }
    if (!conditions) {
        return bad(line, "the third word is not a reply:", word,
                   "write a code (450, 4xx), an enhanced code (4.7.1, 4.7.*), a text in quotes, "
                   "or * for any");
    }
    if (verdict < 0) {
        return bad(line, "this is neither a reply nor a verdict, or a second one:", word,
                   "the verdicts are " MQ_RULE_VERDICTS "; put texts in quotes");
    }
    rule->verdict = (enum mq_outcome)verdict;
    return check_verdict(line, word, rule);
}

/* Reads "30m"; 0 if it is not a span of time up to a day. */
static int read_span(struct mq_str text)
{
    static const int seconds[] = {1, 60, 3600, MQ_DAY_S};
    int64_t value = 0;
    size_t i = 0;
    while (i < text.len && i < 6 && mq_is_digit(text.data[i])) {
        value = 10 * value + (text.data[i++] - '0');
    }
    int unit = mq_str_word(mq_str_skip(text, i), "s m h d", mq_str_equal);
    value = unit < 0 ? 0 : value * seconds[unit];
    return value <= MQ_DAY_S ? (int)value : 0;
}

static enum mq_status take_pause(struct line *line, struct mq_rule *rule)
{
    struct mq_str word;
    MQ_TRY(take_word(line, &word));
    if (word.len == 0) {
        return MQ_OK;
    }
    bool is_pause = !line->quoted && mq_str_begins(word, "pause=");
    struct mq_str span = is_pause ? mq_str_skip(word, 6) : word;
    rule->pause_s = is_pause ? read_span(span) : 0;
    if (!is_pause || (rule->pause_s == 0 && !mq_str_equal(span, MQ_STR("reply")))) {
        return bad(line, "this is not a pause:", word,
                   "write pause=30s, pause=10m, pause=2h (at most pause=1d), or pause=reply");
    }
    if (!mq_verdict_waits(rule->verdict)) {
        return bad(line, "the verdict has no pause, but there is", word,
                   "remove it; relay, sessions, connect and deferred have one");
    }
    MQ_TRY(take_word(line, &word));
    return word.len == 0
               ? MQ_OK
               : bad(line, "there is more after the pause:", word, "write # before a comment");
}

static enum mq_status parse_line(struct line *line, struct mq_rule *rule)
{
    *rule = (struct mq_rule){.line = line->number};
    MQ_TRY(take_word(line, &rule->host));
    MQ_TRY(take_stage(line, rule));
    MQ_TRY(take_reply(line, rule));
    return take_pause(line, rule);
}

/* ---- the file ---- */

/* Cuts off a comment: from a "#" that begins a word outside quotes. */
static void cut_comment(char *text)
{
    bool quoted = false;
    for (char *at = text; *at != '\0'; at++) {
        if (quoted && at[0] == '\\' && at[1] != '\0') {
            at++;
        } else if (*at == '"') {
            quoted = !quoted;
        } else if (*at == '#' && !quoted && (at == text || mq_is_blank(at[-1]))) {
            *at = '\0';
            return;
        }
    }
}

static enum mq_status parse_lines(struct mq_rules *rules, const char *name, struct mq_error *err)
{
    struct line line = {.file = name, .err = err};
    char *next = rules->text;
    while (next != NULL) {
        line.at = next;
        line.number++;
        next = strchr(line.at, '\n');
        if (next != NULL) {
            *next++ = '\0';
        }
        size_t len = strcspn(line.at, "\r");
        if (line.at[len] != '\0' && line.at[len + 1] == '\0') {
            line.at[len] = '\0'; /* CRLF */
        }
        cut_comment(line.at);
        if (line.at[strspn(line.at, " \t")] == '\0') {
            continue;
        }
        if (rules->count == MQ_RULES_MAX) {
            return bad(&line, "there are too many rules, from", mq_str_of(line.at),
                       "at most " MQ_DIGITS(MQ_RULES_MAX) " are read");
        }
        MQ_TRY(parse_line(&line, &rules->items[rules->count]));
        rules->count++;
    }
    return MQ_OK;
}

enum mq_status mq_rules_parse(struct mq_str text, const char *name, struct mq_rules **out,
                              struct mq_error *err)
{
    *out = NULL;
    if (text.len > MQ_RULES_BYTES || mq_str_find(text, '\0') < text.len) {
        return mq_error_set(err, MQ_CONFIG, "verdicts",
                            "verdicts: %s is too large (over %d bytes) or has a NUL; give a text "
                            "file with one rule a line",
                            name, MQ_RULES_BYTES);
    }
    struct mq_rules *rules = calloc(1, sizeof *rules);
    char *copy = mq_str_dup(mq_str_begins(text, "\xEF\xBB\xBF") ? mq_str_skip(text, 3) : text);
    if (rules == NULL || copy == NULL) {
        free(rules);
        free(copy);
        return mq_error_nomem(err);
    }
    rules->text = copy;
    enum mq_status status = parse_lines(rules, name, err);
    if (status != MQ_OK) {
        mq_rules_free(rules);
        return status;
    }
    *out = rules;
    return MQ_OK;
}

void mq_rules_free(struct mq_rules *rules)
{
    if (rules != NULL) {
        free(rules->text);
        free(rules);
    }
}

size_t mq_rules_count(const struct mq_rules *rules)
{
    return rules != NULL ? rules->count : 0;
}

/* ---- matching ---- */

/* Whether the text matches a pattern with "*", in any case; unless `whole`, anywhere in it. After a
 * mismatch it goes back to the last "*" only, so it takes at most pattern × text steps. */
static bool glob(struct mq_str pattern, const char *text, bool whole)
{
    size_t p = 0, star = 0;
    const char *again = whole ? NULL : text;
    while (p < pattern.len || (whole && *text != '\0')) {
        if (p < pattern.len && pattern.data[p] == '*') {
            star = ++p;
            again = text;
        } else if (p < pattern.len && *text != '\0' &&
                   mq_ascii_lower(pattern.data[p]) == mq_ascii_lower(*text)) {
            p++;
            text++;
        } else if (again != NULL && *again != '\0') {
            p = star;
            text = ++again;
        } else {
            return false;
        }
    }
    return true;
}

static bool code_matches(const struct mq_rule *rule, const struct mq_reply *reply)
{
    int digits[3] = {reply->code / 100, reply->code / 10 % 10, reply->code % 10};
    for (size_t i = 0; i < 3 && rule->code[0] != '\0'; i++) {
        if (rule->code[i] != 'x' && rule->code[i] - '0' != digits[i]) {
            return false;
        }
    }
    for (size_t i = 0; i < 3 && rule->enhanced[0] != 0; i++) {
        if (rule->enhanced[i] >= 0 && rule->enhanced[i] != reply->enhanced[i]) {
            return false;
        }
    }
    return rule->enhanced[0] == 0 || reply->enhanced[0] != 0;
}

const struct mq_rule *mq_rules_find(const struct mq_rules *rules, const char *host,
                                    enum mq_stage stage, const struct mq_reply *reply,
                                    const char *words)
{
    for (size_t i = 0; i < mq_rules_count(rules); i++) {
        const struct mq_rule *rule = &rules->items[i];
        if ((rule->stages & 1u << stage) != 0 && code_matches(rule, reply) &&
            glob(rule->host, host, true) &&
            (rule->words.data == NULL || glob(rule->words, words, false))) {
            return rule;
        }
    }
    return NULL;
}
