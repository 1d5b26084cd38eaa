/* For people who have several relays: parses failover(…) and roundrobin(…). */
#include "send/group.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"
#include "send/dsn_text.h"

#define RETRY_S     60 /* as in Symfony Mailer */
#define RETRY_MAX_S 86400
#define DEPTH_MAX   8
#define BLANKS      " \t\r\n"

static const char *const words[] = {
    [MQ_GROUP_FAILOVER] = "failover", [MQ_GROUP_ROUNDROBIN] = "roundrobin"};
static const char retry_period[] = "?retry_period=";

static enum mq_status bad(struct mq_error *err)
{
    return mq_dsn_bad(err, "it is not a group of relays; write failover(smtp://a smtp://b) or "
                           "roundrobin(smtp://a smtp://b)?retry_period=60, with ( and ) in a user, "
                           "password or command as %28 and %29");
}

static size_t span(struct mq_str text, const char *set, bool within)
{
    size_t n = 0;
    while (n < text.len && (text.data[n] && strchr(set, text.data[n]) != NULL) == within) {
        n++;
    }
    return n;
}

static void skip_blanks(struct mq_str *text)
{
    *text = mq_str_skip(*text, span(*text, BLANKS, true));
}

/* Reads "?retry_period=15" if it follows. */
static enum mq_status parse_retry(struct mq_str *text, struct mq_group *group, struct mq_error *err)
{
    struct mq_str digits;
    if (text->len == 0 || text->data[0] != '?') {
        return MQ_OK;
    }
    if (mq_str_begins(*text, retry_period)) {
        digits = mq_str_skip(*text, sizeof(retry_period) - 1);
        *text = mq_str_skip(digits, span(digits, "0123456789", true));
        digits.len -= text->len;
        group->retry_s = mq_dsn_count(digits, RETRY_MAX_S);
        return group->retry_s > 0
                   ? MQ_OK
                   : mq_dsn_bad(err, "retry_period must be a number of seconds from 1 to 86400");
    }
    return mq_dsn_bad(err, "a group has one option, ?retry_period=seconds; options of a relay "
                           "follow its host, within the brackets");
}

static enum mq_status parse(struct mq_str *text, struct mq_group *out, int depth,
                            struct mq_error *err);

static enum mq_status parse_member(struct mq_str *text, struct mq_group *group, int depth,
                                   struct mq_error *err)
{
    size_t size = (group->count + 1) * sizeof(*group->members);
    struct mq_group *members = realloc(group->members, size);
    if (members == NULL) {
        return mq_error_nomem(err);
    }
    group->members = members;
    struct mq_group *member = &members[group->count++];
    MQ_TRY(parse(text, member, depth + 1, err));
    group->relays += member->relays;
    skip_blanks(text);
    return text->len > 0 ? MQ_OK : bad(err); /* the bracket is missing */
}

static enum mq_status parse_members(struct mq_str *text, struct mq_group *group, int depth,
                                    struct mq_error *err)
{
    skip_blanks(text);
    while (text->len > 0 && text->data[0] != ')') {
        MQ_TRY(parse_member(text, group, depth, err));
    }
    if (text->len == 0 || group->count == 0 || group->relays > MQ_GROUP_RELAYS_MAX) {
        return bad(err);
    }
    *text = mq_str_skip(*text, 1);
    return parse_retry(text, group, err);
}

/* Parses a group or a DSN, and moves *text behind it. */
static enum mq_status parse(struct mq_str *text, struct mq_group *out, int depth,
                            struct mq_error *err)
{
    size_t name = span(*text, "(): " BLANKS, false);
    *out = (struct mq_group){.kind = MQ_GROUP_RELAY, .retry_s = RETRY_S};
    if (name == text->len || text->data[name] != '(') {
        size_t len = depth > 0 ? span(*text, "() " BLANKS, false) : text->len;
        out->dsn = (struct mq_str){text->data, len};
        out->relays = 1;
        *text = mq_str_skip(*text, len);
        return len > 0 || depth == 0 ? MQ_OK : bad(err);
    }
    struct mq_str word = {text->data, name};
    *text = mq_str_skip(*text, name + 1);
    for (out->kind = MQ_GROUP_ROUNDROBIN; out->kind != MQ_GROUP_RELAY; out->kind--) {
        if (mq_str_equal(word, mq_str_of(words[out->kind]))) {
            return depth < DEPTH_MAX ? parse_members(text, out, depth, err) : bad(err);
        }
    }
    return bad(err);
}

