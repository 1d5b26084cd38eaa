/* SMTP replies: cuts anywhere in the bytes do not change the replies. */
#include "fuzz.h"

#include <string.h>

#include "policy/verdict.h"

#define REPLIES_MAX 64

struct result {
    struct mq_reply replies[REPLIES_MAX];
    size_t count;
    bool failed;
};

static void require_reply(const struct mq_reply *reply)
{
    char text[MQ_REPLY_TEXT_MAX + 32];
    char shorter[8];
    int wait_s = mq_reply_retry_after_s(reply);
    REQUIRE(reply->code >= 200 && reply->code <= 599);
    REQUIRE(reply->lines >= 1 && reply->lines <= MQ_REPLY_LINES_MAX);
    REQUIRE(memchr(reply->text, '\0', sizeof reply->text) != NULL);
    REQUIRE(mq_utf8_valid(mq_str_of(reply->text)));
    REQUIRE(strpbrk(reply->text, "\r\n\x1b\x7f") == NULL);
    REQUIRE(wait_s >= 0 && wait_s <= 86400);
    mq_reply_format(reply, text, sizeof text);
    REQUIRE(mq_utf8_valid(mq_str_of(text)));
    mq_reply_format(reply, shorter, sizeof shorter);
    REQUIRE(mq_utf8_valid(mq_str_of(shorter)));
    for (enum mq_stage stage = MQ_STAGE_CONNECT; stage <= MQ_STAGE_DOT; stage++) {
        enum mq_outcome verdict = mq_verdict_decide(NULL, "", stage, reply).outcome;
        REQUIRE(verdict < MQ_OUTCOME_RECIPIENTS ||
                (verdict >= MQ_TROUBLE_CONNECT && verdict <= MQ_TROUBLE_PROTOCOL));
        /* Only a positive reply may end a mail as sent. */
        REQUIRE(verdict != MQ_OUTCOME_DELIVERED || reply->code < 400);
        REQUIRE(verdict != MQ_OUTCOME_REFUSED || reply->code >= 500);
        REQUIRE(verdict != MQ_OUTCOME_UNEXPLAINED || reply->code >= 550);
    }
}

/* Reads all of text in pieces of at most `step` bytes. */
static void read_all(struct mq_str text, size_t step, struct result *result)
{
    struct mq_reply_reader reader;
    memset(&reader, 0, sizeof reader);
    *result = (struct result){0};
    while (text.len > 0 && result->count < REPLIES_MAX) {
        struct mq_str piece = {text.data, text.len < step ? text.len : step};
        size_t before = piece.len;
        bool complete = false;
        struct mq_reply *reply = &result->replies[result->count];
        if (mq_reply_read(&reader, &piece, &complete, reply, NULL) != MQ_OK) {
            result->failed = true;
            return;
        }
        REQUIRE(complete || piece.len == 0);
        result->count += complete;
        text.data += before - piece.len;
        text.len -= before - piece.len;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct result whole;
    static struct result pieces;
    if (size == 0) {
        return 0;
    }
    struct mq_str text = {(const char *)data + 1, size - 1};
    read_all(text, SIZE_MAX, &whole);
    read_all(text, 1 + data[0] % 16, &pieces);
    REQUIRE(whole.count == pieces.count && whole.failed == pieces.failed);
    for (size_t i = 0; i < whole.count; i++) {
        const struct mq_reply *a = &whole.replies[i];
        const struct mq_reply *b = &pieces.replies[i];
        require_reply(a);
        REQUIRE(a->code == b->code && a->lines == b->lines && strcmp(a->text, b->text) == 0);
        REQUIRE(memcmp(a->enhanced, b->enhanced, sizeof a->enhanced) == 0);
    }
    return 0;
}
