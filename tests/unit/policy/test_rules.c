/* The rules of a verdict file: what they match, before which rows of the table, and what is refused
 * with which line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/rules.h"

static struct mq_rules *parse(const char *text)
{
    struct mq_rules *rules = NULL;
    struct mq_error err = {0};
    if (mq_rules_parse(mq_str_of(text), "FILE", &rules, &err) != MQ_OK) {
        fail_msg("%s", err.text);
    }
    return rules;
}

/* The line of the rule that decides about the reply, and what it means; 0: the table. */
static int line_of(const struct mq_rules *rules, const char *host, enum mq_stage stage,
                   const char *said, struct mq_verdict *verdict)
{
    static struct mq_reply_reader reader;
    struct mq_reply reply = {0};
    struct mq_buffer text = {0};
    struct mq_error err;
    bool complete = false;
    memset(&reader, 0, sizeof reader);
    mq_buffer_printf(&text, "%s\r\n", said);
    struct mq_str data = mq_buffer_view(&text);
    assert_int_equal(mq_reply_read(&reader, &data, &complete, &reply, &err), MQ_OK);
    *verdict = mq_verdict_decide(rules, host, stage, &reply);
    mq_buffer_clear(&text);
    return verdict->rule != NULL ? verdict->rule->line : 0;
}

static void test_first_match_wins(void **state)
{
    static const struct {
        const char *host;
        enum mq_stage stage;
        const char *said;
        int line;
        enum mq_outcome outcome;
        int wait_s;
    } samples[] = {
        {"smtp.example.net", MQ_STAGE_RCPT, "450 4.7.1 Try again LATER, please", 3,
         MQ_OUTCOME_DEFERRED, 600},
        {"smtp.example.net", MQ_STAGE_RCPT, "450 4.2.1 try again later", 6, MQ_OUTCOME_DENIED, 0},
        {"EXAMPLE.NET", MQ_STAGE_RCPT, "450 4.7.1 try later", 6, MQ_OUTCOME_DENIED, 0},
        {"smtp.example.net", MQ_STAGE_MAIL, "450 4.7.1 try later", 0, MQ_OUTCOME_DEFERRED, 0},
        {"x", MQ_STAGE_CONNECT, "554 5.7.1 blocked", 4, MQ_TROUBLE_RELAY, 7200},
        {"x", MQ_STAGE_DOT, "554 5.7.1 blocked, retry in 5 minutes", 0, MQ_OUTCOME_DENIED, 300},
        {"x", MQ_STAGE_DOT, "451 4.7.500 Server busy", 5, MQ_TROUBLE_SESSIONS, 0},
        {"x", MQ_STAGE_DATA, "451 4.7.501 Server busy, retry in 5 minutes", 5, MQ_TROUBLE_SESSIONS,
         300},
        {"x", MQ_STAGE_DATA, "451 4.8.501 Server busy", 0, MQ_OUTCOME_DEFERRED, 0},
        {"x", MQ_STAGE_CONNECT, "451 4.7.500 Server busy", 5, MQ_TROUBLE_SESSIONS, 0},
        {"x", MQ_STAGE_RCPT, "450 anything", 6, MQ_OUTCOME_DENIED, 0},
        {"x", MQ_STAGE_RCPT, "550 5.1.1 <busy@a.example>: say \"no, no\" # now", 7,
         MQ_OUTCOME_REFUSED, 0},
        {"x", MQ_STAGE_DOT, "559 what", 8, MQ_TROUBLE_SESSION, 0},
        {"x", MQ_STAGE_CONNECT, "559 what", 0, MQ_TROUBLE_CONNECT, 0}, /* not a session yet */
        /* What the relay accepts stays accepted, and silence is silence. */
        {"x", MQ_STAGE_DOT, "250 2.0.0 ok", 0, MQ_OUTCOME_DELIVERED, 0},
        {"x", MQ_STAGE_DATA, "354 go", 0, MQ_OUTCOME_DELIVERED, 0},
    };
    struct mq_rules *rules = parse("\xEF\xBB\xBF# first match wins\r\n"
                                   "\n"
                                   "*.example.net rcpt 450 4.7.* \"try*later\" deferred pause=10m\n"
                                   "*\tconnect 554 relay pause=2h # a comment\r\n"
                                   "* any 4xx 4.7.* \"server busy\" sessions pause=reply\n"
                                   "* rcpt 450 denied\n"
                                   "* rcpt \"say \\\"no, no\\\" #\" refused\n"
                                   "* any 559 session");
    (void)state;
    assert_int_equal(mq_rules_count(rules), 6);
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct mq_verdict got;
        int line = line_of(rules, samples[i].host, samples[i].stage, samples[i].said, &got);
        if (line != samples[i].line || got.outcome != samples[i].outcome ||
            got.wait_s != samples[i].wait_s) {
            fail_msg("%s: line %d, %s, %d s", samples[i].said, line, mq_verdict_name(got.outcome),
                     got.wait_s);
        }
    }
    mq_rules_free(rules);
}

/* Words that a recipient or a sender chose do not count. */
static void test_addresses_do_not_match(void **state)
{
    struct mq_rules *rules = parse("* rcpt \"quota\" relay");
    struct mq_verdict got;
    (void)state;
    assert_int_equal(
        line_of(rules, "x", MQ_STAGE_RCPT, "550 5.1.1 <quota@quota.example>: unknown", &got), 0);
    assert_int_equal(line_of(rules, "x", MQ_STAGE_RCPT, "550 5.1.1 over quota", &got), 1);
    mq_rules_free(rules);
}

