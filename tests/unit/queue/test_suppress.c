/* Suppressed addresses: how they are found, and what becomes of mail to them. */
#include "queue/suppress/suppress.h"
#include "queue_fixture.h"

#include "db/db.h"

static int64_t suppress(struct fixture *fx, const char *address, const char *reason,
                        const char *scope)
{
    int64_t added = -1;
    const struct mq_suppression one = {.address = mq_str_of(address),
                                       .scope = mq_str_of(scope),
                                       .reason = mq_str_of(reason),
                                       .source = MQ_STR("test")};
    if (mq_queue_suppress(fx->queue, &one, 1, &added, &fx->err) != MQ_OK) {
        fail_msg("suppress: %s", fx->err.text);
    }
    return added;
}

static int64_t unsuppress(struct fixture *fx, const char *address, const char *scope,
                          const char *reason)
{
    int64_t removed = -1;
    const struct mq_suppressed which = {
        .address = mq_str_of(address), .scope = mq_str_of(scope), .reason = mq_str_of(reason)};
    assert_int_equal(mq_queue_unsuppress(fx->queue, &which, &removed, &fx->err), MQ_OK);
    return removed;
}

/* Stores mail to each of the recipients, all at once. */
static void store(struct fixture *fx, const char *scope, const char *const *recipients,
                  size_t count)
{
    struct mq_strings lists[8] = {{0}};
    struct mq_new_job jobs[8];
    int64_t ids[8];
    assert_true(count <= 8);
    for (size_t i = 0; i < count; i++) {
        assert_true(mq_strings_add(&lists[i], mq_str_of(recipients[i])));
        jobs[i] = (struct mq_new_job){.mail_type = MQ_STR("mail"),
                                      .message_id = "<x@example.org>",
                                      .envelope_from = "from@example.org",
                                      .recipients = &lists[i],
                                      .scope = mq_str_of(scope),
                                      .body = MQ_STR("Subject: x\r\n\r\nx\r\n")};
    }
    assert_int_equal(mq_queue_enqueue(fx->queue, jobs, count, ids, &fx->err), MQ_OK);
    for (size_t i = 0; i < count; i++) {
        mq_strings_clear(&lists[i]);
    }
}

static void store_one(struct fixture *fx, const char *scope, const char *recipient)
{
    store(fx, scope, &recipient, 1);
}

/* How many of the waiting mails a claim takes. They are gone then. */
static size_t claim_all(struct fixture *fx)
{
    size_t count = fx_claim(fx);
    for (size_t i = 0; i < count; i++) {
        fx_kind(fx, i, MQ_OUTCOME_DELIVERED, NULL);
    }
    return count;
}

static void test_canonical(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    assert_int_equal(suppress(&fx, "Anna.Muster@EXAMPLE.org", "manual", NULL), 1);
    assert_int_equal(suppress(&fx, " anna.muster@example.ORG ", "manual", ""), 0);
    fx_assert_text(&fx, "SELECT address FROM mail_suppression", "anna.muster@example.org");
    fx_mail(&fx, "ANNA.muster@Example.Org");
    assert_int_equal(fx_claim(&fx), 0);
    fx_assert_text(&fx, "SELECT parked_for FROM mail_queue", "suppressed");
    fx_close(&fx);
}

#ifdef MQ_HAVE_LIBIDN2
static void test_a_labels(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    assert_int_equal(suppress(&fx,
                              "a@b\xC3\xBC"
                              "cher.example",
                              "manual", NULL),
                     1);
    assert_int_equal(suppress(&fx, "A@XN--Bcher-KVA.example", "manual", NULL), 0);
    fx_mail(&fx, "a@xn--bcher-kva.example");
    assert_int_equal(fx_claim(&fx), 0);
    fx_close(&fx);
}
#endif

static void test_refused_values(void **state)
{
    (void)state;
    static const struct mq_suppression bad[] = {
        {.address = {"no address", 10}, .reason = {"manual", 6}},
        {.address = {"a@b.example", 11}, .reason = {"bounce", 6}},
        {.address = {"a@b.example", 11}, .reason = {"manual", 6}, .scope = {"a\nb", 3}},
        {.address = {"a@b.example", 11}, .reason = {"manual", 6}, .scope = {"news", 4}},
        {.address = {"a@b.example", 11}, .reason = {"manual", 6}, .scope = {"list:", 5}},
        {.address = {"a@b.example", 11}, .reason = {"manual", 6}, .source = {"\xFF", 1}},
    };
    static const char *const fields[] = {"address", "reason", "scope", "scope", "scope", "source"};
    int64_t added;
    struct fixture fx;
    fx_open(&fx);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_not_equal(mq_queue_suppress(fx.queue, &bad[i], 1, &added, &fx.err), MQ_OK);
        assert_string_equal(fx.err.field, fields[i]);
    }
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_suppression"), 0);
    fx_close(&fx);
}

