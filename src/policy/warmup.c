/* Parses warm-ups, and says what a day allows. */
#include "policy/warmup.h"

#include <stdlib.h>
#include <time.h>

#include "core/ascii.h"
#include "policy/zone.h"

#define FACTOR_UNITS 1000 /* a factor has up to three decimals */
#define FACTOR_MAX   (10 * FACTOR_UNITS)
#define NO_DAY       "1/1d" /* stands for a day's limit */
#define SHOWN        60     /* octets of a rule in an error's text */

static enum mq_status fault(struct mq_error *err, struct mq_str part, const char *why)
{
    char shown[SHOWN + 1];
    mq_str_printable(shown, sizeof shown, 0, mq_str_trim(part));
    return mq_error_set(err, MQ_INVALID, NULL, "\"%s\" %s", shown, why);
}

static void skip_space(struct mq_str *text)
{
    while (text->len > 0 && mq_is_space(*text->data)) {
        *text = mq_str_skip(*text, 1);
    }
}

static bool take_char(struct mq_str *text, char c)
{
    skip_space(text);
    bool is = text->len > 0 && *text->data == c;
    *text = mq_str_skip(*text, is);
    return is;
}

/* Takes a number of up to `digits` digits; -1: there is none, or a longer one. */
static int64_t take_number(struct mq_str *text, size_t digits)
{
    int64_t sum = 0;
    size_t i = 0;
    skip_space(text);
    for (; i < text->len && mq_is_digit(text->data[i]) && i <= digits; i++) {
        sum = sum * 10 + (text->data[i] - '0');
    }
    *text = mq_str_skip(*text, i);
    return i > 0 && i <= digits ? sum : -1;
}

/* ---- the date ---- */

static bool read_date(struct mq_str text, int64_t *day)
{
    struct tm given = {0};
    text = mq_str_trim(text);
    if (text.len != sizeof("2026-12-01") - 1) {
        return false;
    }
    given.tm_year = (int)take_number(&text, 4) - 1900;
    bool dashes = take_char(&text, '-');
    given.tm_mon = (int)take_number(&text, 2) - 1;
    dashes = take_char(&text, '-') && dashes;
    given.tm_mday = (int)take_number(&text, 2);
    if (!dashes || text.len > 0 || given.tm_year < 70) {
        return false;
    }
    struct tm real = given; /* timegm() turns the 30th of February into a day of March */
    *day = (int64_t)timegm(&real) / MQ_DAY_S;
    return real.tm_mon == given.tm_mon && real.tm_mday == given.tm_mday;
}

/* ---- the amounts ---- */

/* Takes "1.5" in thousandths; 0: something else. */
static int64_t take_factor(struct mq_str *text)
{
    int64_t factor = take_number(text, 2) * FACTOR_UNITS;
    int64_t unit = FACTOR_UNITS / 10;
    if (factor <= 0 || text->len < 2 || *text->data != '.') {
        return factor;
    }
    for (*text = mq_str_skip(*text, 1); text->len > 0 && mq_is_digit(*text->data); unit /= 10) {
        factor += (*text->data - '0') * unit;
        *text = mq_str_skip(*text, 1);
    }
    return factor;
}

static bool take_to(struct mq_str *text)
{
    skip_space(text);
    bool is = mq_str_begins_nocase(*text, "to ");
    *text = mq_str_skip(*text, is ? 3 : 0);
    return is;
}

/* Reads what follows "x". An amount grows by one at least, so that each warm-up ends. */
static enum mq_status read_growth(struct mq_warmup_rule *rule, struct mq_str *text,
                                  struct mq_error *err)
{
    struct mq_str all = *text;
    int64_t n = rule->amounts[0], factor = take_factor(text);
    if (rule->days != 1 || factor <= FACTOR_UNITS || factor > FACTOR_MAX) {
        return fault(err, all,
                     "is not a factor from 1.001 to 10 behind one amount: write it as "
                     "50 x 1.5 to 5000");
    }
    int64_t most = take_to(text) ? take_number(text, 10) : 0;
    if (most < n || most > MQ_LIMIT_N_MAX) {
        return fault(err, all,
                     "has no last amount that is larger than the first: write it as "
                     "50 x 1.5 to 5000");
    }
    for (rule->days = 0; n <= most && rule->days < MQ_WARMUP_DAYS_MAX; rule->days++) {
        rule->amounts[rule->days] = n;
        int64_t next = n * factor / FACTOR_UNITS;
        n = next > n ? next : n + 1;
    }
    return n > most ? MQ_OK : fault(err, all, "takes more than 366 days: take a larger factor");
}

