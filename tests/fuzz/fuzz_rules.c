/* Verdict files and the replies that they are asked about: the first line is a reply, the rest the
 * file. Whatever both are, a rule gives only verdicts that it may give, and what is accepted stays
 * accepted. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"
#include "policy/rules.h"

static bool read_reply(struct mq_str line, struct mq_reply *reply)
{
    static struct mq_reply_reader reader;
    bool complete = false;
    struct mq_str end = MQ_STR("\r\n");
    memset(&reader, 0, sizeof reader);
    return mq_reply_read(&reader, &line, &complete, reply, NULL) == MQ_OK &&
           mq_reply_read(&reader, &end, &complete, reply, NULL) == MQ_OK && complete;
}

static void ask(const struct mq_rules *rules, enum mq_stage stage, const struct mq_reply *reply)
{
    struct mq_verdict verdict = mq_verdict_decide(rules, "smtp.example.org", stage, reply);
    REQUIRE(verdict.wait_s >= 0 && verdict.wait_s <= 86400);
    REQUIRE(verdict.outcome != MQ_OUTCOME_DELIVERED || (reply != NULL && reply->code < 400));
    if (verdict.rule != NULL) {
        REQUIRE(reply != NULL && reply->code >= 400);
        REQUIRE((mq_verdict_stages(verdict.outcome) & 1u << stage) != 0);
        REQUIRE(verdict.rule->line > 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mq_str text = {(const char *)data, size};
    struct mq_str line = size > 0 ? mq_str_cut_at(&text, '\n') : text;
    struct mq_rules *rules = NULL;
    struct mq_error err = {0};
    struct mq_reply reply;
    bool has_reply = read_reply(line, &reply);
    if (mq_rules_parse(text, "FILE", &rules, &err) != MQ_OK) {
        REQUIRE(err.status == MQ_CONFIG && strncmp(err.text, "verdicts: FILE", 14) == 0);
        REQUIRE(mq_utf8_valid(mq_str_of(err.text)) && rules == NULL);
        return 0;
    }
    REQUIRE(mq_rules_count(rules) <= MQ_RULES_MAX);
    for (enum mq_stage stage = MQ_STAGE_CONNECT; stage <= MQ_STAGE_DOT; stage++) {
        ask(rules, stage, has_reply ? &reply : NULL);
    }
    mq_rules_free(rules);
    return 0;
}
