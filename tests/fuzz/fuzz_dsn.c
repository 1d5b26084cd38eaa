/* Transport DSNs, and groups of them: no text ever shows a password. */
#include "fuzz.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "send/dsn.h"
#include "send/group.h"

/* A DSN in logs: without the password, and without control characters. */
static void require_shown(const struct mq_dsn *dsn, const char *secret)
{
    char *shown = mq_dsn_redacted(dsn);
    REQUIRE(shown != NULL && strstr(shown, secret) == NULL);
    for (const char *c = shown; *c != '\0'; c++) {
        REQUIRE((unsigned char)*c >= 32 && *c != 127);
    }
    free(shown);
}

static void try_dsn(struct mq_str text, const char *secret)
{
    struct mq_dsn dsn = {0};
    struct mq_error err;
    if (mq_dsn_parse(text, &dsn, &err) != MQ_OK) {
        REQUIRE(err.status == MQ_CONFIG && dsn.scheme == NULL && dsn.host == NULL);
        REQUIRE(strstr(err.text, secret) == NULL && mq_utf8_valid(mq_str_of(err.text)));
        return;
    }
    REQUIRE(dsn.scheme != NULL && dsn.host != NULL && dsn.port >= 0 && dsn.port <= 65535);
    REQUIRE(dsn.path == NULL || dsn.path[0] == '/');
    REQUIRE(dsn.connect_timeout_ms > 0 && dsn.command_timeout_ms > 0 && dsn.data_timeout_ms > 0);
    REQUIRE(dsn.block_timeout_ms > 0 && dsn.final_timeout_ms >= 0 && dsn.mails_per_connection > 0);
    mq_dsn_is_loopback(&dsn);
    REQUIRE(dsn.command.count == 0 || dsn.command.items[0][0] != '\0');
    require_shown(&dsn, secret);
    mq_dsn_clear(&dsn);
}

/* Each relay of a group is a piece of the text. */
static size_t look_at_group(const struct mq_group *group, struct mq_str text)
{
    size_t relays = group->kind == MQ_GROUP_RELAY;
    for (size_t i = 0; i < group->count; i++) {
        relays += look_at_group(&group->members[i], text);
    }
    REQUIRE(group->kind == MQ_GROUP_RELAY
                ? group->count == 0 && group->dsn.data >= text.data &&
                      group->dsn.data + group->dsn.len <= text.data + text.len
                : group->count > 0 && group->retry_s > 0);
    REQUIRE(relays == group->relays);
    return relays;
}

static void try_group(struct mq_str text)
{
    struct mq_group group;
    struct mq_error err;
    if (mq_group_parse(text, &group, &err) == MQ_OK) {
        REQUIRE(look_at_group(&group, text) <= MQ_GROUP_RELAYS_MAX);
        mq_group_clear(&group);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mq_str text = {(const char *)data, size};
    struct mq_buffer with = {0};
    char secret[24];
    /* The fuzzer learns words from comparisons, and would write a fixed password into the input's
     * host or command, which may be shown. It cannot write the input's own hash. */
    snprintf(secret, sizeof(secret), "s%016" PRIx64, mq_hash(MQ_HASH_BEGIN, text));
    try_dsn(text, secret);
    try_group(text);
    /* The same for the text after a password. */
    mq_buffer_cstr(&with, "smtp://user:");
    mq_buffer_cstr(&with, secret);
    mq_buffer_str(&with, text);
    try_dsn(mq_buffer_view(&with), secret);
    mq_buffer_clear(&with);
    return 0;
}