static void test_reasons(void **state)
{
    (void)state;
    static const struct {
        const char *reason, *scope, *mail; /* the suppression's, and the scope of the mail */
        size_t sent;
    } cases[] = {
        {"unsubscribe", NULL, NULL, 1},
        {"unsubscribe", NULL, "list:news", 0},
        {"unsubscribe", "list:news", NULL, 1},
        {"unsubscribe", "list:news", "list:news", 0},
        {"unsubscribe", "list:news", "list:shop", 1},
        {"hard_bounce", NULL, NULL, 0},
        {"hard_bounce", NULL, "list:news", 0},
        {"complaint", NULL, NULL, 0},
        {"complaint", "list:news", NULL, 1},
        {"manual", NULL, NULL, 0},
        {"manual", "list:news", "list:news", 0},
    };
    struct fixture fx;
    fx_open(&fx);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        suppress(&fx, "a@b.example", cases[i].reason, cases[i].scope);
        store_one(&fx, cases[i].mail, "a@b.example");
        assert_int_equal(claim_all(&fx), cases[i].sent);
        assert_int_equal(unsuppress(&fx, "A@b.example", NULL, NULL), 1);
        fx_sql(&fx, "DELETE FROM mail_queue");
    }
    fx_close(&fx);
}

/* A later reason does not replace an earlier one, and each can be removed alone. */
static void test_several_reasons(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    assert_int_equal(suppress(&fx, "a@b.example", "unsubscribe", NULL), 1);
    assert_int_equal(suppress(&fx, "a@b.example", "hard_bounce", NULL), 1);
    assert_int_equal(suppress(&fx, "a@b.example", "unsubscribe", "list:news"), 1);
    assert_int_equal(unsuppress(&fx, "a@b.example", "", "hard_bounce"), 1);
    assert_int_equal(unsuppress(&fx, "a@b.example", "list:news", NULL), 1);
    fx_assert_text(&fx, "SELECT reason FROM mail_suppression", "unsubscribe");
    fx_close(&fx);
}

static void test_parked(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    fx_set(&fx, "mailHistoryDays", "7");
    suppress(&fx, "a@b.example", "hard_bounce", NULL);
    int64_t id = fx_mail(&fx, "a@b.example");
    assert_int_equal(fx_claim(&fx), 0);
    assert_string_equal(fx_events(&fx), "suppressed parked");
    fx_assert_text(&fx, "SELECT status || ' ' || parked_for || ' ' || last_error FROM mail_queue",
                   "parked suppressed suppressed: hard_bounce, 2027-01-15 (test)");
    fx_assert_text(&fx, "SELECT event || ' ' || recipients || ' ' || reply FROM mail_log LIMIT 1",
                   "suppressed 1 suppressed: hard_bounce, 2027-01-15 (test)");
    fx_assert_text(&fx,
                   "SELECT mails || ' ' || recipients FROM mail_count "
                   "WHERE event = 'suppressed'",
                   "1 1");
    int64_t changed = 0;
    assert_int_equal(mq_queue_retry(fx.queue, &(struct mq_ids){&id, 1}, true, &changed, &fx.err),
                     MQ_OK);
    assert_int_equal(changed, 1);
    assert_int_equal(fx_claim(&fx), 0); /* still suppressed */
    unsuppress(&fx, "a@b.example", NULL, NULL);
    mq_queue_retry(fx.queue, &(struct mq_ids){&id, 1}, true, &changed, &fx.err);
    assert_int_equal(fx_claim(&fx), 1);
    fx_close(&fx);
}

static void test_list_mail_is_deleted(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    suppress(&fx, "a@b.example", "unsubscribe", "list:news");
    store_one(&fx, "list:news", "a@b.example");
    assert_int_equal(fx_claim(&fx), 0);
    assert_string_equal(fx_events(&fx), "suppressed");
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue"), 0);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_body"), 0);
    fx_close(&fx);
}

