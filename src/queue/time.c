/* Times in config values: UTC seconds, or ISO 8601. */
#include "queue/internal.h"

struct cursor {
    struct mq_str text;
    size_t at;
};

static bool eat(struct cursor *c, char wanted)
{
    if (c->at < c->text.len && c->text.data[c->at] == wanted) {
        c->at++;
        return true;
    }
    return false;
}

static bool digits(struct cursor *c, int count, int *value)
{
    *value = 0;
    for (int i = 0; i < count; i++) {
        if (c->at >= c->text.len || c->text.data[c->at] < '0' || c->text.data[c->at] > '9') {
            return false;
        }
        *value = *value * 10 + (c->text.data[c->at++] - '0');
    }
    return true;
}

static bool leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static bool date(struct cursor *c, int64_t *days)
{
    static const int before[13] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
    int year;
    int month;
    int day;
    if (!digits(c, 4, &year) || !eat(c, '-') || !digits(c, 2, &month) || !eat(c, '-') ||
        !digits(c, 2, &day) || year < 1970 || month < 1 || month > 12 || day < 1) {
        return false;
    }
    int february = month == 2 && leap(year);
    if (day > before[month] - before[month - 1] + february) {
        return false;
    }
    int past = year - 1; /* whole years of the calendar before this one; 719162 days to 1970 */
    *days = past * 365LL + past / 4 - past / 100 + past / 400 - 719162 + before[month - 1] +
            (month > 2 && leap(year)) + day - 1;
    return true;
}

/* HH:MM[:SS]; seconds up to 59: UTC seconds know no leap second. */
static bool clock_time(struct cursor *c, int64_t *seconds)
{
    int hour;
    int minute;
    int second = 0;
    if (!digits(c, 2, &hour) || !eat(c, ':') || !digits(c, 2, &minute)) {
        return false;
    }
    if (eat(c, ':') && !digits(c, 2, &second)) {
        return false;
    }
    *seconds = hour * 3600LL + minute * 60 + second;
    return hour <= 23 && minute <= 59 && second <= 59;
}

/* Nothing, Z, +HH:MM, +HHMM or +HH. */
static bool offset(struct cursor *c, int64_t *seconds)
{
    int hour;
    int minute = 0;
    *seconds = 0;
    if (c->at == c->text.len || eat(c, 'Z')) {
        return true;
    }
    int sign = eat(c, '-') ? -1 : 1;
    if (sign > 0 && !eat(c, '+')) {
        return false;
    }
    if (!digits(c, 2, &hour)) {
        return false;
    }
    if (c->at < c->text.len) {
        eat(c, ':');
        if (!digits(c, 2, &minute)) {
            return false;
        }
    }
    *seconds = sign * (hour * 3600LL + minute * 60);
    return hour <= 23 && minute <= 59;
}

bool mq_config_parse_time(struct mq_str text, int64_t *at_s)
{
    struct cursor c = {mq_str_trim(text), 0};
    int64_t days;
    int64_t seconds = 0;
    int64_t east = 0;
    if (mq_config_parse_int(c.text, at_s)) {
        return true;
    }
    if (!date(&c, &days)) {
        return false;
    }
    if (c.at < c.text.len) {
        if ((!eat(&c, 'T') && !eat(&c, ' ')) || !clock_time(&c, &seconds) || !offset(&c, &east)) {
            return false;
        }
    }
    if (c.at != c.text.len) {
        return false;
    }
    *at_s = days * 86400 + seconds - east;
    return true;
}
