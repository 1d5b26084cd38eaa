#include "copy_fixture.h"

static enum mq_status progress(void *context, const struct mq_copy_progress *progress,
                               struct mq_error *err)
{
    struct pair *pair = context;
    assert_true(progress->done <= progress->total);
    if (++pair->told == pair->stop) {
        return mq_error_set(err, MQ_IO, "", "stopped");
    }
    if (pair->at) {
        pair->at(pair);
    }
    return MQ_OK;
}

void pair_open(struct pair *pair)
{
    memset(pair, 0, sizeof(*pair));
    fx_open(&pair->from);
    fx_open(&pair->to);
    pair->options = (struct mq_copy_options){.source_name = "one",
                                             .target_name = "two",
                                             .timeout_s = 60,
                                             .progress = progress,
                                             .context = pair};
    mq_copy_report_init(&pair->report);
}

void pair_close(struct pair *pair)
{
    mq_copy_report_clear(&pair->report);
    fx_close(&pair->from);
    fx_close(&pair->to);
}

enum mq_status pair_move(struct pair *pair)
{
    mq_copy_report_clear(&pair->report);
    mq_copy_report_init(&pair->report);
    pair->told = 0;
    return mq_queue_move(pair->from.queue, pair->to.queue, &pair->options, &pair->report,
                         &pair->from.err);
}

void pair_move_ok(struct pair *pair)
{
    if (pair_move(pair) != MQ_OK) {
        fail_msg("move: %s", pair->from.err.text);
    }
}

void pair_refused(struct pair *pair, enum mq_status status, const char *text)
{
    assert_int_equal(pair_move(pair), status);
    if (!strstr(pair->from.err.text, text)) {
        fail_msg("\"%s\" is not in: %s", text, pair->from.err.text);
    }
}

#define DUMP                                                                                       \
    "SELECT group_concat(row, x'0a') FROM (SELECT quote(id)||quote(reference)||quote(mail_type)||" \
    "quote(status)||quote(priority)||quote(attempts)||quote(max_attempts)||quote(uncertain)||"     \
    "quote(paid)||quote(next_attempt_at)||quote(expires_at)||quote(locked_until)||"                \
    "quote(locked_by)||quote(last_attempt_at)||quote(last_error)||quote(parked_for)||"             \
    "quote(created_at)||quote(message_id)||quote(envelope_from)||quote(recipients)||"              \
    "quote(refused)||quote(campaign_id)||quote(fields)||(SELECT quote(content) FROM mail_body b"   \
    " WHERE b.id = q.id) AS row FROM mail_queue q ORDER BY id)"

void pair_same(struct pair *pair)
{
    char *expected = fx_text(&pair->from, DUMP);
    fx_assert_text(&pair->to, DUMP, expected);
    free(expected);
    const char *bodies = "SELECT count(*) FROM mail_body";
    assert_int_equal(fx_int(&pair->to, bodies), fx_int(&pair->from, bodies));
    const char *spent = "SELECT coalesce(sum(at * 31 + n), 0) FROM mail_spent";
    assert_int_equal(fx_int(&pair->to, spent), fx_int(&pair->from, spent));
}

void pair_fill(struct fixture *fx)
{
    for (int i = 0; i < 700; i++) {
        char reference[16];
        snprintf(reference, sizeof(reference), "r%d", i);
        fx_enqueue(fx, &(struct mail){.reference = i % 3 ? reference : NULL,
                                      .recipients = "a@example.org b@example.org",
                                      .body = i % 5 ? "Subject: x\r\n\r\nx\r\n" : NULL,
                                      .priority = i % 7 - 3,
                                      .expires_at = i % 11 ? 0 : fx->now_s + 9000});
    }
    fx_sql(fx, "UPDATE mail_queue SET status = 'failed', attempts = 3, last_error = 'ä 4.2.1', "
               "last_attempt_at = 1799999999, uncertain = 1 WHERE id % 10 = 1;"
               "UPDATE mail_queue SET status = 'parked', parked_for = 'refused', recipients = "
               "NULL, refused = '{\"a@example.org\":\"550 no\"}' WHERE id % 10 = 2;"
               "UPDATE mail_queue SET status = 'held', campaign_id = 7, fields = '{\"a\":\"b\"}', "
               "max_attempts = 2 WHERE id % 10 = 3;"
               "UPDATE mail_body SET content = x'00ff0d0a00' WHERE id % 10 = 4;"
               "UPDATE mail_body SET content = x'' WHERE id % 10 = 6;"
               "UPDATE mail_body SET content = zeroblob(9000000) WHERE id = 15;"
               "DELETE FROM mail_queue WHERE id = 600; DELETE FROM mail_body WHERE id = 600;"
               "INSERT INTO mail_spent(at, n) VALUES (1799999000, 3), (1799999001, 5)");
    fx_set(fx, "mailMaxPerHour", "60");
    fx_set(fx, "mailRateMode", "strict");
    fx_set(fx, "mailTokens", "2.5");
    fx_set_raw(fx, "siteName", "not ours");
}
