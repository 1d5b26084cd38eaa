/* The text of mailSlowDomains: a JSON object from a domain to "PAUSE CHANGED SINCE GOOD BAD REPLY",
 * the members of struct mq_slowdown and what the last recipient that failed was told. */
#include "queue/config/slow.h"

#include <stdio.h>
#include <string.h>

#include "core/json.h"
#include "policy/limits.h"

_Static_assert(MQ_SLOW_MAX == (int)MQ_LIMITS_SLOW, "there is room for the limits");

#define PAUSE_LONGEST_S 86400 /* a value with more was not written by us */

static bool parse(const char *domain, const char *text, struct mq_slow_domain *out)
{
    long long pause = 0, changed = 0, since = 0, good = 0, bad = 0;
    int used = 0;
    int found = sscanf(text, "%9lld %12lld %12lld %12lld %12lld %n", &pause, &changed, &since,
                       &good, &bad, &used);
    bool ok = found == 5 && domain[0] == '@' && strlen(domain) < sizeof(out->domain) &&
              pause >= 0 && pause <= PAUSE_LONGEST_S && good >= 0 && bad >= 0;
    if (ok) {
        *out = (struct mq_slow_domain){.slow = {since, good, bad, pause, changed}};
        strcpy(out->domain, domain);
        mq_str_printable(out->reply, sizeof(out->reply), 0, mq_str_of(text + used));
    }
    return ok;
}

enum mq_status mq_slow_read(const char *kept, struct mq_slow_domains *out, struct mq_error *err)
{
    struct mq_strings pairs = {0};
    out->count = 0;
    if (mq_json_read(mq_str_of(kept), '{', &pairs) == MQ_NOMEM) {
        return mq_error_nomem(err);
    }
    for (size_t i = 0; i < pairs.count && out->count < MQ_SLOW_MAX; i += 2) {
        out->count += parse(pairs.items[i], pairs.items[i + 1], &out->items[out->count]);
    }
    mq_strings_clear(&pairs);
    return MQ_OK;
}

/* ---- limits ---- */

static enum mq_status add_limit(const struct mq_slow_domain *entry, int64_t pause_s,
                                struct mq_limits *limits, struct mq_strings *texts,
                                struct mq_error *err)
{
    char text[sizeof(entry->domain) + 64];
    int at = snprintf(text, sizeof(text), "mailSlowdown: 1 mail in %llds to ", (long long)pause_s);
    snprintf(text + at, sizeof(text) - (size_t)at, "%s", entry->domain);
    if (!mq_strings_add(texts, mq_str_of(text))) {
        return mq_error_nomem(err);
    }
    struct mq_str kept = mq_str_of(texts->items[texts->count - 1]);
    limits->items[limits->count++] = (struct mq_limit){
        .n = 1,
        .length_s = pause_s,
        .mails = true,
        .slow = true,
        .scope = MQ_SCOPE_TO,
        .only = {kept.data + at, kept.len - (size_t)at},
        .text = kept,
    };
    return MQ_OK;
}

enum mq_status mq_slow_limits(const char *kept, int64_t now_s, struct mq_limits *limits,
                              struct mq_strings *texts, struct mq_error *err)
{
    struct mq_slow_domains all;
    MQ_TRY(mq_slow_read(kept, &all, err));
    for (size_t i = 0; i < all.count; i++) {
        int64_t pause_s = mq_slowdown_pause_s(&all.items[i].slow, now_s);
        MQ_TRY(pause_s ? add_limit(&all.items[i], pause_s, limits, texts, err) : MQ_OK);
    }
    return MQ_OK;
}

static void write_entry(const struct mq_slow_domain *entry, struct mq_buffer *out)
{
    char text[sizeof(entry->reply) + 5 * 21];
    const struct mq_slowdown *slow = &entry->slow;
    snprintf(text, sizeof(text), "%lld %lld %lld %lld %lld %s", (long long)slow->pause_s,
             (long long)slow->changed_s, (long long)slow->since_s, (long long)slow->good,
             (long long)slow->bad, entry->reply);
    mq_buffer_char(out, out->len ? ',' : '{');
    mq_json_string(out, mq_str_of(entry->domain));
    mq_buffer_char(out, ':');
    mq_json_string(out, mq_str_of(text));
}

void mq_slow_write(const struct mq_slow_domains *all, int64_t now_s, struct mq_buffer *out)
{
    for (size_t i = 0; i < all->count; i++) {
        if (!mq_slowdown_is_over(&all->items[i].slow, now_s)) {
            write_entry(&all->items[i], out);
        }
    }
    if (out->len) {
        mq_buffer_char(out, '}');
    }
}
