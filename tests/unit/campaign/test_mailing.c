/* Adding recipients, and rendering their mails. */
#include "queue_fixture.h"

#include "campaign/adding.h"
#include "campaign/mailing.h"
#include "mime/compose/composer.h"
#include "mime/template/campaign_message.h"
#include "queue/campaign/campaign.h"

static struct fixture fx;
static int64_t id;

static int setup(void **state)
{
    (void)state;
    fx_open(&fx);
    assert_int_equal(mq_campaign_open(fx.queue, MQ_STR("spring"), &id, &fx.err), MQ_OK);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fx_close(&fx);
    return 0;
}

static void set_message(const char *text, bool listed)
{
    struct mq_buffer octets = {0};
    struct mq_compose_address from = {.field = "from", .address = MQ_STR("news@example.org")};
    struct mq_compose_fields fields = {.from = {&from, 1},
                                       .subject = MQ_STR("Hello {{name}}"),
                                       .text = mq_str_of(text),
                                       .max_size = 1 << 20};
    assert_int_equal(mq_campaign_message_make(&fields, &octets, &fx.err), MQ_OK);
    struct mq_campaign_setup setup_of = {.message = mq_buffer_view(&octets),
                                         .mail_type = MQ_STR("campaign"),
                                         .priority = -10,
                                         .message_id = "<c@example.org>",
                                         .envelope_from = "news@example.org"};
    if (listed) {
        setup_of.list = MQ_STR("news");
        setup_of.list_url = MQ_STR("https://example.org/u.php");
    }
    assert_int_equal(mq_campaign_set(fx.queue, id, &setup_of, &fx.err), MQ_OK);
    mq_buffer_clear(&octets);
}

static struct mq_addressee ann(const char *fields)
{
    return (struct mq_addressee){
        .address = MQ_STR("ann@example.net"), .name = MQ_STR("Ann"), .fields = mq_str_of(fields)};
}

static void test_needs_a_message(void **state)
{
    (void)state;
    struct mq_adding *adding;
    assert_int_equal(mq_adding_begin(fx.queue, id, &adding, &fx.err), MQ_CONFIG);
    assert_null(adding);
    assert_string_equal(fx.err.field, "message");
}

static void test_adds(void **state)
{
    (void)state;
    struct mq_adding *adding;
    struct mq_addressee to = ann("{\"city\":\"Berlin\"}");
    set_message("You live in {{city}}.", false);
    assert_int_equal(mq_adding_begin(fx.queue, id, &adding, &fx.err), MQ_OK);
    assert_int_equal(mq_adding_take(adding, fx.queue, &to, &fx.err), MQ_OK);
    assert_int_equal(mq_adding_take(adding, fx.queue, &to, &fx.err), MQ_OK);
    to.fields = MQ_STR("{}");
    to.address = MQ_STR("bea@example.net");
    assert_int_equal(mq_adding_take(adding, fx.queue, &to, &fx.err), MQ_MESSAGE);
    assert_non_null(strstr(fx.err.text, "city"));
    to.address = MQ_STR("no address");
    assert_int_equal(mq_adding_take(adding, fx.queue, &to, &fx.err), MQ_MESSAGE);
    assert_string_equal(fx.err.field, "address");
    assert_int_equal(mq_adding_store(adding, fx.queue, &fx.err), MQ_OK);
    assert_int_equal(mq_adding_added(adding), 1);
    mq_adding_free(adding);
    fx_assert_text(&fx, "SELECT address || name || fields FROM mail_recipient",
                   "[\"ann@example.net\"]Ann{\"city\":\"Berlin\"}");
}

