/* Opens the test's queue in memory; short helpers that assert success. */
#include "queue_fixture.h"

#include "db/sqlite/sqlite.h"

static int64_t now_s(void *context)
{
    return ((struct fixture *)context)->now_s;
}

static int64_t now_us(void *context)
{
    return now_s(context) * 1000000;
}

static int64_t boot_ms(void *context)
{
    return now_s(context) * 1000;
}

static double unit(void *context)
{
    return ((struct fixture *)context)->chance;
}

void fx_init(struct fixture *fx)
{
    memset(fx, 0, sizeof(*fx));
    fx->now_s = START;
    fx->chance = 0.5;
    mq_queue_options_init(&fx->options);
    fx->options.clock = (struct mq_clock){now_us, boot_ms, fx};
    fx->options.random = (struct mq_random){unit, fx};
    fx->events = (struct mq_events){0};
    fx->claim = (struct mq_claim){0};
    fx->request = (struct mq_claim_request){.limit = 100, .lease_s = 900, .token = TOKEN_A};
}

struct mq_db *fx_memory(void)
{
    struct mq_sqlite_options options = {.path = ":memory:"};
    struct mq_db *db = NULL;
    struct mq_error err;
    if (mq_sqlite_open(&options, &db, &err) != MQ_OK) {
        fail_msg("open: %s", err.text);
    }
    return db;
}

void fx_open_with(struct fixture *fx, const char *script)
{
    struct mq_db *db = fx_memory();
    if (script) {
        assert_int_equal(mq_db_script(db, script, &fx->err), MQ_OK);
    }
    if (mq_queue_open(db, &fx->options, &fx->queue, &fx->err) != MQ_OK) {
        fail_msg("queue: %s", fx->err.text);
    }
}

void fx_open(struct fixture *fx)
{
    fx_init(fx);
    fx_open_with(fx, NULL);
}

void fx_close(struct fixture *fx)
{
    mq_claim_clear(&fx->claim);
    mq_events_clear(&fx->events);
    mq_queue_close(fx->queue);
    fx->queue = NULL;
}

static void split(const char *text, struct mq_strings *out)
{
    *out = (struct mq_strings){0};
    while (text && *text) {
        size_t n = strcspn(text, " ");
        mq_strings_add(out, (struct mq_str){text, n});
        text += n + (text[n] == ' ');
    }
}

int64_t fx_enqueue(struct fixture *fx, const struct mail *mail)
{
    int64_t id = -1;
    struct mq_strings recipients;
    split(mail->recipients, &recipients);
    struct mq_new_job job = {.reference = mq_str_of(mail->reference),
                             .mail_type = mq_str_of(mail->type ? mail->type : "mail"),
                             .priority = mail->priority,
                             .send_at = mail->send_at,
                             .expires_at = mail->expires_at,
                             .max_attempts = mail->max_attempts,
                             .message_id = "<x@example.org>",
                             .envelope_from = mail->recipients ? "from@example.org" : NULL,
                             .recipients = &recipients,
                             .body = mq_str_of(mail->body)};
    if (mq_queue_enqueue(fx->queue, &job, 1, &id, &fx->err) != MQ_OK) {
        fail_msg("enqueue: %s", fx->err.text);
    }
    mq_strings_clear(&recipients);
    return id;
}

int64_t fx_mail(struct fixture *fx, const char *recipients)
{
    return fx_enqueue(fx,
                      &(struct mail){.recipients = recipients, .body = "Subject: x\r\n\r\nx\r\n"});
}

void fx_set(struct fixture *fx, const char *key, const char *value)
{
    if (mq_queue_set_config(fx->queue, key, value, &fx->err) != MQ_OK) {
        fail_msg("config: %s", fx->err.text);
    }
}

void fx_set_raw(struct fixture *fx, const char *key, const char *value)
{
    struct mq_value values[] = {mq_text(mq_str_of(key)), mq_text(mq_str_of(value))};
    struct mq_query query = {-1, "INSERT OR REPLACE INTO config(key, value) VALUES (?1, ?2)",
                             values, 2};
    assert_int_equal(mq_db_exec(mq_queue_db(fx->queue), &query, &fx->err), MQ_OK);
}

void fx_sql(struct fixture *fx, const char *sql)
{
    if (mq_db_script(mq_queue_db(fx->queue), sql, &fx->err) != MQ_OK) {
        fail_msg("%s: %s", sql, fx->err.text);
    }
}