static void test_bad_lines_are_named(void **state)
{
    static const struct {
        const char *text, *error;
    } samples[] = {
        {"* rcpt 450 later", "verdicts: FILE, line 1: this is neither a reply nor a verdict, or a "
                             "second one: \"later\"; the verdicts are " MQ_RULE_VERDICTS},
        {"\n# x\n* rcp 450 deferred", "FILE, line 3: the second word is not a stage: \"rcp\"; "
                                      "write connect, mail, rcpt, data, dot or any"},
        {"* rcpt deferred", "the third word is not a reply: \"deferred\"; write a code"},
        {"* rcpt 250 deferred", "the third word is not a reply: \"250\""},
        {"* rcpt 4.7 deferred", "the third word is not a reply: \"4.7\""},
        {"* rcpt 2.1.1 deferred", "the third word is not a reply: \"2.1.1\""},
        {"* rcpt 450 451 deferred", "neither a reply nor a verdict, or a second one: \"451\""},
        {"* rcpt \"a\" \"b\" deferred", "or a second one: \"b\""},
        {"* rcpt 450", "neither a reply nor a verdict"},
        {"* rcpt 450 accepted", "neither a reply nor a verdict, or a second one: \"accepted\""},
        {"*", "the second word is not a stage: \"\""},
        {"* rcpt \"open deferred", "a quote is open or within a word in"},
        {"* rcpt a\"b\" deferred", "a quote is open or within a word in"},
        {"* rcpt \"\" deferred", "the length does not fit of \"\""},
        {"* connect 450 deferred", "at this stage no reply can have the verdict \"deferred\""},
        {"* mail 450 next", "at this stage no reply can have the verdict \"next\""},
        {"* rcpt 450 deferred pause=0s", "this is not a pause: \"pause=0s\"; write pause=30s"},
        {"* rcpt 450 deferred pause=25h", "this is not a pause"},
        {"* rcpt 450 deferred pause=9999999999999d", "this is not a pause"},
        {"* rcpt 450 deferred 30m", "this is not a pause: \"30m\""},
        {"* rcpt 450 refused pause=1h", "the verdict has no pause, but there is \"pause=1h\""},
        {"* rcpt 450 deferred pause=1h now", "there is more after the pause: \"now\""},
        {"* rcpt 450 \x1b[2J", "or a second one: \"?[2J\""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct mq_rules *rules = NULL;
        struct mq_error err = {0};
        assert_int_equal(mq_rules_parse(mq_str_of(samples[i].text), "FILE", &rules, &err),
                         MQ_CONFIG);
        assert_null(rules);
        assert_string_equal(err.field, "verdicts");
        if (strstr(err.text, samples[i].error) == NULL) {
            fail_msg("%s: %s", samples[i].text, err.text);
        }
    }
}

static void test_limits(void **state)
{
    struct mq_buffer text = {0};
    struct mq_rules *rules = NULL;
    struct mq_error err = {0};
    (void)state;
    for (int i = 0; i < MQ_RULES_MAX; i++) {
        mq_buffer_cstr(&text, "* rcpt 450 deferred\n");
    }
    assert_int_equal(mq_rules_parse(mq_buffer_view(&text), "FILE", &rules, &err), MQ_OK);
    assert_int_equal(mq_rules_count(rules), MQ_RULES_MAX);
    mq_rules_free(rules);
    mq_buffer_cstr(&text, "* rcpt 450 deferred\n");
    assert_int_equal(mq_rules_parse(mq_buffer_view(&text), "FILE", &rules, &err), MQ_CONFIG);
    assert_non_null(strstr(err.text, "line 501: there are too many rules"));
    while (text.len <= MQ_RULES_BYTES) {
        mq_buffer_cstr(&text, "# a comment\n");
    }
    assert_int_equal(mq_rules_parse(mq_buffer_view(&text), "FILE", &rules, &err), MQ_CONFIG);
    assert_non_null(strstr(err.text, "FILE is too large"));
    assert_int_equal(mq_rules_parse(MQ_STR("a\0b"), "FILE", &rules, &err), MQ_CONFIG);
    assert_int_equal(mq_rules_parse(MQ_STR(""), "FILE", &rules, &err), MQ_OK);
    assert_int_equal(mq_rules_count(rules), 0);
    mq_rules_free(rules);
    mq_buffer_clear(&text);
}

/* The names in MQ_RULE_VERDICTS are those that a rule can give. */
static void test_names(void **state)
{
    char row[MQ_VERDICT_ROW_MAX];
    (void)state;
    for (int i = 0; i <= MQ_TROUBLE_PROTOCOL; i++) {
        const char *name = mq_verdict_name((enum mq_outcome)i);
        bool listed = name != NULL && strstr(MQ_RULE_VERDICTS, name) != NULL;
        assert_true(listed == (mq_verdict_stages((enum mq_outcome)i) != 0));
    }
    assert_true(mq_verdict_row(0, row));
    assert_string_equal(row, "connect | 200–299 | any | any | accepted");
    assert_false(mq_verdict_row(-1, row));
    assert_false(mq_verdict_row(1000, row));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_match_wins),
        cmocka_unit_test(test_addresses_do_not_match),
        cmocka_unit_test(test_bad_lines_are_named),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
