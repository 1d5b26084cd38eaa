/* MailQueue\Internal: what a reply means, for `mailqueue verdict` and the pages. */
#include "stubs/mailqueue_methods.h"

#include <string.h>

#include "php/class/conversion.h"
#include "php/class/exceptions.h"
#include "php/verdict_file.h"

static bool read_reply(const zend_string *said, struct mq_reply *reply)
{
    struct mq_reply_reader reader;
    struct mq_str data = mq_php_str(said), end = MQ_STR("\r\n");
    bool complete = false;
    memset(&reader, 0, sizeof reader);
    return mq_reply_read(&reader, &data, &complete, reply, NULL) == MQ_OK && !complete &&
           mq_reply_read(&reader, &end, &complete, reply, NULL) == MQ_OK && complete;
}

static void describe(const struct mq_verdict *verdict, zval *out)
{
    char row[MQ_VERDICT_ROW_MAX];
    bool has_row = verdict->rule == NULL && mq_verdict_row(verdict->row, row);
    array_init(out);
    add_assoc_string(out, "verdict", mq_verdict_name(verdict->outcome));
    add_assoc_long(out, "wait", verdict->wait_s);
    add_assoc_bool(out, "throttled", verdict->throttled);
    if (verdict->rule != NULL) {
        add_assoc_long(out, "line", verdict->rule->line);
    } else {
        add_assoc_null(out, "line");
    }
    mq_php_add_text(out, "row", has_row ? row : NULL);
}

ZEND_METHOD(MailQueue_Internal, verdict)
{
    zend_string *said, *at, *host;
    struct mq_rules *rules = NULL;
    struct mq_reply reply = {0};
    struct mq_error err;

    ZEND_PARSE_PARAMETERS_START(3, 3)
        Z_PARAM_STR(said)
        Z_PARAM_STR(at)
        Z_PARAM_STR(host)
    ZEND_PARSE_PARAMETERS_END();

    int stage = mq_str_word(mq_php_str(at), MQ_STAGE_NAMES, mq_str_equal);
    if (!read_reply(said, &reply)) {
        zend_argument_value_error(1, "must be one SMTP reply, such as \"450 4.7.1 try later\"");
    } else if (stage < 0) {
        zend_argument_value_error(2, "must be connect, mail, rcpt, data or dot");
    } else if (mq_php_ok(mq_php_verdicts_read(&rules, &err), &err)) {
        struct mq_verdict verdict =
            mq_verdict_decide(rules, ZSTR_VAL(host), (enum mq_stage)stage, &reply);
        describe(&verdict, return_value);
        mq_rules_free(rules);
    }
}

ZEND_METHOD(MailQueue_Internal, verdictRows)
{
    char row[MQ_VERDICT_ROW_MAX];

    ZEND_PARSE_PARAMETERS_NONE();

    array_init(return_value);
    for (int i = 0; mq_verdict_row(i, row); i++) {
        add_next_index_string(return_value, row);
    }
}

/* The number of rules, if the file can be used. */
ZEND_METHOD(MailQueue_Internal, verdictRules)
{
    struct mq_rules *rules = NULL;
    struct mq_error err;

    ZEND_PARSE_PARAMETERS_NONE();

    if (mq_php_ok(mq_php_verdicts_read(&rules, &err), &err)) {
        RETVAL_LONG((zend_long)mq_rules_count(rules));
        mq_rules_free(rules);
    }
}