int64_t fx_int(struct fixture *fx, const char *sql)
{
    struct mq_value value = mq_null();
    struct mq_row row = {&value, 1, false};
    struct mq_query query = {-1, sql, NULL, 0};
    struct mq_db *db = mq_queue_db(fx->queue);
    if (mq_db_row(db, &query, &row, &fx->err) != MQ_OK) {
        fail_msg("%s: %s", sql, fx->err.text);
    }
    mq_db_finish(db);
    return row.found ? value.i : -1;
}

char *fx_text(struct fixture *fx, const char *sql)
{
    struct mq_value value = mq_null();
    struct mq_row row = {&value, 1, false};
    struct mq_query query = {-1, sql, NULL, 0};
    struct mq_db *db = mq_queue_db(fx->queue);
    if (mq_db_row(db, &query, &row, &fx->err) != MQ_OK) {
        fail_msg("%s: %s", sql, fx->err.text);
    }
    char *text = row.found && value.s.data ? mq_str_dup(value.s) : NULL;
    mq_db_finish(db);
    return text;
}

void fx_assert_text(struct fixture *fx, const char *sql, const char *expected)
{
    char *text = fx_text(fx, sql);
    if (!expected) {
        assert_null(text);
    } else {
        assert_non_null(text);
        assert_string_equal(text, expected);
    }
    free(text);
}

static void cycle(struct fixture *fx, struct mq_cycle *what)
{
    mq_events_truncate(&fx->events, 0);
    what->events = &fx->events;
    if (mq_queue_cycle(fx->queue, what, &fx->err) != MQ_OK) {
        fail_msg("cycle: %s", fx->err.text);
    }
}

size_t fx_claim(struct fixture *fx)
{
    struct mq_cycle what = {.request = &fx->request, .claim = &fx->claim};
    mq_claim_clear(&fx->claim);
    cycle(fx, &what);
    for (size_t i = 0; i < fx->claim.count; i++) {
        struct mq_job *job = &fx->claim.jobs[i];
        assert_int_equal(mq_queue_read_bodies(fx->queue, &job, 1, MQ_BODY_SMALL, &fx->err), MQ_OK);
    }
    return fx->claim.count;
}

void fx_turn(struct fixture *fx, struct mq_settlement *outcomes, size_t count)
{
    struct mq_cycle what = {.outcomes = outcomes, .outcome_count = count};
    cycle(fx, &what);
}

bool fx_settle(struct fixture *fx, size_t i, const char *letters)
{
    static const char order[] = ".arldu";
    unsigned char results[256] = {0};
    const char *replies[256] = {0};
    struct mq_job *job = &fx->claim.jobs[i];
    int handed = 0;
    for (size_t n = 0; letters[n]; n++) {
        results[n] = (unsigned char)(strchr(order, letters[n]) - order);
        handed += results[n] == MQ_OUTCOME_DELIVERED || results[n] == MQ_OUTCOME_UNCERTAIN;
        replies[n] = results[n] == MQ_OUTCOME_REFUSED ? "550 5.1.1 no such user" : NULL;
    }
    struct mq_settlement outcome = {.job = job,
                                    .results = results,
                                    .replies = replies,
                                    .handed_over = handed,
                                    .at_s = fx->now_s,
                                    .retry_after_s = -1,
                                    .on_uncertain = fx->request.on_uncertain,
                                    .ms = -1};
    fx_turn(fx, &outcome, 1);
    return outcome.row == MQ_ROW_LOST;
}

bool fx_kind(struct fixture *fx, size_t i, enum mq_outcome whole, const char *error)
{
    struct mq_settlement outcome = {.job = &fx->claim.jobs[i],
                                    .outcome = whole,
                                    .error = error,
                                    .at_s = fx->now_s,
                                    .retry_after_s = -1,
                                    .ms = -1};
    fx_turn(fx, &outcome, 1);
    return outcome.row == MQ_ROW_LOST;
}

const char *fx_events(struct fixture *fx)
{
    static char text[4096];
    size_t len = 0;
    text[0] = '\0';
    for (size_t i = 0; i < fx->events.count && len < sizeof(text) - 32; i++) {
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", i ? " " : "",
                                mq_event_type_name(fx->events.items[i].type));
    }
    return text;
}

struct mq_stats fx_stats(struct fixture *fx)
{
    struct mq_stats stats;
    if (mq_queue_stats(fx->queue, INT64_MAX, &stats, &fx->err) != MQ_OK) {
        fail_msg("stats: %s", fx->err.text);
    }
    mq_stats_clear(&stats);
    return stats;
}

double fx_tokens(struct fixture *fx)
{
    return fx_stats(fx).tokens;
}