static enum mq_status read_amounts(struct mq_warmup_rule *rule, struct mq_str *text,
                                   struct mq_error *err)
{
    struct mq_str all = *text;
    do {
        int64_t n = take_number(text, 10);
        if (n <= 0 || n > MQ_LIMIT_N_MAX) {
            return fault(err, all,
                         "must be amounts from 1 to 1000000000, one for each day, as "
                         "50, 100, 500");
        }
        if (rule->days == MQ_WARMUP_DAYS_MAX) {
            return fault(err, all, "has more than 366 amounts");
        }
        rule->amounts[rule->days++] = n;
    } while (take_char(text, ','));
    return take_char(text, 'x') ? read_growth(rule, text, err) : MQ_OK;
}

/* ---- all rules ---- */

/* Reads a rule, and appends its limit to the text of all. */
static enum mq_status read_rule(struct mq_warmup_rule *rule, struct mq_str text,
                                struct mq_buffer *limits, struct mq_error *err)
{
    struct mq_str all = text;
    bool has_colon = mq_str_find(text, ':') < text.len;
    struct mq_str date = mq_str_cut_at(&text, ':');
    *rule = (struct mq_warmup_rule){0};
    if (!read_date(date, &rule->first_day)) {
        return fault(err, date, "must begin with the first day (UTC) alone, as 2026-12-01");
    }
    if (!has_colon) {
        return fault(err, all, "has no colon behind the date: write it as 2026-12-01: 50, 100");
    }
    MQ_TRY(read_amounts(rule, &text, err));
    if (mq_str_find(text, ',') < text.len) {
        return fault(err, all, "has a comma behind its amounts");
    }
    mq_buffer_cstr(limits, limits->len ? "," NO_DAY " " : NO_DAY " ");
    mq_buffer_str(limits, mq_str_trim(text));
    return limits->failed ? mq_error_nomem(err) : MQ_OK;
}

/* Parses the limits. An error shows the rules as they were written, not the text made of them. */
static enum mq_status read_limits(struct mq_warmup *warmup, struct mq_str rules,
                                  struct mq_error *err)
{
    char shown[SHOWN + 1];
    struct mq_error why = {.text = ""};
    enum mq_status status = mq_limits_parse(mq_str_of(warmup->limits_text), &warmup->limits, &why);
    const char *reason = strstr(why.text, "\": ");
    mq_str_printable(shown, sizeof shown, 0, rules);
    return status == MQ_OK
               ? MQ_OK
               : mq_error_set(err, status, NULL, "\"%s\"%s", shown, reason ? reason + 1 : why.text);
}

static enum mq_status read_rules(struct mq_warmup *warmup, struct mq_str text, struct mq_error *err)
{
    struct mq_str all = mq_str_trim(text);
    struct mq_buffer limits = {0};
    enum mq_status status = MQ_OK;
    size_t count = 0;
    warmup->rules = calloc(MQ_LIMITS_MAX, sizeof(*warmup->rules));
    text = all;
    do {
        struct mq_str one = mq_str_trim(mq_str_cut_at(&text, ';'));
        status = !warmup->rules           ? mq_error_nomem(err)
                 : count == MQ_LIMITS_MAX ? fault(err, one, "is one rule too many: 16 are allowed")
                                          : read_rule(&warmup->rules[count++], one, &limits, err);
        text = mq_str_trim(text);
    } while (text.len > 0 && status == MQ_OK);
    warmup->limits_text = mq_buffer_take(&limits);
    return status == MQ_OK ? read_limits(warmup, all, err) : status;
}

enum mq_status mq_warmup_parse(struct mq_str text, struct mq_warmup *out, struct mq_error *err)
{
    struct mq_warmup warmup = {0};
    enum mq_status status = read_rules(&warmup, text, err);
    if (status == MQ_OK && out) {
        *out = warmup;
    } else {
        mq_warmup_clear(&warmup);
    }
    return status;
}

void mq_warmup_clear(struct mq_warmup *warmup)
{
    free(warmup->rules);
    free(warmup->limits_text);
    *warmup = (struct mq_warmup){0};
}

int64_t mq_warmup_amount(const struct mq_warmup_rule *rule, int64_t at_s)
{
    int64_t day = at_s / MQ_DAY_S - rule->first_day;
    return day >= 0 && day < (int64_t)rule->days ? rule->amounts[day] : 0;
}

void mq_warmup_today(const struct mq_warmup *warmup, int64_t at_s, struct mq_buffer *out)
{
    for (size_t i = 0; i < warmup->limits.count; i++) {
        struct mq_str text = warmup->limits.items[i].text;
        int64_t n = mq_warmup_amount(&warmup->rules[i], at_s);
        if (n > 0) {
            mq_buffer_printf(out, "%s%lld/1d", out->len ? ", " : "", (long long)n);
            mq_buffer_str(out, mq_str_skip(text, sizeof(NO_DAY) - 1));
        }
    }
}