/* The others get it; the row says why one did not, and stays for a person when they have it. */
static void test_some_recipients(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    suppress(&fx, "b@b.example", "complaint", NULL);
    fx_mail(&fx, "a@b.example b@b.example c@b.example");
    assert_int_equal(fx_claim(&fx), 1);
    assert_string_equal(fx_events(&fx), "suppressed claimed");
    assert_int_equal(fx.claim.jobs[0].recipients.count, 2);
    assert_int_equal(fx.claim.jobs[0].targets.count, 2);
    fx_assert_text(&fx, "SELECT recipients FROM mail_queue", "[\"a@b.example\",\"c@b.example\"]");
    fx_assert_text(&fx, "SELECT refused FROM mail_queue",
                   "{\"b@b.example\":\"suppressed: complaint, 2027-01-15 (test)\"}");
    fx_settle(&fx, 0, "aa");
    fx_assert_text(&fx, "SELECT parked_for FROM mail_queue", "refused");
    fx_assert_text(&fx, "SELECT refused FROM mail_queue",
                   "{\"b@b.example\":\"suppressed: complaint, 2027-01-15 (test)\"}");
    fx_close(&fx);
}

static void test_composed(void **state)
{
    (void)state;
    struct fixture fx;
    bool lost = true;
    fx_open(&fx);
    suppress(&fx, "a@b.example", "manual", NULL);
    fx_mail(&fx, NULL);
    assert_int_equal(fx_claim(&fx), 1);
    struct mq_job *job = &fx.claim.jobs[0];
    job->envelope_from = strdup("from@example.org");
    mq_strings_add(&job->recipients, MQ_STR("a@b.example"));
    assert_int_equal(mq_queue_set_envelope(fx.queue, job, NULL, &lost, &fx.err), MQ_OK);
    assert_false(lost);
    assert_non_null(job->suppressed);
    assert_string_equal(job->suppressed[0], "suppressed: manual, 2027-01-15 (test)");
    fx_kind(&fx, 0, MQ_OUTCOME_SUPPRESSED, job->suppressed[0]);
    assert_string_equal(fx_events(&fx), "suppressed parked");
    fx_assert_text(&fx, "SELECT parked_for || attempts FROM mail_queue", "suppressed0");
    fx_close(&fx);
}

static void test_composed_for_some(void **state)
{
    (void)state;
    struct fixture fx;
    bool lost = true;
    fx_open(&fx);
    suppress(&fx, "a@b.example", "manual", NULL);
    fx_mail(&fx, NULL);
    assert_int_equal(fx_claim(&fx), 1);
    struct mq_job *job = &fx.claim.jobs[0];
    job->envelope_from = strdup("from@example.org");
    mq_strings_add(&job->recipients, MQ_STR("a@b.example"));
    mq_strings_add(&job->recipients, MQ_STR("b@b.example"));
    assert_int_equal(mq_queue_set_envelope(fx.queue, job, NULL, &lost, &fx.err), MQ_OK);
    assert_null(job->suppressed);
    assert_int_equal(job->targets.count, 1);
    assert_string_equal(job->targets.items[0], "b@b.example");
    fx_settle(&fx, 0, "a");
    fx_assert_text(&fx, "SELECT parked_for || refused FROM mail_queue",
                   "refused{\"a@b.example\":\"suppressed: manual, 2027-01-15 (test)\"}");
    fx_close(&fx);
}

static void test_composed_for_a_list(void **state)
{
    (void)state;
    struct fixture fx;
    bool lost = true;
    fx_open(&fx);
    suppress(&fx, "a@b.example", "unsubscribe", NULL);
    fx_mail(&fx, NULL);
    fx_sql(&fx, "UPDATE mail_queue SET scope = 'list:news'");
    assert_int_equal(fx_claim(&fx), 1);
    struct mq_job *job = &fx.claim.jobs[0];
    job->envelope_from = strdup("from@example.org");
    mq_strings_add(&job->recipients, MQ_STR("a@b.example"));
    assert_int_equal(mq_queue_set_envelope(fx.queue, job, NULL, &lost, &fx.err), MQ_OK);
    fx_kind(&fx, 0, MQ_OUTCOME_SUPPRESSED, job->suppressed[0]);
    assert_string_equal(fx_events(&fx), "suppressed");
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue"), 0);
    fx_close(&fx);
}

