/* A year of sending hours with Berlin's clocks: no mail leaves outside its hours, each as soon as
 * they begin. */
#include <time.h>

#include "policy/zone.h"
#include "queue_fixture.h"

#define HOUR_S  3600
#define YEAR_S  (366 * MQ_DAY_S)
#define SPRING  INT64_C(1806195600) /* 2027-03-28 01:00 UTC: 02:00 to 03:00 in Berlin */
#define AUTUMN  INT64_C(1824944400) /* 2027-10-31 01:00 UTC: 03:00 to 02:00 */
#define MAILS   3000
#define WORKING "news: Mo-Fr 08:00-12:00 13:00-18:00, Sa 10:00-12:00 Test/Berlin"
#define NIGHTLY "digest: Sa Su 02:30-03:15, We 23:30-00:30 Test/Berlin"

static int64_t mail_of(struct fixture *fx, const char *type)
{
    return fx_enqueue(fx, &(struct mail){.type = type,
                                         .recipients = "a@example.org",
                                         .body = "Subject: x\r\n\r\nx\r\n"});
}

/* Claims until nothing more is to be done at once, as a worker does. */
static size_t claim_all(struct fixture *fx)
{
    size_t count = fx_claim(fx);
    while (count == 0 && fx->claim.end == MQ_CLAIM_MORE) {
        count = fx_claim(fx);
    }
    return count;
}

static int64_t east_s(int64_t at_s)
{
    return at_s >= SPRING && at_s < AUTUMN ? 2 * HOUR_S : HOUR_S;
}

static enum mq_status load_berlin(void *context, const char *name, int64_t from_s,
                                  struct mq_zone *out, struct mq_error *err)
{
    static const int64_t changes[] = {SPRING, AUTUMN};
    (void)context;
    (void)err;
    assert_string_equal(name, "Test/Berlin");
    *out = (struct mq_zone){{{from_s, east_s(from_s)}}, 1, from_s + MQ_ZONE_AHEAD_S};
    for (size_t i = 0; i < 2; i++) {
        if (changes[i] > from_s && changes[i] < out->until_s) {
            out->shifts[out->count].from_s = changes[i];
            out->shifts[out->count++].east_s = east_s(changes[i]);
        }
    }
    return MQ_OK;
}

static const struct mq_zone_source berlin = {load_berlin, NULL};

static bool is_working(int day, int minute)
{
    bool works = minute >= 8 * 60 && minute < 18 * 60 && minute / 60 != 12;
    return day >= 1 && day <= 5 ? works : day == 6 && minute >= 10 * 60 && minute < 12 * 60;
}

static bool is_night(int day, int minute)
{
    bool weekend = (day == 6 || day == 0) && minute >= 150 && minute < 195;
    return weekend || (day == 3 && minute >= 23 * 60 + 30) || (day == 4 && minute < 30);
}

/* The same rules, by what a clock in Berlin shows. */
static bool may_go(const char *type, int64_t at_s)
{
    time_t local = (time_t)(at_s + east_s(at_s));
    struct tm tm;
    gmtime_r(&local, &tm);
    int minute = tm.tm_hour * 60 + tm.tm_min;
    return strcmp(type, "news") == 0     ? is_working(tm.tm_wday, minute)
           : strcmp(type, "digest") == 0 ? is_night(tm.tm_wday, minute)
                                         : true;
}

/* When the mail may go at the earliest. Offsets are whole minutes, and so are the hours. */
static int64_t first_s(const char *type, int64_t at_s)
{
    while (!may_go(type, at_s)) {
        at_s += 60 - at_s % 60;
    }
    return at_s;
}

struct year {
    struct fixture fx;
    int64_t first[MAILS + 1]; /* by id */
    size_t sent;
    int64_t late_s; /* the latest of all after its first opening */
};

static void send_all(struct year *year)
{
    struct fixture *fx = &year->fx;
    for (size_t n = claim_all(fx); n > 0; n = claim_all(fx)) {
        for (size_t i = 0; i < n; i++) {
            const struct mq_job *job = &fx->claim.jobs[i];
            int64_t late_s = fx->now_s - year->first[job->id];
            assert_true(may_go(job->mail_type, fx->now_s));
            assert_true(late_s >= 0);
            year->late_s = late_s > year->late_s ? late_s : year->late_s;
            fx_settle(fx, i, "a");
        }
        year->sent += n;
    }
}

/* Mail comes every three hours, for a year. A worker looks then, and when the claim says so. */
static void send_for_a_year(struct year *year, const char *limit)
{
    static const char *const types[] = {"news", "digest", "login", "news"};
    struct fixture *fx = &year->fx;
    fx_init(fx);
    fx->options.zones = &berlin;
    fx_open_with(fx, NULL);
    fx_set(fx, "mailHours", WORKING "; " NIGHTLY);
    fx_set(fx, "mailMaxPerHour", limit);
    for (int i = 0; i < MAILS; i++) {
        int64_t next_s = START + YEAR_S / MAILS * i + i * 7919 % 3600;
        for (;;) {
            send_all(year);
            int64_t resume_s = fx->claim.resume_s;
            if (resume_s == 0 || resume_s > next_s) {
                break;
            }
            fx->now_s = resume_s;
        }
        fx->now_s = next_s;
        const char *type = types[i * 31 % 4];
        int64_t id = mail_of(fx, type);
        assert_in_range(id, 1, MAILS);
        year->first[id] = first_s(type, next_s);
    }
    while (send_all(year), year->sent < MAILS) {
        assert_true(fx->claim.resume_s > fx->now_s);
        fx->now_s = fx->claim.resume_s;
    }
    fx_close(fx);
}

static void test_a_year(void **state)
{
    static struct year year;
    (void)state;
    send_for_a_year(&year, "0");
    assert_int_equal(year.sent, MAILS);
    assert_int_equal(year.late_s, 0);
}

/* What gathers before an opening needs its time at 12 an hour, after the burst of five. */
static void test_a_year_with_a_limit(void **state)
{
    static struct year year;
    (void)state;
    send_for_a_year(&year, "12");
    assert_int_equal(year.sent, MAILS);
    assert_in_range(year.late_s, 300, 1500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_year),
        cmocka_unit_test(test_a_year_with_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