enum mq_status mq_group_parse(struct mq_str text, struct mq_group *out, struct mq_error *err)
{
    enum mq_status status = parse(&text, out, 0, err);
    skip_blanks(&text);
    if (status == MQ_OK && text.len > 0) {
        status = bad(err);
    }
    if (status != MQ_OK) {
        mq_group_clear(out);
    }
    return status;
}

void mq_group_clear(struct mq_group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        mq_group_clear(&group->members[i]);
    }
    free(group->members);
    *group = (struct mq_group){.kind = MQ_GROUP_RELAY};
}

static bool has_secret(const struct mq_group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        if (has_secret(&group->members[i])) {
            return true;
        }
    }
    return group->kind == MQ_GROUP_RELAY && mq_dsn_has_secret(group->dsn);
}

bool mq_group_has_secret(struct mq_str text)
{
    struct mq_error err;
    struct mq_group group;
    if (mq_group_parse(text, &group, &err) != MQ_OK) {
        return mq_dsn_has_secret(text);
    }
    bool has = has_secret(&group);
    mq_group_clear(&group);
    return has;
}

enum mq_status mq_group_blame(int number, enum mq_status status, struct mq_error *err)
{
    size_t len = strlen(err->text);
    if (status == MQ_CONFIG) {
        snprintf(err->text + len, sizeof(err->text) - len, " (relay %d of the group)", number);
    }
    return status;
}

void mq_group_write(const struct mq_group *group, struct mq_buffer *out,
                    const char *(*name)(const struct mq_group *relay))
{
    if (group->kind == MQ_GROUP_RELAY) {
        mq_buffer_cstr(out, name(group));
        return;
    }
    mq_buffer_printf(out, "%s(", words[group->kind]);
    for (size_t i = 0; i < group->count; i++) {
        mq_buffer_cstr(out, i > 0 ? " " : "");
        mq_group_write(&group->members[i], out, name);
    }
    mq_buffer_char(out, ')');
    if (group->retry_s != RETRY_S) {
        mq_buffer_printf(out, "%s%" PRId64, retry_period, group->retry_s);
    }
}

/* ---- without secrets ---- */

/* Each relay's DSN without secrets becomes what belongs to it. */
static enum mq_status redact(struct mq_group *group, struct mq_error *err)
{
    struct mq_dsn dsn;
    for (size_t i = 0; i < group->count; i++) {
        MQ_TRY(redact(&group->members[i], err));
    }
    if (group->kind != MQ_GROUP_RELAY) {
        return MQ_OK;
    }
    MQ_TRY(mq_dsn_parse(group->dsn, &dsn, err));
    group->relay = mq_dsn_redacted(&dsn);
    mq_dsn_clear(&dsn);
    return group->relay ? MQ_OK : mq_error_nomem(err);
}

static const char *redacted_of(const struct mq_group *relay)
{
    return relay->relay;
}

static void free_redacted(struct mq_group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        free_redacted(&group->members[i]);
    }
    free(group->relay);
}

enum mq_status mq_group_redact(struct mq_str text, struct mq_buffer *out, struct mq_error *err)
{
    struct mq_group group;
    MQ_TRY(mq_group_parse(text, &group, err));
    enum mq_status status = redact(&group, err);
    if (status == MQ_OK) {
        mq_group_write(&group, out, redacted_of);
        status = out->failed ? mq_error_nomem(err) : MQ_OK;
    }
    free_redacted(&group);
    mq_group_clear(&group);
    return status;
}