/* Mail that was looked up is only compared with what is newer; mail that a suppression concerned is
 * looked up again. */
static void test_cleared(void **state)
{
    (void)state;
    static const char *const all[] = {"a@b.example", "b@b.example", "c@b.example", "d@b.example"};
    struct fixture fx;
    fx_open(&fx);
    store(&fx, NULL, all, 1);
    fx_assert_text(&fx, "SELECT cleared FROM mail_queue", NULL); /* nothing to look up */
    fx_sql(&fx, "DELETE FROM mail_queue");
    suppress(&fx, "a@b.example", "manual", NULL);
    store(&fx, NULL, all, 4);
    fx_assert_text(&fx, "SELECT cleared FROM mail_queue WHERE recipients LIKE '%a@b%'", NULL);
    fx_assert_text(
        &fx, "SELECT CAST(cleared AS TEXT) FROM mail_queue WHERE recipients LIKE '%b@b%'", "1");
    suppress(&fx, "b@b.example", "manual", NULL);
    suppress(&fx, "other@b.example", "manual", NULL);
    assert_int_equal(claim_all(&fx), 2);
    store(&fx, NULL, all + 2, 2);
    suppress(&fx, "c@b.example", "manual", NULL);
    assert_int_equal(claim_all(&fx), 1);
    /* Proves that the claim trusts it: the database would say otherwise. */
    fx_sql(&fx, "DELETE FROM mail_queue");
    store(&fx, NULL, all, 1);
    fx_sql(&fx, "UPDATE mail_queue SET cleared = (SELECT max(seq) FROM mail_suppression)");
    assert_int_equal(claim_all(&fx), 1);
    fx_close(&fx);
}

/* Suppresses first@, then n0@ … n4999@: more than a claim reads without need. */
static void suppress_many(struct fixture *fx)
{
    enum { MANY = 5000 };
    static char addresses[MANY][24];
    static struct mq_suppression items[MANY];
    int64_t added = 0;
    suppress(fx, "first@b.example", "manual", NULL);
    for (int i = 0; i < MANY; i++) {
        snprintf(addresses[i], sizeof(addresses[i]), "n%d@b.example", i);
        items[i] =
            (struct mq_suppression){.address = mq_str_of(addresses[i]), .reason = MQ_STR("manual")};
    }
    for (int i = 0; i < 3; i++) {
        int64_t expected = i == 2 ? 0 : MANY;
        assert_int_equal(i == 0 ? mq_queue_would_suppress(fx->queue, items, MANY, &added, &fx->err)
                                : mq_queue_suppress(fx->queue, items, MANY, &added, &fx->err),
                         MQ_OK);
        assert_int_equal(added, expected);
    }
}

/* Mail to a suppressed recipient, as if it had been looked up before the suppression with this
 * number came. The claim shows whether it asks the database. */
static size_t claim_marked(struct fixture *fx, const char *recipient, int cleared)
{
    char text[80];
    snprintf(text, sizeof(text), "UPDATE mail_queue SET cleared = %d WHERE status = 'pending'",
             cleared);
    store_one(fx, NULL, recipient);
    fx_sql(fx, text);
    return claim_all(fx);
}

static void test_many_new(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    suppress(&fx, "x@b.example", "manual", NULL);
    store_one(&fx, NULL, "n4999@b.example");
    store_one(&fx, NULL, "n5000@b.example");
    suppress_many(&fx);
    assert_int_equal(claim_all(&fx), 1);
    fx_assert_text(&fx, "SELECT recipients FROM mail_queue", "[\"n4999@b.example\"]");
    fx_close(&fx);
}

/* A mail that is too old for memory does not make a claim ask about the others. */
static void test_old_beside_new(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    suppress_many(&fx);
    assert_int_equal(claim_marked(&fx, "first@b.example", 1), 0);
    store_one(&fx, NULL, "old@b.example");
    fx_sql(&fx, "UPDATE mail_queue SET cleared = 1 WHERE status = 'pending'");
    store_one(&fx, NULL, "n10@b.example");
    fx_sql(&fx, "UPDATE mail_queue SET cleared = 5001 WHERE recipients LIKE '%n10%'");
    suppress(&fx, "y@b.example", "manual", NULL);
    assert_int_equal(claim_all(&fx), 2);
    fx_close(&fx);
}