/* More than a batch has, the last 4,000 with addresses of the first ones. */
static void test_adds_many(void **state)
{
    (void)state;
    enum { TAKEN = 40000, DIFFERENT = 36000 };
    struct mq_adding *adding;
    char address[40], name[20];
    set_message("Hello.", false);
    assert_int_equal(mq_adding_begin(fx.queue, id, &adding, &fx.err), MQ_OK);
    for (int i = 0; i < TAKEN; i++) {
        snprintf(address, sizeof(address), "r%d@example.net", i % DIFFERENT);
        snprintf(name, sizeof(name), "n%d", i);
        const struct mq_addressee to = {.address = mq_str_of(address), .name = mq_str_of(name)};
        assert_int_equal(mq_adding_take(adding, fx.queue, &to, &fx.err), MQ_OK);
    }
    assert_true(mq_adding_added(adding) >= 1000);
    assert_int_equal(mq_adding_store(adding, fx.queue, &fx.err), MQ_OK);
    assert_int_equal(mq_adding_added(adding), DIFFERENT);
    mq_adding_free(adding);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_recipient"), DIFFERENT);
    /* Of two with the same address, the first one is there. */
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_recipient WHERE "
                                 "address <> '[\"r' || substr(name, 2) || '@example.net\"]'"),
                     0);
    /* The first ones are in their order: mails to see how they look are made of the first. */
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM (SELECT name, row_number() OVER "
                                 "(ORDER BY id) AS n FROM mail_recipient ORDER BY id LIMIT 500) "
                                 "WHERE name <> 'n' || (n - 1)"),
                     0);
}

static void test_renders(void **state)
{
    (void)state;
    struct mq_mailings all = {0};
    struct mq_buffer out = {0};
    char address[] = "ann@example.net", message_id[] = "<c.1@example.org>", name[] = "Ann",
         fields[] = "{\"city\":\"Berlin\"}";
    char *recipients[] = {address};
    struct mq_job job = {.campaign_id = id,
                         .recipients = {recipients, 1, 1},
                         .message_id = message_id,
                         .recipient_name = name,
                         .recipient_fields = fields};
    set_message("You live in {{city}}.", true);
    for (int i = 0; i < 2; i++) {
        mq_buffer_reset(&out);
        assert_int_equal(mq_mailings_render(&all, fx.queue, &job, &out, &fx.err), MQ_OK);
        assert_non_null(strstr(out.data, "Subject: Hello Ann\r\n"));
        assert_non_null(strstr(out.data, "Message-ID: <c.1@example.org>\r\n"));
        assert_non_null(strstr(out.data, "You live in Berlin."));
        assert_non_null(strstr(out.data, "List-Unsubscribe: <https://example.org/u.php?t="));
        assert_non_null(strstr(out.data, "To: Ann <ann@example.net>\r\n"));
    }
    assert_int_equal(all.count, 1);
    job.recipient_fields = NULL;
    mq_buffer_reset(&out);
    assert_int_equal(mq_mailings_render(&all, fx.queue, &job, &out, &fx.err), MQ_MESSAGE);
    mq_buffer_clear(&out);
    mq_mailings_clear(&all);
}

static void test_several_mailings(void **state)
{
    (void)state;
    struct mq_mailings all = {0};
    struct mq_buffer out = {0};
    char address[] = "ann@example.net", message_id[] = "<c.1@example.org>";
    char *recipients[] = {address};
    struct mq_job job = {
        .recipients = {recipients, 1, 1}, .message_id = message_id, .recipient_name = address};
    int64_t ids[3];
    for (int i = 0; i < 3; i++) {
        char name[8], text[20];
        snprintf(name, sizeof(name), "c%d", i);
        snprintf(text, sizeof(text), "number %d", i);
        assert_int_equal(mq_campaign_open(fx.queue, mq_str_of(name), &id, &fx.err), MQ_OK);
        set_message(text, false);
        ids[i] = id;
    }
    for (int i = 0; i < 9; i++) {
        char text[20];
        snprintf(text, sizeof(text), "number %d", i % 3);
        job.campaign_id = ids[i % 3];
        mq_buffer_reset(&out);
        assert_int_equal(mq_mailings_render(&all, fx.queue, &job, &out, &fx.err), MQ_OK);
        assert_non_null(strstr(out.data, text));
    }
    mq_buffer_clear(&out);
    mq_mailings_clear(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_needs_a_message, setup, teardown),
        cmocka_unit_test_setup_teardown(test_adds, setup, teardown),
        cmocka_unit_test_setup_teardown(test_adds_many, setup, teardown),
        cmocka_unit_test_setup_teardown(test_renders, setup, teardown),
        cmocka_unit_test_setup_teardown(test_several_mailings, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