/* The more often the database had to be asked, the more is kept in memory. */
static void test_reach(void **state)
{
    (void)state;
    static const char *const some[] = {"a@b.example", "b@b.example", "c@b.example", "d@b.example",
                                       "e@b.example", "f@b.example", "g@b.example", "h@b.example"};
    struct fixture fx;
    fx_open(&fx);
    suppress_many(&fx);
    for (int i = 0; i < 40; i++) {
        store(&fx, NULL, some, 8);
        fx_sql(&fx, "UPDATE mail_queue SET cleared = NULL");
        assert_int_equal(claim_all(&fx), 8);
    }
    assert_int_equal(claim_marked(&fx, "first@b.example", 1), 1);
    assert_int_equal(claim_marked(&fx, "n0@b.example", 1), 0);
    assert_int_equal(claim_marked(&fx, "n4999@b.example", 5000), 0);
    store(&fx, NULL, some, 8);
    suppress(&fx, "c@b.example", "manual", NULL);
    suppress(&fx, "g@b.example", "manual", NULL);
    assert_int_equal(claim_all(&fx), 6);
    assert_int_equal(claim_marked(&fx, "n2500@b.example", 1), 0);
    assert_int_equal(claim_marked(&fx, "first@b.example", 1), 1);
    fx_close(&fx);
}

static void test_forgotten(void **state)
{
    (void)state;
    struct fixture fx;
    int64_t forgotten = 0;
    fx_open(&fx);
    suppress(&fx, "a@b.example", "complaint", NULL);
    assert_int_equal(
        mq_queue_forget_suppressed(fx.queue, MQ_STR("A@B.example"), &forgotten, &fx.err), MQ_OK);
    assert_int_equal(forgotten, 1);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_suppression WHERE address IS NOT NULL"),
                     0);
    assert_int_equal(suppress(&fx, "a@b.example", "complaint", NULL), 0);
    fx_mail(&fx, "a@b.example");
    assert_int_equal(fx_claim(&fx), 0);
    fx_close(&fx);
}

/* Two addresses with one hash are told apart. */
static void test_same_hash(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    suppress(&fx, "a@b.example", "manual", NULL);
    fx_sql(&fx, "UPDATE mail_suppression SET address = 'other@b.example'");
    fx_mail(&fx, "a@b.example");
    assert_int_equal(claim_all(&fx), 1);
    fx_close(&fx);
}

static void test_without_key(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    fx_sql(&fx, "DELETE FROM config WHERE key = 'mailSuppressionKey'");
    assert_int_equal(suppress(&fx, "a@b.example", "manual", NULL), 1); /* makes one */
    fx_mail(&fx, "a@b.example");
    fx_close(&fx);

    fx_init(&fx);
    fx_open_with(&fx, "CREATE TABLE config (key TEXT PRIMARY KEY, value TEXT);"
                      "INSERT INTO config VALUES ('mailSuppressed', '3')");
    fx_sql(&fx, "DELETE FROM config WHERE key = 'mailSuppressionKey'");
    fx_mail(&fx, "a@b.example");
    struct mq_cycle what = {.request = &fx.request, .claim = &fx.claim};
    assert_int_equal(mq_queue_cycle(fx.queue, &what, &fx.err), MQ_OK);
    assert_int_equal(fx.claim.status, MQ_CONFIG); /* nothing is sent */
    assert_non_null(strstr(fx.claim.error.text, "mailSuppressionKey"));
    fx_close(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_canonical),
#ifdef MQ_HAVE_LIBIDN2
        cmocka_unit_test(test_a_labels),
#endif
        cmocka_unit_test(test_refused_values),
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_several_reasons),
        cmocka_unit_test(test_parked),
        cmocka_unit_test(test_list_mail_is_deleted),
        cmocka_unit_test(test_some_recipients),
        cmocka_unit_test(test_composed),
        cmocka_unit_test(test_composed_for_some),
        cmocka_unit_test(test_composed_for_a_list),
        cmocka_unit_test(test_cleared),
        cmocka_unit_test(test_many_new),
        cmocka_unit_test(test_old_beside_new),
        cmocka_unit_test(test_reach),
        cmocka_unit_test(test_forgotten),
        cmocka_unit_test(test_same_hash),
        cmocka_unit_test(test_without_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
